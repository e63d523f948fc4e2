//! Finds jumps and freezes: windows between two successive comparisons in which the timer advanced
//! by more, or by less, than rate, error and steps explain.

use estimators::model::MAX_SLEW;
use estimators::rate::line::{Reading, Slope};

/// Largest number of steps by which the update of a clock may be late. A clock that the timer
/// interrupt updates is late if the CPU that handles the interrupt does not run; the clock then
/// catches up, and no time is lost.
/// *Judgement*: ten ticks of 4 ms are as long as hypervisors that share CPUs keep one from running.
const MAX_LATE_STEPS: f64 = 10.0;

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

impl Expected {
    /// Adds the jumps of a run to those `found`, and its freezes as negative ones. Returns the size,
    /// in nanoseconds, up to which a jump may have remained undetected in some window, even if an
    /// error in the other direction hid it.
    pub fn deviations(&self, run: &[Reading], found: &mut Vec<f64>) -> f64 {
        let mut undetected_ns = 0.0_f64;
        for at in 1..run.len() {
            let (excess, mut explained) = self.excess(run[at - 1], run[at]);
            let may_lag = self.is_limit && excess < 0.0;
            if excess.abs() > explained && !may_lag && !self.is_late(run, at, excess) {
                found.push(excess);
            } else {
                explained += excess.abs();
            }
            undetected_ns = undetected_ns.max(explained);
        }
        undetected_ns
    }

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
/// error from the steps of both clocks. `None` without windows.
pub(super) fn usual_rate(run: &[Reading], steps_ns: f64) -> Option<Slope> {
    let slope = |pair: &[Reading]| pair[0].slope_to(&pair[1], steps_ns);
    let windows: Vec<Slope> = run.windows(2).filter_map(slope).collect();
    let median = Slope::median(&windows)?;
    run.first()?
        .slope_to(run.last()?, steps_ns)
        .filter(|whole| (whole.rate - median.rate).abs() <= median.uncertainty)
        .or(Some(median))
}
