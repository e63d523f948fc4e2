//! Selects the clocks that get further processes after the rounds: those whose Quality has the
//! widest interval, as long as more processes can make it narrow enough.

use super::clock::Clock;
use crate::campaign::plan::Plan;
use estimators::model::Hertz;
use estimators::scoring::RunningScore;
use estimators::trace::Trace;
use reporting::parallel;

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

/// Begins the Quality of these clocks, at this frequency of the core in hertz.
pub(super) fn begin_scores(clocks: &mut [&mut Clock], hertz: f64) {
    let observed: Vec<_> = (clocks.iter())
        .map(|clock| Some((clock.stored()?, clock.agreed_tick())))
        .collect();
    // No clock is being measured now, so all CPUs may be used.
    let scores = parallel::map(&observed, |observed| {
        let (stored, tick) = (*observed)?;
        let trace = Trace {
            ns_per_tick: tick.map(|(ns, _)| ns),
            core_hz: Hertz::new(hertz),
            ..stored.open()
        };
        Some(TimerScore {
            running_score: RunningScore::from_trace(&trace, hertz)?,
            runs: stored.runs.len(),
        })
    });
    for (clock, score) in clocks.iter_mut().zip(scores) {
        clock.score = score;
    }
}

impl Clock {
    /// Adds the latest run to the Quality, if it was not added yet.
    pub(super) fn update_score(&mut self, hertz: f64) {
        let tick = self.agreed_tick();
        if let (Some(score), Ok(stored)) = (&mut self.score, &self.outcome)
            && stored.runs.len() > score.runs
        {
            score.runs = stored.runs.len();
            score.running_score.add(&Trace {
                ns_per_tick: tick.map(|(ns, _)| ns),
                core_hz: Hertz::new(hertz),
                ..stored.unpack_last()
            });
        }
    }

    /// Returns how wide the interval of the Quality is if the clock should get further processes, of which
    /// the remaining time allows as many as are `affordable`.
    pub(super) fn excess_width(&self, affordable: f64, plan: &Plan) -> Option<f64> {
        let (score, stored) = (self.score.as_ref()?, self.stored()?);
        let scatter = score.running_score.scatter();
        let processes = score.runs as u32 + stored.discarded;
        let is_wide = processes < plan.max_processes
            && is_worth_continuing(scatter, score.runs, affordable, plan);
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
