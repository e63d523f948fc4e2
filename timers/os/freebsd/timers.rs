//! FreeBSD's clocks as timers; `crate::freebsd` says what they are.

crate::os::unix::timer::clocks! { crate::freebsd;
    MonotonicPrecise, MONOTONIC_PRECISE, libc::CLOCK_MONOTONIC_PRECISE;
    MonotonicFast, MONOTONIC_FAST, libc::CLOCK_MONOTONIC_FAST;
    RealtimePrecise, REALTIME_PRECISE, libc::CLOCK_REALTIME_PRECISE;
    RealtimeFast, REALTIME_FAST, libc::CLOCK_REALTIME_FAST;
    Uptime, UPTIME_TIME, libc::CLOCK_UPTIME;
    UptimePrecise, UPTIME_PRECISE, libc::CLOCK_UPTIME_PRECISE;
    UptimeFast, UPTIME_FAST, libc::CLOCK_UPTIME_FAST;
    Second, SECOND, libc::CLOCK_SECOND;
    Virtual, VIRTUAL, libc::CLOCK_VIRTUAL;
    Prof, PROF, libc::CLOCK_PROF;
}

crate::catalogue::list![
    MonotonicPrecise,
    MonotonicFast,
    RealtimePrecise,
    RealtimeFast,
    Uptime,
    UptimePrecise,
    UptimeFast,
    Second,
    Virtual,
    Prof,
];
