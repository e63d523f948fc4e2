//! Code specific to an operating system: one folder per system, with the same modules and
//! functions. Code outside this folder and `arch` does not depend on the target, and calls the
//! system only through the standard library.
//!
//! On a system without a feature, a function that reads it returns `None`, a function that uses it
//! returns an error, and a function that is unnecessary does nothing.
//!
//! | module | holds |
//! |---|---|
//! | `affinity` | the CPUs on which a thread may run |
//! | `attempt` | execution of an instruction that may fault |
//! | `clocks` | calls that read clocks, and their permissions |
//! | `perf_event` | counters of the CPU that the kernel manages |
//! | `counters` | counts of disturbances of a thread: switches, page faults, CPU changes, steal time |
//! | `emulator` | the emulator that runs this program |
//! | `discipline` | the rate correction of the kernel's clocks (by NTP) |
//! | `machine` | the kernel, facts about the machine, and the root of the kernel's files |
//! | `process` | child processes and their descendants: starting, listing and killing them |
//! | `scheduling` | scheduling policy, timer slack and run delay of a thread; marks in the kernel's trace |
//! | `signals` | signals that request the end of the program |
//! | `waits` | sleep primitives and periodic timers |
//! | `limits` | limits of open files, processes and memory |
//! | `handoff` | channels between threads, with limits of time |
//! | `files` | file operations that differ between systems: locks, kinds, permissions |

#[cfg(target_os = "macos")]
mod apple;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(feature = "signals")]
#[cfg_attr(windows, path = "windows/signals.rs")]
#[cfg_attr(not(windows), path = "unix/signals.rs")]
pub mod signals;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!(
    "timermeter does not support this operating system; CONTRIBUTING.md explains how to add one"
);

// Tables of clocks and waits: the rows exist on all systems, their code only on the system itself.
#[path = "apple/timers.rs"]
pub(crate) mod apple_timers;
#[path = "linux/waits/mod.rs"]
pub(crate) mod linux_waits;
#[cfg(feature = "perf-event")]
#[path = "linux/perf_clocks.rs"]
pub(crate) mod perf_clocks;
#[path = "unix/posix.rs"]
pub(crate) mod posix;
#[path = "windows/timers.rs"]
pub(crate) mod windows_timers;

#[cfg(target_os = "macos")]
use apple as system;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

use std::fmt;
use std::io;
use std::process::Child;

pub use system::emulator::{emulator, runner};
/// Four clocks: `CommonClock`, the usual monotonic clock; `UndistortedClock`, the same clock by a
/// call that a preloaded library cannot intercept, if there is one; `UntrimmedClock`, a clock whose
/// rate no time service trims, if there is one; and `CalendarClock`, the date and time.
pub(crate) use system::{CalendarClock, CommonClock, UndistortedClock, UntrimmedClock, attempt};
pub(crate) use system::{affinity, clocks, rest};
pub use system::{
    counters, discipline, files, handoff, library, limits, machine, process, scheduling,
};

/// The reason why a thread could not be bound to a CPU.
#[derive(Debug)]
pub enum AffinityError {
    /// The machine has no such CPU.
    Absent(u32),
    /// The CPU exists but is offline.
    Offline(u32),
    /// The CPU is online, but this process may not use it.
    NotAllowed {
        /// The requested CPU.
        cpu: u32,
        /// The CPUs that this process may use.
        allowed: Vec<u32>,
    },
    /// Another error of the system.
    System {
        /// The call that failed.
        call: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

texts! { AffinityError {
    Self::Absent(cpu) => "this system shows no CPU {cpu}",
    Self::Offline(cpu) => "CPU {cpu} is offline; `echo 1 > /sys/devices/system/cpu/cpu{cpu}/online` as root brings it up",
    Self::NotAllowed { cpu, allowed } => "CPU {cpu} is not among those this process may use ({allowed:?}); its cpuset (container, cgroup) forbids it",
    Self::System { call, source } => "{call}: {source}",
} }

/// The scheduling policy of a thread (sched(7)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The default policy: all threads get fair shares of the CPU.
    #[default]
    Other,
    /// A thread with a real-time priority from 1 to 99 runs until it waits, before threads with a
    /// lower priority and all threads with the policy [`Other`](Policy::Other).
    Fifo(u32),
    /// As [`Fifo`](Policy::Fifo), but threads of the same priority run in turn.
    RoundRobin(u32),
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => write!(f, "other"),
            Self::Fifo(priority) => write!(f, "fifo:{priority}"),
            Self::RoundRobin(priority) => write!(f, "rr:{priority}"),
        }
    }
}

