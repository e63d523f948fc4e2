//! Waits that are one system call: sleeps, and timeouts of calls that wait for files or for a wake-up
//! by another thread, which never comes; units of time and errors of these calls.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::AtomicU32;

use libc::{c_int, clockid_t};
use rustix::io::Errno;
use rustix::thread::futex;

use super::check_call;
use crate::os::clocks::{Libc, SystemCall};
use crate::os::posix::{Route, latest_time, read_checked};
use crate::os::scheduling::{set_timer_slack, timer_slack};
use crate::waits::method::WaitMethod;
use crate::{Available, Unavailable};

const SECOND_NS: u64 = 1_000_000_000;

/// Converts nanoseconds to a `timespec`; saturates at `i32::MAX` seconds if `time_t` is too narrow.
#[allow(clippy::useless_conversion, reason = "seconds have 32 bits or 64")]
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    let mut time = latest_time();
    let seconds = (nanoseconds / SECOND_NS).try_into();
    time.tv_sec = seconds.unwrap_or(i32::MAX.into());
    // The remainder is below 10⁹ and fits any `c_long`.
    time.tv_nsec = (nanoseconds % SECOND_NS) as _;
    time
}

/// Converts nanoseconds to milliseconds, rounded up and limited to `c_int::MAX` (24 days).
fn milliseconds(nanoseconds: u64) -> c_int {
    c_int::try_from(nanoseconds.div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

/// Returns `errno` if the status of a call is negative, otherwise 0.
#[inline(always)]
pub fn error_number(status: c_int) -> c_int {
    if status >= 0 {
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

pub fn nanosleep(nanoseconds: u64) -> c_int {
    let time = timespec(nanoseconds);
    // SAFETY: the kernel reads one valid timespec; a null pointer for the rest is allowed.
    error_number(unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) })
}

/// `nanosleep` in a thread whose timer slack is 1 ns as long as the method exists.
pub fn nanosleep_without_slack() -> Available<impl WaitMethod> {
    /// The usual slack of the thread, in nanoseconds, which it has again in the end.
    struct Usual(u64);
    impl Drop for Usual {
        fn drop(&mut self) {
            let _ = set_timer_slack(self.0);
        }
    }
    let usual = Usual(timer_slack()?);
    // A thread with a real-time policy has none.
    if usual.0 > 0 {
        set_timer_slack(1)?;
    }
    Ok(move |nanoseconds| {
        let _ = &usual;
        nanosleep(nanoseconds)
    })
}

#[inline(always)]
pub fn clock_nanosleep(clock: clockid_t, flags: c_int, nanoseconds: u64) -> c_int {
    let time = timespec(nanoseconds);
    // SAFETY: the kernel reads one valid timespec; a null pointer for the rest is allowed.
    unsafe { libc::clock_nanosleep(clock, flags, &raw const time, ptr::null_mut()) }
}

/// `clock_nanosleep` with an absolute time (`TIMER_ABSTIME`).
pub struct Absolute {
    clock: clockid_t,
    /// The start in nanoseconds of the clock.
    start_ns: u64,
}

impl Absolute {
    pub fn new(clock: clockid_t) -> Available<Self> {
        check_deadlines(clock).map(|()| Self { clock, start_ns: 0 })
    }
}

impl WaitMethod for Absolute {
    fn start(&mut self, _first_ns: u64, _period_ns: u64) -> Option<i32> {
        let now = read_checked::<Libc>(self.clock, "").unwrap_or(0);
        self.start_ns = now.try_into().unwrap_or(0);
        Some(0)
    }

    fn tick(&mut self, due_ns: u64) -> i32 {
        let end_ns = self.start_ns.saturating_add(due_ns);
        clock_nanosleep(self.clock, libc::TIMER_ABSTIME, end_ns)
    }
}

/// Checks that the C library's clock is not far ahead of the kernel's: a preloaded library may
/// distort it, and the kernel waits by its own clock for a deadline that was computed by the other,
/// unless the same library corrects the deadline.
pub fn check_deadlines(clock: clockid_t) -> Available {
    Libc::permitted(clock)?;
    let kernel = SystemCall::permitted(clock);
    let kernel = kernel.and_then(|()| read_checked::<SystemCall>(clock, ""));
    let library = read_checked::<Libc>(clock, "clock_gettime() for its deadline")?;
    // A wait that is late by less than a second is measured.
    match library.saturating_sub(kernel.unwrap_or(library)) / SECOND_NS as i64 {
        ..=0 => Ok(()),
        seconds => Err(Unavailable::because(format!(
            "it may last {seconds} s longer: the C library's clock, by which its deadline is computed, is ahead of the kernel's"
        ))),
    }
}

pub fn poll(nanoseconds: u64) -> c_int {
    // SAFETY: with a count of 0 files the kernel does not use the null pointer.
    error_number(unsafe { libc::poll(ptr::null_mut(), 0, milliseconds(nanoseconds)) })
}

/// The timeout of `select` is rounded up to microseconds.
pub fn select(nanoseconds: u64) -> c_int {
    let time = timespec(nanoseconds.div_ceil(1_000).saturating_mul(1_000));
    let mut time = libc::timeval {
        tv_sec: time.tv_sec,
        tv_usec: (time.tv_nsec / 1_000) as _,
    };
    let none = ptr::null_mut;
    // SAFETY: null file sets are allowed; the kernel reads and writes one valid timeval.
    error_number(unsafe { libc::select(0, none(), none(), none(), &raw mut time) })
}

/// `epoll_wait` of an epoll instance that watches no file.
pub fn epoll_wait() -> Available<impl WaitMethod> {
    // SAFETY: the call takes no pointers.
    let made = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    let epoll = own("epoll_create1()", made)?;
    Ok(move |nanoseconds| {
        let (epoll, time) = (epoll.as_raw_fd(), milliseconds(nanoseconds));
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the pointer is valid for one event, and the descriptor is open.
        error_number(unsafe { libc::epoll_wait(epoll, &raw mut event, 1, time) })
    })
}

pub fn futex(nanoseconds: u64) -> c_int {
    let time = futex::Timespec {
        tv_sec: (nanoseconds / SECOND_NS) as i64,
        tv_nsec: (nanoseconds % SECOND_NS) as _,
    };
    match futex::wait(&AtomicU32::new(0), futex::Flags::PRIVATE, 0, Some(&time)) {
        Ok(()) | Err(Errno::TIMEDOUT) => 0,
        Err(error) => error.raw_os_error(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::posix::widen;

    #[test]
    fn requests_round_up_and_saturate() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(milliseconds), [0, 1, 1, 2]);
        assert_eq!(milliseconds(u64::MAX), c_int::MAX);
        let time = timespec(3_000_000_007);
        assert_eq!((widen(time.tv_sec), widen(time.tv_nsec)), (3, 7));
        let most = widen(timespec(u64::MAX).tv_sec);
        assert!(
            most == i64::from(i32::MAX) || most == 18_446_744_073,
            "{most}"
        );
    }
}
