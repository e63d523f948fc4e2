//! A campaign: every timer of every host, each in fresh processes of its own, in rounds.
//!
//! A round asks each timer once, in one process; the rounds are spread over the whole campaign, so that what one moment
//! did to the machine does not fall on one timer. Timers whose steps are too long for that are left to the end, where they
//! wait together.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Fault, KeptOff};

use crate::analysis::Estimate;
use crate::analysis::cost;
use crate::analysis::profile::profile;
use crate::analysis::resolution::Resolution;
use crate::analysis::statistics::{median, quantile, sorted};
use crate::prober::bench::Bench;
use crate::prober::connection::Connection;
use crate::prober::explore::{Exploration, explore};
pub use crate::prober::host::{Host, Settings};
use crate::prober::host::{acquaint, bench, connect};
use crate::prober::plan::Plan;
use crate::prober::protocol::HostedTimer;
use crate::prober::trust::{Known, Session};
use crate::prober::wait::wait;
use crate::prober::watch::{ProcessWatch, Watch};
use crate::trace::{Claims, Intervals, Meanwhile, Moved, Reference, Trace};

/// A timer of the campaign and what became of it.
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
    /// The process that is asked whether the timer can be trusted.
    session: Option<Session>,
}

impl Subject {
    /// A timer that was not asked anything yet.
    #[must_use]
    pub fn new(host: usize, timer: HostedTimer) -> Self {
        Self { host, timer, outcome: Ok(Trace::default()), slow: 0, rates: Vec::new(), session: None }
    }
}

/// Questions all subjects. `progress` is called between processes with what comes next, when nothing is being measured.
/// Returns the frequency of the core meanwhile, in hertz: the median, and what nine tenths of all windows lay between.
///
/// # Errors
/// Only [`Fault::Interrupted`]: what befalls a timer stands in its outcome.
pub fn run(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    progress: &dyn Fn(&str),
) -> Result<Option<Estimate>, Fault> {
    let mut random = StdRng::seed_from_u64(settings.seed);
    let cpus = timers::allowed_cpus().unwrap_or_default();
    // The runner and its threads leave the CPU that measures to the agents, where there is another one.
    let apart = settings.cpu.and_then(KeptOff::cpu);
    let patience = Duration::from_nanos(settings.plan.patience_ns as u64);
    let watch = Watch::new(settings.cpu, apart.is_some(), patience);
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
        for subject in subjects.iter_mut().filter(|subject| subject.outcome.is_ok()) {
            progress(&subject.timer.id);
            ask(&hosts[subject.host], subject, settings, &watch, random.random())?;
            glance(&hosts[subject.host], subject, settings)?;
        }
    }
    let core_hz = range(watch.borrow().frequencies());
    for subject in subjects.iter_mut() {
        settle(subject, settings.plan.processes, core_hz.map(|hertz| hertz.value));
    }
    drop(apart);
    wait_together(hosts, subjects, settings, &cpus, random.random(), progress)?;
    for subject in subjects.iter_mut() {
        progress(&subject.timer.id);
        examine(&hosts[subject.host], subject, settings, &cpus)?;
    }
    Ok(core_hz)
}

fn range(frequencies: &[f64]) -> Option<Estimate> {
    let sorted = sorted(frequencies);
    let at = |share| quantile(&sorted, share);
    Some(Estimate { value: at(0.5)?, low: at(0.05)?, high: at(0.95)?, samples: sorted.len() })
}

