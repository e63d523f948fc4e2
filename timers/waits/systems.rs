//! The ways to wait that one system alone has, a module a system, known on all of them. The calls
//! stand in `os/`.

pub(crate) mod linux {
    //! The ways to wait of Linux. Their calls stand in `os/linux/waits/`.
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

    use crate::waits::method::known;

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
}

pub(crate) mod windows {
    //! The ways to wait of Windows. Their calls stand in `os/windows/waits/`.
    //!
    //! What ticks: the timer interrupt, every 15.625 ms unless some program asks for more by
    //! `timeBeginPeriod`, since Windows 10 2004 for itself alone; a high-resolution waitable timer
    //! has an interrupt of its own. At what granularity: milliseconds for `Sleep`, 100 ns for
    //! waitable timers. Who may use them: any process; high-resolution timers came with Windows 10
    //! 1803; Wine 8.0 takes the flag and makes a timer as any other. Caveats: a wait ends with a
    //! tick, and may so be shorter than what was asked for by a part of one (`Sleep`). Sources:
    //! [Sleep], [CreateWaitableTimerExW].
    //!
    //! [Sleep]: https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
    //! [CreateWaitableTimerExW]:
    //! https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw

    use crate::waits::method::known;

    /// Windows has no timer slack.
    const EXACT: bool = false;

    known! {
        SLEEP, "sleep", "Sleep()", 1_000_000, EXACT, LOOP;
        WAITABLE_TIMER, "waitable-timer", "SetWaitableTimer()", 100, EXACT, ALL;
        WAITABLE_TIMER_HIGH, "waitable-timer-high-resolution", "CREATE_WAITABLE_TIMER_HIGH_RESOLUTION", 100, EXACT, ALL;
    }
}
