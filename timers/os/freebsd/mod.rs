//! FreeBSD. Nothing here ever ran on one: it is type-checked only.

pub(crate) use super::no_perf_event as perf_event;
pub(crate) use super::other::attempt;
pub use super::other::{counters, emulator, scheduling};
pub(crate) use super::posix::{Monotonic as Common, Monotonic as Unsteered};
pub(crate) use super::unix::portable::affinity;
pub use super::unix::portable::{discipline, machine, process};
pub use super::unix::{files, limits, signals};

pub(crate) type Undistorted = super::posix::PosixClock<clocks::Kernel, { clocks::CLOCK_MONOTONIC }>;

pub mod clocks {
    //! The clocks of POSIX, as FreeBSD has them. It calls some of its own by Linux' names too.

    use std::mem::MaybeUninit;

    pub use libc::{
        CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID,
        CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
    };
    use libc::{c_long, clockid_t, timespec};

    use crate::Unavailable;
    use crate::os::posix::Route;
    pub use crate::os::unix::portable::clocks::*;

    /// Every clock is trimmed.
    pub const CLOCK_MONOTONIC_RAW: clockid_t = absent(0);
    /// Of sys/_clock_id.h, since FreeBSD 15.
    pub const CLOCK_TAI: clockid_t = 16;

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

        fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
            Libc::permitted(clock)
        }
    }
}
