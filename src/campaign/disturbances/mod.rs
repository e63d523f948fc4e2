//! Detects disturbed windows. A window is the time in which a process answers one question; it is
//! disturbed if, for example, the process was switched out or its core changed the frequency.
//!
//! A native worker reads the counters of its thread and samples its core immediately before and
//! after its measuring loops. For other hosts, the runner, which is the process that asks the
//! hosts, reads the counters of the host's process and samples the core from outside, before a
//! question and after its answer. A disturbed window is dropped and repeated, within limits.

mod core;
mod process;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use timers::CoreFrequency;
use timers::os::Counters;
use timers::os::counters::CounterSource;

use self::core::Core;
pub use self::process::ProcessWatch;

/// Causes of a disturbed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// The process was switched out for another one.
    ContextSwitch,
    /// A thread of the process moved to another CPU.
    Migration,
    /// A page was read from a disk.
    MajorFault,
    /// The core changed its frequency.
    FrequencyChange,
    /// The core also ran another thread, of this system or of another virtual machine.
    SharedCore,
    /// A hypervisor ran something else on the CPU.
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

    /// Returns whether the results of such a window can be kept if there are no better ones. They
    /// can if the process ran all the time, although on a shared core or at a changing frequency.
    #[must_use]
    pub fn is_bearable(self) -> bool {
        matches!(self, Self::FrequencyChange | Self::SharedCore)
    }
}

/// Largest relative difference of the frequencies before and after a window that does not count as
/// a change.
/// *Judgement*.
pub const MAX_FREQUENCY_CHANGE: f64 = 0.015;
/// Most attempts to measure a window.
/// *Judgement*: if each attempt asks for a third of the values of the one before, the fifth reaches
/// the shortest window.
const MAX_ATTEMPTS: u32 = 5;
/// Number of dropped windows of a process after which its disturbed windows are not repeated any
/// more.
/// *Judgement*: it limits the time that a process takes if something else runs on its CPU.
const MAX_DROPPED_WINDOWS: u32 = 40;
/// Largest divisor of the number of values of a request (`ProcessWatch::gather`): the shortest
/// window asks for the requested number divided by this one.
/// *Judgement*: windows that are divided by three reach it at the fifth attempt.
const MAX_REQUEST_DIVISOR: u32 = 30;
/// Repetitions for a bearable cause that each request for values (`ProcessWatch::gather`) adds to
/// those that the whole campaign may make. They are limited because a busy neighbour may disturb
/// all windows.
/// *Judgement*: a campaign whose windows all have a bearable disturbance takes 1.7 times as long.
const REPEATS_PER_REQUEST: f64 = 0.7;
/// Length of one pause while the runner waits until the core is no longer shared.
/// *Judgement*: long relative to a sample of the core.
const PAUSE: Duration = Duration::from_micros(500);
/// Most pauses before a window; after them the window is measured on the shared core.
/// *Judgement*: 6 ms in all.
const MAX_PAUSES: u32 = 12;

/// The state that all process watches of a campaign share.
pub struct Watch {
    /// Reads the counters of processes and CPUs from the system.
    counts: CounterSource,
    /// The CPU of the measured processes, if they are pinned.
    cpu: Option<u32>,
    /// Samples that CPU; `None` if this is impossible.
    core: Option<Core>,
    /// Context switches that the runner causes in each window: 1 if it shares the CPU with the
    /// measured process, otherwise 0.
    runner_switches: u64,
    /// The time that may still be spent on waiting for a shared core.
    patience: Duration,
    /// Repetitions for a bearable cause that are still allowed.
    allowed_repeats: f64,
    /// All observed frequencies of the core, in hertz.
    frequencies: Vec<f64>,
    /// Whether another thread ran on the core at the last sample; `true` before the first sample.
    was_shared: bool,
}

impl Watch {
    /// Watches measurements on `cpu`. `runner_avoids_cpu` says whether the runner stays off that
    /// CPU; `patience` is the total time of all waits for a shared core.
    #[must_use]
    pub fn new(cpu: Option<u32>, runner_avoids_cpu: bool, patience: Duration) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            counts: CounterSource::of_system(),
            cpu,
            core: cpu.and_then(Core::on_cpu),
            runner_switches: u64::from(!runner_avoids_cpu),
            patience,
            allowed_repeats: 0.0,
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
    /// ms). `None` if unknown.
    fn steal_ticks(&self) -> Option<u64> {
        self.counts.steal_ticks(self.cpu?)
    }

    /// Returns whether a window may be repeated for a bearable cause, and if so counts the
    /// repetition.
    fn take_repeat(&mut self) -> bool {
        let is_allowed = self.allowed_repeats >= 1.0;
        self.allowed_repeats -= f64::from(u8::from(is_allowed));
        is_allowed
    }

    /// Samples the core from this process.
    fn sample_core(&mut self) -> Option<CoreFrequency> {
        let core_frequency = self.core.as_mut()?.sample()?;
        self.record_sample(core_frequency);
        Some(core_frequency)
    }

    /// Adds a sample that a process on this core took, and returns it. The sample is given as the
    /// frequency in hertz, which is the number of dependent additions per second, and the width of
    /// the core, which is the number of parallel additions per cycle. `None` if the process could
    /// not take one, or if this process does not sample the core.
    fn add_sample(&mut self, sample: Option<[f64; 2]>) -> Option<CoreFrequency> {
        let is_positive = |value: &f64| value.is_normal() && *value > 0.0;
        let [hertz, width] = sample.filter(|sample| sample.iter().all(is_positive))?;
        let core_frequency = CoreFrequency { hertz, width };
        self.core.as_mut()?.add(core_frequency);
        self.record_sample(core_frequency);
        Some(core_frequency)
    }

    fn record_sample(&mut self, core_frequency: CoreFrequency) {
        self.frequencies.push(core_frequency.hertz);
        self.was_shared = self.is_shared(core_frequency);
    }

    fn is_shared(&self, core_frequency: CoreFrequency) -> bool {
        self.core
            .as_ref()
            .is_some_and(|core| core.is_shared(core_frequency))
    }

    /// Samples the core until it is not shared, with a pause before each further sample. Stops
    /// after `MAX_PAUSES` pauses, or when the patience is used up. Returns the last sample.
    fn wait_until_unshared(&mut self) -> Option<CoreFrequency> {
        let mut core_frequency = self.sample_core()?;
        for _ in 0..MAX_PAUSES {
            if !self.is_shared(core_frequency) || self.patience < PAUSE {
                break;
            }
            self.patience -= PAUSE;
            timers::pause(PAUSE);
            core_frequency = self.sample_core()?;
        }
        Some(core_frequency)
    }
}

/// The counters of a process and the frequency of its core at one moment.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    counters: Option<Counters>,
    core_frequency: Option<CoreFrequency>,
}

/// Returns the disturbance that the counters show: context switches beyond `runner_switches`, a
/// migration, or a major page fault.
#[must_use]
pub fn counted_disturbance(
    before: &Counters,
    after: &Counters,
    runner_switches: u64,
) -> Option<Disturbance> {
    if after.switches > before.switches + runner_switches {
        Some(Disturbance::ContextSwitch)
    // If the number of threads changed, a thread started or ended in between; the CPUs of the
    // threads can then not be compared one by one.
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
