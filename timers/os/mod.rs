//! What differs from one operating system to another: a folder or a file each, behind the same
//! names. Nothing outside this folder and `arch` asks which one it is compiled for, or calls a
//! system by other means than the standard library.
//!
//! What a system cannot tell is `None`, what it cannot do is an error that says so, and what it
//! need not do is not done.
//!
//! | module | holds |
//! |---|---|
//! | `affinity` | which CPUs a thread may run on |
//! | `attempt` | instructions that may fault |
//! | `clocks` | calls that read clocks, and whether they may be made |
//! | `perf_event` | counters of the CPU that the kernel manages |
//! | `counters` | what disturbed a thread: switches, faults, moves, stolen time |
//! | `emulator` | who carries out this program, where the processor does not |
//! | `discipline` | how the kernel's clocks are steered |
//! | `machine` | the kernel, and where it shows its files |
//! | `process` | children, and all below them: started so that they end with this program, looked at, ended |
//! | `scheduling` | the policy of a thread, its timer slack, how long it waited for a CPU; marks in the kernel's trace |
//! | `signals` | requests to end |
//! | `waits` | calls that wait |
//! | `limits` | what a process may have of the system |
//! | `files` | what the standard library does not know of files: locks, kinds, permissions |

#[cfg(target_os = "macos")]
mod apple;
#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(not(any(
    target_os = "linux",
    target_os = "macos",
    target_os = "freebsd",
    windows
)))]
compile_error!("timermeter knows no system like this; CONTRIBUTING.md says how to add one");

// Tables, which are known on all systems; what they hold is compiled on their own.
#[path = "apple/timers.rs"]
pub(crate) mod apple_timers;
#[path = "linux/ptp.rs"]
pub(crate) mod linux_ptp;
#[path = "linux/waits/mod.rs"]
pub(crate) mod linux_waits;
#[path = "linux/perf_clocks.rs"]
pub(crate) mod perf_clocks;
#[path = "unix/posix.rs"]
pub(crate) mod posix;
#[path = "windows/timers.rs"]
pub(crate) mod windows_timers;
#[path = "windows/waits.rs"]
pub(crate) mod windows_waits;

#[cfg(target_os = "macos")]
use apple as system;
#[cfg(target_os = "freebsd")]
use freebsd as system;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

use std::fmt;
use std::io;
use std::process::Child;
use std::time::Duration;

pub use system::emulator::{emulator, runner};
/// The clock that others are timed by; the one that no library in between distorts; and the one
/// that is not steered. `OWN` are the clocks that this system alone has.
pub(crate) use system::{Common, Undistorted, Unsteered, attempt};
pub(crate) use system::{affinity, clocks, perf_event};
pub use system::{counters, discipline, files, limits, machine, process, scheduling, signals};

/// Why a thread could not be bound to a CPU.
#[derive(Debug, thiserror::Error)]
pub enum AffinityError {
    /// The machine has no such CPU.
    #[error("this machine has no CPU {0}")]
    Absent(u32),
    /// The CPU is there but switched off.
    #[error(
        "CPU {0} is offline; `echo 1 > /sys/devices/system/cpu/cpu{0}/online` as root brings it up"
    )]
    Offline(u32),
    /// The CPU is there and runs, but not for this process.
    #[error(
        "CPU {cpu} is not among those this process may use ({allowed:?}); its cpuset (container, cgroup) forbids it"
    )]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: u32,
        /// Those that may be used, separated by commas.
        allowed: Vec<u32>,
    },
    /// The system refused for another reason.
    #[error("{call}: {source}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// The scheduling policy of the thread (sched(7)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// In turn, as fair shares want it: what threads have by default.
    #[default]
    Other,
    /// The thread of the highest priority, from 1 to 99, until it waits: before all of
    /// [`Other`](Policy::Other).
    Fifo(u32),
    /// The same, in turn among those of one priority.
    RoundRobin(u32),
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => write!(f, "SCHED_OTHER"),
            Self::Fifo(priority) => write!(f, "SCHED_FIFO, {priority}"),
            Self::RoundRobin(priority) => write!(f, "SCHED_RR, {priority}"),
        }
    }
}

/// What the kernel counts of a process: counts that only grow; what grew during a window disturbed
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Times that a thread had to give way to another one though it could have gone on.
    pub switches: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// The CPU of each thread.
    pub cpus: Vec<u32>,
}

