//! The sleep primitives and periodic timers of Linux. They are listed on all systems; the calls are
//! compiled on Linux only.
//!
//! What ticks: the kernel's high-resolution timers, on CLOCK_MONOTONIC unless the id names another
//! clock; with `highres=off`, and always for `SO_RCVTIMEO`, the tick of 1/CONFIG_HZ. At what
//! granularity: the unit of the request (`unit_ns`), 1 ns for most calls. Who may use them: any
//! process. Caveats: the kernel adds the *timer
//! slack* of SCHED_OTHER threads, 50 µs by default (`PR_SET_TIMERSLACK`), to most
//! calls, and at least 0.1 % of the request to calls of the `poll` family. The
//! timeouts of `poll` and `epoll_wait` are in milliseconds, rounded up.
//! Sources: the manual pages of the calls, `time(7)`, `PR_SET_TIMERSLACK(2const)`.

#[cfg(target_os = "linux")]
mod call;
mod kernel_timers;
mod locks;
mod polls;
mod sleeps;

pub(crate) use sleeps::{check_thread_deadlines, check_thread_sleep};

use crate::waits::WaitEntry;

pub(crate) const ALL: &[&[WaitEntry]] = &[sleeps::ALL, polls::ALL, locks::ALL, kernel_timers::ALL];
