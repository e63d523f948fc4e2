//! The implementation for macOS. It is only type-checked and was never run on a Mac.

pub use super::apple_timers::{
    MachAbsolute as UndistortedClock, UptimeRaw as CommonClock, UptimeRaw as UntrimmedClock,
};
pub use super::other::attempt;
pub use super::other::{counters, discipline, emulator, library, scheduling};
pub use super::posix::Realtime as CalendarClock;
pub use super::unix::portable::affinity;
pub use super::unix::portable::{machine, process};
pub use super::unix::{files, handoff, limits, rest};

pub mod clocks {
    //! The POSIX clocks of macOS.

    use libc::clockid_t;
    pub use libc::{
        CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
        CLOCK_THREAD_CPUTIME_ID,
    };

    use crate::os::posix::Route;
    pub use crate::os::unix::portable::clocks::*;
    use crate::{Available, Unavailable};

    /// Clocks that macOS lacks.
    pub const CLOCK_BOOTTIME: clockid_t = absent(0);
    pub const CLOCK_MONOTONIC_COARSE: clockid_t = absent(1);
    pub const CLOCK_REALTIME_COARSE: clockid_t = absent(2);
    pub const CLOCK_TAI: clockid_t = absent(3);
    /// Not available: macOS reports the CPU time of a thread by `thread_info`.
    pub const RUSAGE_THREAD: i32 = i32::MIN;

    /// The route by the system call, which always fails: macOS has no documented system call that
    /// reads a clock.
    pub struct SystemCall;

    impl Route for SystemCall {
        fn permitted(_clock: clockid_t) -> Available {
            Err(Unavailable::elsewhere(
                "macOS has no system call by which programs may read clocks",
            ))
        }
    }
}
