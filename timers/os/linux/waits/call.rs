//! Shared code of the waiting system calls: unit conversions, clocks, errors.

use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::{c_int, c_long, clockid_t};

use super::check_call;
use crate::os::clocks::{Libc, SystemCall};
use crate::os::posix::{Route, latest_time, nanoseconds, read_checked};
use crate::{Available, Unavailable};

const SECOND_NS: u64 = 1_000_000_000;

/// Converts nanoseconds to the kernel's 64-bit `struct __kernel_timespec`, identical on every
/// processor: seconds and nanoseconds.
pub fn kernel_time(nanoseconds: u64) -> [i64; 2] {
    // The casts are lossless: 2⁶⁴ ns ÷ 10⁹ has 35 bits.
    [nanoseconds / SECOND_NS, nanoseconds % SECOND_NS].map(|part| part as i64)
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

/// Returns `errno` if the status of a call is negative, otherwise 0.
#[inline(always)]
pub fn error_number(status: impl Into<i64>) -> c_int {
    if status.into() >= 0 {
        return 0;
    }
    // SAFETY: libc returns a valid pointer to the `errno` of the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Takes ownership of the descriptor that a call has just opened, unless it failed.
pub fn own(call: &str, descriptor: c_int) -> Available<OwnedFd> {
    check_call(call, error_number(descriptor))?;
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
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
