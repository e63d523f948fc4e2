//! Finds jumps and freezes of a timer in its comparisons with the reference. A *run* is a list of
//! successive comparisons; a *window* is the time between two of them.

use crate::model::MAX_SLEW;
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

/// The windows in which a timer moved by more, or by less, than can be explained.
#[derive(Default)]
pub(super) struct FoundInWindows {
    pub jumps: u32,
    pub freezes: u32,
    pub largest_jump_ns: f64,
    pub largest_freeze_ns: f64,
    /// The number of windows at whose end the timer was behind but caught up soon after.
    pub late: u32,
    /// The largest time by which it was behind, in nanoseconds.
    pub latest_ns: f64,
}

impl FoundInWindows {
    /// Returns the largest jump, or the largest freeze if there are no jumps, in nanoseconds.
    pub fn largest_ns(&self) -> f64 {
        if self.jumps > 0 {
            self.largest_jump_ns
        } else {
            self.largest_freeze_ns
        }
    }

    /// Counts a freeze for each interval of long work in which the timer hardly moved.
    /// Interruptions do not explain this, because they only make intervals longer.
    pub fn check_work(&mut self, case: &Case) {
        /// Shortest work that is checked, in steps of the timer.
        /// *Judgement*: a runtime that recompiles the work may run it several times as fast, but
        /// not a hundred times.
        const MIN_WORK_STEPS: f64 = 200.0;
        /// Largest number of steps by which a timer may move and still count as standing still.
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
                    self.largest_freeze_ns = self.largest_freeze_ns.max(missing);
                }
            }
        }
    }

    /// Checks all windows of a run. Returns the size, in nanoseconds, up to which a jump may have
    /// remained undetected in some window, even if an error in the other direction hid it.
    pub fn check_windows(&mut self, run: &[Comparison], expected: &Expected) -> f64 {
        let (mut at, mut undetected_ns) = (0, 0.0_f64);
        while let Some(window) = run.get(at..at + 2) {
            let (excess, explained) = expected.excess(window[0], window[1]);
            // A timer that is behind may only be late: later comparisons then show that it caught
            // up. If it is ahead, earlier comparisons may show that it was late before. `late` is
            // the lateness in nanoseconds and the number of windows until the timer has caught up.
            let late = if excess.abs() <= explained || excess.abs() > expected.max_late_ns {
                None
            } else if excess < 0.0 {
                let windows = expected.caught_up(&run[at..]);
                windows.map(|windows| (-excess, windows))
            } else {
                expected.was_behind(&run[..at + 2]).then_some((excess, 1))
            };
            // No comparison shows whether the timer was late at the first one, or caught up after the
            // last one.
            let outer = if excess > 0.0 { 0 } else { run.len() - 2 };
            let may_be_late = at == outer && excess.abs() <= expected.max_late_ns;
            at += late.map_or(1, |(_, windows)| windows);
            undetected_ns = undetected_ns.max(match late {
                Some((late, _)) => self.count_late(late) + explained,
                None if excess.abs() <= explained || may_be_late => explained + excess.abs(),
                None => self.count_jump_or_freeze(excess) + explained,
            });
        }
        undetected_ns
    }

    /// Counts a late update, and returns the lateness, because it may hide a jump of that size.
    fn count_late(&mut self, late_ns: f64) -> f64 {
        self.late += 1;
        self.latest_ns = self.latest_ns.max(late_ns);
        late_ns
    }

    /// Counts a jump, or a freeze if the excess is negative. Returns 0, because nothing stays
    /// hidden.
    fn count_jump_or_freeze(&mut self, excess_ns: f64) -> f64 {
        if excess_ns > 0.0 {
            self.jumps += 1;
            self.largest_jump_ns = self.largest_jump_ns.max(excess_ns);
        } else {
            self.freezes += 1;
            self.largest_freeze_ns = self.largest_freeze_ns.max(-excess_ns);
        }
        0.0
    }
}

