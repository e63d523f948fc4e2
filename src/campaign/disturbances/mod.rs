//! Detects disturbed windows. A window is the time in which a process answers one question; it is
//! disturbed if, for example, the process was switched out or its core changed the frequency.
//!
//! A native worker reads the counters of its thread and samples its core immediately before and
//! after its measuring loops. For other agents, the runner, which is the process that asks the
//! agents, reads the counters of the agent's process and samples the core from outside, before a
//! question and after its answer. A disturbed window is dropped and repeated, within limits.

mod cores;
mod process;

use std::cell::RefCell;
use std::rc::Rc;

use timers::os::Counters;
use timers::os::counters::CounterSource;
use timers::{CoreSpeed, Pinned};

use self::cores::Cores;
pub use self::process::ProcessWatch;
use estimators::trace::Place;

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
/// Share of the time of a campaign that may be spent on repeating what another program interrupted.
/// *Judgement*: a run next to busy programs then takes hardly longer, and shows that they disturb it.
const MAX_REPEATED_SHARE: f64 = 0.25;
/// Largest divisor of the number of values of a request (`ProcessWatch::gather`): the shortest
/// window asks for the requested number divided by this one.
/// *Judgement*: windows that are divided by three reach it at the fifth attempt.
const MAX_REQUEST_DIVISOR: u32 = 30;
/// Share of the time of a campaign that may be spent on searching for free cores, and on repeating what
/// was measured on a shared core or at a changing frequency.
/// *Definition*.
const MAX_SEARCH_SHARE: f64 = 0.1;
/// Time in which all cores are sampled at the beginning of a campaign, in nanoseconds.
/// *Seen*: the two cores of a guest on Zen 3 were shared for 20 ms at a time.
const EXPLORATION_NS: u64 = 30_000_000;

/// The state that all process watches of a campaign share.
pub struct CampaignWatch {
    /// Reads the counters of processes and CPUs from the system.
    counts: CounterSource,
    /// The CPU of the measuring process, if it is pinned.
    cpu: Option<u32>,
    /// The cores on which can be measured; `None` if they cannot be sampled.
    cores: Option<Cores>,
    /// While this pin exists, the runner (this process) avoids the CPU that measures. `None` if
    /// there is no other CPU.
    runner_pin: Option<Pinned>,
    /// Context switches that the runner causes in each window: 1 if it shares the CPU with the
    /// measuring process, otherwise 0.
    runner_switches: u64,
    /// The number of measuring processes that were started.
    processes: u32,
    /// The time at which the campaign began, and the time spent on searching, in nanoseconds.
    begun: u64,
    spent: u64,
    /// The time of interrupted windows that were repeated, in nanoseconds.
    repeated: u64,
    /// All frequencies of the core before and after windows, in hertz.
    frequencies: Vec<f64>,
}

/// The time in nanoseconds; 0 without a clock.
fn now() -> u64 {
    timers::kernel_time().unwrap_or_default()
}

impl CampaignWatch {
    /// Watches measurements on `cpus`, first on the first. All have cores of one kind. Samples them
    /// for some milliseconds.
    pub fn new(cpus: &[u32]) -> Rc<RefCell<Self>> {
        let begun = now();
        let mut watch = Self {
            counts: CounterSource::of_system(),
            cpu: None,
            cores: cores::sampler().and_then(|sampler| Cores::new(cpus, sampler)),
            runner_pin: None,
            runner_switches: 1,
            processes: 0,
            begun,
            spent: 0,
            repeated: 0,
            frequencies: Vec::new(),
        };
        watch.set_cpu(cpus.first().copied());
        if let Some(cores) = &mut watch.cores {
            cores.explore(|| now() < begun + EXPLORATION_NS);
        }
        Rc::new(RefCell::new(watch))
    }

    /// The CPU of the measuring process, if it is pinned.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Sets the CPU of the measuring process. The runner leaves it.
    fn set_cpu(&mut self, cpu: Option<u32>) {
        if cpu != self.cpu {
            // The earlier pin is removed first, because it excludes other CPUs.
            self.runner_pin = None;
            self.runner_pin = cpu.and_then(Pinned::off);
            self.runner_switches = u64::from(self.runner_pin.is_none());
            self.cpu = cpu;
        }
    }