/// One process for one timer.
fn ask(
    host: &Host,
    subject: &mut Subject,
    settings: &Settings,
    watch: &Rc<RefCell<Watch>>,
    seed: u64,
) -> Result<(), Fault> {
    let Ok(trace) = &mut subject.outcome else { return Ok(()) };
    let mut random = StdRng::seed_from_u64(seed);
    let asked = connect(host, &[&subject.timer.id], settings, settings.cpu).and_then(|connection| {
        let process = connection.borrow().process();
        let mut bench = bench(&connection, &subject.timer, &trace.reference.id);
        bench.watch = Some(ProcessWatch::of(watch, process));
        let found =
            explore_undisturbed(&connection, &mut bench, &trace.reference, &settings.plan, &mut random)?;
        Ok((found, bench.watch.take().map(ProcessWatch::end)))
    });
    match asked {
        Ok((Exploration { run, ns_per_tick, slow }, watched)) => {
            let (dropped, valid) = watched.unwrap_or((BTreeMap::new(), true));
            for (reason, count) in dropped.into_iter().chain(run.dropped.clone()) {
                *trace.dropped.entry(reason).or_default() += count;
            }
            if !valid {
                trace.spoilt += 1;
                return Ok(());
            }
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

/// A look at how far the timer and its reference have come, by a process that lives as long as the campaign. Hosts that cannot
/// compare them are not asked, nor is a process that ended before.
fn glance(host: &Host, subject: &mut Subject, settings: &Settings) -> Result<(), Fault> {
    let Ok(trace) = &mut subject.outcome else { return Ok(()) };
    if !host.compares || trace.evidence.refusals.contains_key("comparisons") {
        return Ok(());
    }
    let glanced = match &mut subject.session {
        Some(session) => session.glance(&mut trace.evidence),
        empty => session(host, &subject.timer, &trace.reference.id, settings)
            .and_then(|session| empty.insert(session).glance(&mut trace.evidence)),
    };
    lost(glanced, "comparisons", &mut subject.session, trace)
}

/// All other questions about trust.
fn examine(host: &Host, subject: &mut Subject, settings: &Settings, cpus: &[u32]) -> Result<(), Fault> {
    let Ok(trace) = &mut subject.outcome else { return Ok(()) };
    trace.evidence.claims =
        Claims { counts: subject.timer.counts, resolution_ns: subject.timer.resolution_ns };
    let session = match subject.session.take() {
        Some(session) => Ok(session),
        None => session(host, &subject.timer, &trace.reference.id, settings),
    };
    // Only for slow ones does it matter how long they have to be watched.
    let slow = 2 * subject.slow > trace.runs.len() as u32;
    let step_ns = if slow { profile(trace).accuracy_ns().map_or(0.0, |step| step.value) } else { 0.0 };
    let known = Known { plan: &settings.plan, cpus, cost_ns: rough_cost(trace), step_ns };
    let reference = trace.reference.clone();
    let examined = session.and_then(|mut session| session.examine(&known, &reference, &mut trace.evidence));
    lost(examined, "process", &mut None, trace)
}

/// The end of the process that was to be asked is no end of its timer: the question stays open.
fn lost(
    asked: Result<(), Fault>,
    question: &str,
    session: &mut Option<Session>,
    trace: &mut Trace,
) -> Result<(), Fault> {
    match asked {
        Ok(()) => Ok(()),
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        Err(fault) => {
            *session = None;
            trace.evidence.refusals.insert(question.into(), fault.to_string());
            Ok(())
        }
    }
}

fn session(host: &Host, timer: &HostedTimer, reference: &str, settings: &Settings) -> Result<Session, Fault> {
    Ok(Session::new(connect(host, &[&timer.id], settings, None)?, &timer.id, reference))
}

/// What a read costs in the process where it was cheapest, in nanoseconds.
fn rough_cost(trace: &Trace) -> f64 {
    let costs = trace.runs.iter().filter_map(|run| cost::rough(&run.batches, &run.bracket));
    let least = costs.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least * trace.reference.ns_per_tick } else { 1_000.0 }
}

/// What the processes agree on, if enough of them could measure.
fn settle(subject: &mut Subject, processes: u32, core_hz: Option<f64>) {
    let Ok(trace) = &mut subject.outcome else { return };
    if 3 * (trace.runs.len() as u32) < processes {
        subject.outcome = Err(too_much_interference(trace, processes));
        return;
    }
    trace.declared = subject.timer.ns_per_tick.is_some();
    trace.ns_per_tick = median(&subject.rates);
    trace.core_hz = core_hz;
}

fn too_much_interference(trace: &Trace, processes: u32) -> String {
    let mut reasons: Vec<(&String, &u32)> = trace.dropped.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let reasons: Vec<String> =
        reasons.into_iter().map(|(reason, count)| format!("{reason} {count} times")).collect();
    format!(
        "too much interference: {} of {processes} processes could not measure undisturbed ({}); stop what else runs on \
         this machine or choose a quiet CPU with --cpu, and repeat with --thorough",
        trace.spoilt,
        reasons.join(", ")
    )
}

/// What a slow timer showed, and how far it moved while its process slept.
type Waited = Result<(Vec<Intervals>, Option<Moved>), Fault>;

/// All slow timers at once, each in a process of its own, on whatever CPUs there are.
fn wait_together(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    cpus: &[u32],
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
    let answers: Vec<(usize, Waited)> = std::thread::scope(|scope| {
        let waiting: Vec<_> = slow
            .iter()
            .enumerate()
            .map(|(turn, &(index, trace))| {
                let (host, timer) = (&hosts[subjects[index].host], &subjects[index].timer);
                let reference = trace.reference.id.as_str();
                let cpu = cpus.get(turn % cpus.len().max(1)).copied();
                let work = move || {
                    let mut random = StdRng::seed_from_u64(seed.wrapping_add(index as u64));
                    let connection = connect(host, &[&timer.id], settings, cpu)?;
                    wait(
                        &mut bench(&connection, timer, reference),
                        &trace.reference,
                        &settings.plan,
                        &mut random,
                    )
                };
                // Beside it another process sleeps all the time.
                let sleep = move || {
                    let milliseconds = (settings.plan.slow_ns * 1e-6) as u32;
                    session(host, timer, reference, settings)?.advance(Meanwhile::Sleep, milliseconds)
                };
                (index, scope.spawn(work), scope.spawn(sleep))
            })
            .collect();
        let lost = || Err(Fault::Lost("the thread that waited for it ended".into()));
        waiting
            .into_iter()
            .map(|(index, waiter, sleeper)| {
                // Not every host can sleep, and it is no loss where it cannot.
                let moved = sleeper.join().ok().and_then(Result::ok);
                let waited = waiter.join().unwrap_or_else(|_| lost());
                (index, waited.map(|intervals| (intervals, moved)))
            })
            .collect()
    });
    for (index, answer) in answers {
        match (answer, &mut subjects[index].outcome) {
            (Ok((intervals, moved)), Ok(trace)) => {
                trace.slow = intervals;
                trace.evidence.advances.extend(moved);
            }
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
