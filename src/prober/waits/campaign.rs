//! A campaign over timers that wait: each in fresh processes of its own, in rounds, in another order each round. Long waits come
//! last: there all timers that block wait side by side, as nobody has the time to let them wait one after the other.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Deadline, Fault, KeptOff};

use super::explore::{WaitBench, explore, explore_long, lateness, tick};
use super::plan::WaitPlan;
pub use super::subject::{Conditions, Subject};
use super::waiter;
use crate::model::{BackgroundLoad, Means};
use crate::prober::campaign::Settings;
use crate::prober::children::Placement;
use crate::prober::connection::Connection;
use crate::prober::host::{Host, choose_reference};
use crate::prober::sampling::Plan;
use crate::trace::{PeriodTrace, Reference, WaitRun, WaitTrace};

/// How a campaign over timers that wait is run.
#[derive(Clone, Debug)]
pub struct WaitSettings {
    /// How thoroughly.
    pub plan: WaitPlan,
    /// The lengths that are asked for, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// How long the answers of a process may take together.
    pub timeout: Duration,
    /// How long rounds go on; as many as the plan has where nothing is said.
    pub span: Option<Duration>,
    /// Lateness that ends the run, in nanoseconds.
    pub break_ns: Option<u64>,
}

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
        let blocks = subject.waiter.means != Means::Spins;
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
        if let Some(broken) = side_by_side(hosts, subjects, settings, round as usize, random.random())? {
            return Ok(Some(broken));
        }
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
            let connection = connect(host, &subject.waiter.id, subject.conditions.placement(), settings)?;
            let mut timer = waiter(&connection, &subject.waiter.id);
            tick(timer.as_mut(), &reference, period_ns, settings.plan.ticking_ns)
        });
        match ticked {
            Ok(run) => {
                let _ = subject.outcome.as_mut().map(|trace| trace.runs.push(run));
            }
            Err(Fault::Interrupted) => return Err(Fault::Interrupted),
            Err(fault) => subject.outcome = Err(fault.to_string()),
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
            if subject.outcome.is_ok()
                && let Some(broken) = each(subject, index, random.random())?
            {
                return Ok(Some(broken));
            }
        }
        round += 1;
        let goes_on = match &over {
            Some(over) => {
                over.remaining().is_some() && subjects.iter().any(|subject| subject.outcome.is_ok())
            }
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

fn bench(
    host: &Host,
    subject: &Subject<WaitTrace>,
    placement: Placement,
    settings: &WaitSettings,
) -> Answer<WaitBench> {
    let reference = subject.outcome.as_ref().map(|trace| trace.reference.clone());
    let reference = reference.map_err(|why| Fault::Refused(why.clone()))?;
    let connection = connect(host, &subject.waiter.id, placement, settings)?;
    let has_floor =
        connection.borrow().hello().waiters.iter().any(|hosted| hosted.id == timers::waits::FLOOR_ID);
    Ok(WaitBench {
        timer: waiter(&connection, &subject.waiter.id),
        floor: has_floor.then(|| waiter(&connection, timers::waits::FLOOR_ID)),
        reference,
        arms: subject.answers("arms"),
        break_ns: settings.break_ns,
    })
}

fn connect(
    host: &Host,
    id: &str,
    placement: Placement,
    settings: &WaitSettings,
) -> Answer<Rc<RefCell<Connection>>> {
    let mut command = host.command.clone();
    if host.takes_ids {
        command.args.push(id.into());
    }
    Connection::start(&command, placement, settings.timeout)
        .map(|connection| Rc::new(RefCell::new(connection)))
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
            subject.outcome = Err(fault.to_string());
            return Ok(None);
        }
    };
    let Ok(trace) = &mut subject.outcome else { return Ok(None) };
    let all = run.lengths.iter().chain(run.scans.iter().flatten()).chain(&run.long);
    let latest = all
        .map(|wait| (wait.request_ns, lateness(wait, trace.reference.ns_per_tick)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let broken = latest
        .filter(|(_, late)| settings.break_ns.is_some_and(|most| *late > most as f64))
        .map(|(request_ns, late_ns)| Broken { subject: index, request_ns, late_ns });
    add(trace, run);
    Ok(broken)
}

/// One round of long waits: all timers that block at once, each in a process of its own. What they observed goes to the process of
/// that round.
fn side_by_side(
    hosts: &[Host],
    subjects: &mut [Subject<WaitTrace>],
    settings: &WaitSettings,
    round: usize,
    seed: u64,
) -> Result<Option<Broken>, Fault> {
    let waited: Vec<(usize, Answer<WaitRun>)> = thread::scope(|scope| {
        // Whoever spins would be in the way of the others, and beside a busy thread each has to be alone.
        let takes_part = |subject: &Subject<WaitTrace>| {
            subject.waiter.means == Means::Blocks
                && subject.conditions.load == BackgroundLoad::None
                && subject.outcome.is_ok()
        };
        let blocking = subjects.iter().enumerate().filter(|(_, subject)| takes_part(subject));
        let (ready, all_ready) = mpsc::channel::<()>();
        let mut starts = Vec::new();
        let threads: Vec<_> = blocking
            .map(|(index, subject)| {
                let mut random = StdRng::seed_from_u64(seed ^ index as u64);
                let ready = ready.clone();
                let (start, go) = mpsc::channel::<()>();
                starts.push(start);
                let wait = move || {
                    let placement = Placement { cpu: None, ..subject.conditions.placement() };
                    let bench = bench(&hosts[subject.host], subject, placement, settings);
                    // Nobody is in the way of others while it starts and warms up.
                    drop(ready);
                    let _ = go.recv();
                    let mut bench = bench?;
                    let (long, scans) = explore_long(&mut bench, &settings.plan, &mut random)?;
                    Ok(WaitRun { long, scans, ..WaitRun::default() })
                };
                (index, thread::Builder::new().spawn_scoped(scope, wait))
            })
            .collect();
        drop(ready);
        // Returns once nobody holds the other end any more, and lets all go.
        let _ = all_ready.recv();
        drop(starts);
        let joined = |thread: std::io::Result<thread::ScopedJoinHandle<'_, Answer<WaitRun>>>| match thread {
            Ok(thread) => {
                thread.join().unwrap_or_else(|_| Err(Fault::Lost("its thread ended before its time".into())))
            }
            Err(error) => Err(Fault::Lost(format!("no thread for it: {error}"))),
        };
        threads.into_iter().map(|(index, thread)| (index, joined(thread))).collect()
    });
    let mut broken = None;
    for (index, run) in waited {
        let add = |trace: &mut WaitTrace, run: WaitRun| match trace.runs.get_mut(round) {
            Some(kept) => {
                kept.long.extend(run.long);
                kept.scans.extend(run.scans);
            }
            None => trace.runs.push(run),
        };
        broken = broken.or(keep(&mut subjects[index], index, run, settings, add)?);
    }
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