    /// Lets the runner use all CPUs for `work`, while nothing is measured.
    pub fn on_all_cpus<R>(&mut self, work: impl FnOnce() -> R) -> R {
        self.runner_pin = None;
        let result = work();
        self.runner_pin = self.cpu.and_then(Pinned::off);
        result
    }

    /// Lets the runner use all CPUs again.
    pub fn release_runner(&mut self) {
        self.runner_pin = None;
    }

    /// Returns all frequencies of the core before and after windows, in hertz.
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// Returns the width of a core that no other thread uses; `None` if unknown.
    pub fn full_width(&self) -> Option<f64> {
        self.cores.as_ref()?.full_width()
    }

    /// Returns the CPU on which to start the next measuring process: one with a free core, if one is
    /// found at once.
    pub fn begin_process(&mut self) -> Option<u32> {
        self.processes += 1;
        if let Some(cores) = &mut self.cores {
            cores.begin_process();
        }
        self.search();
        self.cpu
    }

    /// Returns where the latest measuring process measured, on a core of this width.
    pub fn place(&self, width: Option<f64>) -> Place {
        Place {
            process: self.processes.saturating_sub(1),
            cpu: self.cpu,
            width,
        }
    }

    /// Returns whether more time may be spent on searching.
    pub fn has_time(&self) -> bool {
        is_within(MAX_SEARCH_SHARE, self.spent, self.begun)
    }

    /// Does what counts as searching, such as a repetition.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn spend<T>(watch: &RefCell<Self>, work: impl FnOnce() -> T) -> T {
        let (before, start) = (watch.borrow().spent, now());
        let result = work();
        // What `work` spent on searching is part of its time.
        watch.borrow_mut().spent = before + (now() - start);
        result
    }

    /// Looks for a free core while there is time, and sets the CPU of the measuring process; see
    /// [`Cores::search`].
    fn search(&mut self) {
        let (start, begun, spent) = (now(), self.begun, self.spent);
        let Some(cores) = &mut self.cores else {
            return;
        };
        cores.search(|| is_within(MAX_SEARCH_SHARE, spent + (now() - start), begun));
        let cpu = cores.current();
        self.set_cpu(Some(cpu));
        self.spent += now() - start;
    }

    /// Samples the core from this process.
    fn sample_core(&mut self) -> Option<CoreSpeed> {
        let cores = self.cores.as_mut()?;
        let core_frequency = cores.sample(cores.current())?;
        self.frequencies.push(core_frequency.hertz);
        Some(core_frequency)
    }

    /// Adds a sample that a process on this core took, and returns it. The sample is given as the
    /// frequency in hertz, which is the number of dependent additions per second, and the width of
    /// the core, which is the number of parallel additions per cycle. `None` if the process could
    /// not take one, or if this process does not sample the core.
    fn add_sample(&mut self, sample: Option<[f64; 2]>) -> Option<CoreSpeed> {
        let is_positive = |value: &f64| value.is_normal() && *value > 0.0;
        let [hertz, width] = sample.filter(|sample| sample.iter().all(is_positive))?;
        let core_frequency = CoreSpeed { hertz, width };
        self.cores.as_mut()?.add(core_frequency);
        self.frequencies.push(hertz);
        Some(core_frequency)
    }

    fn is_shared(&self, core_frequency: CoreSpeed) -> bool {
        (self.cores.as_ref()).is_some_and(|cores| cores.is_shared(core_frequency.width))
    }
}

/// Returns whether a time in nanoseconds is below a share of the time of a campaign that began at `begun`.
fn is_within(share: f64, time: u64, begun: u64) -> bool {
    (time as f64) < share * now().saturating_sub(begun) as f64
}

/// The counters of a process and the frequency of its core at one moment.
#[derive(Debug, Default)]
struct Snapshot {
    counters: Option<Counters>,
    core_frequency: Option<CoreSpeed>,
}

/// Returns the disturbance that the counters show: context switches beyond `runner_switches`, a
/// migration, or a major page fault.
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
