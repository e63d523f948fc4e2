//! The ways to wait of Linux. Their calls stand in `os/linux/waits/`.
//!
//! What ticks: the kernel's high-resolution timers, each an interrupt at its time, on CLOCK_MONOTONIC unless the id says otherwise;
//! where the kernel runs without them (`highres=off`), and for `SO_RCVTIMEO` always, the tick of 1/CONFIG_HZ. At what granularity: in
//! the unit of the request, which is what `unit_ns` says; a nanosecond for most. Who may use them: any process, but for `io_uring`,
//! which the system may forbid. Caveats: to a wait of a thread of SCHED_OTHER the kernel adds its *timer slack*, 50 µs by default
//! (`PR_SET_TIMERSLACK`), where it says so below, and to waits of the `poll` family 0.1 % of the request at least. `poll` and
//! `epoll_wait` are asked in milliseconds, rounded up.
//! Sources: the manual pages of the calls, `time(7)`, `PR_SET_TIMERSLACK(2const)`.

use super::method::known;

const SLACK: bool = true;
const EXACT: bool = false;

known! {
    NANOSLEEP, "nanosleep", "nanosleep()", 1, SLACK, LOOP;
    CLOCK_NANOSLEEP_MONOTONIC, "clock-nanosleep-monotonic", "clock_nanosleep(CLOCK_MONOTONIC, 0)", 1, SLACK, LOOP;
    CLOCK_NANOSLEEP_REALTIME, "clock-nanosleep-realtime", "clock_nanosleep(CLOCK_REALTIME, 0)", 1, SLACK, WAITS;
    CLOCK_NANOSLEEP_BOOTTIME, "clock-nanosleep-boottime", "clock_nanosleep(CLOCK_BOOTTIME, 0)", 1, SLACK, WAITS;
    CLOCK_NANOSLEEP_MONOTONIC_ABSOLUTE, "clock-nanosleep-monotonic-absolute", "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)", 1, SLACK, LOOP;
    CLOCK_NANOSLEEP_REALTIME_ABSOLUTE, "clock-nanosleep-realtime-absolute", "clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME)", 1, SLACK, LOOP;
    CLOCK_NANOSLEEP_BOOTTIME_ABSOLUTE, "clock-nanosleep-boottime-absolute", "clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME)", 1, SLACK, LOOP;
    USLEEP, "usleep", "usleep()", 1_000, SLACK, WAITS;
    POLL, "poll", "poll()", 1_000_000, SLACK, LOOP;
    PPOLL, "ppoll", "ppoll()", 1, SLACK, WAITS;
    SELECT, "select", "select()", 1_000, SLACK, WAITS;
    PSELECT, "pselect", "pselect()", 1, SLACK, WAITS;
    EPOLL_WAIT, "epoll-wait", "epoll_wait()", 1_000_000, SLACK, LOOP;
    EPOLL_PWAIT2, "epoll-pwait2", "epoll_pwait2()", 1, SLACK, WAITS;
    FUTEX, "futex", "futex(FUTEX_WAIT)", 1, SLACK, WAITS;
    PTHREAD_COND_TIMEDWAIT, "pthread-cond-timedwait", "pthread_cond_timedwait(), CLOCK_MONOTONIC", 1, SLACK, WAITS;
    SEM_TIMEDWAIT, "sem-timedwait", "sem_timedwait()", 1, SLACK, WAITS;
    SIGTIMEDWAIT, "sigtimedwait", "sigtimedwait()", 1, SLACK, WAITS;
    SO_RCVTIMEO, "so-rcvtimeo", "recv() with SO_RCVTIMEO", 1_000, EXACT, WAITS;
    TIMERFD, "timerfd", "read() of a timerfd", 1, EXACT, ALL;
    TIMER_CREATE, "timer-create", "timer_create(SIGEV_THREAD_ID), sigwaitinfo()", 1, EXACT, ALL;
    SETITIMER, "setitimer", "setitimer(ITIMER_REAL), sigwaitinfo()", 1_000, EXACT, ALL;
    IO_URING_TIMEOUT, "io-uring-timeout", "io_uring_enter() of IORING_OP_TIMEOUT", 1, EXACT, ARMED;
}
