//! A campaign over timers that wait: each in fresh processes of its own, in rounds, in another
//! order each round. Long waits go on beside the rounds: there all timers that block wait side by
//! side, as one after the other would take too long.

use std::thread;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, KeptOff};

use super::bench::bench;
use super::explore::{explore, tick};
use super::front::front;
use super::plan::WaitPlan;
pub use super::plan::WaitSettings;
use super::side_by_side::{SideBySide, keep};
pub use super::subject::{Conditions, Subject};
use crate::campaign::choose::choose_reference;
use crate::campaign::clocks::Settings;
use crate::campaign::sampling::Plan;
use crate::hosts::host::{Host, connect};
use crate::hosts::waits::waiter;
use crate::model::Means;
use crate::trace::{PeriodTrace, Reference, WaitRun, WaitTrace};

/// A wait that was so late that it ended the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Broken {
    /// Which of the subjects.
    pub subject: usize,
    /// What was asked for, in nanoseconds.
    pub request_ns: u64,
    /// How late it was, in nanoseconds.
    pub late_ns: f64,
}

/// Lets all subjects wait: each as often as a first look takes, and then those further that others
/// are not both less late and cheaper than. `progress` is called with what comes next.
///
/// # Errors
/// Only [`Fault::Interrupted`]: what befalls a timer stands in its outcome.
pub fn wait(
    hosts: &[Host],
    subjects: &mut [Subject<WaitTrace>],
    settings: &WaitSettings,
    progress: &dyn Fn(&str),
) -> Result<Option<Broken>, Fault> {
    let mut random = StdRng::seed_from_u64(settings.seed);
    let references = references(hosts, settings, &mut random)?;
    for subject in subjects.iter_mut() {
        let blocks = subject.waiter.means == Means::Blocks;
        subject.outcome = references[subject.host].clone().map(|reference| WaitTrace {
            reference,
            blocks,
            runs: Vec::new(),
        });
    }
    let plan = settings.plan;
    let seed: u64 = random.random();
    // Long waits go on beside the rounds, not in a row after them: how late one is goes by how
    // deeply the CPU slept, which differs from time to time.
    let first = one_process(hosts, settings, plan.first());
    let looked = rounds(
        subjects,
        settings,
        &mut random,
        |subjects, round, random| {
            let all = (0..subjects.len()).collect();
            if round >= plan.long_rounds {
                return a_round(subjects, all, random, progress, &first);
            }
            let long = SideBySide::select(subjects);
            thread::scope(|scope| {
                let observe = || long.observe(hosts, settings, seed.wrapping_add(round.into()));
                let parallel = thread::Builder::new().spawn_scoped(scope, observe);
                let broken = a_round(subjects, all, random, progress, &first)?;
                progress("long waits, side by side");
                let observed = parallel
                    .ok()
                    .and_then(|parallel| parallel.join().ok())
                    .unwrap_or_default();
                keep(subjects, observed, round as usize)?;
                Ok(broken)
            })
        },
    )?;
    if looked.is_some() {
        return Ok(looked);
    }
    let further = one_process(hosts, settings, plan);
    for _ in 0..plan.further {
        let front = front(subjects);
        if let Some(broken) = a_round(subjects, front, &mut random, progress, &further)? {
            return Ok(Some(broken));
        }
    }
    Ok(None)
}

/// What a process of a subject observes, and keeps.
fn one_process<'a>(
    hosts: &'a [Host],
    settings: &'a WaitSettings,
    plan: WaitPlan,
) -> impl Fn(&mut Subject<WaitTrace>, usize, u64) -> Result<Option<Broken>, Fault> + 'a {
    move |subject, index, seed| {
        let Ok(trace) = &subject.outcome else {
            return Ok(None);
        };
        let ns_per_tick = trace.reference.ns_per_tick;
        let run = under_load(subject, || {
            let placement = subject.conditions.placement();
            let mut bench = bench(&hosts[subject.host], subject, placement, settings)?;
            explore(
                &mut bench,
                &trace.runs,
                &settings.lengths_ns,
                &plan,
                &mut StdRng::seed_from_u64(seed),
            )
        });
        let broken = run
            .as_ref()
            .ok()
            .and_then(|run| broken(run, index, ns_per_tick, settings));
        subject.keep(run, |trace| &mut trace.runs)?;
        Ok(broken)
    }
}

