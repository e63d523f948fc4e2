//! Measures sleep primitives and periodic timers in rounds, one process at a time.

use std::thread;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, Pinned};

use super::explore::explore;
use super::front::pareto_optimal;
use super::plan::WaitPlan;
pub use super::plan::WaitSettings;
use super::side_by_side::SideBySide;
pub use super::subject::{Conditions, Subject};
use super::ticking::tick;
use crate::campaign::choose::choose_reference;
use crate::campaign::clocks::Settings;
use crate::campaign::sampling::Plan;
use crate::campaign::survived;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::waiter;
use crate::model::Means;
use crate::trace::{PeriodRun, PeriodTrace, Reference, WaitRun, WaitTrace};

/// A wait whose lateness ended the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Broken {
    /// Index of the subject.
    pub subject: usize,
    /// The requested length, in nanoseconds.
    pub request_ns: u64,
    /// The lateness of the wait, in nanoseconds.
    pub late_ns: f64,
}

/// The observations of a process, and the length and lateness in nanoseconds of the wait that ends
/// the run, if any.
type Observed<R> = Answer<(R, Option<(u64, f64)>)>;

/// Measures all subjects: first all of them briefly, then in further rounds those for which no
/// other is both less late and cheaper. `progress` is called with the next step.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn wait(
    hosts: &[Host],
    subjects: &mut [Subject<WaitTrace>],
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<Option<Broken>, Fault> {
    let runs = |trace: &mut WaitTrace, run| trace.runs.push(run);
    let mut rounds = Rounds::begin(
        hosts,
        subjects,
        settings,
        progress,
        runs,
        |waiter, reference| WaitTrace {
            reference,
            blocks: waiter.waiter.means == Means::Blocks,
            runs: Vec::new(),
        },
    )?;
    let plan = settings.plan;
    let seed: u64 = rounds.random.random();
    let first = one_process(hosts, settings, plan.first());
    let late = rounds.repeat(|rounds, round| {
        if round >= plan.long_rounds {
            return rounds.round(rounds.all(), &first);
        }
        // Long waits run in parallel to the rounds, not after them: the lateness of one depends on
        // how deeply the CPU slept, which varies over time.
        let long = SideBySide::select(rounds.subjects);
        thread::scope(|scope| {
            let observe = || long.observe(hosts, settings, seed.wrapping_add(round.into()));
            let parallel = thread::Builder::new().spawn_scoped(scope, observe);
            let late = rounds.round(rounds.all(), &first)?;
            progress("long waits, side by side");
            let observed = parallel.ok().and_then(|parallel| parallel.join().ok());
            SideBySide::keep(
                rounds.subjects,
                observed.unwrap_or_default(),
                round as usize,
            )?;
            Ok(late)
        })
    })?;
    let further = one_process(hosts, settings, plan);
    let mut left = plan.further;
    while late.is_none() && left > 0 {
        left -= 1;
        let late = rounds.round(pareto_optimal(rounds.subjects), &further)?;
        if late.is_some() {
            return Ok(late);
        }
    }
    Ok(late)
}

/// Returns a function that measures a sleep primitive in one process.
fn one_process<'a>(
    hosts: &'a [Host],
    settings: &'a WaitSettings,
    plan: WaitPlan,
) -> impl Fn(&Subject<WaitTrace>, &WaitTrace, u64) -> Observed<WaitRun> + 'a {
    move |subject, trace, seed| {
        let mut bench = subject.bench(hosts, settings)?;
        let mut random = StdRng::seed_from_u64(seed);
        let lengths = &settings.lengths_ns;
        let run = explore(&mut bench, &trace.runs, lengths, &plan, &mut random)?;
        let late = settings.break_ns.and_then(|most| {
            let chosen = run.lengths.iter();
            let chosen = chosen.filter(|wait| lengths.contains(&wait.request_ns));
            let late =
                chosen.map(|wait| (wait.request_ns, wait.late_ns(trace.reference.ns_per_tick)));
            late.max_by(|a, b| a.1.total_cmp(&b.1))
                .filter(|(_, late)| *late > most as f64)
        });
        Ok((run, late))
    }
}

/// Measures all subjects as periodic timers with this period, in nanoseconds.
///
/// # Errors
/// As [`wait`].
pub fn tick_all(
    hosts: &[Host],
    subjects: &mut [Subject<PeriodTrace>],
    period_ns: u64,
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let runs = |trace: &mut PeriodTrace, run| trace.runs.push(run);
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, runs, |_, reference| {
        PeriodTrace {
            reference,
            period_ns,
            runs: Vec::new(),
        }
    })?;
    let process = |subject: &Subject<PeriodTrace>, trace: &PeriodTrace, _| -> Observed<PeriodRun> {
        let (id, placement) = (&subject.waiter.id, subject.conditions.placement());
        let connection = connect(&hosts[subject.host], &[id], placement, settings.timeout)?;
        let mut timer = waiter(&connection, id);
        let ticking_ns = settings.plan.ticking_ns;
        let run = tick(timer.as_mut(), &trace.reference, period_ns, ticking_ns)?;
        Ok((run, None))
    };
    rounds
        .repeat(|rounds, _| rounds.round(rounds.all(), &process))
        .map(|_| ())
}

