//! Comparisons of a timer with its reference, and what the windows between them show of jumps and
//! freezes.

use super::SLEW;
use crate::statistics::median;
use crate::trust::Case;

/// The timer was read at this time of the reference, give or take; both in nanoseconds from their
/// beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    pub reference: f64,
    pub timer: f64,
    pub uncertainty: f64,
}

/// Windows that disagree by more than can be explained.
#[derive(Default)]
pub(super) struct FoundInWindows {
    pub jumps: u32,
    pub freezes: u32,
    pub largest_jump: f64,
    pub largest_freeze: f64,
    /// Windows at whose end it was behind, and caught up soon after.
    pub late: u32,
    pub latest: f64,
}

impl FoundInWindows {
    /// Of those that are reported: jumps, if there are any.
    pub fn largest(&self) -> f64 {
        if self.jumps > 0 {
            self.largest_jump
        } else {
            self.largest_freeze
        }
    }

    /// Intervals that hardly moved though much work was done in them: interruptions only make them
    /// longer, so the clock stood still meanwhile. Some runtimes compile the work anew and do it
    /// several times as fast, but not a hundred times.
    pub fn look_at_work(&mut self, case: &Case) {
        /// Work is that many steps long at least.
        /// *Judgement*: runtimes do work several times as fast, not a hundred times.
        const STEPS: f64 = 200.0;
        /// What a clock that stands still may show all the same, in steps.
        /// *Judgement*.
        const STILL: f64 = 2.0;
        let (Some(step), Some(ns)) = (case.step_ns(), case.profile.ns_per_tick) else {
            return;
        };
        let shortest = (STEPS * step).max(1_000.0);
        for group in case.trace.runs.iter().flat_map(|run| &run.intervals) {
            let expected = group.work as f64 * case.trace.reference.ns_per_work;
            for &delta in group.deltas.iter().filter(|&&delta| delta >= 0) {
                let missing = expected - delta as f64 * ns;
                if expected >= shortest && delta as f64 * ns <= STILL * step {
                    self.freezes += 1;
                    self.largest_freeze = self.largest_freeze.max(missing);
                }
            }
        }
    }

    /// Looks at all windows of a run. Returns how long a jump in the worst of them may be and stay
    /// within what is explained, whatever else moved the other way.
    pub fn look(&mut self, run: &[Comparison], expected: &Expected) -> f64 {
        let (mut at, mut hidden) = (0, 0.0_f64);
        while let Some(window) = run.get(at..at + 2) {
            let (off, explained) = expected.off(window[0], window[1]);
            // Late by this, if after all comparisons nothing was lost.
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

    /// What is reported hides nothing.
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

/// What is expected of a timer from one comparison to another; all but rates in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// Its usual rate, and what that is known to. A rate that is off is reported as such; here counts
    /// what differs from it.
    pub rate: (f64, f64),
    /// What the steps of both cut off.
    pub uncertainty: f64,
    /// How late it may be updated, if it catches up.
    pub latest: f64,
}

impl Expected {
    /// How much more the timer moved than its usual rate has it, and how much of that is explained.
    fn off(&self, first: Comparison, last: Comparison) -> (f64, f64) {
        let (passed, moved) = (last.reference - first.reference, last.timer - first.timer);
        let explained = 2.0 * (first.uncertainty + last.uncertainty + self.uncertainty)
            + (2.0 * SLEW + self.rate.1) * passed.abs();
        (moved - self.rate.0 * passed, explained)
    }

    /// A jump at the end of a run catches up with what was lost before, by less in each window than
    /// is explained.
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

    /// After how many comparisons a timer that is behind has lost nothing, if that is so within the
    /// time that it may be late.
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

/// The usual rate, and what it is known to: that from the first comparison to the last, unless it
/// is not what the middle window has, because something leapt in between. A short window knows its
/// rate to within its uncertainty over its length.
pub(super) fn usual_rate(run: &[Comparison], uncertainty: f64) -> (f64, f64) {
    let of = |first: &Comparison, last: &Comparison| {
        let passed = last.reference - first.reference;
        let uncertain = (first.uncertainty + last.uncertainty + uncertainty) / passed;
        (passed > 0.0).then(|| ((last.timer - first.timer) / passed, uncertain))
    };
    let windows: Vec<(f64, f64)> = run
        .windows(2)
        .filter_map(|pair| of(&pair[0], &pair[1]))
        .collect();
    let middle =
        |figure: fn(&(f64, f64)) -> f64| median(windows.iter().map(figure).collect::<Vec<_>>());
    let Some(usual) = middle(|window| window.0).zip(middle(|window| window.1)) else {
        return (1.0, 0.0);
    };
    let whole = run
        .first()
        .zip(run.last())
        .and_then(|(first, last)| of(first, last));
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
    let of = |&[before, timer, after]: &[i64; 3]| {
        let since = |ticks: i64| ticks.wrapping_sub(start) as f64 * reference_ns;
        Comparison {
            reference: f64::midpoint(since(before), since(after)),
            timer: timer.wrapping_sub(zero) as f64 * ns,
            uncertainty: (since(after) - since(before)).max(0.0) / 2.0,
        }
    };
    raw.iter().map(of).collect()
}

/// The run that was watched for longest.
pub(super) fn longest<'a>(runs: &[&'a Vec<Comparison>]) -> Option<&'a Vec<Comparison>> {
    let all = runs.iter().filter_map(|run| Some((*run, length(run)?)));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(run, _)| run)
}

/// How long a run watched, in nanoseconds.
pub(super) fn length(run: &[Comparison]) -> Option<f64> {
    Some(run.last()?.reference - run.first()?.reference).filter(|length| *length > 0.0)
}