/// How the kernel steers CLOCK_REALTIME and CLOCK_MONOTONIC, as adjtimex(2) tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discipline {
    /// Whether the clock is kept synchronised (STA_UNSYNC is not set).
    pub synchronised: bool,
    /// What of an offset is still to be slewed in, in nanoseconds.
    pub offset_ns: i64,
    /// The time constant of the loop that slews that offset in: each second takes 1/2^(2 +
    /// constant) of the rest.
    pub time_constant: i64,
    /// What of an adjtime(3) is still to be slewed in, in microseconds; `None` where that is not
    /// reported.
    pub adjtime_us: Option<i64>,
    /// The trim of the rate.
    pub trim: Trim,
    /// Estimated error of CLOCK_REALTIME, in microseconds.
    pub estimated_error_us: i64,
}

/// How the kernel trims the rate of CLOCK_REALTIME and CLOCK_MONOTONIC, and what it adds for TAI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trim {
    /// The trim of the frequency, in parts per million times 2^16.
    pub scaled_ppm: i64,
    /// Microseconds between ticks of USER_HZ; 10 000 when the rate is not trimmed by it.
    pub tick_us: i64,
    /// Seconds by which TAI is ahead of CLOCK_REALTIME; 0 where the kernel was not told.
    pub tai_offset_s: i64,
}

impl Trim {
    /// Microseconds between ticks of USER_HZ, which is 100 wherever this program runs, where the
    /// rate is not trimmed by them.
    pub const UNTRIMMED_TICK_US: i64 = 10_000;

    /// The trim of the frequency, in ppm.
    #[must_use]
    pub fn frequency_ppm(&self) -> f64 {
        self.scaled_ppm as f64 / 65_536.0
    }

    /// What the tick trims besides, in ppm.
    #[must_use]
    pub fn tick_ppm(&self) -> f64 {
        let off = self.tick_us.saturating_sub(Self::UNTRIMMED_TICK_US);
        off as f64 / Self::UNTRIMMED_TICK_US as f64 * 1e6
    }
}

/// What the kernel calls itself; `None` where it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelName {
    /// As in `Linux`.
    pub name: Option<String>,
    /// As in `6.18.5`.
    pub release: Option<String>,
    /// When and how it was built.
    pub version: Option<String>,
}

/// What a system tells of the machine by calls; `None` where it tells it by files, or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineFacts {
    /// What the system calls itself, as in `Windows 11 Pro`.
    pub os_name: Option<String>,
    /// What only plays this system, or this processor, as in `Wine 8.0`.
    pub emulator: Option<String>,
    /// What answers the system's clocks, by the names that Linux has for it.
    pub clock_source: Option<String>,
    /// Whether the kernel maps code into programs that reads clocks without it (vdso(7)).
    pub vdso: Option<bool>,
    /// Its declared frequency in hertz, and who says so.
    pub nominal: Option<(f64, &'static str)>,
    /// CPUs that are online.
    pub online: Option<u32>,
    /// The CPUs that share a core with the one that was asked for, itself included.
    pub core: Option<Vec<u32>>,
    /// The kinds of cores, the most capable first.
    pub kinds: Option<Vec<CoreClass>>,
    /// What the kernel was started with, where files do not tell.
    pub start_options: Option<String>,
    /// The plan by which the system trades power for speed, as in `Balanced`.
    pub power_plan: Option<String>,
}

/// Cores that are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreClass {
    /// What the system calls them.
    pub name: String,
    /// Which CPUs they are.
    pub cpus: Vec<u32>,
}

/// What there is too little of, each with the most that is allowed where that is limited and known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Files that this process may have open.
    Files(Option<u64>),
    /// Files that the whole system may have open.
    FilesOfAll,
    /// Processes and threads of this user.
    Processes(Option<u64>),
    /// Memory.
    Memory,
}

/// CPU time that a child took, with all below it that was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In programs.
    pub user: Duration,
    /// In the kernel, for them.
    pub system: Duration,
}

/// The number of a process, or of the group that it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pid(u32);

impl Pid {
    /// That of a child.
    #[must_use]
    pub fn from_child(child: &Child) -> Self {
        Self(child.id())
    }

    /// That of this process.
    #[must_use]
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// From digits: it is positive and has 31 bits.
    #[must_use]
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

#[cfg(not(all(
    target_os = "linux",
    any(target_pointer_width = "64", target_arch = "x86")
)))]
pub(crate) mod no_perf_event {
    //! Replaces `perf_event` if the kernel has no perf events or this program has no bindings.

    /// The nanoseconds per tick with which the kernel converts the CPU counter to its own time;
    /// `None` because only perf events publish it.
    pub fn counter_scale() -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Pid;

    #[test]
    fn numbers_of_processes() {
        assert_eq!(Pid::parse(&Pid::own().to_string()), Some(Pid::own()));
        // 0 and negative numbers would mean groups, this one's own among them.
        for wrong in ["0", "-1", "2147483648", "4294967296", "", "self"] {
            assert_eq!(Pid::parse(wrong), None, "{wrong}");
        }
    }
}
