//! The clocks of FreeBSD that POSIX does not name. Their calls stand in `os/freebsd/`.
//!
//! What ticks: the kernel's timecounter (TSC, HPET, ACPI timer). MONOTONIC and UPTIME give the time since the start of the system; the
//! *precise* forms ask the timecounter each time, as do those without a suffix, the *fast* forms give what the last timer
//! interrupt left (1/kern.hz, 1 ms), and SECOND that of the time of the day in whole seconds. VIRTUAL counts user time of the
//! process, PROF user and system time.
//!
//! At what rate: that of the timecounter as NTP trims it. Who may read them: any process; the clocks of real time through a page that
//! the kernel shares where the timecounter can be read in user mode (`kern.timecounter.fast_gettime`), else by system call.
//!
//! How they lie: PROF and VIRTUAL, as `clock` and `times`, count in steps of 1/128 s. None of these was ever read by this
//! program on FreeBSD: they are type-checked only. Sources: clock_gettime(2) of FreeBSD, sys/_clock_id.h.

use crate::properties::infos;
use crate::{Info, Properties};

const NANOSECOND: Option<f64> = Some(1.0);
const UPTIME: Properties = Properties::MONOTONIC;
const CALENDAR: Properties = Properties::CALENDAR;

infos! {
    MONOTONIC_PRECISE, "monotonic-precise", "clock_gettime(CLOCK_MONOTONIC_PRECISE)", NANOSECOND, UPTIME;
    MONOTONIC_FAST, "monotonic-fast", "clock_gettime(CLOCK_MONOTONIC_FAST)", NANOSECOND, UPTIME.unfenced();
    REALTIME_PRECISE, "realtime-precise", "clock_gettime(CLOCK_REALTIME_PRECISE)", NANOSECOND, CALENDAR;
    REALTIME_FAST, "realtime-fast", "clock_gettime(CLOCK_REALTIME_FAST)", NANOSECOND, CALENDAR.unfenced();
    UPTIME_TIME, "uptime", "clock_gettime(CLOCK_UPTIME)", NANOSECOND, UPTIME;
    UPTIME_PRECISE, "uptime-precise", "clock_gettime(CLOCK_UPTIME_PRECISE)", NANOSECOND, UPTIME;
    UPTIME_FAST, "uptime-fast", "clock_gettime(CLOCK_UPTIME_FAST)", NANOSECOND, UPTIME.unfenced();
    SECOND, "second", "clock_gettime(CLOCK_SECOND)", NANOSECOND, CALENDAR.unfenced();
    VIRTUAL, "virtual", "clock_gettime(CLOCK_VIRTUAL)", NANOSECOND, Properties::PROCESS;
    PROF, "prof", "clock_gettime(CLOCK_PROF)", NANOSECOND, Properties::PROCESS;
}
