//! The clocks of POSIX, as FreeBSD has them. It calls some of its own by Linux' names too.

use std::io;
use std::mem::MaybeUninit;

use libc::c_long;
pub use libc::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
    CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
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
