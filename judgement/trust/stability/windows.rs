//! Finds jumps and freezes: windows between two successive comparisons in which the timer advanced
//! by more, or by less, than rate, error and steps explain.

use super::MAX_LATE_STEPS;
use crate::model::MAX_SLEW;
use crate::rate::line::{Reading, Slope};
use crate::trust::Case;

/// The jumps and freezes of a timer.
#[derive(Default)]
pub(super) struct Found {
    pub jumps: u32,
    pub freezes: u32,
    largest_jump_ns: f64,
    largest_freeze_ns: f64,
}

/// The expected movement of a timer between comparisons, in nanoseconds.
pub(super) struct Expected {
    /// The usual rate relative to the reference. Whether it is wrong is judged separately.
    pub rate: Slope,
    /// Whether that is the highest rate, so that the timer may move by less.
    pub is_limit: bool,
    /// The largest error from the steps of both clocks.
    pub steps_ns: f64,
    /// The step of the timer.
    pub step_ns: f64,
}

impl Found {
    /// Returns the largest jump, or the largest freeze if there are no jumps, in nanoseconds.
    pub fn largest_ns(&self) -> Option<f64> {
        match (self.jumps, self.freezes) {
            (0, 0) => None,
            (0, _) => Some(self.largest_freeze_ns),
            _ => Some(self.largest_jump_ns),
        }
    }

    fn count(&mut self, excess_ns: f64) {
        let (number, largest) = if excess_ns > 0.0 {
            (&mut self.jumps, &mut self.largest_jump_ns)
        } else {
            (&mut self.freezes, &mut self.largest_freeze_ns)
        };
        *number += 1;
        *largest = largest.max(excess_ns.abs());
    }

    /// Checks all windows of a run. Returns the size, in nanoseconds, up to which a jump may have
    /// remained undetected in some window, even if an error in the other direction hid it.
    pub fn check_windows(&mut self, run: &[Reading], expected: &Expected) -> f64 {
        let mut undetected_ns = 0.0_f64;
        for at in 1..run.len() {
            let (excess, explained) = expected.excess(run[at - 1], run[at]);
            let counts = excess.abs() > explained
                && !(expected.is_limit && excess < 0.0)
                && !expected.is_late(run, at, excess);
            if counts {
                self.count(excess);
            }
            let hidden = if counts { 0.0 } else { excess.abs() };
            undetected_ns = undetected_ns.max(explained + hidden);
        }
        undetected_ns
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
        for group in case.trace.runs.iter().flat_map(|run| &run.intervals) {
            let expected = group.work as f64 * case.trace.reference.ns_per_work;
            if expected < (MIN_WORK_STEPS * step).max(1_000.0) {
                continue;
            }
            let moved = group.deltas.iter().map(|&delta| delta as f64 * ns);
            moved
                .filter(|moved| (0.0..=MAX_STILL_STEPS * step).contains(moved))
                .for_each(|moved| self.count(moved - expected));
        }
    }
}

impl Expected {
    /// Returns two times in nanoseconds: by how much more the timer moved between two comparisons
    /// than at its usual rate, and the largest difference that errors and slewing explain.
    fn excess(&self, first: Reading, last: Reading) -> (f64, f64) {
        let (passed, moved) = (last.time - first.time, last.clock - first.clock);
        let explained = 2.0 * (first.error + last.error + self.steps_ns)
            + (2.0 * MAX_SLEW + self.rate.uncertainty) * passed.abs();
        (moved - self.rate.rate * passed, explained)
    }

    /// Returns whether an update that came late explains the excess in the window that ends at
    /// comparison `at`: a later comparison shows that the timer caught up, or an earlier one that
    /// it was behind before. No comparison shows this beyond the ends of a run.
    fn is_late(&self, run: &[Reading], at: usize, excess_ns: f64) -> bool {
        let max_late_ns = MAX_LATE_STEPS * self.step_ns;
        let [earliest, latest] = [run[at - 1].time - max_late_ns, run[at].time + max_late_ns];
        // The nearest comparison is used whenever it was made.
        let from = run.partition_point(|reading| reading.time < earliest);
        let from = from.min(at.saturating_sub(2));
        let to = run.partition_point(|reading| reading.time <= latest);
        let to = to.max(at + 2).min(run.len());
        let (firsts, lasts) = if excess_ns < 0.0 {
            (&run[from..at], &run[at + 1..to])
        } else {
            (&run[from..at - 1], &run[at..=at])
        };
        let explains = |first: &Reading, last: &Reading| {
            let (excess, explained) = self.excess(*first, *last);
            excess.abs() <= explained
        };
        let is_end = firsts.is_empty() || lasts.is_empty();
        let explained = |first| lasts.iter().any(|last| explains(first, last));
        excess_ns.abs() <= max_late_ns && (is_end || firsts.iter().any(explained))
    }
}

/// Returns the usual rate of a run: the rate from the first comparison to the last, or the median
/// rate of all windows if that differs, because the clock then jumped. `steps_ns` is the largest
/// error from the steps of both clocks.
pub(super) fn usual_rate(run: &[Reading], steps_ns: f64) -> Slope {
    let slope = |pair: &[Reading]| pair[0].slope_to(&pair[1], steps_ns);
    let windows: Vec<Slope> = run.windows(2).filter_map(slope).collect();
    let usual = Slope::median(&windows).unwrap_or(Slope {
        rate: 1.0,
        uncertainty: 0.0,
    });
    let ends = run.first().zip(run.last());
    ends.and_then(|(first, last)| first.slope_to(last, steps_ns))
        .filter(|whole_run| (whole_run.rate - usual.rate).abs() <= usual.uncertainty)
        .unwrap_or(usual)
}
