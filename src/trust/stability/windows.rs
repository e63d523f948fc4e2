//! Comparisons of a timer with its reference, and the jumps and freezes in the windows between
//! them.

use super::MAX_SLEW;
use crate::statistics::median;
use crate::trust::Case;

/// A reading of the timer, the time of the reference at which it was taken, and the largest error
/// of that time. All are in nanoseconds; both clocks count from the first comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    pub reference: f64,
    pub timer: f64,
    pub uncertainty: f64,
}

/// Windows whose movements differ by more than can be explained. Sizes are in nanoseconds.
#[derive(Default)]
pub(super) struct FoundInWindows {
    pub jumps: u32,
    pub freezes: u32,
    pub largest_jump: f64,
    pub largest_freeze: f64,
    /// Windows at whose end the timer was behind but caught up soon after.
    pub late: u32,
    pub latest: f64,
}

impl FoundInWindows {
    /// Returns the largest jump, or the largest freeze if there are no jumps.
    pub fn largest(&self) -> f64 {
        if self.jumps > 0 {
            self.largest_jump
        } else {
            self.largest_freeze
        }
    }

    /// Finds intervals with much work in which the timer hardly moved: interruptions only make
    /// intervals longer, so the clock stood still. Some runtimes recompile the work and run it
    /// several times as fast, but not a hundred times.
    pub fn check_work(&mut self, case: &Case) {
        /// Shortest work that is checked, in steps of the timer.
        /// *Judgement*: runtimes do work several times as fast, not a hundred times.
        const MIN_WORK_STEPS: f64 = 200.0;
        /// Steps that a clock that stands still may nevertheless show.
        /// *Judgement*.
        const MAX_STILL_STEPS: f64 = 2.0;
        let (Some(step), Some(ns)) = (case.step_ns(), case.profile.ns_per_tick) else {
            return;
        };
        let shortest = (MIN_WORK_STEPS * step).max(1_000.0);
        for group in case.trace.runs.iter().flat_map(|run| &run.intervals) {
            let expected = group.work as f64 * case.trace.reference.ns_per_work;
            for &delta in group.deltas.iter().filter(|&&delta| delta >= 0) {
                let missing = expected - delta as f64 * ns;
                if expected >= shortest && delta as f64 * ns <= MAX_STILL_STEPS * step {
                    self.freezes += 1;
                    self.largest_freeze = self.largest_freeze.max(missing);
                }
            }
        }
    }

    /// Checks all windows of a run. Returns the largest jump, in nanoseconds, that the worst window
    /// may contain within the explained difference, even if another error moved the other way.
    pub fn check(&mut self, run: &[Comparison], expected: &Expected) -> f64 {
        let (mut at, mut hidden) = (0, 0.0_f64);
        while let Some(window) = run.get(at..at + 2) {
            let (off, explained) = expected.off(window[0], window[1]);
            // The timer was late by this amount if later (or earlier) comparisons show that nothing
            // was lost.
            let late = match () {
                () if off.abs() <= explained || off.abs() > expected.latest => None,
                () if off < 0.0 => expected.caught_up(&run[at..]).map(|ends| (-off, ends)),
                () => expected.was_behind(&run[..at + 2]).then_some((off, 1)),
            };
            at += late.map_or(1, |(_, ends)| ends);
            hidden = hidden.max(match late {
                Some((late, _)) => self.find_late(late) + explained,
                None if off.abs() <= explained => explained + off.abs(),
                None => self.find(off) + explained,
            });
        }
        hidden
    }

    fn find_late(&mut self, late: f64) -> f64 {
        self.late += 1;
        self.latest = self.latest.max(late);
        late
    }

    /// A reported jump or freeze hides nothing.
    fn find(&mut self, off: f64) -> f64 {
        if off > 0.0 {
            self.jumps += 1;
            self.largest_jump = self.largest_jump.max(off);
        } else {
            self.freezes += 1;
            self.largest_freeze = self.largest_freeze.max(-off);
        }
        0.0
    }
}

/// The expected movement of a timer between comparisons. All values except rates are in
/// nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The usual rate, and its uncertainty. A wrong rate is reported separately; windows are
    /// compared with the usual rate.
    pub rate: (f64, f64),
    /// Truncation by the steps of both clocks.
    pub uncertainty: f64,
    /// Longest lateness of an update, if the timer catches up.
    pub latest: f64,
}

