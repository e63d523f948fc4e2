//! Sampling that goes where the uncertainty is: after the rounds, further processes are started for
//! those timers whose Quality the processes agree on least, until each is known well enough or the
//! time is used.

use std::time::Duration;

use super::subject::Subject;
use crate::campaign::sampling::Plan;
use crate::parallel;
use crate::scoring::Sketch;
use crate::trace::{Stored, Trace};

/// Of the frequency of the core nothing but Quality in cycles depends; where it is not seen, that
/// of a usual core does.
const USUAL_HERTZ: f64 = 3e9;

/// What is known of a timer that may be asked again.
struct KnownTimer {
    sketch: Sketch,
    runs: usize,
}

impl KnownTimer {
    fn from_stored(stored: &Stored, ns_per_tick: Option<f64>, hertz: f64) -> Option<Self> {
        let trace = Trace {
            ns_per_tick,
            core_hz: Some(hertz),
            ..stored.open()
        };
        Some(Self {
            sketch: Sketch::from_trace(&trace, hertz)?,
            runs: stored.runs.len(),
        })
    }

    /// Looks at the process that came last, if there is a new one.
    fn update(&mut self, subject: &Subject, hertz: f64) {
        let Ok(stored) = &subject.outcome else { return };
        if stored.runs.len() > self.runs {
            self.runs = stored.runs.len();
            let trace = stored.open_last();
            self.sketch.add(&Trace {
                ns_per_tick: subject.tick().map(|(ns, _)| ns),
                core_hz: Some(hertz),
                ..trace
            });
        }
    }
}

/// Whether more processes are worth it for a timer whose `runs` processes leave an uncertainty of
/// `scatter`: it is more than the plan asks for, and where the plan does not insist, those that the
/// timer may have would come close enough. Time affords `affordable` more of them.
#[must_use]
pub fn goes_on(scatter: f64, runs: usize, affordable: f64, plan: &Plan) -> bool {
    let times = scatter / plan.precision;
    let most = f64::from(plan.most_processes).min(runs as f64 + affordable);
    times > 1.0 && (plan.insists || runs as f64 * times * times <= most)
}

/// What is known of all timers while they are narrowed.
pub(super) struct Narrowing {
    known: Vec<Option<KnownTimer>>,
    hertz: f64,
    /// How many more processes time affords.
    affordable: f64,
}

impl Narrowing {
    /// Of what was observed so far.
    pub(super) fn new(subjects: &[Subject], hertz: Option<f64>) -> Self {
        let hertz = hertz.unwrap_or(USUAL_HERTZ);
        let stored: Vec<(Option<&Stored>, Option<f64>)> = subjects
            .iter()
            .map(|subject| {
                (
                    subject.outcome.as_ref().ok(),
                    subject.tick().map(|(ns, _)| ns),
                )
            })
            .collect();
        // Nothing is measured meanwhile.
        let known = parallel::mapped(&stored, |(stored, tick)| {
            KnownTimer::from_stored((*stored)?, *tick, hertz)
        });
        Self {
            known,
            hertz,
            affordable: f64::INFINITY,
        }
    }

    /// Nothing more is to be had of that timer.
    pub(super) fn give_up(&mut self, index: usize) {
        self.known[index] = None;
    }

    /// Looks at the last processes of those that were asked again.
    pub(super) fn update(&mut self, subjects: &[Subject], again: &[usize]) {
        for &index in again {
            if let Some(known) = &mut self.known[index] {
                known.update(&subjects[index], self.hertz);
            }
        }
    }

    /// A process took so long, of what was left.
    pub(super) fn afford(&mut self, left: Duration, taken: Duration) {
        self.affordable = left.as_secs_f64() / taken.as_secs_f64().max(1e-6);
    }

    /// Timers whose interval is still too wide and that may be asked again, the widest first; those
    /// left out that will not come close enough by the processes that they may have.
    pub(super) fn wide(&self, subjects: &[Subject], plan: &Plan) -> Vec<usize> {
        let may = |index: usize| {
            let stored = subjects[index].outcome.as_ref().ok();
            stored.is_some_and(|stored| {
                (stored.runs.len() as u32 + stored.discarded) < plan.most_processes
            })
        };
        let known = self
            .known
            .iter()
            .enumerate()
            .filter_map(|(index, known)| Some((index, known.as_ref()?)));
        let mut wide: Vec<(usize, f64)> = known
            .filter(|(index, known)| {
                may(*index) && goes_on(known.sketch.scatter(), known.runs, self.affordable, plan)
            })
            .map(|(index, known)| (index, known.sketch.scatter()))
            .collect();
        wide.sort_by(|a, b| b.1.total_cmp(&a.1));
        wide.into_iter().map(|(index, _)| index).collect()
    }
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