/// The expected movement of a timer between comparisons. All values except rates are in
/// nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The usual rate of the timer relative to the reference, and its uncertainty. Whether the
    /// usual rate is wrong is judged separately.
    pub rate: (f64, f64),
    /// The largest error from the steps of both clocks.
    pub uncertainty: f64,
    /// The largest lateness after which the timer may catch up.
    pub max_late_ns: f64,
}

impl Expected {
    /// Returns two times in nanoseconds: by how much more the timer moved between two comparisons
    /// than at its usual rate, and the largest difference that errors and slewing explain.
    fn excess(&self, first: Comparison, last: Comparison) -> (f64, f64) {
        let (passed, moved) = (last.reference - first.reference, last.timer - first.timer);
        let explained = 2.0 * (first.uncertainty + last.uncertainty + self.uncertainty)
            + (2.0 * MAX_SLEW + self.rate.1) * passed.abs();
        (moved - self.rate.0 * passed, explained)
    }

    /// Returns whether a jump in the last window of a run only makes up for time that the timer
    /// lost in the windows before, a little in each of them.
    fn was_behind(&self, run: &[Comparison]) -> bool {
        let [earlier @ .., before, after] = run else {
            return false;
        };
        let near = earlier
            .iter()
            .rev()
            .take_while(|first| before.reference - first.reference <= self.max_late_ns);
        near.into_iter().any(|first| {
            let (lost, explained_before) = self.excess(*first, *before);
            let (excess, explained) = self.excess(*first, *after);
            lost < -explained_before / 2.0 && excess.abs() <= explained
        })
    }

    /// Returns the number of windows after which a timer that is behind in the first window has
    /// caught up. `None` if that takes longer than the allowed lateness.
    fn caught_up(&self, run: &[Comparison]) -> Option<usize> {
        let (first, behind) = (*run.first()?, run.get(1)?.reference);
        let later = run.iter().enumerate().skip(2);
        // The first comparison after the delay is used whenever it was made.
        let mut soon = later.enumerate().take_while(|(nth, (_, last))| {
            *nth == 0 || last.reference - behind <= self.max_late_ns
        });
        soon.find_map(|(_, (at, last))| {
            let (excess, explained) = self.excess(first, *last);
            (excess.abs() <= explained).then_some(at)
        })
    }
}

/// Returns the usual rate of a run and its uncertainty: the rate from the first comparison to the
/// last, or the median rate of all windows if that differs, because the clock then jumped.
/// `uncertainty`, in nanoseconds, is that of the steps of both clocks.
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
    let median_of =
        |part: fn(&(f64, f64)) -> f64| median(windows.iter().map(part).collect::<Vec<_>>());
    let Some(usual) = median_of(|window| window.0).zip(median_of(|window| window.1)) else {
        return (1.0, 0.0);
    };
    let whole_run = run
        .first()
        .zip(run.last())
        .and_then(|(first, last)| rate(first, last));
    whole_run
        .filter(|whole_run| (whole_run.0 - usual.0).abs() <= usual.1)
        .unwrap_or(usual)
}

/// Converts raw comparisons to nanoseconds. Empty if the tick of the timer is unknown.
pub(super) fn to_comparisons(case: &Case, raw: &[[i64; 3]]) -> Vec<Comparison> {
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

/// Returns the run with the longest watched time; `None` if no run has two comparisons.
pub(super) fn longest_run<'a>(runs: &[&'a Vec<Comparison>]) -> Option<&'a Vec<Comparison>> {
    let all = runs.iter().filter_map(|run| Some((*run, watched_ns(run)?)));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(run, _)| run)
}

/// Returns the time from the first comparison of a run to the last, in nanoseconds; `None` if it is
/// not positive.
pub(super) fn watched_ns(run: &[Comparison]) -> Option<f64> {
    Some(run.last()?.reference - run.first()?.reference).filter(|length| *length > 0.0)
}
