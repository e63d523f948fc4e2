//! A campaign over timers that wait: each in fresh processes of its own, in rounds, in another order each round. Long waits come
//! last: there all timers that block wait side by side, as nobody has the time to let them wait one after the other.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, KeptOff};

use super::bench::bench;
use super::explore::{WaitBench, explore, tick};
pub use super::settings::WaitSettings;
use super::side_by_side::side_by_side;
pub use super::subject::{Conditions, Subject};
use super::waiter;
use crate::model::Means;
use crate::prober::campaign::Settings;
use crate::prober::host::{Host, choose_reference, connect};
use crate::prober::sampling::Plan;
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

/// Lets all subjects wait. `progress` is called with what comes next.
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
    let each = |subject: &mut Subject<WaitTrace>, index: usize, seed: u64| {
        let (host, mut random) = (&hosts[subject.host], StdRng::seed_from_u64(seed));
        let run = in_process(host, subject, settings, |bench| {
            explore(bench, &settings.lengths_ns, &settings.plan, &mut random)
        });
        keep(subject, index, run, settings, |trace, run| trace.runs.push(run))
    };
    if let Some(broken) = rounds(subjects, settings, &mut random, progress, each)? {
        return Ok(Some(broken));
    }
    for round in 0..settings.plan.long_rounds {
        progress("long waits, side by side");
        side_by_side(hosts, subjects, settings, round as usize, random.random())?;
    }
    Ok(None)
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
        subject.outcome = references[subject.host].clone().map(|reference| PeriodTrace {
            reference,
            period_ns,
            runs: Vec::new(),
        });
    }
    let each = |subject: &mut Subject<PeriodTrace>, _: usize, _: u64| {
        let Ok(trace) = &subject.outcome else { return Ok(None) };
        let reference = trace.reference.clone();
        let ticked = subject.conditions.start_load().map_err(|error| Fault::Refused(error.to_string()));
        let ticked = ticked.and_then(|_load| {
            let host = &hosts[subject.host];
            let connection =
                connect(host, &[&subject.waiter.id], subject.conditions.placement(), settings.timeout)?;
            let mut timer = waiter(&connection, &subject.waiter.id);
            tick(timer.as_mut(), &reference, period_ns, settings.plan.ticking_ns)
        });
        match ticked {
            Ok(run) => {
                let _ = subject.outcome.as_mut().map(|trace| trace.runs.push(run));
            }
            Err(Fault::Interrupted) => return Err(Fault::Interrupted),
            Err(fault) => subject.fail(fault.to_string(), |trace| trace.runs.is_empty()),
        }
        Ok(None)
    };
    rounds(subjects, settings, &mut random, progress, each).map(|_| ())
}

/// As many rounds as there shall be, each over all subjects in another order.
fn rounds<T>(
    subjects: &mut [Subject<T>],
    settings: &WaitSettings,
    random: &mut StdRng,
    progress: &dyn Fn(&str),
    each: impl Fn(&mut Subject<T>, usize, u64) -> Result<Option<Broken>, Fault>,
) -> Result<Option<Broken>, Fault> {
    let over = settings.span.map(Deadline::after);
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    let mut round = 0;
    loop {
        order.shuffle(random);
        for &index in &order {
            let subject = &mut subjects[index];
            progress(&subject.waiter.id);
            // The runner and its threads leave the CPU that measures to the agents, where there is another one.
            let _apart = subject.conditions.cpu.and_then(KeptOff::cpu);
            if subject.goes_on()
                && let Some(broken) = each(subject, index, random.random())?
            {
                return Ok(Some(broken));
            }
        }
        round += 1;
        let goes_on = match &over {
            Some(over) => over.remaining().is_some() && subjects.iter().any(Subject::goes_on),
            None => round < settings.plan.processes,
        };
        if !goes_on {
            return Ok(None);
        }
    }
}

/// A process for one timer, beside the load that was asked for.
fn in_process<T>(
    host: &Host,
    subject: &Subject<WaitTrace>,
    settings: &WaitSettings,
    ask: impl FnOnce(&mut WaitBench) -> Answer<T>,
) -> Answer<T> {
    let _load = subject.conditions.start_load().map_err(|error| Fault::Refused(error.to_string()))?;
    let mut bench = bench(host, subject, subject.conditions.placement(), settings)?;
    ask(&mut bench)
}

/// Keeps what a process observed, and looks whether it ends the run.
fn keep(
    subject: &mut Subject<WaitTrace>,
    index: usize,
    run: Answer<WaitRun>,
    settings: &WaitSettings,
    add: impl FnOnce(&mut WaitTrace, WaitRun),
) -> Result<Option<Broken>, Fault> {
    let run = match run {
        Ok(run) => run,
        Err(Fault::Interrupted) => return Err(Fault::Interrupted),
        Err(fault) => {
            subject.fail(fault.to_string(), |trace| trace.runs.is_empty());
            return Ok(None);
        }
    };
    let Ok(trace) = &mut subject.outcome else { return Ok(None) };
    let chosen = run.lengths.iter().filter(|wait| settings.lengths_ns.contains(&wait.request_ns));
    let latest = chosen
        .map(|wait| (wait.request_ns, wait.late_ns(trace.reference.ns_per_tick)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let broken = latest
        .filter(|(_, late)| settings.break_ns.is_some_and(|most| *late > most as f64))
        .map(|(request_ns, late_ns)| Broken { subject: index, request_ns, late_ns });
    add(trace, run);
    Ok(broken)
}

/// The clock of each host that times waits: one that counts time in a declared unit, as timers that wait count the same time.
fn references(
    hosts: &[Host],
    settings: &WaitSettings,
    random: &mut StdRng,
) -> Result<Vec<Result<Reference, String>>, Fault> {
    let looked = Settings { plan: Plan::QUICK, seed: settings.seed, cpu: None, timeout: settings.timeout };
    hosts
        .iter()
        .map(|host| {
            let mut host = host.clone();
            let native = host.timers.iter().any(|timer| timer.id == timers::waits::REFERENCE_ID);
            host.timers.retain(|timer| {
                if native { timer.id == timers::waits::REFERENCE_ID } else { timer.ns_per_tick.is_some() }
            });
            match choose_reference(&host, &looked, random) {
                Err(Fault::Interrupted) => Err(Fault::Interrupted),
                found => Ok(found.map_err(|fault| fault.to_string())),
            }
        })
        .collect()
}
