//! A campaign: every timer of every host, each in fresh processes of its own, in rounds.
//!
//! A round asks each timer once, in one process; the rounds are spread over the whole campaign, so that what one moment
//! did to the machine does not fall on one timer. Timers whose steps are too long for that are left to the end, where they
//! wait together.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::Fault;

use crate::analysis::profile::profile;
use crate::analysis::resolution::Resolution;
use crate::analysis::statistics::median;
use crate::prober::bench::Bench;
use crate::prober::connection::{Command, Connection, subject};
use crate::prober::events::LogSpec;
use crate::prober::explore::{Exploration, explore};
use crate::prober::introduce::{introduce, watched_rate};
use crate::prober::plan::Plan;
use crate::prober::protocol::HostedTimer;
use crate::prober::wait::wait;
use crate::trace::{Intervals, Reference, Trace};

/// A program that hosts timers.
#[derive(Clone, Debug)]
pub struct Host {
    /// How to start it. The ids of the timers to be asked are added where it takes them.
    pub command: Command,
    /// Whether the command takes ids of timers as arguments and then opens only those.
    pub takes_ids: bool,
    /// Its timers, all that it named.
    pub timers: Vec<HostedTimer>,
    /// Where its runtime logs what may disturb a measurement.
    pub log: Option<LogSpec>,
}

/// How a campaign is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How thoroughly.
    pub plan: Plan,
    /// The seed of all random choices.
    pub seed: u64,
    /// The CPU that the processes run on.
    pub cpu: Option<u32>,
    /// How long a process may take.
    pub timeout: Duration,
}

/// A timer of the campaign and what became of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Index of its host.
    pub host: usize,
    /// The timer.
    pub timer: HostedTimer,
    /// What was observed; with a reason where the timer failed.
    pub outcome: Result<Trace, String>,
    /// Processes that found it too slow.
    slow: u32,
    /// What each process found its tick to be, in nanoseconds.
    rates: Vec<f64>,
}

impl Subject {
    /// A timer that was not asked anything yet.
    #[must_use]
    pub fn new(host: usize, timer: HostedTimer) -> Self {
        Self { host, timer, outcome: Ok(Trace::default()), slow: 0, rates: Vec::new() }
    }
}

/// Questions all subjects. `progress` is called between processes with what comes next, `before_round` before each round,
/// when nothing is being measured.
///
/// # Errors
/// Only [`Fault::Interrupted`]: what befalls a timer stands in its outcome.
pub fn run(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    progress: &dyn Fn(&str),
    before_round: &mut dyn FnMut(),
) -> Result<(), Fault> {
    let mut random = StdRng::seed_from_u64(settings.seed);
    for (index, host) in hosts.iter().enumerate() {
        progress("getting to know the reference");
        let reference = acquaint(host, settings, &mut random);
        if matches!(reference, Err(Fault::Interrupted)) {
            return Err(Fault::Interrupted);
        }
        for subject in subjects.iter_mut().filter(|subject| subject.host == index) {
            match &reference {
                Ok(reference) => {
                    subject.outcome = Ok(Trace { reference: reference.clone(), ..Trace::default() });
                }
                Err(fault) => subject.outcome = Err(fault.to_string()),
            }
        }
    }
    for _ in 0..settings.plan.processes {
        before_round();
        for subject in subjects.iter_mut().filter(|subject| subject.outcome.is_ok()) {
            progress(&subject.timer.id);
            ask(&hosts[subject.host], subject, settings, random.random())?;
        }
    }
    for subject in subjects.iter_mut() {
        settle(subject);
    }
    wait_together(hosts, subjects, settings, random.random(), progress)
}

/// One process for one timer.
fn ask(host: &Host, subject: &mut Subject, settings: &Settings, seed: u64) -> Result<(), Fault> {
    let Ok(trace) = &mut subject.outcome else { return Ok(()) };
    let mut random = StdRng::seed_from_u64(seed);
    let asked = connect(host, &[&subject.timer.id], settings, settings.cpu).and_then(|connection| {
        let mut bench = bench(&connection, &subject.timer, &trace.reference.id);
        explore_undisturbed(&connection, &mut bench, &trace.reference, &settings.plan, &mut random)
    });
    match asked {
        Ok(Exploration { run, ns_per_tick, slow }) => {
            trace.runs.push(run);
            subject.rates.extend(ns_per_tick);
            subject.slow += u32::from(slow);
        }
        Err(Fault::Interrupted) => return Err(Fault::Interrupted),
        Err(fault) => subject.outcome = Err(fault.to_string()),
    }
    Ok(())
}

/// Explores once more whenever the runtime compiled the loops anew meanwhile: what was measured before that was another
/// program.
fn explore_undisturbed(
    connection: &RefCell<Connection>,
    bench: &mut Bench,
    reference: &Reference,
    plan: &Plan,
    random: &mut StdRng,
) -> Result<Exploration, Fault> {
    /// From there on it will not settle.
    const MOST: u32 = 4;
    let mut turn = 1;
    loop {
        let before = connection.borrow().windows().clone();
        let mut exploration = explore(bench, reference, plan, random)?;
        let mut connection = connection.borrow_mut();
        let voided = connection.windows().voided - before.voided;
        if voided == 0 || turn == MOST {
            let windows = connection.windows();
            exploration.run.dropped = windows.dropped.clone();
            exploration.run.disturbed = windows.disturbed + voided;
            return Ok(exploration);
        }
        connection.void_since(&before);
        turn += 1;
    }
}

