//! Long waits, in which timers wait side by side, off the CPU that short ones are measured on
//! meanwhile: one after the other they would take too long.

use std::sync::mpsc;
use std::thread;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::{Answer, Fault};

use super::bench::bench;
use super::explore::explore_long;
use super::plan::WaitSettings;
use super::subject::{Conditions, Subject};
use crate::hosts::host::Host;
use crate::model::{BackgroundLoad, Means};
use crate::trace::{WaitRun, WaitTrace};

/// Timers that wait at once, a CPU: they wake so seldom that they are hardly in the way of each
/// other.
const A_CPU: usize = 16;

/// Those that wait long in a round, as they are before it.
pub(super) struct SideBySide {
    waiting: Vec<(usize, Subject<WaitTrace>)>,
}

/// What long waits of a subject showed.
pub(super) type Observed = Vec<(usize, Answer<WaitRun>)>;

impl SideBySide {
    /// Of those that can wait beside others, one under each set of conditions but for the CPU.
    pub(super) fn select(subjects: &[Subject<WaitTrace>]) -> Self {
        let mut chosen: Vec<usize> = Vec::new();
        for (index, subject) in subjects.iter().enumerate() {
            // On which CPU the others wait does not matter here.
            let same = |other: &usize| is_same(&subjects[*other], subject);
            if takes_part(subject) && !chosen.iter().any(same) {
                chosen.push(index);
            }
        }
        let copy = |index: usize| {
            let subject = &subjects[index];
            let empty = |trace: &WaitTrace| WaitTrace {
                runs: Vec::new(),
                ..trace.clone()
            };
            let outcome = subject.outcome.as_ref().map(empty).map_err(Clone::clone);
            let conditions = Conditions {
                cpu: elsewhere(subject.conditions.cpu, index),
                ..subject.conditions
            };
            (
                index,
                Subject {
                    outcome,
                    ..Subject::new(subject.host, subject.waiter.clone(), conditions)
                },
            )
        };
        Self {
            waiting: chosen.into_iter().map(copy).collect(),
        }
    }

    /// Lets each wait in a process of its own.
    pub(super) fn observe(&self, hosts: &[Host], settings: &WaitSettings, seed: u64) -> Observed {
        let together = A_CPU * timers::allowed_cpus().map_or(1, |cpus| cpus.len());
        self.waiting
            .chunks(together)
            .flat_map(|some| all_at_once(hosts, some, settings, seed))
            .collect()
    }
}

/// What was observed goes to the process of that round. Who fails here keeps what it has.
///
/// # Errors
/// Only [`Fault::Interrupted`].
pub(super) fn keep(
    subjects: &mut [Subject<WaitTrace>],
    observed: Observed,
    round: usize,
) -> Result<(), Fault> {
    for (index, run) in observed {
        let subject = &mut subjects[index];
        match (run, &mut subject.outcome) {
            (Ok(run), Ok(trace)) => match trace.runs.get_mut(round) {
                Some(kept) => {
                    kept.long.extend(run.long);
                    kept.scans.extend(run.scans);
                }
                None => trace.runs.push(run),
            },
            (Err(Fault::Interrupted), _) => return Err(Fault::Interrupted),
            (Err(fault), _) => subject.lost = Some(format!("long waits: {fault}")),
            (Ok(_), Err(_)) => {}
        }
    }
    Ok(())
}

/// A CPU that nothing is measured on meanwhile, in turn; any where there is no other one.
fn elsewhere(measuring: Option<u32>, turn: usize) -> Option<u32> {
    let measuring = measuring?;
    let others: Vec<u32> = timers::allowed_cpus()
        .ok()?
        .into_iter()
        .filter(|cpu| *cpu != measuring)
        .collect();
    others.get(turn % others.len().max(1)).copied()
}

/// A timer that spins would be in the way of the others, and beside a busy thread each has to be
/// alone.
fn takes_part(subject: &Subject<WaitTrace>) -> bool {
    subject.waiter.means == Means::Blocks
        && subject.conditions.load == BackgroundLoad::None
        && subject.goes_on()
}

fn is_same(one: &Subject<WaitTrace>, other: &Subject<WaitTrace>) -> bool {
    let anywhere = |conditions: Conditions| Conditions {
        cpu: None,
        ..conditions
    };
    (one.host, &one.waiter.id) == (other.host, &other.waiter.id)
        && anywhere(one.conditions) == anywhere(other.conditions)
}

fn all_at_once(
    hosts: &[Host],
    waiting: &[(usize, Subject<WaitTrace>)],
    settings: &WaitSettings,
    seed: u64,
) -> Observed {
    thread::scope(|scope| {
        let (ready, all_ready) = mpsc::channel::<()>();
        let mut starts = Vec::new();
        let threads: Vec<_> = waiting
            .iter()
            .map(|(index, subject)| {
                let mut random = StdRng::seed_from_u64(seed ^ *index as u64);
                let ready = ready.clone();
                let (start, go) = mpsc::channel::<()>();
                starts.push(start);
                let wait = move || {
                    let placement = subject.conditions.placement();
                    let bench = bench(&hosts[subject.host], subject, placement, settings);
                    // None is in the way of others while it starts and warms up.
                    drop(ready);
                    let _ = go.recv();
                    let (long, scans) = explore_long(&mut bench?, &settings.plan, &mut random)?;
                    Ok(WaitRun {
                        long,
                        scans,
                        ..WaitRun::default()
                    })
                };
                (*index, thread::Builder::new().spawn_scoped(scope, wait))
            })
            .collect();
        drop(ready);
        // Returns once the other end is closed, and lets all go.
        let _ = all_ready.recv();
        drop(starts);
        let joined =
            |thread: std::io::Result<thread::ScopedJoinHandle<'_, Answer<WaitRun>>>| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| {
                    Err(Fault::Lost("its thread ended before its time".into()))
                }),
                Err(error) => Err(Fault::Lost(format!("no thread for it: {error}"))),
            };
        threads
            .into_iter()
            .map(|(index, thread)| (index, joined(thread)))
            .collect()
    })
}
