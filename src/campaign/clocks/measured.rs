//! The observations of a clock, and what decides about its further processes.

use timers::Fault;

use crate::agents::protocol::AgentTimer;
use crate::campaign::contender::Contender;
use crate::campaign::slow_clocks::SlowResult;
use crate::campaign::unless_interrupted;
use estimators::figures::{MIN_PROCESSES, resolution};
use estimators::model::{Core, Hertz};
use estimators::rate::{self, Rate};
use estimators::resolution::{Step, UNEVEN_STEPS};
use estimators::trace::{Observations, Reference, StoredTrace};
use probe::prober::Search;

/// The observations of a clock, with counts of its processes.
#[derive(Clone, Debug, Default)]
pub struct MeasuredClock {
    /// The observations.
    pub stored: StoredTrace,
    /// Number of processes that measured only this timer.
    pub(super) own_processes: u32,
    /// Number of runs that had their core to themselves.
    alone: usize,
    /// What undisturbed processes, of its own or brief, found that searched for the step.
    pub(super) searches: Vec<Search>,
    /// What disturbed processes of its own found.
    pub(super) disturbed_searches: Vec<Search>,
}

/// A clock with its observations.
pub type ClockContender = Contender<MeasuredClock>;

impl MeasuredClock {
    /// Begins the observations of a timer.
    pub(in crate::campaign) fn new(timer: &AgentTimer, reference: Reference) -> Self {
        Self {
            stored: StoredTrace {
                declared: timer.ns_per_tick.is_some(),
                reference,
                ..StoredTrace::default()
            },
            ..Self::default()
        }
    }

    /// Returns whether most undisturbed searches found the steps of the timer too long to search
    /// for. Such a timer is watched as a slow timer.
    pub(super) fn is_slow(&self) -> bool {
        2 * self.searches.iter().filter(|found| found.slow).count() > self.searches.len()
    }

    /// Returns whether every undisturbed search so far, of at least one, found the steps too long.
    /// Further processes need not search, because they would give up at the same length of work.
    pub(super) fn is_found_slow(&self) -> bool {
        !self.searches.is_empty() && self.searches.iter().all(|found| found.slow)
    }

    /// Adds a run. `full_width` is the width of a core that no other thread uses, if known.
    pub(super) fn add_run(&mut self, run: Observations, full_width: Option<f64>) {
        self.alone += usize::from(run.core(full_width) == Core::Alone);
        self.stored.add(run);
    }

    /// Returns whether too few of its runs had their core to themselves to leave out the others.
    pub(super) fn lacks_undisturbed(&self) -> bool {
        self.alone < MIN_PROCESSES
    }

    /// Gives the reference its final rate, and scales the times that were computed from its earlier
    /// rate: the time of a unit of work and, unless the timer declares its tick, the length of a
    /// tick that each process found.
    pub(super) fn rescale(&mut self, rate: Rate) {
        let StoredTrace {
            reference,
            declared,
            ..
        } = &mut self.stored;
        let factor = rate.ns_per_tick / reference.ns_per_tick;
        reference.ns_per_tick = rate.ns_per_tick;
        reference.ns_per_work *= factor;
        reference.rate_uncertainty = rate.uncertainty;
        reference.unexplained_deviation_ns = rate.unexplained_deviation_ns;
        if !*declared {
            self.searches
                .iter_mut()
                .chain(&mut self.disturbed_searches)
                .filter_map(|found| found.ns_per_tick.as_mut())
                .for_each(|ns| *ns *= factor);
        }
    }

    /// Returns the nanoseconds per tick that the undisturbed processes agree on, and their relative
    /// uncertainty. `None` if no process found them.
    pub(super) fn agreed_tick(&self) -> Option<(f64, f64)> {
        let ticks_ns = self.searches.iter().filter_map(|found| found.ns_per_tick);
        rate::tick_over_processes(&ticks_ns.collect::<Vec<_>>())
    }

    /// Stores the length of a tick that the processes agree on, the frequency of the core in hertz,
    /// and its width when no other thread uses it. If too few processes were undisturbed, uses the
    /// disturbed ones too and marks the results.
    ///
    /// # Errors
    /// When too few processes were undisturbed and no disturbed run was kept.
    pub(super) fn store_agreed_results(
        &mut self,
        core_hz: Option<Hertz>,
        full_width: Option<f64>,
    ) -> Result<(), Fault> {
        // Disturbed brief processes are not counted, because there are many of them.
        let undisturbed = self.searches.len() as u32;
        if 3 * undisturbed < self.own_processes {
            // Results from a core that is always shared are still useful if they are marked. A
            // disturbed run is counted as discarded; it is set aside (kept, but unused) until here.
            if !self.stored.use_set_aside_runs() {
                let disturbed = self.own_processes - undisturbed;
                return Err(interference(&self.stored, disturbed, self.own_processes));
            }
            self.searches.append(&mut self.disturbed_searches);
        }
        let agreed = self.agreed_tick();
        let stored = &mut self.stored;
        stored.ns_per_tick = agreed.map(|(ns, _)| ns);
        let reference_uncertainty = if stored.declared {
            0.0
        } else {
            stored.reference.rate_uncertainty
        };
        stored.ns_per_tick_uncertainty = agreed
            .map_or(0.0, |(_, uncertainty)| uncertainty)
            .max(reference_uncertainty);
        (stored.core_hz, stored.full_width) = (core_hz, full_width);
        Ok(())
    }