/// The rounds of a campaign.
struct Rounds<'a, T, R> {
    subjects: &'a mut [Subject<T>],
    random: StdRng,
    settings: &'a WaitSettings,
    progress: &'a dyn Fn(&str),
    keep: fn(&mut T, R),
}

impl<'a, T, R> Rounds<'a, T, R> {
    /// Finds the reference of each host and creates a trace for each subject.
    fn begin(
        hosts: &[Host],
        subjects: &'a mut [Subject<T>],
        settings: &'a WaitSettings,
        progress: &'a dyn Fn(&str),
        keep: fn(&mut T, R),
        trace: impl Fn(&Subject<T>, Reference) -> T,
    ) -> Result<Self, Fault> {
        let mut random = StdRng::seed_from_u64(settings.seed);
        let references: Result<Vec<_>, Fault> = hosts
            .iter()
            .map(|host| reference(host, settings, &mut random))
            .collect();
        let references = references?;
        for subject in subjects.iter_mut() {
            let reference = references[subject.host].clone();
            subject.outcome = reference.map(|reference| trace(subject, reference));
        }
        Ok(Self {
            subjects,
            random,
            settings,
            progress,
            keep,
        })
    }

    /// Returns the indices of all subjects.
    fn all(&self) -> Vec<usize> {
        (0..self.subjects.len()).collect()
    }

    /// Runs the rounds of the plan or of the time span, each with its number, until a wait ends the
    /// run.
    fn repeat(
        &mut self,
        mut round: impl FnMut(&mut Self, u32) -> Result<Option<Broken>, Fault>,
    ) -> Result<Option<Broken>, Fault> {
        let over = self.settings.span.map(Deadline::after);
        let mut number = 0;
        loop {
            let broken = round(self, number)?;
            number += 1;
            let goes_on = match &over {
                Some(over) => {
                    over.remaining().is_some() && self.subjects.iter().any(Subject::goes_on)
                }
                None => number < self.settings.plan.processes,
            };
            if broken.is_some() || !goes_on {
                return Ok(broken);
            }
        }
    }

    /// Runs a process for each of these subjects, in random order.
    fn round(
        &mut self,
        mut order: Vec<usize>,
        process: &impl Fn(&Subject<T>, &T, u64) -> Observed<R>,
    ) -> Result<Option<Broken>, Fault> {
        order.shuffle(&mut self.random);
        for index in order {
            let subject = &mut self.subjects[index];
            (self.progress)(&subject.waiter.id);
            let Some(trace) = subject.outcome.as_ref().ok().filter(|_| subject.goes_on()) else {
                continue;
            };
            // Keeps the runner and its threads off the measuring CPU, if there is another CPU.
            let _apart = subject.conditions.cpu.and_then(Pinned::off);
            let seed = self.random.random();
            let observed = (subject.conditions.start_load())
                .map_err(|error| Fault::Refused(error.to_string()))
                .and_then(|_load| process(subject, trace, seed));
            match (survived(observed)?, &mut subject.outcome) {
                (Ok((run, late)), Ok(trace)) => {
                    (self.keep)(trace, run);
                    subject.has_run = true;
                    if let Some((request_ns, late_ns)) = late {
                        return Ok(Some(Broken {
                            subject: index,
                            request_ns,
                            late_ns,
                        }));
                    }
                }
                // The observations of earlier processes are kept.
                (Err(fault), Ok(_)) if subject.has_run => subject.lost = Some(fault.to_string()),
                (Err(fault), outcome) => *outcome = Err(fault.to_string()),
                (Ok(_), Err(_)) => {}
            }
        }
        Ok(None)
    }
}

/// Chooses the clock of a host that times waits. It must have a declared unit, because sleep
/// primitives measure time in the same unit.
fn reference(
    host: &Host,
    settings: &WaitSettings,
    random: &mut StdRng,
) -> Result<Result<Reference, String>, Fault> {
    let asked = Settings {
        plan: Plan::QUICK,
        seed: settings.seed,
        cpu: None,
        timeout: settings.timeout,
    };
    let native = |id: &str| id == timers::waits::REFERENCE_ID;
    let has_native = host.timers.iter().any(|timer| native(&timer.id));
    let mut host = host.clone();
    host.timers.retain(|timer| match has_native {
        true => native(&timer.id),
        false => timer.ns_per_tick.is_some(),
    });
    let found = survived(choose_reference(&host, &asked, random))?;
    Ok(found.map_err(|fault| fault.to_string()))
}
