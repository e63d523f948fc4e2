//! macOS. Nothing here ever ran on one: it is type-checked only.

pub(crate) use super::apple_timers::{
    Absolute as Undistorted, UptimeRaw as Common, UptimeRaw as Unsteered,
};
pub(crate) use super::no_perf_event as perf_event;
pub(crate) use super::other::attempt;
pub use super::other::{counters, emulator, scheduling};
pub(crate) use super::unix::portable::affinity;
pub use super::unix::portable::{discipline, machine, process};
pub use super::unix::{files, limits, signals};

pub mod clocks {
    //! The clocks of POSIX, as macOS has them.

    use libc::clockid_t;
    pub use libc::{
        CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
        CLOCK_THREAD_CPUTIME_ID,
    };

    use crate::Unavailable;
    use crate::os::posix::Route;
    pub use crate::os::unix::portable::clocks::*;

    /// Clocks that macOS has not.
    pub const CLOCK_BOOTTIME: clockid_t = absent(0);
    pub const CLOCK_MONOTONIC_COARSE: clockid_t = absent(1);
    pub const CLOCK_REALTIME_COARSE: clockid_t = absent(2);
    pub const CLOCK_TAI: clockid_t = absent(3);
    /// `thread_info` tells what others ask `getrusage` for.
    pub const RUSAGE_THREAD: i32 = i32::MIN;

    /// There is no system call that reads a clock: nothing opens by it.
    pub struct Kernel;

    impl Route for Kernel {
        fn permitted(_clock: clockid_t) -> Result<(), Unavailable> {
            Err(Unavailable::elsewhere(
                "this system has no system call that programs may read clocks by",
            ))
        }
    }
}
