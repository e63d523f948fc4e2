//! The sleep primitives and periodic timers of Linux. They are listed on all systems; the calls are
//! compiled on Linux only.
//!
//! What ticks: the kernel's high-resolution timers, on CLOCK_MONOTONIC unless the id names another
//! clock; with `highres=off` the tick of 1/CONFIG_HZ. At what granularity: the unit of the request
//! (`unit_ns`), 1 ns for most calls. Who may use them: any process. Caveats: the kernel adds the
//! *timer slack* of SCHED_OTHER threads, 50 µs by default (`PR_SET_TIMERSLACK`), to most calls, and at
//! least 0.1 % of the request (0.5 % for a thread with a positive nice value), 100 ms at most, to calls
//! of the `poll` family (`select_estimate_resolution`), whose requests of 0 ns return immediately. A
//! call that is missing here is as late as its sibling: `ppoll` as `poll`, `epoll_pwait2` as
//! `epoll_wait` by nanoseconds, a relative `clock_nanosleep` as `nanosleep`, the condition variables,
//! locks and channels of all languages as `futex`, of which they are made. The timeouts of `poll` and `epoll_wait` are in milliseconds, those of `select` in
//! microseconds, rounded up. An absolute wait reads the clock first, and this read is part of the
//! measured time; on CLOCK_REALTIME it ends early or late when the clock is set. A loop of absolute waits
//! catches up after a late wake-up; in a loop of relative waits lateness accumulates. A signal ends
//! each of these calls early.
//! Sources: the manual pages of the calls, `time(7)`, `signal(7)`, `PR_SET_TIMERSLACK(2const)`,
//! `fs/select.c`.

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

methods! { target_os = "linux";
    "nanosleep", "nanosleep()", Ok(nanosleep);
    "nanosleep-slack-1ns", "prctl(PR_SET_TIMERSLACK, 1), nanosleep()", nanosleep_without_slack();
    "clock-nanosleep-monotonic-absolute", "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)", Absolute::new(CLOCK_MONOTONIC);
    "clock-nanosleep-realtime-absolute", "clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME)", Absolute::new(CLOCK_REALTIME);
    "poll", "poll()", Ok(poll), unit_ns: 1_000_000;
    "select", "select()", Ok(select), unit_ns: 1_000;
    "epoll-wait", "epoll_wait()", epoll_wait(), unit_ns: 1_000_000;
    "futex", "futex(FUTEX_WAIT)", Ok(futex);
    "timerfd", "read() of a timerfd", Timerfd::new();
    "timer-create", "timer_create(SIGEV_THREAD_ID), sigwaitinfo()", TimerCreate::new();
}

/// Checks the error number of a call: an interruption shows that the call works, any other error makes
/// it unavailable.
pub(crate) fn check_call(_call: &str, _number: i32) -> Available {
    #[cfg(target_os = "linux")]
    if ![0, libc::EINTR].contains(&_number) {
        let error = std::io::Error::from_raw_os_error(_number);
        return Err(crate::os::clocks::explain_failure(_call, &error));
    }
    Ok(())
}

/// Checks that `std::thread::sleep` works: on Linux it panics if a sandbox refuses
/// `clock_nanosleep`.
pub(crate) fn check_thread_sleep() -> Available {
    #[cfg(target_os = "linux")]
    check_call("clock_nanosleep()", clock_nanosleep(CLOCK_MONOTONIC, 0, 0))?;
    Ok(())
}

/// Checks that waits of the standard library with a deadline end: on Linux it computes the deadline
/// by the C library's clock.
pub(crate) fn check_thread_deadlines() -> Available {
    #[cfg(target_os = "linux")]
    check_deadlines(CLOCK_MONOTONIC)?;
    Ok(())
}
