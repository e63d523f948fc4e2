//! The implementation for Linux.

pub mod affinity;
mod attempt;
pub mod clocks;
pub mod counters;
pub mod discipline;
pub mod emulator;
pub mod library;
#[cfg(all(
    feature = "perf-event",
    any(target_pointer_width = "64", target_arch = "x86")
))]
pub mod perf_event;
pub mod process;
pub mod scheduling;

pub use super::unix::{files, handoff, limits, rest};
pub use attempt::attempt;

pub use super::posix::{Monotonic as CommonClock, Realtime as CalendarClock};

pub type UntrimmedClock =
    super::posix::PosixClock<clocks::SystemCall, { libc::CLOCK_MONOTONIC_RAW }>;
pub type UndistortedClock = super::posix::PosixClock<clocks::SystemCall, { libc::CLOCK_MONOTONIC }>;

pub mod machine {
    //! Facts about the machine and the kernel.

    use std::fs;
    use std::path::PathBuf;

    pub use crate::os::unix::machine::kernel;

    /// The folder that contains `proc`, `sys` and `etc`; `None` on systems without these.
    pub fn system_root() -> Option<PathBuf> {
        Some("/".into())
    }

    /// Whether the kernel maps code into processes that reads clocks in user mode (vdso(7)).
    pub fn has_vdso() -> Option<bool> {
        // SAFETY: the call takes and returns integers; the result is 0 if the value is unknown.
        Some(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } != 0)
    }

    /// `None`, because Linux runs under no other system that it knows of.
    pub fn subsystem() -> Option<String> {
        None
    }

    /// The name of the clock source that the kernel uses; `None` if unknown.
    pub fn clock_source() -> Option<String> {
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        Some(fs::read_to_string(path).ok()?.trim().to_owned())
    }

    pub use super::clocks::{check_time_is_readable, regain_counter};
}
