//! Finds jumps and freezes of a timer in its comparisons with the reference. A *run* is a list of
//! successive comparisons; a *window* is the time between two of them.

use crate::model::MAX_SLEW;
use crate::rate::line::{Reading, Slope};
use crate::trust::Case;

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
    pub fn check_windows(&mut self, run: &[Reading], expected: &Expected) -> f64 {
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
    /// The usual rate of the timer relative to the reference. Whether it is wrong is judged
    /// separately.
    pub rate: Slope,
    /// The largest error from the steps of both clocks.
    pub uncertainty: f64,
    /// The largest lateness after which the timer may catch up.
    pub max_late_ns: f64,
}

impl Expected {
    /// Returns two times in nanoseconds: by how much more the timer moved between two comparisons
    /// than at its usual rate, and the largest difference that errors and slewing explain.
    fn excess(&self, first: Reading, last: Reading) -> (f64, f64) {
        let (passed, moved) = (last.time - first.time, last.clock - first.clock);
        let explained = 2.0 * (first.error + last.error + self.uncertainty)
            + (2.0 * MAX_SLEW + self.rate.uncertainty) * passed.abs();
        (moved - self.rate.rate * passed, explained)
    }

    /// Returns whether a jump in the last window of a run only makes up for time that the timer
    /// lost in the windows before, a little in each of them.
    fn was_behind(&self, run: &[Reading]) -> bool {
        let [earlier @ .., before, after] = run else {
            return false;
        };
        earlier
            .iter()
            .rev()
            .take_while(|first| before.time - first.time <= self.max_late_ns)
            .any(|first| {
                let (lost, explained_before) = self.excess(*first, *before);
                let (excess, explained) = self.excess(*first, *after);
                lost < -explained_before / 2.0 && excess.abs() <= explained
            })
    }

    /// Returns the number of windows after which a timer that is behind in the first window has
    /// caught up. `None` if that takes longer than the allowed lateness.
    fn caught_up(&self, run: &[Reading]) -> Option<usize> {
        let (first, behind) = (*run.first()?, run.get(1)?.time);
        let later = run.iter().enumerate().skip(2);
        // The first comparison after the delay is used whenever it was made.
        later
            .enumerate()
            .take_while(|(nth, (_, last))| *nth == 0 || last.time - behind <= self.max_late_ns)
            .find_map(|(_, (at, last))| {
                let (excess, explained) = self.excess(first, *last);
                (excess.abs() <= explained).then_some(at)
            })
    }
}

/// Returns the usual rate of a run: the rate from the first comparison to the
/// last, or the median rate of all windows if that differs, because the clock then jumped.
/// `uncertainty`, in nanoseconds, is that of the steps of both clocks.
pub(super) fn usual_rate(run: &[Reading], uncertainty: f64) -> Slope {
    let windows = run
        .windows(2)
        .filter_map(|pair| pair[0].slope_to(&pair[1], uncertainty));
    let Some(usual) = Slope::median(&windows.collect::<Vec<_>>()) else {
        return Slope {
            rate: 1.0,
            uncertainty: 0.0,
        };
    };
    let ends = run.first().zip(run.last());
    let whole_run = ends.and_then(|(first, last)| first.slope_to(last, uncertainty));
    whole_run
        .filter(|whole_run| (whole_run.rate - usual.rate).abs() <= usual.uncertainty)
        .unwrap_or(usual)
}

/// Converts raw comparisons to nanoseconds. Empty if the tick of the timer is unknown.
pub(super) fn to_readings(case: &Case, raw: &[[i64; 3]]) -> Vec<Reading> {
    let to_ns = |ns| Reading::from_ticks(raw, case.trace.reference.ns_per_tick, ns);
    case.profile.ns_per_tick.map_or(Vec::new(), to_ns)
}

/// Returns the run with the longest watched time; `None` if no run has two comparisons.
pub(super) fn longest_run<'a>(runs: &[&'a Vec<Reading>]) -> Option<&'a Vec<Reading>> {
    runs.iter()
        .filter_map(|run| Some((*run, watched_ns(run)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(run, _)| run)
}

/// Returns the time from the first comparison of a run to the last, in nanoseconds; `None` if it is
/// not positive.
pub(super) fn watched_ns(run: &[Reading]) -> Option<f64> {
    Some(run.last()?.time - run.first()?.time).filter(|length| *length > 0.0)
}
