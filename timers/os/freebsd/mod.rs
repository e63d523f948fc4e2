//! The implementation for FreeBSD. It is only type-checked and was never run on FreeBSD.

pub use super::other::attempt;
pub use super::other::{counters, discipline, emulator, scheduling};
pub use super::posix::{
    Monotonic as CommonClock, Monotonic as UntrimmedClock, Realtime as CalendarClock,
};
pub use super::unix::portable::affinity;
pub use super::unix::portable::{machine, process};
pub use super::unix::{files, limits, rest};

pub type UndistortedClock =
    super::posix::PosixClock<clocks::SystemCall, { clocks::CLOCK_MONOTONIC }>;

pub mod clocks {
    //! The POSIX clocks of FreeBSD, which also defines some names of Linux.

    use std::mem::MaybeUninit;

    pub use libc::{
        CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID,
        CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
    };
    use libc::{c_long, clockid_t, timespec};

    use crate::Available;
    use crate::os::posix::Route;
    pub use crate::os::unix::portable::clocks::*;

    /// Not available: all clocks of FreeBSD are trimmed.
    pub const CLOCK_MONOTONIC_RAW: clockid_t = absent(0);
    /// From sys/_clock_id.h, since FreeBSD 15.
    pub const CLOCK_TAI: clockid_t = 16;

    /// From sys/syscall.h.
    const SYS_CLOCK_GETTIME: i32 = 232;

    /// Reads clocks by the system call, without the page that the kernel shares with processes.
    pub struct SystemCall;

    impl Route for SystemCall {
        #[inline(always)]
        fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
            // SAFETY: the pointer is valid for one timespec.
            c_long::from(unsafe { libc::syscall(SYS_CLOCK_GETTIME, clock, time.as_mut_ptr()) })
        }

        fn permitted(clock: clockid_t) -> Available {
            Libc::permitted(clock)
        }
    }
}
