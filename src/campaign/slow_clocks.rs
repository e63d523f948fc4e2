//! Watches a slow clock, whose steps are so long that an ordinary process, which increases its work until
//! the clock moves, cannot find them: in a thread of its own, by a process that sleeps or computes between
//! readings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rand::SeedableRng;
use rand::rngs::SmallRng;
use timers::{Answer, Fault};

use crate::agents::agent::{Agent, connect};
use crate::agents::protocol::AgentTimer;
use crate::agents::subject::subject;
use crate::campaign::no_thread;
use crate::plan::Plan;
use estimators::trace::{Advance, Differences, Reference};
use probe::prober::watch_steps;

/// The intervals of a slow clock, and how far it moved in all of them.
type Watched = (Vec<Differences>, Advance);

/// A thread that watches a slow clock until it has stepped often enough, or for the longest time of the plan.
pub(super) struct SlowWatch {
    /// Whether it has to end earlier.
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Answer<Watched>>>,
}

impl SlowWatch {
    /// Starts to watch a clock of an agent, by a process that sleeps, or computes on this CPU, for at most
    /// `slow_ns` nanoseconds.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn start(
        agent: &Agent,
        timer: &AgentTimer,
        reference: &Reference,
        plan: &Plan,
        (sleeps, cpu, slow_ns): (bool, Option<u32>, f64),
        seed: u64,
    ) -> Answer<Self> {
        let (agent, id, reference) = (agent.clone(), timer.id.clone(), reference.clone());
        let timeout = plan.time_limit();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watch = move || {
            // A new thread inherits the CPUs of the one that starts it, which may not run on the CPU that
            // measures; what this thread starts may run on any.
            timers::unpin();
            let connection = connect(&agent, &[&id], cpu, timeout)?;
            let mut clocks = [&id, &reference.id].map(|id| subject(&connection, id));
            let random = &mut SmallRng::seed_from_u64(seed);
            watch_steps(&mut clocks, &reference, slow_ns, sleeps, random, &stopped)
        };
        let thread = thread::Builder::new().name("watcher".into()).spawn(watch);
        Ok(Self {
            stop,
            thread: Some(thread.map_err(no_thread)?),
        })
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// When the clock could not be watched.
    pub(super) fn join(mut self) -> Answer<Watched> {
        let joined = self.thread.take().and_then(|thread| thread.join().ok());
        let lost = || Fault::Lost("the thread that watched it ended unexpectedly".into());
        joined.ok_or_else(lost)?
    }

    /// Ends it now. Returns how far the clock moved so far, if it could be watched.
    pub(super) fn stop(self) -> Option<Advance> {
        self.stop.store(true, Ordering::Relaxed);
        self.join().ok().map(|(_, moved)| moved)
    }
}

impl Drop for SlowWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
