//! Waits for slow timers, whose steps are longer than the work that a run can afford.
//!
//! Timers that claim to count wall time are watched during the campaign by processes that sleep
//! ([`BackgroundWatcher`]). All timers that are still unresolved are measured at the same time at
//! the end of the campaign, by processes that work ([`together`]).

mod watching;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Fault};

pub use watching::at_work;
use watching::watch_asleep;

use crate::campaign::choose::Settings;
use crate::hosts::bench::Bench;
use crate::hosts::host::{Host, bench, connect};
use crate::hosts::protocol::HostedTimer;
use crate::model::Counted;
use crate::trace::{Intervals, Moved, Reference};

/// The intervals of a slow timer, and how far it moved while its process slept.
pub type Waited = Result<(Vec<Intervals>, Option<Moved>), Fault>;

/// A timer with long steps.
#[derive(Clone)]
pub struct Slow {
    /// The host of the timer.
    pub host: Host,
    /// The timer.
    pub timer: HostedTimer,
    /// The reference and its calibration.
    pub reference: Reference,
}

impl Slow {
    fn bench(&self, cpu: Option<u32>, settings: &Settings) -> Answer<Bench> {
        let connection = connect(&self.host, &[&self.timer.id], cpu, settings.timeout)?;
        Ok(bench(&connection, &self.timer, &self.reference.id))
    }
}

/// Watches slow clocks during the campaign, with processes that sleep and read the clock from time
/// to time.
pub struct BackgroundWatcher {
    settings: Settings,
    /// A CPU that the campaign does not measure on.
    cpu: Option<u32>,
    over: Arc<AtomicBool>,
    watchers: BTreeMap<usize, JoinHandle<Waited>>,
}

impl BackgroundWatcher {
    /// Creates a watcher without timers. Watchers avoid the CPU that measures; if it is the only
    /// CPU, nothing is watched.
    #[must_use]
    pub fn new(settings: Settings, cpus: &[u32]) -> Self {
        let measuring = settings.cpu;
        let cpu =
            measuring.and_then(|measuring| cpus.iter().copied().find(|&cpu| cpu != measuring));
        Self {
            settings,
            cpu,
            over: Arc::default(),
            watchers: BTreeMap::new(),
        }
    }

    /// Starts to watch a timer, unless it is watched already or does not claim to count wall time.
    pub fn begin(&mut self, index: usize, slow: Slow) {
        let Some(cpu) = self.cpu else { return };
        if slow.timer.properties.counts != Some(Counted::Wall) || self.watchers.contains_key(&index)
        {
            return;
        }
        let (settings, over) = (self.settings, Arc::clone(&self.over));
        let watch = move || {
            let mut random = StdRng::seed_from_u64(settings.seed.wrapping_add(index as u64));
            let mut bench = slow.bench(Some(cpu), &settings)?;
            let (intervals, moved) = watch_asleep(
                &mut bench,
                &slow.reference,
                &settings.plan,
                &mut random,
                &over,
            )?;
            Ok((intervals, Some(moved)))
        };
        // If no thread can be started, the timer is measured at the end with the other slow timers.
        if let Ok(watcher) = thread::Builder::new().name("watcher".into()).spawn(watch) {
            self.watchers.insert(index, watcher);
        }
    }

    /// Waits for all timers that are still watched and returns their results by index.
    #[must_use]
    pub fn end(&mut self) -> BTreeMap<usize, Waited> {
        let watchers = std::mem::take(&mut self.watchers);
        watchers
            .into_iter()
            .map(|(index, watcher)| (index, watcher.join().unwrap_or_else(|_| lost())))
            .collect()
    }
}

impl Drop for BackgroundWatcher {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Measures all timers at the same time, each in a separate process, distributed over `cpus` in the
/// order given. For each timer, a second process sleeps while the first one works.
#[must_use]
pub fn together(slow: &[Slow], settings: &Settings, cpus: &[u32], seed: u64) -> Vec<Waited> {
    let one = |turn: usize, slow: &Slow| {
        let (reference, plan) = (&slow.reference, &settings.plan);
        let cpu = cpus.get(turn % cpus.len().max(1)).copied();
        let mut random = StdRng::seed_from_u64(seed.wrapping_add(turn as u64));
        let mut naps = StdRng::seed_from_u64(random.random());
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let mut bench = slow.bench(None, settings)?;
                watch_asleep(&mut bench, reference, plan, &mut naps, &over)
            });
            let worked = (slow.bench(cpu, settings))
                .and_then(|mut bench| at_work(&mut bench, reference, plan, &mut random));
            over.store(true, Ordering::Relaxed);
            // The steps that the sleeper observed are not needed, and it may have ended early.
            let moved = sleeper
                .join()
                .ok()
                .and_then(Result::ok)
                .map(|(_, moved)| moved);
            Ok((worked?, moved))
        })
    };
    thread::scope(|scope| {
        let waiting: Vec<_> = slow
            .iter()
            .enumerate()
            .map(|(turn, slow)| scope.spawn(move || one(turn, slow)))
            .collect();
        waiting
            .into_iter()
            .map(|waiter| waiter.join().unwrap_or_else(|_| lost()))
            .collect()
    })
}

fn lost<T>() -> Result<T, Fault> {
    Err(Fault::Lost("the thread that waited for it ended".into()))
}
