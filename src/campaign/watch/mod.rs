//! The side that watches: whether a window of measurement was disturbed.
//!
//! The side that measures does the bare minimum (Caliper). A host that is this program looks at its
//! thread and its core right before its loops and right after them; at others the runner looks from
//! outside, before a question and after its answer. A window that was disturbed is dropped and
//! taken again, within limits.

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

/// What disturbs a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// The process had to give way to another one.
    ContextSwitch,
    /// A thread moved to another CPU.
    Migration,
    /// A page had to be fetched from a disk.
    MajorFault,
    /// The core changed its frequency.
    FrequencyChange,
    /// The core ran another thread beside this one, of this machine or of another guest.
    SharedCore,
    /// A hypervisor took the CPU away.
    StolenTime,
}

impl Disturbance {
    /// Its name in reports.
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

    /// Whether what was measured in such a window can be kept when there is none better: the timer
    /// was measured, though not by a core of its own or of one frequency.
    #[must_use]
    pub fn is_bearable(self) -> bool {
        matches!(self, Self::FrequencyChange | Self::SharedCore)
    }
}

/// Frequencies before and after a window that differ by more than this share are a change.
/// *Judgement*.
pub const STEADY: f64 = 0.015;
/// How often a window is taken at most.
/// *Judgement*.
const MOST_TRIES: u32 = 5;
/// Windows that a process may have dropped.
/// *Judgement*.
const MOST_DROPPED: u32 = 40;
/// The shortest window is this part of the whole.
/// *Judgement*.
const SHORTEST_PORTION: u32 = 30;
/// How many more windows of a campaign may be dropped for something bearable, for each one that is
/// asked for: what bounds the time that a busy neighbour may cost. *Judgement*.
const CREDIT: f64 = 0.7;
/// How long one waits for a shared core, at a time.
/// *Judgement*.
const PAUSE: Duration = Duration::from_micros(500);
/// How often, before a window.
/// *Judgement*.
const MOST_PAUSES: u32 = 12;

/// What a campaign watches with.
pub struct Watch {
    counts: Counts,
    cpu: Option<u32>,
    core: Option<Core>,
    /// Context switches that the runner itself causes, as where it shares the only CPU.
    own_switches: u64,
    patience: Duration,
    credit: f64,
    frequencies: Vec<f64>,
    /// Whether something else ran on the core when it was last looked at.
    was_shared: bool,
}

impl Watch {
    /// Watches what is measured on `cpu`. `apart` says that the runner keeps off it; `patience` is
    /// how long all waits for a shared core may take together.
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

    /// All frequencies of the core that were seen.
    #[must_use]
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// Time that the hypervisor took from the CPU so far.
    fn stolen(&self) -> Option<u64> {
        self.counts.stolen(self.cpu?)
    }

    /// Whether another window may be dropped for something bearable.
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

    /// What a process on this core saw of it: additions a second, and side by side in a cycle.
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

    /// A look at a core that is not shared, if patience brings that about.
    fn calm(&mut self) -> Option<CoreFrequency> {
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

/// What is known of a process and of its core at one moment.
#[derive(Clone, Debug, Default)]
struct Look {
    counters: Option<Counters>,
    core_frequency: Option<CoreFrequency>,
}

/// What the counters say of a window: what grew by more than `own_switches`, or moved, disturbed
/// it.
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
