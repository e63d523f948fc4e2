//! Measures sleep primitives and periodic timers in rounds, one process at a time.

use std::thread;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, Pinned};

use super::explore::explore;
use super::pareto::pareto_optimal;
use super::plan::WaitPlan;
pub use super::plan::WaitSettings;
use super::side_by_side::SideBySide;
pub use super::subject::{Conditions, Subject};
use super::ticking::run_periodic_timer;
use crate::campaign::choose::choose_reference;
use crate::campaign::clocks::Settings;
use crate::campaign::sampling::Plan;
use crate::campaign::unless_interrupted;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::subject as hosted;
use crate::hosts::protocol::HostedTimer;
use crate::model::{MAX_FINE_STEP_NS, WaitActivity};
use crate::trace::{PeriodRun, PeriodTrace, Reference, WaitRun, WaitTrace};

/// A wait that was later than the user allowed, which ended the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateWait {
    /// Index of the subject.
    pub subject: usize,
    /// The requested length, in nanoseconds.
    pub request_ns: u64,
    /// The lateness of the wait, in nanoseconds.
    pub late_ns: f64,
}

/// The observations of a process; and the requested length and the lateness, both in nanoseconds,
/// of a wait that was later than the user allowed, if any.
type Observed<R> = Answer<(R, Option<(u64, f64)>)>;

/// Measures sleep primitives: first all of them briefly, then in further rounds those for which no
/// other primitive is both less late and cheaper. Calls `progress` with a description of the next
/// step. Returns the wait that ended the run early, if any.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_waits(
    hosts: &[Host],
    subjects: &mut [Subject<WaitTrace>],
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<Option<LateWait>, Fault> {
    let add_run = |trace: &mut WaitTrace, run| trace.runs.push(run);
    let mut rounds = Rounds::begin(
        hosts,
        subjects,
        settings,
        progress,
        add_run,
        |subject, reference| WaitTrace {
            reference,
            blocks: subject.waiter.means == WaitActivity::Blocks,
            runs: Vec::new(),
        },
    )?;
    let plan = settings.plan;
    let seed: u64 = rounds.random.random();
    let measure_first = process_measurement(hosts, settings, plan.first_rounds());
    let late = rounds.repeat(|rounds, round| {
        if round >= plan.long_rounds {
            return rounds.run_round(rounds.all_indices(), &measure_first);
        }
        // Long waits run in parallel to the rounds, because the lateness of both depends on how
        // deeply the CPUs sleep, which varies over time.
        let long = SideBySide::select(rounds.subjects);
        thread::scope(|scope| {
            let observe = || long.observe(hosts, settings, seed.wrapping_add(round.into()));
            let parallel = thread::Builder::new().spawn_scoped(scope, observe);
            let late = rounds.run_round(rounds.all_indices(), &measure_first)?;
            progress("long waits of all primitives");
            let observed = parallel.ok().and_then(|parallel| parallel.join().ok());
            SideBySide::store(
                rounds.subjects,
                observed.unwrap_or_default(),
                round as usize,
            )?;
            Ok(late)
        })
    })?;
    let measure_further = process_measurement(hosts, settings, plan);
    if late.is_some() {
        return Ok(late);
    }
    for _ in 0..plan.further {
        let late = rounds.run_round(pareto_optimal(rounds.subjects), &measure_further)?;
        if late.is_some() {
            return Ok(late);
        }
    }
    Ok(None)
}

/// Returns a function that measures a sleep primitive in one process: given the subject, its trace
/// so far and a seed, the function returns the observations.
fn process_measurement<'a>(
    hosts: &'a [Host],
    settings: &'a WaitSettings,
    plan: WaitPlan,
) -> impl Fn(&Subject<WaitTrace>, &WaitTrace, u64) -> Observed<WaitRun> + 'a {
    move |subject, trace, seed| {
        let mut bench = subject.bench(hosts, settings)?;
        let mut random = StdRng::seed_from_u64(seed);
        let lengths = &settings.lengths_ns;
        let run = explore(&mut bench, &trace.runs, lengths, &plan, &mut random)?;
        let late = settings.break_ns.and_then(|limit_ns| {
            let chosen = run.lengths.iter();
            let chosen = chosen.filter(|wait| lengths.contains(&wait.request_ns));
            let late =
                chosen.map(|wait| (wait.request_ns, wait.late_ns(trace.reference.ns_per_tick)));
            late.max_by(|a, b| a.1.total_cmp(&b.1))
                .filter(|(_, late_ns)| *late_ns > limit_ns as f64)
        });
        Ok((run, late))
    }
}

