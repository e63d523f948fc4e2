//! A clock in a campaign: its observations, and what decides about its further processes.

use timers::{Answer, Fault};

use super::narrowing::TimerScore;
use crate::agents::protocol::AgentTimer;
use crate::campaign::slow_clocks::SlowWatch;
use crate::campaign::unless_interrupted;
use crate::plan::Plan;
use estimators::cost;
use estimators::figures::{MIN_PROCESSES, resolution};
use estimators::model::{Core, Hertz};
use estimators::rate::{self, Rate};
use estimators::resolution::{Step, UNEVEN_STEPS};
use estimators::trace::{Advance, Differences, Observations, Reference, Trace};

/// The result of a search for the step of a timer in one process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// Nanoseconds per tick of the timer, declared or measured, if known.
    pub ns_per_tick: Option<f64>,
    /// Whether the steps are too long to be found by such a process.
    pub slow: bool,
}

/// A clock with its observations.
pub struct Clock {
    /// The timer.
    pub timer: AgentTimer,
    /// The observations, or the reason why there are none.
    pub outcome: Answer<Trace>,
    /// Number of processes that measured only this clock.
    pub(super) own_processes: u32,
    /// Number of runs that had their core to themselves.
    alone: usize,
    /// What undisturbed processes, of its own or brief, found that searched for the step.
    pub(super) searches: Vec<Search>,
    /// What disturbed processes of its own found.
    pub(super) disturbed_searches: Vec<Search>,
    /// The clocks of the kernel before and after the first comparison.
    pub(super) first_compared: Option<[[i64; 2]; 2]>,
    /// The thread that watches it during the campaign, if it is slow.
    pub(super) watch: Option<SlowWatch>,
    /// Its Quality so far; `None` if it gets no further processes.
    pub(super) score: Option<TimerScore>,
}

impl Clock {
    /// Begins the observations of a clock by this reference.
    pub(super) fn new(timer: AgentTimer, reference: Answer<Reference>) -> Self {
        let declared = timer.ns_per_tick.is_some();
        let outcome = reference.map(|reference| Trace {
            declared,
            reference,
            ..Trace::default()
        });
        Self {
            timer,
            outcome,
            own_processes: 0,
            alone: 0,
            searches: Vec::new(),
            disturbed_searches: Vec::new(),
            first_compared: None,
            watch: None,
            score: None,
        }
    }

    /// The observations; `None` if the clock failed.
    pub(super) fn stored(&self) -> Option<&Trace> {
        self.outcome.as_ref().ok()
    }

    /// The observations; `None` if the clock failed.
    pub(super) fn stored_mut(&mut self) -> Option<&mut Trace> {
        self.outcome.as_mut().ok()
    }

