//! A campaign: every timer of every host, each in fresh processes of its own, in rounds.
//!
//! A round asks each timer once, in one process; the rounds are spread over the whole campaign, so that what one moment
//! did to the machine does not fall on one timer. Between them come [brief](brief) processes. Timers whose steps are too long
//! for that are watched meanwhile by processes that sleep, or wait together at the end.

mod brief;
mod narrowing;
mod own_rate;
mod references;
mod subject;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Deadline, Fault, KeptOff};

use crate::analysis::cost;
use crate::analysis::profile::profile;
use crate::analysis::resolution::Resolution;
use crate::analysis::statistics::nine_tenths;
use crate::model::Estimate;
use crate::prober::bench::Bench;
use crate::prober::calibration::Calibration;
use crate::prober::connection::Connection;
use crate::prober::examination::{Examination, Examinee, Known};
use crate::prober::explore::{Exploration, explore};
pub use crate::prober::host::{Host, Settings};
use crate::prober::host::{bench, choose_reference, connect};
use crate::prober::sampling::Plan;
use crate::prober::slow_clocks::{BackgroundWatcher, Slow, together};
use crate::prober::watch::{ProcessWatch, Watch, Watcher};
use crate::trace::{Reference, Stored, Trace};

use brief::visit;
pub use narrowing::goes_on;
use narrowing::narrow;
use own_rate::{OwnRate, may_differ};
use references::{calibrate, clarify, look, references_of};
pub use subject::Subject;

/// What the verdicts and the analysis take of the time of a run, as a share: so much of the budget is left to them.
const FOR_VERDICTS: f64 = 0.3;