/// Lets all subjects tick with this period.
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
    let mut random = StdRng::seed_from_u64(settings.seed);
    let references = references(hosts, settings, &mut random)?;
    for subject in subjects.iter_mut() {
        subject.outcome = references[subject.host]
            .clone()
            .map(|reference| PeriodTrace {
                reference,
                period_ns,
                runs: Vec::new(),
            });
    }
    let each = |subject: &mut Subject<PeriodTrace>, _: usize, _: u64| {
        let Ok(trace) = &subject.outcome else {
            return Ok(None);
        };
        let run = under_load(subject, || {
            let (id, placement) = (subject.waiter.id.as_str(), subject.conditions.placement());
            let connection = connect(&hosts[subject.host], &[id], placement, settings.timeout)?;
            let mut timer = waiter(&connection, id);
            tick(
                timer.as_mut(),
                &trace.reference,
                period_ns,
                settings.plan.ticking_ns,
            )
        });
        subject.keep(run, |trace| &mut trace.runs).map(|()| None)
    };
    let a_round = |subjects: &mut [Subject<PeriodTrace>], _, random: &mut StdRng| {
        a_round(
            subjects,
            (0..subjects.len()).collect(),
            random,
            progress,
            &each,
        )
    };
    rounds(subjects, settings, &mut random, a_round).map(|_| ())
}

/// As many rounds as there shall be; each is told its number.
fn rounds<T>(
    subjects: &mut [Subject<T>],
    settings: &WaitSettings,
    random: &mut StdRng,
    mut a_round: impl FnMut(&mut [Subject<T>], u32, &mut StdRng) -> Result<Option<Broken>, Fault>,
) -> Result<Option<Broken>, Fault> {
    let over = settings.span.map(Deadline::after);
    let mut round = 0;
    loop {
        let broken = a_round(subjects, round, random)?;
        round += 1;
        let goes_on = match &over {
            Some(over) => over.remaining().is_some() && subjects.iter().any(Subject::goes_on),
            None => round < settings.plan.processes,
        };
        if broken.is_some() || !goes_on {
            return Ok(broken);
        }
    }
}

/// A process for each of these subjects, in another order each time.
fn a_round<T>(
    subjects: &mut [Subject<T>],
    mut order: Vec<usize>,
    random: &mut StdRng,
    progress: &dyn Fn(&str),
    each: &impl Fn(&mut Subject<T>, usize, u64) -> Result<Option<Broken>, Fault>,
) -> Result<Option<Broken>, Fault> {
    order.shuffle(random);
    for index in order {
        let subject = &mut subjects[index];
        progress(&subject.waiter.id);
        // The runner and its threads leave the CPU that measures to the agents, where there is
        // another one.
        let _apart = subject.conditions.cpu.and_then(KeptOff::cpu);
        if subject.goes_on()
            && let Some(broken) = each(subject, index, random.random())?
        {
            return Ok(Some(broken));
        }
    }
    Ok(None)
}

/// What a process for a timer observes beside the load that was asked for.
fn under_load<T, R>(subject: &Subject<T>, ask: impl FnOnce() -> Answer<R>) -> Answer<R> {
    let _load = subject
        .conditions
        .start_load()
        .map_err(|error| Fault::Refused(error.to_string()))?;
    ask()
}

/// The latest wait of those that were asked for, where it ends the run.
fn broken(
    run: &WaitRun,
    index: usize,
    ns_per_tick: f64,
    settings: &WaitSettings,
) -> Option<Broken> {
    let most = settings.break_ns? as f64;
    let chosen = run
        .lengths
        .iter()
        .filter(|wait| settings.lengths_ns.contains(&wait.request_ns));
    let late = chosen.map(|wait| (wait.request_ns, wait.late_ns(ns_per_tick)));
    let (request_ns, late_ns) = late
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, late)| *late > most)?;
    Some(Broken {
        subject: index,
        request_ns,
        late_ns,
    })
}

/// The clock of each host that times waits: one that counts time in a declared unit, as timers that
/// wait count the same time.
fn references(
    hosts: &[Host],
    settings: &WaitSettings,
    random: &mut StdRng,
) -> Result<Vec<Result<Reference, String>>, Fault> {
    let looked = Settings {
        plan: Plan::QUICK,
        seed: settings.seed,
        cpu: None,
        timeout: settings.timeout,
    };
    hosts
        .iter()
        .map(|host| {
            let mut host = host.clone();
            let native = host
                .timers
                .iter()
                .any(|timer| timer.id == timers::waits::REFERENCE_ID);
            host.timers.retain(|timer| {
                if native {
                    timer.id == timers::waits::REFERENCE_ID
                } else {
                    timer.ns_per_tick.is_some()
                }
            });
            match choose_reference(&host, &looked, random) {
                Err(Fault::Interrupted) => Err(Fault::Interrupted),
                found => Ok(found.map_err(|fault| fault.to_string())),
            }
        })
        .collect()
}
