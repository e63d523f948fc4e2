//! The sleep primitives and periodic timers of Linux. Their rows are known on all systems, their
//! calls are compiled on Linux only.
//!
//! What ticks: the kernel's high-resolution timers, each an interrupt at its time, on
//! CLOCK_MONOTONIC unless the id says otherwise; where the kernel runs without them
//! (`highres=off`), and for `SO_RCVTIMEO` always, the tick of 1/CONFIG_HZ. At what granularity:
//! in the unit of the request, which is what `unit_ns` says; a nanosecond for most. Who may use
//! them: any process, but for `io_uring`, which the system may forbid. Caveats: to a wait of a
//! thread of SCHED_OTHER the kernel adds its *timer slack*, 50 µs by default
//! (`PR_SET_TIMERSLACK`), where it says so below, and to waits of the `poll` family 0.1 % of
//! the request at least. `poll` and `epoll_wait` are asked in milliseconds, rounded up.
//! Sources: the manual pages of the calls, `time(7)`, `PR_SET_TIMERSLACK(2const)`.

#[cfg(target_os = "linux")]
mod call;
mod io_uring;
mod kernel_timers;
mod locks;
mod polls;
mod process_timer;
mod sleeps;

use crate::waits::WaitEntry;

pub(crate) const ALL: [&[WaitEntry]; 6] = [
    sleeps::ALL,
    polls::ALL,
    locks::ALL,
    kernel_timers::ALL,
    process_timer::ALL,
    io_uring::ALL,
];