/// In these rounds all timers are held against their references after each process, not only after their own.
const CLOSELY: Range<u32> = 1..2;

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
    let sampling = Duration::from_secs_f64(settings.plan.budget_s * (1.0 - FOR_VERDICTS));
    let over = Deadline::after(sampling);
    let cpus = timers::allowed_cpus().unwrap_or_default();
    // The runner and its threads leave the CPU that measures to the agents, where there is another one.
    let apart = settings.cpu.and_then(KeptOff::cpu);
    let patience = Duration::from_nanos(settings.plan.patience_ns as u64);
    let watch = Watch::new(settings.cpu, apart.is_some(), patience);
    for (index, host) in hosts.iter().enumerate() {
        progress("calibrating the reference");
        let reference = choose_reference(host, settings, &mut random);
        if matches!(reference, Err(Fault::Interrupted)) {
            return Err(Fault::Interrupted);
        }
        for subject in subjects.iter_mut().filter(|subject| subject.host == index) {
            match &reference {
                Ok(reference) => {
                    subject.outcome = Ok(Trace { reference: reference.clone(), ..Trace::default() }.into());
                }
                Err(fault) => subject.outcome = Err(fault.to_string()),
            }
        }
    }
    let mut calibrations: Vec<Option<Calibration>> = hosts
        .iter()
        .enumerate()
        .map(|(index, host)| calibrate(host, references_of(subjects, index), settings, &cpus))
        .collect::<Result<_, Fault>>()?;
    let mut background_watcher = BackgroundWatcher::new(*settings, &cpus);
    for round in 0..settings.plan.rounds() {
        for (index, host) in hosts.iter().enumerate() {
            clarify(host, references_of(subjects, index), settings, &mut random)?;
            look(&mut calibrations[index])?;
        }
        for index in 0..subjects.len() {
            let subject = &mut subjects[index];
            let alone = settings.plan.alone(hosts[subject.host].takes_ids);
            if subject.outcome.is_err() || round >= alone {
                continue;
            }
            progress(&subject.timer.id);
            ask(&hosts[subject.host], subject, settings, &watch, random.random())?;
            compare_sparsely(&hosts[subject.host], subject, settings, Examination::compare_sparsely)?;
            if let Some(slow) = subject.waiting(hosts).filter(|_| subject.is_slow()) {
                background_watcher.begin(index, slow, subject.timer.properties.counts);
            }
            if CLOSELY.contains(&round) {
                for subject in subjects.iter_mut() {
                    compare_sparsely(&hosts[subject.host], subject, settings, Examination::compare_closely)?;
                }
            }
        }
        // Where processes take so long that the time is used, fewer have to do.
        for _ in settings.plan.brief_after(round).take_while(|_| over.remaining().is_some()) {
            for (index, host) in hosts.iter().enumerate().filter(|(_, host)| host.takes_ids) {
                progress("timers of one process");
                let whom = (0..subjects.len()).filter(|subject| subjects[*subject].host == index).collect();
                visit(host, subjects, whom, settings, &watch, &mut random)?;
                // The closer such looks lie, the smaller the jumps that they show.
                for subject in subjects.iter_mut() {
                    compare_sparsely(&hosts[subject.host], subject, settings, Examination::compare_sparsely)?;
                }
            }
        }
    }
    let hertz = nine_tenths(watch.borrow().frequencies()).map(|hertz| hertz.value);
    let ask_again = |subjects: &mut [Subject], wide: &[usize]| {
        let widest = &mut subjects[wide[0]];
        let (host, id) = (widest.host, &widest.timer.id);
        progress(&format!("{id}, to narrow its interval"));
        if hosts[host].takes_ids {
            let whom = wide.iter().copied().filter(|index| subjects[*index].host == host).collect();
            let asked = visit(&hosts[host], subjects, whom, settings, &watch, &mut random)?;
            for subject in subjects.iter_mut() {
                compare_sparsely(&hosts[subject.host], subject, settings, Examination::compare_sparsely)?;
            }
            return Ok(asked);
        }
        ask(&hosts[host], widest, settings, &watch, random.random())?;
        compare_sparsely(&hosts[host], widest, settings, Examination::compare_sparsely)?;
        Ok(vec![wide[0]])
    };
    let look_again = || calibrations.iter_mut().try_for_each(look);
    narrow(subjects, &settings.plan, &over, hertz, ask_again, look_again)?;
    for (index, calibration) in calibrations.iter_mut().enumerate() {
        look(calibration)?;
        if let Some(rate) = calibration.take().and_then(|calibration| calibration.rate()) {
            subjects.iter_mut().filter(|subject| subject.host == index).for_each(|subject| subject.at(rate));
        }
    }
    let core_hz = nine_tenths(watch.borrow().frequencies());
    for subject in subjects.iter_mut() {
        subject.settle(core_hz.map(|hertz| hertz.value));
    }
    drop(apart);
    // Meanwhile the slow ones are still watched.
    for subject in subjects.iter_mut().filter(|subject| !subject.is_slow()) {
        progress(&subject.timer.id);
        examine(&hosts[subject.host], subject, settings, &cpus)?;
    }
    progress("waiting for slow clocks");
    // Those that were seen to step often enough are examined while the others are still watched.
    let mut examined = Vec::new();
    for (index, waited) in background_watcher.finished() {
        if subjects[index].is_slow() {
            subjects[index].keep(waited)?;
            if subjects[index].outcome.as_ref().is_ok_and(is_resolved) {
                examine(&hosts[subjects[index].host], &mut subjects[index], settings, &cpus)?;
                examined.push(index);
            }
        }
    }
    for (index, waited) in background_watcher.end() {
        if subjects[index].is_slow() {
            subjects[index].keep(waited)?;
        }
    }
    wait_together(hosts, subjects, settings, &cpus, random.random())?;
    let left = subjects
        .iter_mut()
        .enumerate()
        .filter(|(index, subject)| subject.is_slow() && !examined.contains(index));
    for (_, subject) in left {
        progress(&subject.timer.id);
        examine(&hosts[subject.host], subject, settings, &cpus)?;
    }
    Ok(core_hz)
}

