//! Observes slow timers: those whose steps are so long that an ordinary process, which increases
//! its work until the timer moves, cannot find them.
//!
//! Timers that claim to count wall time are watched during the campaign by processes that sleep
//! between readings ([`BackgroundWatcher`]). At the end of the campaign, all timers whose
//! resolution is still unknown are measured at the same time by processes that compute
//! ([`measure_together`]).

use std::collections::BTreeMap;
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
use crate::campaign::sampling::CampaignSettings;
use estimators::model::Counted;
use estimators::trace::{Advance, Differences, Reference};
use probe::prober::watch_steps;

/// The intervals of a slow timer, and how far it moved while its process slept, if that was
/// observed.
pub type SlowResult = Result<(Vec<Differences>, Option<Advance>), Fault>;

/// A timer with long steps, and what is needed to measure it.
#[derive(Clone)]
pub struct SlowTimer {
    /// The host of the timer.
    pub agent: Agent,
    /// The timer.
    pub timer: AgentTimer,
    /// The reference and its calibration.
    pub reference: Reference,
}

impl SlowTimer {
    /// Starts a process and watches the timer until it has stepped often enough, or `stop` is set.
    fn watch(
        &self,
        cpu: Option<u32>,
        settings: &CampaignSettings,
        sleeps: bool,
        seed: u64,
        stop: &AtomicBool,
    ) -> Answer<(Vec<Differences>, Advance)> {
        let connection = connect(&self.agent, &[&self.timer.id], cpu, settings.timeout)?;
        let mut clocks = [&self.timer.id, &self.reference.id].map(|id| subject(&connection, id));
        let (slow_ns, mut random) = (settings.plan.calls.slow_ns, SmallRng::seed_from_u64(seed));
        let reference = &self.reference;
        watch_steps(&mut clocks, reference, slow_ns, sleeps, &mut random, stop)
    }
}

/// Watches slow clocks during the campaign, with processes that sleep and read the clock from time
/// to time.
pub struct BackgroundWatcher {
    settings: CampaignSettings,
    /// Whether there is a CPU that the campaign does not measure on.
    is_possible: bool,
    /// Whether the threads have to end.
    stop: Arc<AtomicBool>,
    /// The threads, by the index of their timer.
    watchers: BTreeMap<usize, JoinHandle<SlowResult>>,
}

impl BackgroundWatcher {
    /// Creates a watcher without timers. The scheduler finds CPUs for the watching processes,
    /// because the campaign may measure on any; if there is only one, no timer is watched.
    pub fn new(settings: CampaignSettings, cpus: &[u32]) -> Self {
        Self {
            settings,
            is_possible: settings.cpu.is_some() && cpus.len() > 1,
            stop: Arc::default(),
            watchers: BTreeMap::new(),
        }
    }

    /// Starts to watch the timer with this index, unless it is watched already or does not claim to
    /// count wall time.
    pub fn begin(&mut self, index: usize, slow: SlowTimer) {
        if !self.is_possible
            || slow.timer.properties.counts != Some(Counted::Wall)
            || self.watchers.contains_key(&index)
        {
            return;
        }
        let (settings, stop) = (self.settings, Arc::clone(&self.stop));
        let watch = move || {
            // It inherits that it may not run on the CPU on which the campaign measures now.
            timers::unpin();
            let seed = settings.seed.wrapping_add(index as u64);
            let (intervals, moved) = slow.watch(None, &settings, true, seed, &stop)?;
            Ok((intervals, Some(moved)))
        };
        // If no thread can be started, the timer is measured at the end with the other slow timers.
        if let Ok(watcher) = thread::Builder::new().name("watcher".into()).spawn(watch) {
            self.watchers.insert(index, watcher);
        }
    }

    /// Waits until all timers have been watched long enough and returns their results by index.
    pub fn end(&mut self) -> BTreeMap<usize, SlowResult> {
        let watchers = std::mem::take(&mut self.watchers);
        watchers
            .into_iter()
            .map(|(index, watcher)| (index, watcher.join().unwrap_or_else(|_| thread_lost())))
            .collect()
    }
}

impl Drop for BackgroundWatcher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Measures all timers at the same time, each with a process that computes between readings, and
/// another one that sleeps between readings. Distributes the computing processes over `cpus`.
pub fn measure_together(
    slow: &[SlowTimer],
    settings: &CampaignSettings,
    cpus: &[u32],
    seed: u64,
) -> Vec<SlowResult> {
    let measure_one = |turn: usize, slow: &SlowTimer| {
        let cpu = cpus.get(turn % cpus.len().max(1)).copied();
        let seed = seed.wrapping_add(turn as u64);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let sleep = || slow.watch(None, settings, true, !seed, &stop);
            let sleeper = thread::Builder::new().spawn_scoped(scope, sleep);
            let computed = slow.watch(cpu, settings, false, seed, &AtomicBool::new(false));
            stop.store(true, Ordering::Relaxed);
            // Of the sleeping process, only the movement is used: it may have been stopped before
            // it observed enough steps.
            let slept = sleeper.ok().and_then(|sleeper| sleeper.join().ok()?.ok());
            Ok((computed?.0, slept.map(|(_, moved)| moved)))
        })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = slow
            .iter()
            .enumerate()
            .map(|(turn, slow)| {
                thread::Builder::new().spawn_scoped(scope, move || measure_one(turn, slow))
            })
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| thread_lost())
        };
        threads
            .into_iter()
            .map(|thread| thread.map_err(no_thread).and_then(join))
            .collect()
    })
}

fn thread_lost<T>() -> Result<T, Fault> {
    Err(Fault::Lost(
        "the thread that watched it ended unexpectedly".into(),
    ))
}
