//! Makes long waits with all sleep primitives that block the thread, all at the same time, each in
//! a separate process.

use std::sync::mpsc;
use std::thread;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::{Answer, Fault};

use super::WaitSubject;
use super::explore::{WaitBench, explore_long};
use crate::campaign::sampling::CampaignSettings;
use crate::campaign::subject::Conditions;
use crate::campaign::{no_thread, unless_interrupted};
use crate::hosts::host::TimerHost;
use crate::model::{BackgroundLoad, WaitActivity};
use crate::trace::WaitRun;

/// Number of primitives per CPU that wait at the same time. They wake so rarely that they hardly
/// delay each other.
const PRIMITIVES_PER_CPU: usize = 16;

/// The long waits of each subject, with its index.
type LongWaits = Vec<(usize, Answer<WaitRun>)>;

/// Selects the subjects that can wait next to others, and returns copies without observations, on
/// another CPU. Of those that differ only in the CPU, selects the first. Leaves out primitives that
/// spin, because they would delay others, and subjects with a background load, because their CPU is
/// meant to be busy only with that load.
pub(super) fn select(subjects: &[WaitSubject]) -> Vec<(usize, WaitSubject)> {
    let without_cpu = |subject: &WaitSubject| Conditions {
        cpu: None,
        ..subject.conditions
    };
    let mut chosen: Vec<(usize, WaitSubject)> = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        let takes_part = subject.timer.means == WaitActivity::Blocks
            && subject.conditions.load == BackgroundLoad::None
            && subject.is_measurable();
        let is_same = |(_, other): &(usize, WaitSubject)| {
            (other.host, &other.timer.id) == (subject.host, &subject.timer.id)
                && without_cpu(other) == without_cpu(subject)
        };
        if takes_part && !chosen.iter().any(is_same) {
            let mut copy = subject.clone();
            copy.conditions.cpu = other_cpu(subject.conditions.cpu, index);
            if let Ok(trace) = &mut copy.outcome {
                trace.runs.clear();
            }
            chosen.push((index, copy));
        }
    }
    chosen
}

/// Makes the long waits of each subject in a separate process.
pub(super) fn observe(
    chosen: &[(usize, WaitSubject)],
    hosts: &[TimerHost],
    settings: &CampaignSettings,
    seed: u64,
) -> LongWaits {
    let at_once = PRIMITIVES_PER_CPU * timers::allowed_cpus().map_or(1, |cpus| cpus.len());
    chosen
        .chunks(at_once)
        .flat_map(|subjects| observe_together(hosts, subjects, settings, seed))
        .collect()
}

/// Adds the long waits of a round to the run of each subject in that round. A subject whose long
/// waits failed keeps its earlier results.
///
/// # Errors
/// Only [`Fault::Interrupted`].
pub(super) fn store(
    subjects: &mut [WaitSubject],
    long_waits: LongWaits,
    round: usize,
) -> Result<(), Fault> {
    for (index, run) in long_waits {
        let subject = &mut subjects[index];
        match (unless_interrupted(run)?, &mut subject.outcome) {
            (Ok(run), Ok(trace)) => match trace.runs.get_mut(round) {
                Some(earlier) => {
                    earlier.long.extend(run.long);
                    earlier.scans.extend(run.scans);
                }
                None => {
                    trace.runs.push(run);
                    subject.has_run = true;
                }
            },
            (Err(fault), _) => {
                subject.lost = Some(Fault::Refused(format!("long waits: {fault}")));
            }
            (Ok(_), Err(_)) => {}
        }
    }
    Ok(())
}

/// Returns a CPU other than `measuring`, a different one for each `turn` if possible. `None` if
/// there is no other CPU or none is used for measuring.
fn other_cpu(measuring: Option<u32>, turn: usize) -> Option<u32> {
    let measuring = measuring?;
    let mut others = timers::allowed_cpus().ok()?;
    others.retain(|cpu| *cpu != measuring);
    others.get(turn % others.len().max(1)).copied()
}

/// Makes the long waits of these subjects at the same time.
fn observe_together(
    hosts: &[TimerHost],
    subjects: &[(usize, WaitSubject)],
    settings: &CampaignSettings,
    seed: u64,
) -> LongWaits {
    thread::scope(|scope| {
        let (ready, all_ready) = mpsc::channel::<()>();
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for (index, subject) in subjects {
            let mut random = StdRng::seed_from_u64(seed ^ *index as u64);
            let ready = ready.clone();
            let (start, go) = mpsc::channel::<()>();
            starts.push(start);
            let wait = move || {
                let bench = WaitBench::start(subject, hosts, settings);
                // All processes have started before any of them waits, because starting a process
                // would delay the waits of others.
                drop(ready);
                let _ = go.recv();
                explore_long(&mut bench?, &settings.plan.waits, &mut random)
            };
            threads.push((*index, thread::Builder::new().spawn_scoped(scope, wait)));
        }
        drop(ready);
        // `recv` returns when all threads have dropped their senders. Dropping `starts` then lets
        // all threads continue.
        let _ = all_ready.recv();
        drop(starts);
        let join = |thread: std::io::Result<thread::ScopedJoinHandle<'_, _>>| {
            let report_panic = |_| Err(Fault::Lost("its thread ended unexpectedly".into()));
            thread
                .map_err(no_thread)?
                .join()
                .unwrap_or_else(report_panic)
        };
        threads
            .into_iter()
            .map(|(index, thread)| (index, join(thread)))
            .collect()
    })
}