/// One process for one timer.
fn ask(
    host: &Host,
    subject: &mut Subject,
    settings: &Settings,
    watch: &Rc<RefCell<Watch>>,
    seed: u64,
) -> Result<(), Fault> {
    let Ok(stored) = &mut subject.outcome else { return Ok(()) };
    subject.alone += 1;
    let trace = &mut stored.trace;
    let mut random = StdRng::seed_from_u64(seed);
    let asked = connect(host, &[&subject.timer.id], settings.cpu, settings.timeout).and_then(|connection| {
        let process = connection.borrow().process();
        let mut bench = bench(&connection, &subject.timer, &trace.reference.id);
        bench.watch = Some(Box::new(ProcessWatch::of(watch, process)));
        let own_rate = match may_differ(host, &subject.timer) {
            true => OwnRate::begin(&connection, &subject.timer, &trace.reference.id)?,
            false => None,
        };
        let found =
            explore_undisturbed(&connection, &mut bench, &trace.reference, &settings.plan, &mut random)?;
        let own_rate = own_rate.map(OwnRate::end).transpose()?.flatten();
        trace.evidence.process_comparisons.extend(own_rate);
        Ok((found, bench.watch.take().map(Watcher::end)))
    });
    match asked {
        Ok((Exploration { run, ns_per_tick, slow, dropped: by_runtime }, watched)) => {
            let (dropped, valid) = watched.unwrap_or((BTreeMap::new(), true));
            stored.count_dropped(dropped.into_iter().chain(by_runtime));
            if !valid {
                stored.set_aside(run);
                subject.disturbed.0 += u32::from(slow);
                subject.disturbed.1.extend(ns_per_tick);
                return Ok(());
            }
            stored.add(run);
            subject.rates.extend(ns_per_tick);
            subject.explored += 1;
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
            exploration.dropped.clone_from(&windows.dropped);
            exploration.run.disturbed = windows.disturbed + voided;
            return Ok(exploration);
        }
        connection.void_since(&before);
        turn += 1;
    }
}

fn compare_sparsely(
    host: &Host,
    subject: &mut Subject,
    settings: &Settings,
    how: fn(&mut Examination, Examinee, &mut Trace) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Ok(stored) = &mut subject.outcome else { return Ok(()) };
    how(&mut subject.examination, Examinee { host, timer: &subject.timer, settings }, &mut stored.trace)
}

fn examine(host: &Host, subject: &mut Subject, settings: &Settings, cpus: &[u32]) -> Result<(), Fault> {
    let is_slow = subject.is_slow();
    let Ok(stored) = &mut subject.outcome else { return Ok(()) };
    let trace = stored.open();
    // Only for slow ones does it matter how long they have to be watched.
    let step_ns = is_slow.then(|| profile(&trace).step_at_most_ns()).flatten();
    let step_ns = step_ns.filter(|step| step.is_finite()).unwrap_or(0.0);
    let known = Known { plan: &settings.plan, cpus, cost_ns: rough_cost(&trace), step_ns };
    let examination = std::mem::take(&mut subject.examination);
    drop(trace);
    examination.complete(Examinee { host, timer: &subject.timer, settings }, &known, &mut stored.trace)
}

/// What a read costs in the process where it was cheapest, in nanoseconds.
fn rough_cost(trace: &Trace) -> f64 {
    let costs = trace.runs.iter().filter_map(|run| cost::rough(&run.batches, &run.bracket));
    let least = costs.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least * trace.reference.ns_per_tick } else { 1_000.0 }
}

/// All slow timers that are not resolved yet.
fn wait_together(
    hosts: &[Host],
    subjects: &mut [Subject],
    settings: &Settings,
    cpus: &[u32],
    seed: u64,
) -> Result<(), Fault> {
    let (indices, slow): (Vec<usize>, Vec<Slow>) = subjects
        .iter()
        .enumerate()
        .filter(|(_, subject)| subject.is_slow() && !subject.outcome.as_ref().is_ok_and(is_resolved))
        .filter_map(|(index, subject)| Some((index, subject.waiting(hosts)?)))
        .unzip();
    for (index, waited) in indices.into_iter().zip(together(&slow, settings, cpus, seed)) {
        subjects[index].keep(waited)?;
    }
    Ok(())
}

fn is_resolved(stored: &Stored) -> bool {
    matches!(profile(&stored.open()).resolution, Resolution::Resolved { .. })
}