    /// Adds the result of watching this timer as a slow timer.
    ///
    /// # Errors
    /// When the timer could not be watched.
    pub(super) fn add_slow_result(&mut self, result: SlowResult) -> Result<(), Fault> {
        let (intervals, moved) = result?;
        // Interruptions can make steps look uneven: a new series replaces such a one.
        if !self.stored.slow.is_empty() && is_uneven(&self.stored) {
            self.stored.slow.clear();
        }
        self.stored.slow.extend(intervals);
        self.stored.evidence.advances.extend(moved);
        Ok(())
    }
}

impl ClockContender {
    /// The observations; `None` if the timer failed.
    pub(super) fn stored(&self) -> Option<&StoredTrace> {
        Some(&self.outcome.as_ref().ok()?.stored)
    }

    /// The observations; `None` if the timer failed.
    pub(super) fn stored_mut(&mut self) -> Option<&mut StoredTrace> {
        Some(&mut self.outcome.as_mut().ok()?.stored)
    }

    /// Returns whether it is watched as a slow timer; see [`MeasuredClock::is_slow`].
    pub(super) fn is_slow(&self) -> bool {
        self.outcome.as_ref().is_ok_and(MeasuredClock::is_slow)
    }

    /// Changes the observations, unless the timer failed. If that fails, the timer failed.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn update(
        &mut self,
        change: impl FnOnce(&mut MeasuredClock) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if let Ok(measured) = &mut self.outcome
            && let Err(fault) = unless_interrupted(change(measured))?
        {
            self.outcome = Err(fault);
        }
        Ok(())
    }
}

/// Whether the intervals show steps of different lengths.
fn is_uneven(stored: &StoredTrace) -> bool {
    matches!(resolution(&stored.open()), Step::AtMost { reason, .. } if reason == UNEVEN_STEPS)
}

/// Returns the reason why a timer failed: `disturbed` of the `processes` that measured only this
/// timer were disturbed.
fn interference(stored: &StoredTrace, disturbed: u32, processes: u32) -> Fault {
    Fault::Refused(format!(
        "too much interference: {disturbed} of {processes} processes could not measure undisturbed ({}); stop other programs on \
         this machine or choose a quiet CPU with --cpu, and repeat with --thorough",
        stored.disturbances()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use estimators::trace::Differences;

    /// A clock with steps of 4 ms, of which interruptions hid some in the first series.
    #[test]
    fn new_series_replaces_uneven_one() {
        let series = |jumps: [i64; 4]| -> Vec<Differences> {
            let deltas = (0..96).map(|at| if at % 2 == 0 { 0 } else { jumps[at / 2 % 4] });
            let intervals = |delta| Differences {
                work: 1_000,
                deltas: [delta].into_iter().collect(),
            };
            deltas.map(intervals).collect()
        };
        for declared in [false, true] {
            let mut measured = MeasuredClock::default();
            measured.stored.declared = declared;
            let uneven = series([4_000_000, 5_700_000, 4_000_000, 9_100_000]);
            measured.add_slow_result(Ok((uneven, None))).unwrap();
            assert!(is_uneven(&measured.stored));
            let even = series([4_000_000; 4]);
            measured.add_slow_result(Ok((even, None))).unwrap();
            let step = resolution(&measured.stored.open());
            assert!(
                matches!(&step, Step::Resolved { step, .. } if step.value == 4e6),
                "{step:?}"
            );
        }
    }

    #[test]
    fn marks_results_of_shared_core() {
        let found = Search {
            ns_per_tick: Some(0.4),
            slow: false,
        };
        let mut measured = MeasuredClock {
            own_processes: 3,
            disturbed_searches: vec![found; 3],
            ..MeasuredClock::default()
        };
        (0..3).for_each(|_| measured.stored.set_aside(Observations::default()));
        measured.store_agreed_results(None, None).expect("results");
        let trace = measured.stored.open();
        assert_eq!(
            (trace.disturbed_runs, trace.runs.len(), trace.discarded),
            (3, 3, 0)
        );
        assert!(trace.set_aside.is_empty() && trace.runs.iter().all(|run| !run.is_calm()));
        assert_eq!(trace.ns_per_tick, Some(0.4));
    }

    #[test]
    fn disturbed_brief_processes_are_tolerated() {
        let found = Search {
            ns_per_tick: None,
            slow: false,
        };
        let discarded_runs = |own_processes: u32, searches: u32, brief: u32| {
            let mut measured = MeasuredClock {
                own_processes,
                searches: vec![found; searches as usize],
                ..MeasuredClock::default()
            };
            measured.stored.discarded = own_processes - searches + brief;
            let stored = measured.store_agreed_results(None, None);
            stored.map(|()| measured.stored.discarded)
        };
        assert_eq!(discarded_runs(3, 3, 22), Ok(22));
        assert_eq!(discarded_runs(3, 1, 22), Ok(24));
        let reason = discarded_runs(5, 1, 22).expect_err("one process of five");
        assert!(reason.to_string().contains("4 of 5 processes"), "{reason}");
    }
}
