//! A timer of the campaign, and its outcome: observations, or the reason why it failed.

use timers::Fault;

use crate::hosts::protocol::HostedTimer;

use crate::campaign::slow_clocks::SlowResult;
use crate::campaign::unless_interrupted;
use crate::model::Core;
use crate::prober::Search;
use crate::profile::{MIN_PROCESSES, resolution};
use crate::rate::{self, Rate};
use crate::resolution::{Resolution, UNEVEN_STEPS};
use crate::trace::{Run, StoredTrace};

/// A timer of the campaign and its outcome.
pub struct CampaignTimer {
    /// Index of the host of the timer.
    pub host: usize,
    /// The timer.
    pub timer: HostedTimer,
    /// The observations, or the reason why the timer failed.
    pub outcome: Result<StoredTrace, String>,
    /// Number of processes that measured only this timer.
    pub(super) own_processes: u32,
    /// Number of runs that had their core to themselves.
    alone: usize,
    /// Number of undisturbed processes, of its own or brief, that searched for the step of the
    /// timer.
    pub(super) searches: u32,
    /// Number of these processes that found the steps too long to search for.
    pub(super) slow_searches: u32,
    /// Nanoseconds per tick that each undisturbed process found.
    pub(super) ticks_ns: Vec<f64>,
    /// Number of disturbed processes that found the steps too long.
    pub(super) disturbed_slow_searches: u32,
    /// Nanoseconds per tick that each disturbed process found.
    pub(super) disturbed_ticks_ns: Vec<f64>,
}

impl CampaignTimer {
    /// Creates the entry of a timer that has not been measured.
    #[must_use]
    pub fn new(host: usize, timer: HostedTimer) -> Self {
        Self {
            host,
            timer,
            outcome: Ok(StoredTrace::default()),
            own_processes: 0,
            alone: 0,
            searches: 0,
            slow_searches: 0,
            ticks_ns: Vec::new(),
            disturbed_slow_searches: 0,
            disturbed_ticks_ns: Vec::new(),
        }
    }

    /// Returns whether most undisturbed searches found the steps of the timer too long to search
    /// for. Such a timer is watched as a slow timer. False if the timer failed.
    pub(super) fn is_slow(&self) -> bool {
        self.outcome.is_ok() && 2 * self.slow_searches > self.searches
    }

    /// Returns whether every undisturbed search so far, of at least one, found the steps too long.
    /// Further processes need not search, because they would give up at the same length of work.
    pub(super) fn is_found_slow(&self) -> bool {
        self.slow_searches > 0 && self.slow_searches == self.searches
    }

    /// Adds a run. `full_width` is the width of a core that no other thread uses, if known.
    pub(super) fn add_run(&mut self, run: Run, full_width: Option<f64>) {
        if let Ok(stored) = &mut self.outcome {
            self.alone += usize::from(run.core(full_width) == Core::Alone);
            stored.add(run);
        }
    }

    /// Returns whether too few of its runs had their core to themselves to leave out the others.
    pub(super) fn lacks_undisturbed(&self) -> bool {
        self.outcome.is_ok() && self.alone < MIN_PROCESSES
    }

    /// Adds the result of an undisturbed process that searched for the step.
    pub(super) fn add_search(&mut self, found: Search) {
        self.ticks_ns.extend(found.ns_per_tick);
        self.searches += 1;
        self.slow_searches += u32::from(found.slow);
    }

    /// Gives the reference its final rate, and scales the times that were computed from its earlier
    /// rate: the time of a unit of work and, unless the timer declares its tick, the length of a
    /// tick that each process found.
    pub(super) fn rescale(&mut self, rate: Rate) {
        let Ok(StoredTrace { reference, .. }) = &mut self.outcome else {
            return;
        };
        let factor = rate.ns_per_tick / reference.ns_per_tick;
        reference.ns_per_tick = rate.ns_per_tick;
        reference.ns_per_work *= factor;
        reference.rate_uncertainty = rate.uncertainty;
        reference.unexplained_deviation_ns = rate.unexplained_deviation_ns;
        if self.timer.ns_per_tick.is_none() {
            self.ticks_ns
                .iter_mut()
                .chain(&mut self.disturbed_ticks_ns)
                .for_each(|ns| *ns *= factor);
        }
    }

    /// Returns the nanoseconds per tick that the undisturbed processes agree on, and their relative
    /// uncertainty. `None` if no process found them.
    pub(super) fn agreed_tick(&self) -> Option<(f64, f64)> {
        rate::tick_over_processes(&self.ticks_ns)
    }

