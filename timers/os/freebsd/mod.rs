//! FreeBSD. Nothing here ever ran on one: it is type-checked only.

pub(crate) use super::no_perf_event as perf_event;
pub use super::other::{affinity, counters, discipline, scheduling};
pub use super::unix::{files, limits, signals};
pub(crate) use crate::posix::{
    Monotonic as Common, Monotonic as Unsteered, MonotonicSyscall as Undistorted,
};

crate::catalogue::list![];

/// Threads are not bound to CPUs; children have groups.
pub mod process {
    pub use crate::os::other::process::{
        adopt_descendants, all, end_all_with, ends_with, ends_with_its_starter, hidden, listed,
    };
    pub use crate::os::unix::process::*;
}

pub mod clocks {
    //! The clocks of POSIX, as FreeBSD has them. It calls some of its own by Linux' names too.

    use std::io;
    use std::mem::MaybeUninit;

    use libc::c_long;
    pub use libc::{
        CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID,
        CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
    };

    use crate::Unavailable;
    pub use crate::os::unix::clocks::*;
    pub use crate::os::unix::portable::*;

    /// Every clock is trimmed.
    pub const CLOCK_MONOTONIC_RAW: clockid_t = ABSENT;
    /// Of sys/_clock_id.h, since FreeBSD 15.
    pub const CLOCK_TAI: clockid_t = 16;

    /// Nanoseconds in what `clock` counts: CLOCKS_PER_SEC is 128 there.
    pub const CLOCK_UNIT_NS: f64 = 1e9 / 128.0;
    /// CLOCK_MONOTONIC does not count a sleep.
    pub const MONOTONIC_RUNS_IN_SUSPEND: bool = false;

    /// Of sys/syscall.h.
    const SYS_CLOCK_GETTIME: i32 = 232;

    /// The system call past the page that the kernel shares.
    pub struct Kernel;

    impl Route for Kernel {
        #[inline(always)]
        fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
            // SAFETY: the pointer is valid for a timespec.
            c_long::from(unsafe { libc::syscall(SYS_CLOCK_GETTIME, clock, time.as_mut_ptr()) })
        }

        fn error(_status: c_long) -> io::Error {
            io::Error::last_os_error()
        }

        fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
            Libc::permitted(clock)
        }
    }
}

pub mod machine {
    //! What FreeBSD tells of the machine by POSIX.

    pub use crate::os::other::machine::{files, kernel_log, regain_counter, told};
    pub use crate::os::unix::machine::kernel;
}
