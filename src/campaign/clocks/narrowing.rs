//! Narrows intervals: after the rounds, starts further processes for the timers whose Quality the
//! processes agree on least, until each is known well enough or the time is used up.

use std::time::Duration;

use super::subject::Subject;
use crate::campaign::sampling::Plan;
use crate::parallel;
use crate::scoring::Sketch;
use crate::trace::{Stored, Trace};

/// Core frequency that is assumed if it was not observed, in hertz. Only Quality in cycles depends
/// on it.
const ASSUMED_HERTZ: f64 = 3e9;

/// The results of a timer that may be measured again, and the number of processes they come from.
struct KnownTimer {
    sketch: Sketch,
    runs: usize,
}

/// Returns whether more processes are worthwhile for a timer whose `runs` processes leave an
/// uncertainty of `scatter`: the uncertainty exceeds the target of the plan and, unless the plan
/// insists, the processes still allowed would reach the target. `affordable` is the number of
/// further processes that the remaining time allows.
#[must_use]
pub fn goes_on(scatter: f64, runs: usize, affordable: f64, plan: &Plan) -> bool {
    let times = scatter / plan.precision;
    let most = f64::from(plan.most_processes).min(runs as f64 + affordable);
    times > 1.0 && (plan.insists || runs as f64 * times * times <= most)
}

/// The results of all timers while their intervals are narrowed.
pub(super) struct Narrowing {
    known: Vec<Option<KnownTimer>>,
    hertz: f64,
    /// Further processes that the remaining time allows.
    affordable: f64,
}

impl Narrowing {
    /// Starts from the observations made so far.
    pub(super) fn new(subjects: &[Subject], hertz: Option<f64>) -> Self {
        let hertz = hertz.unwrap_or(ASSUMED_HERTZ);
        let observed: Vec<Option<(&Stored, Option<f64>)>> = (subjects.iter())
            .map(|subject| Some((subject.outcome.as_ref().ok()?, ns_per_tick(subject))))
            .collect();
        // Nothing is measured at this time, so all CPUs may be used.
        let known = parallel::mapped(&observed, |observed| {
            let (stored, ns_per_tick) = (*observed)?;
            let trace = Trace {
                ns_per_tick,
                core_hz: Some(hertz),
                ..stored.open()
            };
            Some(KnownTimer {
                sketch: Sketch::from_trace(&trace, hertz)?,
                runs: stored.runs.len(),
            })
        });
        Self {
            known,
            hertz,
            affordable: f64::INFINITY,
        }
    }

    /// Stops measuring this timer.
    pub(super) fn give_up(&mut self, index: usize) {
        self.known[index] = None;
    }

    /// Adds the latest process of each timer in `again`.
    pub(super) fn update(&mut self, subjects: &[Subject], again: &[usize]) {
        for &index in again {
            let subject = &subjects[index];
            if let (Some(known), Ok(stored)) = (&mut self.known[index], &subject.outcome)
                && stored.runs.len() > known.runs
            {
                known.runs = stored.runs.len();
                known.sketch.add(&Trace {
                    ns_per_tick: ns_per_tick(subject),
                    core_hz: Some(self.hertz),
                    ..stored.open_last()
                });
            }
        }
    }

    /// Updates the number of affordable processes from the remaining time and the time of one
    /// process.
    pub(super) fn afford(&mut self, left: Duration, taken: Duration) {
        self.affordable = left.as_secs_f64() / taken.as_secs_f64().max(1e-6);
    }

    /// Returns the timers that may be measured again and whose interval is still too wide, the
    /// widest first. Leaves out timers that would not reach the target with the processes they are
    /// allowed.
    pub(super) fn wide(&self, subjects: &[Subject], plan: &Plan) -> Vec<usize> {
        let mut wide: Vec<(usize, f64)> = Vec::new();
        for (index, (known, subject)) in self.known.iter().zip(subjects).enumerate() {
            let (Some(known), Ok(stored)) = (known, &subject.outcome) else {
                continue;
            };
            let (scatter, asked) = (known.sketch.scatter(), known.runs as u32 + stored.discarded);
            if asked < plan.most_processes && goes_on(scatter, known.runs, self.affordable, plan) {
                wide.push((index, scatter));
            }
        }
        wide.sort_by(|a, b| b.1.total_cmp(&a.1));
        wide.into_iter().map(|(index, _)| index).collect()
    }
}

fn ns_per_tick(subject: &Subject) -> Option<f64> {
    subject.tick().map(|(ns, _)| ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_timers_beyond_reach() {
        let plan = Plan {
            precision: 0.005,
            most_processes: 120,
            insists: false,
            ..Plan::DEFAULT
        };
        let insisting = Plan {
            insists: true,
            ..plan
        };
        assert!(
            !goes_on(0.005, 25, f64::INFINITY, &plan),
            "it is close enough"
        );
        assert!(
            goes_on(0.0109, 25, f64::INFINITY, &plan),
            "119 processes do"
        );
        assert!(
            !goes_on(0.0111, 25, f64::INFINITY, &plan),
            "123 would do, 120 it may have"
        );
        assert!(
            !goes_on(0.0109, 25, 50.0, &plan),
            "75 are all that there is time for"
        );
        assert!(goes_on(0.5, 25, 1.0, &insisting));
    }
}