/// Measures periodic timers, all with the same period. Calls `progress` with a description of the
/// next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn measure_periods(
    hosts: &[Host],
    subjects: &mut [Subject<PeriodTrace>],
    period_ns: u64,
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let add_run = |trace: &mut PeriodTrace, run| trace.runs.push(run);
    let empty_trace = |_: &Subject<PeriodTrace>, reference| PeriodTrace {
        reference,
        period_ns,
        runs: Vec::new(),
    };
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, add_run, empty_trace)?;
    let measure = |subject: &Subject<PeriodTrace>, trace: &PeriodTrace, _| -> Observed<PeriodRun> {
        let (id, placement) = (&subject.waiter.id, subject.conditions.placement());
        let connection = connect(&hosts[subject.host], &[id], placement, settings.timeout)?;
        let mut timer = hosted(&connection, id);
        let ticking_ns = settings.plan.ticking_ns;
        let run = run_periodic_timer(timer.as_mut(), &trace.reference, period_ns, ticking_ns)?;
        Ok((run, None))
    };
    rounds
        .repeat(|rounds, _| rounds.run_round(rounds.all_indices(), &measure))
        .map(|_| ())
}

/// The rounds of a campaign, each of which runs a process for some subjects.
struct Rounds<'a, T, R> {
    subjects: &'a mut [Subject<T>],
    random: StdRng,
    settings: &'a WaitSettings,
    progress: &'a dyn Fn(&str),
    /// Adds the observations of a process to the trace of its subject.
    add_run: fn(&mut T, R),
}

impl<'a, T, R> Rounds<'a, T, R> {
    /// Finds the reference of each host, and creates the trace of each subject with `empty_trace`.
    fn begin(
        hosts: &[Host],
        subjects: &'a mut [Subject<T>],
        settings: &'a WaitSettings,
        progress: &'a dyn Fn(&str),
        add_run: fn(&mut T, R),
        empty_trace: impl Fn(&Subject<T>, Reference) -> T,
    ) -> Result<Self, Fault> {
        let mut random = StdRng::seed_from_u64(settings.seed);
        let references: Result<Vec<_>, Fault> = hosts
            .iter()
            .map(|host| find_reference(host, settings, &mut random))
            .collect();
        let references = references?;
        for subject in subjects.iter_mut() {
            let reference = references[subject.host].clone();
            subject.outcome = reference.map(|reference| empty_trace(subject, reference));
        }
        Ok(Self {
            subjects,
            random,
            settings,
            progress,
            add_run,
        })
    }

    /// Returns the indices of all subjects.
    fn all_indices(&self) -> Vec<usize> {
        (0..self.subjects.len()).collect()
    }

    /// Calls `run_round` with the number of each round: as often as the plan says, or during the
    /// time span of the settings. Stops after a round with a wait that was later than the user
    /// allowed, and returns that wait.
    fn repeat(
        &mut self,
        mut run_round: impl FnMut(&mut Self, u32) -> Result<Option<LateWait>, Fault>,
    ) -> Result<Option<LateWait>, Fault> {
        let deadline = self.settings.span.map(Deadline::after);
        let mut number = 0;
        loop {
            let late = run_round(self, number)?;
            number += 1;
            let has_next = match &deadline {
                Some(deadline) => {
                    deadline.remaining().is_some()
                        && self.subjects.iter().any(Subject::is_measurable)
                }
                None => number < self.settings.plan.processes,
            };
            if late.is_some() || !has_next {
                return Ok(late);
            }
        }
    }

