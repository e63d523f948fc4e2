//! Selects the timers that get further processes after the rounds: those whose Quality has the
//! widest interval, as long as more processes can make it narrow enough.

use std::time::Duration;

use super::ClockContender;
use crate::campaign::sampling::CampaignPlan;
use estimators::model::Hertz;
use estimators::scoring::RunningScore;
use estimators::trace::{StoredTrace, Trace};
use reporting::parallel;

/// Core frequency that is assumed if it was not observed, in hertz. It affects only the Quality in
/// cycles.
const ASSUMED_HERTZ: f64 = 3e9;

/// The Quality of a timer so far, and the number of processes that it comes from.
struct TimerScore {
    running_score: RunningScore,
    runs: usize,
}

/// Returns whether a timer should get more processes. `scatter` is half the width of the interval
/// of its Quality after `runs` processes, without the part that more processes do not reduce, and
/// `affordable` is the number of further processes that the remaining time allows. `scatter` has to
/// exceed the target of the plan. Unless the plan insists, the processes that are still allowed
/// also have to be enough to reach the target; `scatter` falls with the square root of their
/// number.
pub fn is_worth_continuing(
    scatter: f64,
    runs: usize,
    affordable: f64,
    plan: &CampaignPlan,
) -> bool {
    let ratio = scatter / plan.precision;
    let allowed = f64::from(plan.max_processes).min(runs as f64 + affordable);
    ratio > 1.0 && (plan.insists || runs as f64 * ratio * ratio <= allowed)
}

/// The Quality of all timers while further processes narrow its intervals.
pub(super) struct Narrowing {
    /// The Quality of each timer; `None` if the timer is not measured any more.
    known: Vec<Option<TimerScore>>,
    /// The frequency of the core, in hertz.
    hertz: f64,
    /// Further processes that the remaining time allows.
    affordable: f64,
}

impl Narrowing {
    /// Starts from the observations so far. `hertz` is the frequency of the core, if known.
    pub(super) fn new(subjects: &[ClockContender], hertz: Option<f64>) -> Self {
        let hertz = hertz.unwrap_or(ASSUMED_HERTZ);
        let observed: Vec<Option<(&StoredTrace, Option<f64>)>> = (subjects.iter())
            .map(|subject| Some((subject.stored()?, ns_per_tick(subject))))
            .collect();
        // No timer is being measured now, so all CPUs may be used.
        let known = parallel::map(&observed, |observed| {
            let (stored, ns_per_tick) = (*observed)?;
            let trace = Trace {
                ns_per_tick,
                core_hz: Hertz::new(hertz),
                ..stored.open()
            };
            Some(TimerScore {
                running_score: RunningScore::from_trace(&trace, hertz)?,
                runs: stored.runs.len(),
            })
        });
        Self {
            known,
            hertz,
            affordable: f64::INFINITY,
        }
    }

    /// Excludes a timer from further processes.
    pub(super) fn exclude(&mut self, index: usize) {
        self.known[index] = None;
    }

    /// Adds the observations of the latest process to the Quality of the timers with these indices.
    pub(super) fn update(&mut self, subjects: &[ClockContender], indices: &[usize]) {
        for &index in indices {
            let subject = &subjects[index];
            if let (Some(known), Some(stored)) = (&mut self.known[index], subject.stored())
                && stored.runs.len() > known.runs
            {
                known.runs = stored.runs.len();
                known.running_score.add(&Trace {
                    ns_per_tick: ns_per_tick(subject),
                    core_hz: Hertz::new(self.hertz),
                    ..stored.unpack_last()
                });
            }
        }
    }

    /// Limits further processes to those that fit into the `remaining` time if each takes as long
    /// as `process`.
    pub(super) fn limit_processes(&mut self, remaining: Duration, process: Duration) {
        self.affordable = remaining.as_secs_f64() / process.as_secs_f64().max(1e-6);
    }

    /// Returns the indices of the timers that should get further processes, the one with the widest
    /// interval first.
    pub(super) fn select_wide(
        &self,
        subjects: &[ClockContender],
        plan: &CampaignPlan,
    ) -> Vec<usize> {
        let mut wide: Vec<(usize, f64)> = Vec::new();
        for (index, (known, subject)) in self.known.iter().zip(subjects).enumerate() {
            let (Some(known), Some(stored)) = (known, subject.stored()) else {
                continue;
            };
            let (scatter, processes) = (
                known.running_score.scatter(),
                known.runs as u32 + stored.discarded,
            );
            if processes < plan.max_processes
                && is_worth_continuing(scatter, known.runs, self.affordable, plan)
            {
                wide.push((index, scatter));
            }
        }
        wide.sort_by(|a, b| b.1.total_cmp(&a.1));
        wide.into_iter().map(|(index, _)| index).collect()
    }
}

/// Returns the nanoseconds per tick of a timer that its processes agree on.
fn ns_per_tick(subject: &ClockContender) -> Option<f64> {
    let agreed = subject.outcome.as_ref().ok()?.agreed_tick();
    agreed.map(|(ns, _)| ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_timers_beyond_reach() {
        let plan = CampaignPlan {
            precision: 0.005,
            max_processes: 120,
            insists: false,
            ..CampaignPlan::DEFAULT
        };
        let insisting = CampaignPlan {
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
