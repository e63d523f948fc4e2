//! The calls of POSIX that read clocks.

use std::io;
use std::mem::MaybeUninit;

pub use libc::{RUSAGE_SELF, clock_t, clockid_t, rusage, timespec, timeval};
use libc::{c_int, c_long};

use crate::Unavailable;

/// A number of a structure of the kernel, most of which are as wide as a register.
#[inline(always)]
pub fn wide(number: impl Into<i64>) -> i64 {
    number.into()
}

/// A way to the kernel's clocks.
pub trait Route {
    /// Makes the call, by libc unless there is another way. The status is 0, or tells
    /// [`error`](Route::error) what went wrong.
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        // SAFETY: the pointer is valid for a timespec.
        c_long::from(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })
    }

    /// What a status other than 0 means, right after the call.
    fn error(_status: c_long) -> io::Error {
        io::Error::last_os_error()
    }

    /// Whether the call can be made without crashing.
    fn permitted(clock: clockid_t) -> Result<(), Unavailable>;
}

/// What `clock_getres` says of a clock, in nanoseconds.
pub fn resolution(clock: clockid_t) -> Option<f64> {
    let mut time = MaybeUninit::<timespec>::uninit();
    // SAFETY: the pointer is valid for a timespec.
    let status = unsafe { libc::clock_getres(clock, time.as_mut_ptr()) };
    // SAFETY: the call succeeded, so both fields are written.
    let time = (status == 0).then(|| unsafe { time.assume_init() })?;
    Some(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64).filter(|ns| *ns > 0.0)
}

/// `gettimeofday`; 0 when it succeeded.
#[inline(always)]
pub fn gettimeofday(time: &mut MaybeUninit<timeval>) -> c_int {
    // SAFETY: the pointer is valid for a timeval; the time zone is optional.
    unsafe { libc::gettimeofday(time.as_mut_ptr(), std::ptr::null_mut()) }
}

/// `time`, by its result alone.
#[inline(always)]
pub fn time() -> i64 {
    // SAFETY: a null pointer asks for the result alone.
    wide(unsafe { libc::time(std::ptr::null_mut()) })
}

unsafe extern "C" {
    // The libc crate does not declare it. No arguments, no preconditions.
    /// `clock`.
    pub safe fn clock() -> clock_t;
}

/// `times`. With the structure, as programs call it: Linux skips the accounting for a null pointer.
#[inline(always)]
pub fn times() -> clock_t {
    let mut spent = MaybeUninit::uninit();
    // SAFETY: the pointer is valid for a tms.
    unsafe { libc::times(spent.as_mut_ptr()) }
}

/// How many ticks of `times` are a second.
pub fn ticks_a_second() -> c_long {
    // SAFETY: sysconf has no preconditions.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }
}

/// `getrusage`; 0 when it succeeded.
#[inline(always)]
pub fn getrusage(who: c_int, usage: &mut MaybeUninit<rusage>) -> c_int {
    // SAFETY: the pointer is valid for a rusage.
    unsafe { libc::getrusage(who, usage.as_mut_ptr()) }
}