    /// Runs a process for each subject with one of these indices, in random order. Stops after a
    /// wait that was later than the user allowed, and returns that wait.
    fn run_round(
        &mut self,
        mut indices: Vec<usize>,
        measure: &impl Fn(&Subject<T>, &T, u64) -> Observed<R>,
    ) -> Result<Option<LateWait>, Fault> {
        indices.shuffle(&mut self.random);
        for index in indices {
            let subject = &mut self.subjects[index];
            (self.progress)(&subject.waiter.id);
            let Some(trace) = subject
                .outcome
                .as_ref()
                .ok()
                .filter(|_| subject.is_measurable())
            else {
                continue;
            };
            // Keeps the runner and its threads off the measuring CPU, if there is another CPU.
            let _runner_pin = subject.conditions.cpu.and_then(Pinned::off);
            let seed = self.random.random();
            let observed = (subject.conditions.start_load())
                .map_err(|error| Fault::Refused(error.to_string()))
                .and_then(|_load| measure(subject, trace, seed));
            match (unless_interrupted(observed)?, &mut subject.outcome) {
                (Ok((run, late)), Ok(trace)) => {
                    (self.add_run)(trace, run);
                    subject.has_run = true;
                    if let Some((request_ns, late_ns)) = late {
                        return Ok(Some(LateWait {
                            subject: index,
                            request_ns,
                            late_ns,
                        }));
                    }
                }
                // The observations of earlier processes stay valid.
                (Err(fault), Ok(_)) if subject.has_run => subject.lost = Some(fault.to_string()),
                (Err(fault), outcome) => *outcome = Err(fault.to_string()),
                (Ok(_), Err(_)) => {}
            }
        }
        Ok(None)
    }
}

/// The largest number of clocks of a host that are tried as the reference of its waits.
const MAX_REFERENCES: usize = 4;

/// Chooses and calibrates the reference of a host, the clock that times its waits: the first of the
/// clocks of the kernel, which run at the rate of its timers, that moves in fine steps, or else the
/// one with the finest steps. A host without these clocks has others. The clock must have a declared
/// unit: lateness is the difference between its time and the requested time, so an error of a
/// measured unit would appear as lateness.
fn find_reference(
    host: &Host,
    settings: &WaitSettings,
    random: &mut StdRng,
) -> Result<Result<Reference, String>, Fault> {
    let clock_settings = Settings {
        plan: Plan::QUICK,
        seed: settings.seed,
        cpu: None,
        timeout: settings.timeout,
    };
    // The clock that programs read comes before the one that no library can distort.
    let native_place = |timer: &HostedTimer| {
        let mut ids = timers::RATE_SOURCES.iter().rev();
        ids.position(|id| *id == timer.id)
    };
    let is_declared = |timer: &HostedTimer| timer.ops.is_empty() && timer.ns_per_tick.is_some();
    let mut clocks = host.timers.clone();
    match clocks.iter().any(|timer| native_place(timer).is_some()) {
        true => {
            clocks.retain(|timer| native_place(timer).is_some());
            clocks.sort_by_key(native_place);
        }
        false => {
            clocks.retain(is_declared);
            clocks.sort_by_key(|timer| !timer.reference);
        }
    }
    let mut finest: Result<Reference, String> = Err("the host has no clock to time waits".into());
    for clock in clocks.into_iter().take(MAX_REFERENCES) {
        let mut host = host.clone();
        host.timers = vec![clock];
        let found = unless_interrupted(choose_reference(&host, &clock_settings, random))?;
        finest = match (found, finest) {
            (Ok(new), Ok(old)) if old.uncertainty_ns() <= new.uncertainty_ns() => Ok(old),
            (Ok(new), _) => Ok(new),
            (Err(_), Ok(old)) => Ok(old),
            (Err(fault), Err(_)) => Err(fault.to_string()),
        };
        if let Ok(reference) = &finest
            && reference.uncertainty_ns() <= MAX_FINE_STEP_NS
        {
            break;
        }
    }
    Ok(finest)
}
