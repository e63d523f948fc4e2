//! The sleep primitives and periodic timers of Linux. They are listed on all systems; the calls are
//! compiled on Linux only.
//!
//! What ticks: the kernel's high-resolution timers, on CLOCK_MONOTONIC unless the id names another
//! clock; with `highres=off` the tick of 1/CONFIG_HZ. At what
//! granularity: the unit of the request (`unit_ns`), 1 ns for most calls. Who may use them: any
//! process; `epoll_pwait2` since Linux 5.11. Caveats: the kernel adds the *timer
//! slack* of SCHED_OTHER threads, 50 µs by default (`PR_SET_TIMERSLACK`), to most
//! calls, and at least 0.1 % of the request (0.5 % for a thread with a positive nice value), 100 ms at
//! most, to calls of the `poll` family (`select_estimate_resolution`), whose requests of 0 ns return
//! immediately. The timeouts of `poll` and `epoll_wait` are in milliseconds, those of `select` in
//! microseconds, rounded up. An absolute wait reads the clock first, and this read is part of the
//! measured time; on CLOCK_REALTIME it ends early or late when the clock is set, a relative wait does
//! not. A loop of absolute waits catches up after a late wake-up; in a loop of relative waits lateness
//! accumulates. A signal ends each of these calls early, except `pthread_cond_timedwait`.
//! Sources: the manual pages of the calls, `time(7)`, `signal(7)`, `PR_SET_TIMERSLACK(2const)`,
//! `fs/select.c`.

#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod kernel_timers;

#[cfg(target_os = "linux")]
use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME};

#[cfg(target_os = "linux")]
use self::{calls::*, kernel_timers::*};
use crate::Available;
use crate::waits::method::methods;

methods! { "Linux", target_os = "linux";
    "nanosleep", "nanosleep()", WAITS_AND_PERIODS, Ok(nanosleep);
    "nanosleep-slack-1ns", "prctl(PR_SET_TIMERSLACK, 1), nanosleep()", WAITS_AND_PERIODS, WithoutSlack::new();
    "clock-nanosleep-monotonic", "clock_nanosleep(CLOCK_MONOTONIC, 0)", WAITS_AND_PERIODS, Ok(relative(CLOCK_MONOTONIC));
    "clock-nanosleep-realtime", "clock_nanosleep(CLOCK_REALTIME, 0)", WAITS, Ok(relative(CLOCK_REALTIME));
    "clock-nanosleep-monotonic-absolute", "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)", WAITS_AND_PERIODS, Absolute::new(CLOCK_MONOTONIC);
    "clock-nanosleep-realtime-absolute", "clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME)", WAITS_AND_PERIODS, Absolute::new(CLOCK_REALTIME);
    "poll", "poll()", WAITS_AND_PERIODS, Ok(poll), unit_ns: 1_000_000;
    "ppoll", "ppoll()", WAITS, Ok(ppoll);
    "select", "select()", WAITS, Ok(select), unit_ns: 1_000;
    "epoll-wait", "epoll_wait()", WAITS_AND_PERIODS, epoll_wait(), unit_ns: 1_000_000;
    "epoll-pwait2", "epoll_pwait2()", WAITS, epoll_pwait2();
    "futex", "futex(FUTEX_WAIT)", WAITS, Ok(futex);
    "pthread-cond-timedwait", "pthread_cond_timedwait(), CLOCK_MONOTONIC", WAITS, pthread_cond_timedwait();
    "sigtimedwait", "sigtimedwait()", WAITS, Ok(sigtimedwait);
    "timerfd", "read() of a timerfd", WAITS_AND_PERIODS, Timerfd::new();
    "timer-create", "timer_create(SIGEV_THREAD_ID), sigwaitinfo()", WAITS_AND_PERIODS, TimerCreate::new();
}

/// Checks the error number of a call: timeouts and interruptions show that the call works, any other
/// error makes it unavailable.
pub(crate) fn check_call(_call: &str, _number: i32) -> Available {
    #[cfg(target_os = "linux")]
    if ![0, libc::EINTR, libc::ETIMEDOUT, libc::EAGAIN].contains(&_number) {
        let error = std::io::Error::from_raw_os_error(_number);
        return Err(crate::os::clocks::explain_failure(_call, &error));
    }
    Ok(())
}

/// Checks that `std::thread::sleep` works: on Linux it panics if a sandbox refuses
/// `clock_nanosleep`.
pub(crate) fn check_thread_sleep() -> Available {
    #[cfg(target_os = "linux")]
    check_call("clock_nanosleep()", relative(CLOCK_MONOTONIC)(0))?;
    Ok(())
}

/// Checks that waits of the standard library with a deadline end: on Linux it computes the deadline
/// by the C library's clock.
pub(crate) fn check_thread_deadlines() -> Available {
    #[cfg(target_os = "linux")]
    call::check_deadlines(CLOCK_MONOTONIC)?;
    Ok(())
}
