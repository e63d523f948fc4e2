//! Shared code of the waiting system calls: unit conversions, retries after signals, errors.

use std::io;
use std::mem::MaybeUninit;

use libc::{c_int, c_long, clockid_t};

use crate::os::clocks::{Libc, SystemCall, explain_failure};
use crate::os::posix::{Route, latest_time, nanoseconds, read_checked};
use crate::waits::method::WaitMethod;
use crate::{Available, Unavailable};

const SECOND_NS: u64 = 1_000_000_000;

/// The kernel's 64-bit `struct __kernel_timespec`, identical on every processor.
#[repr(C)]
pub struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

impl KernelTimespec {
    pub fn after(nanoseconds: u64) -> Self {
        // The cast is lossless: 2⁶⁴ ns ÷ 10⁹ has 35 bits.
        Self {
            seconds: (nanoseconds / SECOND_NS) as i64,
            nanoseconds: (nanoseconds % SECOND_NS) as i64,
        }
    }
}

/// Converts nanoseconds to libc's `timespec`; saturates at `i32::MAX` seconds if `time_t` is too
/// narrow.
#[allow(clippy::useless_conversion, reason = "seconds have 32 bits or 64")]
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    let mut time = latest_time();
    let seconds = (nanoseconds / SECOND_NS).try_into();
    time.tv_sec = seconds.unwrap_or(i32::MAX.into());
    // The remainder is below 10⁹ and fits any `c_long`.
    time.tv_nsec = (nanoseconds % SECOND_NS) as _;
    time
}

/// Converts nanoseconds to a `timeval`, rounded up to microseconds.
pub fn timeval(nanoseconds: u64) -> libc::timeval {
    let time = timespec(nanoseconds.div_ceil(1_000).saturating_mul(1_000));
    libc::timeval {
        tv_sec: time.tv_sec,
        tv_usec: (time.tv_nsec / 1_000) as _,
    }
}

/// Converts nanoseconds to milliseconds, rounded up and limited to `c_int::MAX` (24 days).
pub fn milliseconds(nanoseconds: u64) -> c_int {
    c_int::try_from(nanoseconds.div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

/// Reads a clock in nanoseconds, by the system call if the C library fails; 0 if both fail or the
/// clock is before its zero.
#[inline(always)]
pub fn now(clock: clockid_t) -> u64 {
    let mut time = MaybeUninit::uninit();
    let ns = if Libc::clock_gettime(clock, &mut time) == 0 {
        // SAFETY: the call succeeded, so that it wrote the time.
        nanoseconds(unsafe { time.assume_init() })
    } else {
        read_checked::<SystemCall>(clock, "").unwrap_or(0)
    };
    u64::try_from(ns).unwrap_or(0)
}

/// Checks that the C library's clock is not far ahead of the kernel's: a preloaded library may
/// distort it, and the kernel waits by its own clock for a deadline that was computed by the other,
/// unless the same library corrects the deadline.
pub fn check_deadlines(clock: clockid_t) -> Available {
    /// The largest lead, in nanoseconds. *Judgement*: a wait that is late by less is measured.
    const MAX_LEAD_NS: i64 = SECOND_NS as i64;
    Libc::permitted(clock)?;
    let library = read_checked::<Libc>(clock, "clock_gettime() for its deadline")?;
    let kernel = SystemCall::permitted(clock);
    let kernel = kernel.and_then(|()| read_checked::<SystemCall>(clock, ""));
    let lead_ns = kernel.map_or(0, |kernel| library.saturating_sub(kernel));
    if lead_ns <= MAX_LEAD_NS {
        return Ok(());
    }
    Err(Unavailable::because(format!(
        "it may last {} s longer: the C library's clock, by which its deadline is computed, is ahead of the kernel's",
        (lead_ns + MAX_LEAD_NS / 2) / MAX_LEAD_NS
    )))
}

/// A wait that consists of one system call.
pub trait Call: Sized + 'static {
    /// Creates the resources that the call needs.
    fn prepare() -> Available<Self>;

    /// Waits for the given time or until a signal arrives. Returns the error number (`ETIMEDOUT`
    /// for some calls), 0 if there was no error.
    fn wait_once(&mut self, nanoseconds: u64) -> c_int;
}

/// A call that is retried, with the whole requested time, if a signal interrupted it: a late return
/// is allowed, an early return is not.
impl<T: Call> WaitMethod for T {
    fn open(label: &'static str) -> Available<Self> {
        let mut call = T::prepare()?;
        check_first_call(label, call.wait_once(0)).map(|()| call)
    }

    fn wait(&mut self, nanoseconds: u64) {
        repeat_after_signals(|| self.wait_once(nanoseconds));
    }
}

/// Defines calls without resources: a type name, and an expression that waits and returns the error
/// number.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident, |$nanoseconds:ident| $call:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Call for $name {
            fn prepare() -> crate::Available<Self> {
                Ok(Self)
            }

            #[inline(always)]
            fn wait_once(&mut self, $nanoseconds: u64) -> libc::c_int {
                $call
            }
        }
    )*};
}
pub(super) use calls;

/// Repeats a wait until it ends without `EINTR`; returns its error number.
#[inline(always)]
pub fn repeat_after_signals(mut wait: impl FnMut() -> c_int) -> c_int {
    loop {
        match wait() {
            libc::EINTR => {}
            number => return number,
        }
    }
}

/// Returns `errno` if the status of a call is negative, otherwise 0.
#[inline(always)]
pub fn error_number(status: impl Into<i64>) -> c_int {
    if status.into() >= 0 {
        return 0;
    }
    // SAFETY: libc returns a valid pointer to the `errno` of the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Checks the error number of the first try of a call: timeouts and interruptions show that the
/// call works, any other error makes the call unavailable.
pub fn check_first_call(call: &str, number: c_int) -> Available {
    match number {
        0 | libc::EINTR | libc::ETIMEDOUT | libc::EAGAIN => Ok(()),
        number => Err(explain_failure(call, &io::Error::from_raw_os_error(number))),
    }
}

/// Returns the status of a call, or an error if the call failed.
pub fn check_status<T: Copy + Into<i64>>(call: &str, status: T) -> Available<T> {
    check_first_call(call, error_number(status)).map(|()| status)
}

/// The number of a system call added in Linux 5.1 or later. These numbers are identical on all
/// processors except for a fixed base, which is derived from `io_uring_setup` (425).
pub const fn number_since_5_1(number: c_long) -> c_long {
    libc::SYS_io_uring_setup - 425 + number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::posix::widen;

    #[test]
    fn requests_round_up_and_saturate() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
        assert_eq!(milliseconds(u64::MAX), c_int::MAX);
        let parts = |time: libc::timeval| (widen(time.tv_sec), widen(time.tv_usec));
        assert_eq!(
            [1, 1_000, 999_999_001].map(timeval).map(parts),
            [(0, 1), (0, 1), (1, 0)]
        );
        let time = timespec(3_000_000_007);
        assert_eq!((widen(time.tv_sec), widen(time.tv_nsec)), (3, 7));
        let most = widen(timespec(u64::MAX).tv_sec);
        assert!(
            most == i64::from(i32::MAX) || most == 18_446_744_073,
            "{most}"
        );
    }
}