/// Counters of a process. They only grow: an increase during a measurement shows a disturbance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Involuntary context switches: the number of times that another thread preempted a thread.
    pub switches: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// The current CPU of each thread.
    pub cpus: Vec<u32>,
}

/// The state of the kernel's clock discipline, which corrects CLOCK_REALTIME and CLOCK_MONOTONIC
/// (adjtimex(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discipline {
    /// Whether a time service keeps the clock synchronised (STA_UNSYNC is not set).
    pub synchronised: bool,
    /// The remaining offset that the kernel still has to correct by slewing, in nanoseconds.
    pub offset_ns: i64,
    /// The time constant of the loop that corrects the offset: each second corrects 1/2^(2 +
    /// constant) of the remaining offset.
    pub time_constant: i64,
    /// The remaining correction requested by adjtime(3), in microseconds; `None` if not reported.
    pub adjtime_us: Option<i64>,
    /// The correction of the rate.
    pub trim: Trim,
    /// The estimated error of CLOCK_REALTIME in microseconds.
    pub estimated_error_us: i64,
}

/// The rate correction of CLOCK_REALTIME and CLOCK_MONOTONIC, and the offset of TAI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trim {
    /// The frequency correction in parts per million, times 2^16.
    pub scaled_ppm: i64,
    /// The microseconds per tick of USER_HZ (100 Hz); a value other than 10 000 corrects the rate.
    pub tick_us: i64,
    /// The seconds by which TAI is ahead of CLOCK_REALTIME; 0 if no program has set the offset.
    pub tai_offset_s: i64,
}

impl Trim {
    /// The value of [`tick_us`](Self::tick_us) without correction: USER_HZ is 100 on all supported
    /// systems.
    pub const UNTRIMMED_TICK_US: i64 = 10_000;

    /// The frequency correction in ppm.
    pub fn frequency_ppm(&self) -> f64 {
        self.scaled_ppm as f64 / 65_536.0
    }

    /// The additional correction by the length of the tick, in ppm.
    pub fn tick_ppm(&self) -> f64 {
        let difference_us = self.tick_us.saturating_sub(Self::UNTRIMMED_TICK_US);
        difference_us as f64 / Self::UNTRIMMED_TICK_US as f64 * 1e6
    }
}

/// Release and version of the kernel; a field is `None` if not reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelName {
    /// As in `6.18.5`.
    pub release: Option<String>,
    /// The version text, which names the build.
    pub version: Option<String>,
}

/// The id of a process, or of the process group that it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pid(u32);

impl Pid {
    /// The id of a child.
    pub fn from_child(child: &Child) -> Self {
        Self(child.id())
    }

    /// The id of this process.
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// Parses an id: a positive number of at most 31 bits.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse()
            .ok()
            .filter(|&number| number > 0 && i32::try_from(number).is_ok())
            .map(Self)
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Pid;

    #[test]
    fn parses_process_ids() {
        assert_eq!(Pid::parse(&Pid::own().to_string()), Some(Pid::own()));
        // For kill(2), 0 and negative numbers are process groups.
        for wrong in ["0", "-1", "2147483648", "4294967296", "", "self"] {
            assert_eq!(Pid::parse(wrong), None, "{wrong}");
        }
    }
}
