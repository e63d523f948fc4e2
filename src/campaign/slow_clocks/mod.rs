//! Waiting for slow timers: those whose steps are longer than the work a run can afford.
//!
//! Those that claim to count wall time are watched while the campaign goes on, by processes that
//! sleep ([`BackgroundWatcher`]). What is not resolved by that waits at its end, all together, and
//! works meanwhile ([`together`]).

mod watching;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timers::{Answer, Fault};

use watching::asleep;
pub use watching::at_work;

use crate::campaign::choose::Settings;
use crate::hosts::bench::Bench;
use crate::hosts::host::{Host, bench, connect};
use crate::hosts::protocol::HostedTimer;
use crate::model::Counted;
use crate::trace::{Intervals, Moved, Reference};

/// What a slow timer showed, and how far it moved while its process slept.
pub type Waited = Result<(Vec<Intervals>, Option<Moved>), Fault>;

/// A slow timer.
#[derive(Clone)]
pub struct Slow {
    /// Its host.
    pub host: Host,
    /// The timer.
    pub timer: HostedTimer,
    /// What is known of its reference.
    pub reference: Reference,
}

impl Slow {
    fn bench(&self, cpu: Option<u32>, settings: &Settings) -> Answer<Bench> {
        let connection = connect(&self.host, &[&self.timer.id], cpu, settings.timeout)?;
        Ok(bench(&connection, &self.timer, &self.reference.id))
    }
}

/// Processes that sleep beside the campaign and look at slow clocks now and then.
pub struct BackgroundWatcher {
    settings: Settings,
    /// A CPU that the campaign does not measure on.
    cpu: Option<u32>,
    over: Arc<AtomicBool>,
    watchers: BTreeMap<usize, JoinHandle<Waited>>,
}

impl BackgroundWatcher {
    /// No timer is watched yet. Watchers keep off the CPU that measures; where there is no other
    /// one, none will be.
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

    /// Begins to watch a timer, unless it is watched already or does not claim to count wall time.
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
            let (intervals, moved) = asleep(
                &mut bench,
                &slow.reference,
                &settings.plan,
                &mut random,
                &over,
            )?;
            Ok((intervals, Some(moved)))
        };
        // Without a thread it waits with the others at the end.
        if let Ok(watcher) = thread::Builder::new().name("watcher".into()).spawn(watch) {
            self.watchers.insert(index, watcher);
        }
    }

    /// Waits for all that are still watched.
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

/// All at once, each in a process of its own, on whatever `cpus` there are, in the order given.
/// Beside each another process sleeps as long as it works.
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
                asleep(&mut bench, reference, plan, &mut naps, &over)
            });
            let worked = (slow.bench(cpu, settings))
                .and_then(|mut bench| at_work(&mut bench, reference, plan, &mut random));
            over.store(true, Ordering::Relaxed);
            // What the sleeper saw of the steps is nothing new; and it is no loss when it ended
            // early.
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
