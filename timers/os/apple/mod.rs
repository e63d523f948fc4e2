//! macOS. Nothing here ever ran on one: it is type-checked only.

mod timers;

pub(crate) use super::no_perf_event as perf_event;
pub use super::other::{affinity, counters, discipline, scheduling};
pub use super::unix::{files, limits, signals};
pub(crate) use timers::{
    Absolute as Undistorted, OWN, UptimeRaw as Common, UptimeRaw as Unsteered, visit_own,
};

/// Threads cannot be bound to CPUs, so that none is chosen; children have groups.
pub mod process {
    pub use crate::os::other::process::{
        adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
    };
    pub use crate::os::unix::process::*;
}

pub mod clocks {
    //! The clocks of POSIX, as macOS has them.

    use std::io;
    use std::mem::MaybeUninit;

    use libc::c_long;
    pub use libc::{
        CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
        CLOCK_THREAD_CPUTIME_ID,
    };

    use crate::Unavailable;
    pub use crate::os::unix::clocks::*;
    pub use crate::os::unix::portable::*;

    /// Clocks that macOS has not.
    pub const CLOCK_BOOTTIME: clockid_t = ABSENT;
    pub const CLOCK_MONOTONIC_COARSE: clockid_t = ABSENT;
    pub const CLOCK_REALTIME_COARSE: clockid_t = ABSENT;
    pub const CLOCK_TAI: clockid_t = ABSENT;
    /// `thread_info` tells what others ask `getrusage` for.
    pub const RUSAGE_THREAD: i32 = i32::MIN;

    /// Nanoseconds in what `clock` counts.
    pub const CLOCK_UNIT_NS: f64 = 1e3;
    /// CLOCK_UPTIME_RAW does not (clock_gettime(3)).
    pub const MONOTONIC_RUNS_IN_SUSPEND: bool = true;

    /// There is no system call that reads a clock: nothing opens by it.
    pub struct Kernel;

    impl Route for Kernel {
        fn clock_gettime(_clock: clockid_t, _time: &mut MaybeUninit<timespec>) -> c_long {
            -1
        }

        fn error(_status: c_long) -> io::Error {
            io::ErrorKind::Unsupported.into()
        }

        fn permitted(_clock: clockid_t) -> Result<(), Unavailable> {
            Err(Unavailable::elsewhere(
                "this system has no system call that programs may read clocks by",
            ))
        }
    }
}

pub mod machine {
    //! What macOS tells of the machine by POSIX.

    pub use crate::os::other::machine::{files, kernel_log, regain_counter, told};
    pub use crate::os::unix::machine::kernel;
}