/// What the processes agree on.
fn settle(subject: &mut Subject) {
    if let Ok(trace) = &mut subject.outcome {
        trace.declared = subject.timer.ns_per_tick.is_some();
        trace.ns_per_tick = median(&subject.rates);
    }
}

/// All slow timers at once, each in a process of its own, on whatever CPUs there are.
fn wait_together(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    seed: u64,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let slow: Vec<(usize, &Trace)> = subjects
        .iter()
        .enumerate()
        .filter_map(|(index, subject)| Some((index, subject.outcome.as_ref().ok()?)))
        .filter(|(index, trace)| 2 * subjects[*index].slow > trace.runs.len() as u32 && !is_resolved(trace))
        .collect();
    if slow.is_empty() {
        return Ok(());
    }
    progress("waiting for slow clocks");
    let cpus = timers::allowed_cpus().unwrap_or_default();
    let answers: Vec<(usize, Result<Vec<Intervals>, Fault>)> = std::thread::scope(|scope| {
        let waiting: Vec<_> = slow
            .iter()
            .enumerate()
            .map(|(turn, &(index, trace))| {
                let subject = &subjects[index];
                let cpu = cpus.get(turn % cpus.len().max(1)).copied();
                let work = move || {
                    let mut random = StdRng::seed_from_u64(seed.wrapping_add(index as u64));
                    connect(&hosts[subject.host], &[&subject.timer.id], settings, cpu).and_then(
                        |connection| {
                            let mut bench = bench(&connection, &subject.timer, &trace.reference.id);
                            wait(&mut bench, &trace.reference, &settings.plan, &mut random)
                        },
                    )
                };
                (index, scope.spawn(work))
            })
            .collect();
        let lost = || Err(Fault::Lost("the thread that waited for it ended".into()));
        waiting.into_iter().map(|(index, thread)| (index, thread.join().unwrap_or_else(|_| lost()))).collect()
    });
    for (index, answer) in answers {
        match (answer, &mut subjects[index].outcome) {
            (Ok(intervals), Ok(trace)) => trace.slow = intervals,
            (Err(Fault::Interrupted), _) => return Err(Fault::Interrupted),
            (Err(fault), outcome) => *outcome = Err(fault.to_string()),
            (Ok(_), Err(_)) => {}
        }
    }
    Ok(())
}

fn is_resolved(trace: &Trace) -> bool {
    matches!(profile(trace).resolution, Resolution::Resolved { .. })
}

/// A timer of a process and its reference on the bench.
fn bench(connection: &Rc<RefCell<Connection>>, timer: &HostedTimer, reference: &str) -> Bench {
    let has_floor = connection.borrow().hello().timers.iter().any(|hosted| hosted.id == timers::FLOOR_ID);
    Bench {
        timer: subject(connection, &timer.id),
        ns_per_tick: timer.ns_per_tick,
        reference: subject(connection, reference),
        reference_id: reference.into(),
        floor: has_floor.then(|| subject(connection, timers::FLOOR_ID)),
    }
}

fn connect(
    host: &Host,
    ids: &[&str],
    settings: &Settings,
    cpu: Option<u32>,
) -> Result<Rc<RefCell<Connection>>, Fault> {
    let mut command = host.command.clone();
    if host.takes_ids {
        command.args.extend(ids.iter().map(Into::into));
    }
    let mut connection = Connection::start(&command, cpu, settings.timeout)?;
    if let Some(log) = &host.log {
        connection.watch(log);
    }
    Ok(Rc::new(RefCell::new(connection)))
}

/// Finds a reference among the timers of a host: the one it recommends, else the first that serves.
fn acquaint(host: &Host, settings: &Settings, random: &mut StdRng) -> Result<Reference, Fault> {
    let usable = || host.timers.iter().filter(|timer| timer.id != timers::FLOOR_ID);
    let recommended = usable().filter(|timer| timer.reference);
    let declared = usable().filter(|timer| !timer.reference && timer.ns_per_tick.is_some());
    let mut last = Fault::Refused("the host has no timer that could serve as a reference".into());
    for timer in recommended.chain(declared).take(MOST_CANDIDATES) {
        match connect(host, &[&timer.id], settings, settings.cpu)
            .and_then(|connection| introduce_as(host, timer, &connection, random))
        {
            Ok(reference) => return Ok(reference),
            Err(Fault::Interrupted) => return Err(Fault::Interrupted),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

/// References that are tried before a host is given up.
const MOST_CANDIDATES: usize = 4;

fn introduce_as(
    host: &Host,
    timer: &HostedTimer,
    connection: &Rc<RefCell<Connection>>,
    random: &mut StdRng,
) -> Result<Reference, Fault> {
    let mut candidate = subject(connection, &timer.id);
    let ns_per_tick = match timer.ns_per_tick {
        Some(ns) => ns,
        None => found_rate(host, candidate.as_mut())?.ok_or_else(|| {
            Fault::Refused(format!(
                "{} declares no unit, and no other timer of its host tells its rate",
                timer.id
            ))
        })?,
    };
    introduce(&timer.id, candidate.as_mut(), ns_per_tick, random)
}

/// The rate of a raw counter, by the first timer of its host that declares a unit and can be watched beside it.
fn found_rate(host: &Host, counter: &mut dyn timers::Subject) -> Result<Option<f64>, Fault> {
    for clock in host.timers.iter() {
        if let Some(ns) = clock.ns_per_tick
            && let Some(rate) = watched_rate(counter, &clock.id, ns)?
        {
            return Ok(Some(rate));
        }
    }
    Ok(None)
}
