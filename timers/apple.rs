//! The clocks of macOS that POSIX does not name. Their calls stand in `os/apple/`.
//!
//! What ticks: `mach_absolute_time` the counter of the CPU (CNTVCT on Arm at 24 MHz, the TSC on x86-64 scaled to nanoseconds), in
//! units that `mach_timebase_info` tells while the system runs; it stands still while the machine sleeps, `mach_continuous_time` does not.
//! CLOCK_UPTIME_RAW is the former in nanoseconds, CLOCK_MONOTONIC_RAW the latter. `mach_approximate_time` and the APPROX clocks give what
//! the kernel left in the page that it shares with all processes (the *commpage*) when it last switched tasks. `thread_info` and
//! `proc_pid_rusage` tell what the scheduler charged, the former in microseconds, the latter in units of `mach_absolute_time`.
//!
//! At what rate: that of the hardware. NTP trims CLOCK_MONOTONIC and CLOCK_REALTIME, which move by microseconds.
//!
//! Who may read them: any process; those of the CPU in user mode, through the commpage.
//!
//! How they lie: `clock_gettime_nsec_np` answers 0 to a clock that it does not know. None of these was ever read by this
//! program on a Mac: they are type-checked only.
//! Sources: clock_gettime(3) of macOS, [Mach absolute time units], Libc/gen/clock_gettime.c.
//!
//! [Mach absolute time units]: https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time

use crate::properties::infos;
use crate::{Info, Properties};

const UPTIME: Properties = Properties { slewed: Some(false), ..Properties::MONOTONIC };
const CONTINUOUS: Properties = Properties { runs_in_suspend: Some(true), ..UPTIME };
const STEERED: Properties = Properties { runs_in_suspend: Some(true), ..Properties::MONOTONIC };

const NANOSECOND: Option<f64> = Some(1.0);
const MICROSECOND: Option<f64> = Some(1e3);

infos! {
    ABSOLUTE, "mach-absolute", "mach_absolute_time()", None, UPTIME;
    APPROXIMATE, "mach-approximate", "mach_approximate_time()", None, UPTIME.unfenced();
    CONTINUOUS_TIME, "mach-continuous", "mach_continuous_time()", None, CONTINUOUS;
    UPTIME_RAW, "uptime-raw", "clock_gettime(CLOCK_UPTIME_RAW)", NANOSECOND, UPTIME;
    UPTIME_RAW_APPROX, "uptime-raw-approx", "clock_gettime(CLOCK_UPTIME_RAW_APPROX)", NANOSECOND, UPTIME.unfenced();
    MONOTONIC_RAW_APPROX, "monotonic-raw-approx", "clock_gettime(CLOCK_MONOTONIC_RAW_APPROX)", NANOSECOND, CONTINUOUS.unfenced();
    NSEC_UPTIME_RAW, "nsec-uptime-raw", "clock_gettime_nsec_np(CLOCK_UPTIME_RAW)", NANOSECOND, UPTIME;
    NSEC_UPTIME_RAW_APPROX, "nsec-uptime-raw-approx", "clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX)", NANOSECOND, UPTIME.unfenced();
    NSEC_MONOTONIC, "nsec-monotonic", "clock_gettime_nsec_np(CLOCK_MONOTONIC)", NANOSECOND, STEERED;
    NSEC_MONOTONIC_RAW, "nsec-monotonic-raw", "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)", NANOSECOND, CONTINUOUS;
    NSEC_MONOTONIC_RAW_APPROX, "nsec-monotonic-raw-approx", "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)", NANOSECOND, CONTINUOUS.unfenced();
    NSEC_REALTIME, "nsec-realtime", "clock_gettime_nsec_np(CLOCK_REALTIME)", NANOSECOND, Properties::CALENDAR;
    NSEC_THREAD, "nsec-thread-cputime", "clock_gettime_nsec_np(CLOCK_THREAD_CPUTIME_ID)", NANOSECOND, Properties::THREAD;
    NSEC_PROCESS, "nsec-process-cputime", "clock_gettime_nsec_np(CLOCK_PROCESS_CPUTIME_ID)", NANOSECOND, Properties::PROCESS;
    THREAD_INFO, "thread-info", "thread_info(THREAD_BASIC_INFO)", MICROSECOND, Properties::THREAD;
    PROC_RUSAGE, "proc-pid-rusage", "proc_pid_rusage()", None, Properties::PROCESS;
}
