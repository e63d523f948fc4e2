//! Selects the clocks that get further processes after the rounds: those whose Quality has the
//! widest interval, as long as more processes can make it narrow enough.

use crate::plan::Plan;
use estimators::model::Hertz;
use estimators::scoring::RunningScore;
use estimators::trace::Trace;

/// The Quality of a clock so far, and the number of processes that it comes from.
pub(super) struct TimerScore {
    running_score: RunningScore,
    runs: usize,
}

/// Returns whether a timer should get more processes. `scatter` is half the width of the interval
/// of its Quality after `runs` processes, without the part that more processes do not reduce, and
/// `affordable` is the number of further processes that the remaining time allows. `scatter` has to
/// exceed the target of the plan. Unless the plan insists, the processes that are still allowed
/// also have to be enough to reach the target; `scatter` falls with the square root of their
/// number.
pub fn is_worth_continuing(scatter: f64, runs: usize, affordable: f64, plan: &Plan) -> bool {
    let ratio = scatter / plan.precision;
    let allowed = f64::from(plan.max_processes).min(runs as f64 + affordable);
    ratio > 1.0 && (plan.insists || runs as f64 * ratio * ratio <= allowed)
}

impl TimerScore {
    /// Begins with these observations, whose processes agree on this tick, at a frequency of the core in
    /// hertz.
    pub(super) fn begin(stored: &Trace, tick: Option<(f64, f64)>, hertz: f64) -> Option<Self> {
        let trace = Trace {
            ns_per_tick: tick.map(|(ns, _)| ns),
            core_hz: Hertz::new(hertz),
            ..stored.clone()
        };
        Some(Self {
            running_score: RunningScore::from_trace(&trace, hertz)?,
            runs: stored.runs.len(),
        })
    }

    /// Adds the latest run, if it was not added yet.
    pub(super) fn update(&mut self, stored: &Trace, tick: Option<(f64, f64)>, hertz: f64) {
        if stored.runs.len() > self.runs {
            self.runs = stored.runs.len();
            self.running_score.add(&Trace {
                ns_per_tick: tick.map(|(ns, _)| ns),
                core_hz: Hertz::new(hertz),
                reference: stored.reference.clone(),
                calls_reference: stored.calls_reference.clone(),
                runs: stored.runs.last().cloned().into_iter().collect(),
                ..Trace::default()
            });
        }
    }

    /// Returns how wide the interval is if the clock should get further processes, of which the remaining
    /// time allows as many as are `affordable`.
    pub(super) fn excess_width(&self, stored: &Trace, affordable: f64, plan: &Plan) -> Option<f64> {
        let scatter = self.running_score.scatter();
        let processes = self.runs as u32 + stored.discarded;
        let is_wide = processes < plan.max_processes
            && is_worth_continuing(scatter, self.runs, affordable, plan);
        is_wide.then_some(scatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_timers_beyond_reach() {
        let plan = Plan {
            precision: 0.005,
            max_processes: 120,
            insists: false,
            ..Plan::DEFAULT
        };
        let insisting = Plan {
            insists: true,
            ..plan
        };
        assert!(
            !is_worth_continuing(0.005, 25, f64::INFINITY, &plan),
            "the target is reached"
        );
        assert!(
            is_worth_continuing(0.0109, 25, f64::INFINITY, &plan),
            "119 processes reach the target"
        );
        assert!(
            !is_worth_continuing(0.0111, 25, f64::INFINITY, &plan),
            "123 processes are needed, 120 are allowed"
        );
        assert!(
            !is_worth_continuing(0.0109, 25, 50.0, &plan),
            "the time allows 75 processes"
        );
        assert!(is_worth_continuing(0.5, 25, 1.0, &insisting));
    }
}