impl Expected {
    /// Returns how much more the timer moved than at its usual rate, and how much of that is
    /// explained.
    fn off(&self, first: Comparison, last: Comparison) -> (f64, f64) {
        let (passed, moved) = (last.reference - first.reference, last.timer - first.timer);
        let explained = 2.0 * (first.uncertainty + last.uncertainty + self.uncertainty)
            + (2.0 * MAX_SLEW + self.rate.1) * passed.abs();
        (moved - self.rate.0 * passed, explained)
    }

    /// Returns whether a jump at the end of a run catches up with time lost before, when each
    /// window lost less than is explained.
    fn was_behind(&self, run: &[Comparison]) -> bool {
        let [earlier @ .., before, after] = run else {
            return false;
        };
        let near = earlier
            .iter()
            .rev()
            .take_while(|first| before.reference - first.reference <= self.latest);
        near.into_iter().any(|first| {
            let ((behind, explained), (off, whole)) =
                (self.off(*first, *before), self.off(*first, *after));
            behind < -explained / 2.0 && off.abs() <= whole
        })
    }

    /// Returns the number of comparisons after which a timer that is behind has lost nothing, if
    /// that happens within the allowed lateness.
    fn caught_up(&self, run: &[Comparison]) -> Option<usize> {
        let (first, behind) = (*run.first()?, run.get(1)?.reference);
        let later = run.iter().enumerate().skip(2);
        // The comparison after the delay may come at any distance.
        let mut soon = later
            .enumerate()
            .take_while(|(nth, (_, last))| *nth == 0 || last.reference - behind <= self.latest);
        soon.find_map(|(_, (at, last))| {
            let (off, explained) = self.off(first, *last);
            (off.abs() <= explained).then_some(at)
        })
    }
}

/// Returns the usual rate and its uncertainty: the rate from the first comparison to the last, or
/// that of the middle window if they differ, because the clock jumped in between. The uncertainty
/// of a window is that of its reads divided by its length.
pub(super) fn usual_rate(run: &[Comparison], uncertainty: f64) -> (f64, f64) {
    let rate = |first: &Comparison, last: &Comparison| {
        let passed = last.reference - first.reference;
        let uncertain = (first.uncertainty + last.uncertainty + uncertainty) / passed;
        (passed > 0.0).then(|| ((last.timer - first.timer) / passed, uncertain))
    };
    let windows: Vec<(f64, f64)> = run
        .windows(2)
        .filter_map(|pair| rate(&pair[0], &pair[1]))
        .collect();
    let middle =
        |figure: fn(&(f64, f64)) -> f64| median(windows.iter().map(figure).collect::<Vec<_>>());
    let Some(usual) = middle(|window| window.0).zip(middle(|window| window.1)) else {
        return (1.0, 0.0);
    };
    let whole = run
        .first()
        .zip(run.last())
        .and_then(|(first, last)| rate(first, last));
    whole
        .filter(|whole| (whole.0 - usual.0).abs() <= usual.1)
        .unwrap_or(usual)
}

pub(super) fn comparisons(case: &Case, raw: &[[i64; 3]]) -> Vec<Comparison> {
    let (Some(ns), reference_ns) = (case.profile.ns_per_tick, case.trace.reference.ns_per_tick)
    else {
        return Vec::new();
    };
    let Some(&[start, zero, _]) = raw.first() else {
        return Vec::new();
    };
    let comparison = |&[before, timer, after]: &[i64; 3]| {
        let since = |ticks: i64| ticks.wrapping_sub(start) as f64 * reference_ns;
        Comparison {
            reference: f64::midpoint(since(before), since(after)),
            timer: timer.wrapping_sub(zero) as f64 * ns,
            uncertainty: (since(after) - since(before)).max(0.0) / 2.0,
        }
    };
    raw.iter().map(comparison).collect()
}

/// Returns the run with the longest watched time.
pub(super) fn longest<'a>(runs: &[&'a Vec<Comparison>]) -> Option<&'a Vec<Comparison>> {
    let all = runs.iter().filter_map(|run| Some((*run, length(run)?)));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(run, _)| run)
}

/// Returns the watched time of a run, in nanoseconds.
pub(super) fn length(run: &[Comparison]) -> Option<f64> {
    Some(run.last()?.reference - run.first()?.reference).filter(|length| *length > 0.0)
}
