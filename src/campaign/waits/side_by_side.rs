//! Makes long waits with all sleep primitives that block, at the same time, each in a separate
//! process.

use std::sync::mpsc;
use std::thread;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::{Answer, Fault};

use super::explore::explore_long;
use super::plan::WaitSettings;
use super::subject::{Conditions, Subject};
use crate::campaign::survived;
use crate::hosts::host::Host;
use crate::model::{BackgroundLoad, Means};
use crate::trace::{WaitRun, WaitTrace};

/// Primitives that wait at the same time per CPU: they wake so rarely that they hardly delay each
/// other.
const PRIMITIVES_PER_CPU: usize = 16;

/// Copies of the subjects that make long waits in a round, with their indices.
pub(super) struct SideBySide(Vec<(usize, Subject<WaitTrace>)>);

/// The long waits of the subjects, by index.
type Observed = Vec<(usize, Answer<WaitRun>)>;

impl SideBySide {
    /// Selects the subjects that can wait next to others, once for each set of conditions without
    /// the CPU. Primitives that spin are excluded because they would delay others, and those next
    /// to a busy thread because they have to run alone.
    pub(super) fn select(subjects: &[Subject<WaitTrace>]) -> Self {
        let anywhere = |subject: &Subject<WaitTrace>| Conditions {
            cpu: None,
            ..subject.conditions
        };
        let mut chosen: Vec<(usize, Subject<WaitTrace>)> = Vec::new();
        for (index, subject) in subjects.iter().enumerate() {
            let takes_part = subject.waiter.means == Means::Blocks
                && subject.conditions.load == BackgroundLoad::None
                && subject.goes_on();
            let is_same = |(_, other): &(usize, Subject<WaitTrace>)| {
                (other.host, &other.waiter.id) == (subject.host, &subject.waiter.id)
                    && anywhere(other) == anywhere(subject)
            };
            if !takes_part || chosen.iter().any(is_same) {
                continue;
            }
            let conditions = Conditions {
                cpu: elsewhere(subject.conditions.cpu, index),
                ..subject.conditions
            };
            let empty = |trace: &WaitTrace| WaitTrace {
                runs: Vec::new(),
                ..trace.clone()
            };
            let copy = Subject {
                outcome: subject.outcome.as_ref().map(empty).map_err(Clone::clone),
                ..Subject::new(subject.host, subject.waiter.clone(), conditions)
            };
            chosen.push((index, copy));
        }
        Self(chosen)
    }

    /// Makes the long waits of each subject in a separate process.
    pub(super) fn observe(&self, hosts: &[Host], settings: &WaitSettings, seed: u64) -> Observed {
        let together = PRIMITIVES_PER_CPU * timers::allowed_cpus().map_or(1, |cpus| cpus.len());
        let chunks = self.0.chunks(together);
        chunks
            .flat_map(|some| observe_together(hosts, some, settings, seed))
            .collect()
    }

    /// Adds the observations to the run of that round. A subject that fails here keeps its earlier
    /// results.
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
            match (survived(run)?, &mut subject.outcome) {
                (Ok(run), Ok(trace)) => match trace.runs.get_mut(round) {
                    Some(kept) => {
                        kept.long.extend(run.long);
                        kept.scans.extend(run.scans);
                    }
                    None => {
                        trace.runs.push(run);
                        subject.has_run = true;
                    }
                },
                (Err(fault), _) => subject.lost = Some(format!("long waits: {fault}")),
                (Ok(_), Err(_)) => {}
            }
        }
        Ok(())
    }
}

/// Returns a CPU on which nothing is measured, in turn. `None` if there is no other CPU.
fn elsewhere(measuring: Option<u32>, turn: usize) -> Option<u32> {
    let measuring = measuring?;
    let mut others = timers::allowed_cpus().ok()?;
    others.retain(|cpu| *cpu != measuring);
    others.get(turn % others.len().max(1)).copied()
}

fn observe_together(
    hosts: &[Host],
    waiting: &[(usize, Subject<WaitTrace>)],
    settings: &WaitSettings,
    seed: u64,
) -> Observed {
    thread::scope(|scope| {
        let (ready, all_ready) = mpsc::channel::<()>();
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for (index, subject) in waiting {
            let mut random = StdRng::seed_from_u64(seed ^ *index as u64);
            let ready = ready.clone();
            let (start, go) = mpsc::channel::<()>();
            starts.push(start);
            let wait = move || {
                let bench = subject.bench(hosts, settings);
                // All processes start and warm up before any of them waits, so that none delays
                // another.
                drop(ready);
                let _ = go.recv();
                let (long, scans) = explore_long(&mut bench?, &settings.plan, &mut random)?;
                Ok(WaitRun {
                    long,
                    scans,
                    ..WaitRun::default()
                })
            };
            threads.push((*index, thread::Builder::new().spawn_scoped(scope, wait)));
        }
        drop(ready);
        // Returns when all senders are dropped; dropping `starts` then releases all threads.
        let _ = all_ready.recv();
        drop(starts);
        let joined = |thread: std::io::Result<thread::ScopedJoinHandle<'_, _>>| {
            let thread =
                thread.map_err(|error| Fault::Lost(format!("no thread for it: {error}")))?;
            let ended = |_| Err(Fault::Lost("its thread ended before its time".into()));
            thread.join().unwrap_or_else(ended)
        };
        threads
            .into_iter()
            .map(|(index, thread)| (index, joined(thread)))
            .collect()
    })
}
