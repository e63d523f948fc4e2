//! Detects whether a window of measurement was disturbed.
//!
//! The measuring side does as little as possible (Caliper). A host that is this program reads the
//! counters of its thread and samples its core immediately before and after its loops. For other
//! hosts the runner reads them from outside, before a question and after its answer. A disturbed
//! window is dropped and repeated, within limits.

mod core;
mod process;

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use timers::CoreFrequency;
use timers::os::Counters;
use timers::os::counters::Counts;

use crate::hosts::bench::{CoreState, Gathered, Watcher};

use self::core::Core;
pub use self::process::ProcessWatch;

/// Causes of a disturbed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// The process was switched out for another one.
    ContextSwitch,
    /// A thread moved to another CPU.
    Migration,
    /// A page was read from a disk.
    MajorFault,
    /// The core changed its frequency.
    FrequencyChange,
    /// The core also ran another thread, of this machine or of another guest.
    SharedCore,
    /// A hypervisor took the CPU away.
    StolenTime,
}

impl Disturbance {
    /// Returns the name of the cause in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ContextSwitch => "context-switch",
            Self::Migration => "migration",
            Self::MajorFault => "major-fault",
            Self::FrequencyChange => "frequency-change",
            Self::SharedCore => "shared-core",
            Self::StolenTime => "stolen-time",
        }
    }

    /// Returns whether the results of such a window can be kept if there are no better ones: the
    /// timer was measured, but on a shared core or at a changing frequency.
    #[must_use]
    pub fn is_bearable(self) -> bool {
        matches!(self, Self::FrequencyChange | Self::SharedCore)
    }
}

/// Relative difference of the frequencies before and after a window that counts as a change.
/// *Judgement*.
pub const MAX_FREQUENCY_CHANGE: f64 = 0.015;
/// Most attempts for a window.
/// *Judgement*.
const MOST_TRIES: u32 = 5;
/// Most dropped windows of a process.
/// *Judgement*.
const MOST_DROPPED: u32 = 40;
/// Divisor of the full window that gives the shortest one.
/// *Judgement*.
const SHORTEST_PORTION: u32 = 30;
/// Further windows of a campaign that may be dropped for a bearable cause, for each requested
/// window. This bounds the time that a busy neighbour may cost. *Judgement*.
const CREDIT_PER_WINDOW: f64 = 0.7;
/// Length of a single pause to wait for a shared core.
/// *Judgement*.
const PAUSE: Duration = Duration::from_micros(500);
/// Most pauses before a window.
/// *Judgement*.
const MOST_PAUSES: u32 = 12;

/// The state that all process watches of a campaign share.
pub struct Watch {
    counts: Counts,
    cpu: Option<u32>,
    core: Option<Core>,
    /// Context switches that the runner itself causes, if it shares the only CPU.
    own_switches: u64,
    patience: Duration,
    credit: f64,
    frequencies: Vec<f64>,
    /// Whether something else ran on the core at the last sample.
    was_shared: bool,
}

impl Watch {
    /// Watches measurements on `cpu`. `apart` says whether the runner avoids that CPU; `patience`
    /// is the total time of all waits for a shared core.
    #[must_use]
    pub fn new(cpu: Option<u32>, apart: bool, patience: Duration) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            counts: Counts::of_system(),
            cpu,
            core: cpu.and_then(Core::on_cpu),
            own_switches: u64::from(!apart),
            patience,
            credit: 0.0,
            frequencies: Vec::new(),
            was_shared: true,
        }))
    }

    /// Returns all observed frequencies of the core, in hertz.
    #[must_use]
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// Returns the time that the hypervisor has taken from the CPU so far, in ticks of USER_HZ (10
    /// ms).
    fn steal_ticks(&self) -> Option<u64> {
        self.counts.stolen(self.cpu?)
    }

    /// Uses up credit for dropping a window with a bearable cause. Returns `false` if none is left.
    fn spend(&mut self) -> bool {
        let may = self.credit >= 1.0;
        self.credit -= f64::from(u8::from(may));
        may
    }

    fn look(&mut self) -> Option<CoreFrequency> {
        let core_frequency = self.core.as_mut()?.look()?;
        self.note(core_frequency);
        Some(core_frequency)
    }

    /// Adds a sample that a process on this core took: additions per second, and parallel additions
    /// per cycle.
    fn reported(&mut self, seen: Option<[f64; 2]>) -> Option<CoreFrequency> {
        let [hertz, width] =
            seen.filter(|seen| seen.iter().all(|value| value.is_normal() && *value > 0.0))?;
        let core_frequency = CoreFrequency { hertz, width };
        self.core.as_mut()?.remember(core_frequency);
        self.note(core_frequency);
        Some(core_frequency)
    }

    fn note(&mut self, core_frequency: CoreFrequency) {
        self.frequencies.push(core_frequency.hertz);
        self.was_shared = self.is_shared(core_frequency);
    }

    fn is_shared(&self, core_frequency: CoreFrequency) -> bool {
        self.core
            .as_ref()
            .is_some_and(|core| core.is_shared(core_frequency))
    }

    /// Samples the core, waiting until it is not shared or the patience is used up.
    fn wait_until_unshared(&mut self) -> Option<CoreFrequency> {
        let mut core_frequency = self.look()?;
        for _ in 0..MOST_PAUSES {
            if !self.is_shared(core_frequency) || self.patience < PAUSE {
                break;
            }
            self.patience -= PAUSE;
            thread::sleep(PAUSE);
            core_frequency = self.look()?;
        }
        Some(core_frequency)
    }
}

/// The counters of a process and the frequency of its core at one moment.
#[derive(Clone, Debug, Default)]
struct Look {
    counters: Option<Counters>,
    core_frequency: Option<CoreFrequency>,
}

/// Returns the disturbance that the counters show: context switches beyond `own_switches`, a
/// migration, or a major page fault.
#[must_use]
pub fn counted(before: &Counters, after: &Counters, own_switches: u64) -> Option<Disturbance> {
    if after.switches > before.switches + own_switches {
        Some(Disturbance::ContextSwitch)
    } else if before.cpus.len() == after.cpus.len() && before.cpus != after.cpus {
        Some(Disturbance::Migration)
    } else if after.major_faults > before.major_faults {
        Some(Disturbance::MajorFault)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