    /// Stores the length of a tick that the processes agree on, the frequency of the core in hertz,
    /// and its width when no other thread uses it. If too few processes were undisturbed, uses the disturbed ones too and marks the
    /// results; if no disturbed run was kept, the outcome becomes an error.
    pub(super) fn store_agreed_results(&mut self, core_hz: Option<f64>, full_width: Option<f64>) {
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        // Disturbed brief processes are not counted, because there are many of them.
        if 3 * self.searches < self.own_processes {
            // Results from a core that is always shared are still useful if they are marked. A
            // disturbed run is counted as discarded; it is set aside (kept, but unused) until here.
            if !stored.use_set_aside_runs() {
                let disturbed = self.own_processes - self.searches;
                let reason = describe_interference(stored, disturbed, self.own_processes);
                self.outcome = Err(reason);
                return;
            }
            // From here on, the disturbed processes of its own count as searches too.
            self.searches = self.own_processes;
            self.slow_searches += std::mem::take(&mut self.disturbed_slow_searches);
            self.ticks_ns.append(&mut self.disturbed_ticks_ns);
        }
        let agreed = self.agreed_tick();
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        stored.declared = self.timer.ns_per_tick.is_some();
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
    }

    /// Adds the result of watching this timer as a slow timer.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn add_slow_result(&mut self, result: SlowResult) -> Result<(), Fault> {
        let Ok(stored) = &mut self.outcome else {
            return Ok(());
        };
        match unless_interrupted(result)? {
            Ok((intervals, moved)) => {
                // Interruptions can make steps look uneven: a new series replaces such a one.
                if !stored.slow.is_empty() && is_uneven(stored) {
                    stored.slow.clear();
                }
                stored.slow.extend(intervals);
                stored.evidence.advances.extend(moved);
            }
            Err(fault) => self.outcome = Err(fault.to_string()),
        }
        Ok(())
    }
}

/// Whether the intervals show steps of different lengths.
fn is_uneven(stored: &StoredTrace) -> bool {
    matches!(resolution(&stored.open()), Resolution::AtMost { reason, .. } if reason == UNEVEN_STEPS)
}

/// Returns the reason why a timer failed: `disturbed` of the `processes` that measured only this
/// timer were disturbed.
fn describe_interference(stored: &StoredTrace, disturbed: u32, processes: u32) -> String {
    format!(
        "too much interference: {disturbed} of {processes} processes could not measure undisturbed ({}); stop other programs on \
         this machine or choose a quiet CPU with --cpu, and repeat with --thorough",
        stored.disturbances()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Intervals;

    /// A clock with steps of 4 ms, of which interruptions hid some in the first series.
    #[test]
    fn new_series_replaces_uneven_one() {
        let series = |jumps: [i64; 4]| -> Vec<Intervals> {
            let deltas = (0..96).map(|at| if at % 2 == 0 { 0 } else { jumps[at / 2 % 4] });
            let intervals = |delta| Intervals {
                work: 1_000,
                deltas: [delta].into_iter().collect(),
            };
            deltas.map(intervals).collect()
        };
        for declared in [false, true] {
            let mut subject = CampaignTimer::new(0, HostedTimer::native(&timers::floor()));
            subject.outcome = Ok(StoredTrace {
                declared,
                ..StoredTrace::default()
            });
            let found =
                |subject: &CampaignTimer| resolution(&subject.outcome.as_ref().unwrap().open());
            let uneven = series([4_000_000, 5_700_000, 4_000_000, 9_100_000]);
            subject.add_slow_result(Ok((uneven, None))).unwrap();
            assert!(
                is_uneven(subject.outcome.as_ref().unwrap()),
                "{:?}",
                found(&subject)
            );
            let even = series([4_000_000; 4]);
            subject.add_slow_result(Ok((even, None))).unwrap();
            let step = found(&subject);
            assert!(
                matches!(&step, Resolution::Resolved { step, .. } if step.value == 4e6),
                "{step:?}"
            );
        }
    }

    #[test]
    fn marks_results_of_shared_core() {
        let mut subject = CampaignTimer {
            own_processes: 3,
            disturbed_ticks_ns: vec![0.4, 0.4, 0.4],
            ..CampaignTimer::new(0, HostedTimer::native(&timers::floor()))
        };
        let mut stored = StoredTrace::default();
        (0..3).for_each(|_| stored.set_aside(Run::default()));
        subject.outcome = Ok(stored);
        subject.store_agreed_results(None, None);
        let trace = subject.outcome.expect("it has results").open();
        assert_eq!(
            (trace.disturbed_runs, trace.runs.len(), trace.discarded),
            (3, 3, 0)
        );
        assert!(trace.set_aside.is_empty() && trace.runs.iter().all(|run| !run.is_calm()));
        assert_eq!(trace.ns_per_tick, Some(0.4));
    }

    #[test]
    fn disturbed_brief_processes_are_tolerated() {
        let discarded_runs = |own_processes: u32, searches: u32, brief: u32| {
            let mut subject = CampaignTimer {
                own_processes,
                searches,
                ..CampaignTimer::new(0, HostedTimer::native(&timers::floor()))
            };
            let discarded = own_processes - searches + brief;
            subject.outcome = Ok(StoredTrace {
                discarded,
                ..StoredTrace::default()
            });
            subject.store_agreed_results(None, None);
            subject.outcome.map(|stored| stored.discarded)
        };
        assert_eq!(discarded_runs(3, 3, 22), Ok(22));
        assert_eq!(discarded_runs(3, 1, 22), Ok(24));
        let reason = discarded_runs(5, 1, 22).expect_err("one process of five");
        assert!(reason.contains("4 of 5 processes"), "{reason}");
    }
}