    /// Ends the measurement of the clock if `done` is a fault.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn fail_unless(&mut self, done: Answer<()>) -> Result<(), Fault> {
        if let Err(fault) = unless_interrupted(done)? {
            self.outcome = Err(fault);
        }
        Ok(())
    }

    /// Returns whether most undisturbed searches found the steps of the clock too long to search
    /// for. Such a clock is watched.
    pub(super) fn is_slow(&self) -> bool {
        2 * self.searches.iter().filter(|found| found.slow).count() > self.searches.len()
    }

    /// Returns whether every undisturbed search so far, of at least one, found the steps too long.
    /// Further processes need not search, because they would give up at the same length of work.
    pub(super) fn is_found_slow(&self) -> bool {
        !self.searches.is_empty() && self.searches.iter().all(|found| found.slow)
    }

    /// Returns whether its step is known.
    pub(super) fn is_resolved(&self) -> bool {
        let step = self.stored().map(resolution);
        step.is_some_and(|step| step.known().is_some())
    }

    /// Adds a run, and sets it aside if it was disturbed throughout (not `is_usable`). `full_width` is the
    /// width of a core that no other thread uses, if known.
    pub(super) fn add_run(&mut self, run: Observations, is_usable: bool, full_width: Option<f64>) {
        self.alone += usize::from(is_usable && run.core(full_width) == Core::Alone);
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        if is_usable {
            stored.runs.push(run);
        } else {
            stored.discarded += 1;
            stored.set_aside.push(run);
        }
    }

    /// Returns whether too few of its runs had their core to themselves to leave out the others.
    pub(super) fn lacks_undisturbed(&self) -> bool {
        self.outcome.is_ok() && self.alone < MIN_PROCESSES
    }

    /// Gives the reference its final rate, and scales the times that were computed from its earlier
    /// rate: the time of a unit of work and, unless the clock declares its tick, the length of a
    /// tick that each process found.
    pub(super) fn rescale(&mut self, rate: Rate) {
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        let reference = &mut stored.reference;
        let factor = rate.ns_per_tick / reference.ns_per_tick;
        reference.ns_per_tick = rate.ns_per_tick;
        reference.ns_per_work *= factor;
        reference.rate_uncertainty = rate.uncertainty;
        reference.unexplained_deviation_ns = rate.unexplained_deviation_ns;
        if !stored.declared {
            let searches = self.searches.iter_mut().chain(&mut self.disturbed_searches);
            let found = searches.filter_map(|found| found.ns_per_tick.as_mut());
            found.for_each(|ns| *ns *= factor);
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
    /// disturbed ones too and marks the results. If no disturbed run was kept, the clock failed.
    pub(super) fn agree(&mut self, core_hz: Option<Hertz>, full_width: Option<f64>) {
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        // Disturbed brief processes are not counted, because there are many of them.
        let undisturbed = self.searches.len() as u32;
        if 3 * undisturbed < self.own_processes {
            // Results from a core that is always shared are still useful if they are marked. A
            // disturbed run is counted as discarded; it is set aside (kept, but unused) until here.
            if stored.set_aside.is_empty() {
                let disturbed = self.own_processes - undisturbed;
                self.outcome = Err(interference(stored, disturbed, self.own_processes));
                return;
            }
            stored.disturbed_runs = stored.set_aside.len() as u32;
            stored.discarded = stored.discarded.saturating_sub(stored.disturbed_runs);
            for mut run in std::mem::take(&mut stored.set_aside) {
                run.batches.unstable = true;
                stored.runs.push(run);
            }
            self.searches.append(&mut self.disturbed_searches);
        }
        let agreed = self.agreed_tick();
        // The state of the cores does not concern the processor of a device.
        let is_on_cpu = self.timer.device.is_none();
        if let Ok(stored) = &mut self.outcome {
            let uncertainty = match stored.declared {
                true => 0.0,
                false => stored.reference.rate_uncertainty,
            };
            stored.ns_per_tick = agreed.map(|(ns, _)| ns);
            stored.ns_per_tick_uncertainty = agreed.map_or(uncertainty, |it| it.1.max(uncertainty));
            stored.core_hz = core_hz.filter(|_| is_on_cpu);
            stored.full_width = full_width.filter(|_| is_on_cpu);
        }
    }

    /// Adds what was seen of this clock while it was watched as a slow one.
    pub(super) fn add_slow(&mut self, intervals: Vec<Differences>, moved: Option<Advance>) {
        if let Ok(stored) = &mut self.outcome {
            // Interruptions can make steps look uneven: a new series replaces such a one.
            if !stored.slow.is_empty() && is_uneven(stored) {
                stored.slow.clear();
            }
            stored.slow.extend(intervals);
            stored.evidence.advances.extend(moved);
        }
    }

    /// Adds the latest run to the Quality, if it was not added yet.
    pub(super) fn update_score(&mut self, hertz: f64) {
        let tick = self.agreed_tick();
        if let (Some(score), Ok(stored)) = (&mut self.score, &self.outcome) {
            score.update(stored, tick, hertz);
        }
    }

    /// Returns how wide the interval of the Quality is if the clock should get further processes.
    pub(super) fn excess_width(&self, affordable: f64, plan: &Plan) -> Option<f64> {
        (self.score.as_ref()?).excess_width(self.stored()?, affordable, plan)
    }

    /// Estimates the lowest cost of a read in any process, and the step if the clock is slow (otherwise
    /// 0), both in nanoseconds.
    pub(super) fn estimate_cost_and_step(&self) -> [f64; 2] {
        /// Cost of a read that is assumed if it is unknown, in nanoseconds.
        const ASSUMED_COST_NS: f64 = 1_000.0;
        let Some(trace) = self.stored() else {
            return [ASSUMED_COST_NS, 0.0];
        };
        // The step is only needed to decide how long a slow clock has to be observed.
        let step_ns = || Some(resolution(trace).step_or_limit()? * trace.ns_per_tick?);
        let step_ns = self.is_slow().then(step_ns).flatten();
        let costs = trace.runs.iter();
        let costs = costs.filter_map(|run| cost::approximate_cost(&run.batches, &run.bracket));
        let cost_ns = costs
            .reduce(f64::min)
            .map(|ticks| ticks * trace.calls_reference().ns_per_tick);
        [(cost_ns, ASSUMED_COST_NS), (step_ns, 0.0)]
            .map(|(known, assumed)| known.filter(|ns| ns.is_finite()).unwrap_or(assumed))
    }
}

/// Whether the intervals show steps of different lengths.
fn is_uneven(stored: &Trace) -> bool {
    matches!(resolution(stored), Step::AtMost { reason, .. } if reason == UNEVEN_STEPS)
}

/// Returns the reason why a clock failed: `disturbed` of the `processes` that measured only this
/// clock were disturbed.
fn interference(stored: &Trace, disturbed: u32, processes: u32) -> Fault {
    Fault::Refused(format!(
        "too much interference: {disturbed} of {processes} processes could not measure undisturbed ({}); stop other programs on \
         this machine or choose a quiet CPU with --cpu, and repeat with --thorough",
        stored.disturbances()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock::new(AgentTimer::default(), Ok(Reference::default()))
    }

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
            let mut clock = clock();
            clock.stored_mut().unwrap().declared = declared;
            clock.add_slow(series([4_000_000, 5_700_000, 4_000_000, 9_100_000]), None);
            assert!(is_uneven(clock.stored().unwrap()) && !clock.is_resolved());
            clock.add_slow(series([4_000_000; 4]), None);
            let step = resolution(clock.stored().unwrap());
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
        let mut clock = Clock {
            own_processes: 3,
            disturbed_searches: vec![found; 3],
            ..clock()
        };
        (0..3).for_each(|_| clock.add_run(Observations::default(), false, None));
        clock.agree(None, None);
        let trace = clock.stored().expect("results");
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
            let mut clock = Clock {
                own_processes,
                searches: vec![found; searches as usize],
                ..clock()
            };
            clock.stored_mut().unwrap().discarded = own_processes - searches + brief;
            clock.agree(None, None);
            clock.outcome.map(|stored| stored.discarded)
        };
        assert_eq!(discarded_runs(3, 3, 22), Ok(22));
        assert_eq!(discarded_runs(3, 1, 22), Ok(24));
        let reason = discarded_runs(5, 1, 22).expect_err("one process of five");
        assert!(reason.to_string().contains("4 of 5 processes"), "{reason}");
    }
}
