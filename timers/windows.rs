//! The clocks of Windows. Their calls stand in `os/windows/`.
//!
//! What ticks: `QueryPerformanceCounter` the TSC where Windows trusts it, else HPET or the ACPI timer, scaled to a rate that
//! `QueryPerformanceFrequency` tells while the system runs (10 MHz since Windows 10 1809); `NtQueryPerformanceCounter` is the same by
//! its system call. The *interrupt time* and the *system time* are what the timer interrupt left in a page that all processes share,
//! every 15.625 ms, or more often while a process asks for it (`timeBeginPeriod`); their *precise* forms add what the performance counter
//! moved since. `GetTickCount`, `GetTickCount64` and `timeGetTime` give milliseconds of the interrupt time. Thread and process
//! times are charged at the timer interrupt, cycle times at each switch of threads, in cycles of the TSC.
//!
//! At what rate: the performance counter and the interrupt time run at that of the hardware; the system time is trimmed and set by the
//! time service. *Unbiased* time stands still while the machine sleeps, the interrupt time does not.
//!
//! Who may read them: any process. `QueryInterruptTime` and the precise forms came with Windows 10; where a function is missing, as
//! some are in Wine, the timer is listed with that reason.
//!
//! How they lie: `GetTickCount` wraps after 49.7 days. Thread times miss whatever runs between two interrupts. Under Wine all of
//! them are made from clocks of the host, and cycle times may stand still: then they are not offered. `clock()` of the C
//! runtime is no CPU time here: it counts real time since the process began.
//! Sources: [Acquiring high-resolution time stamps], [Interrupt time], [System time], `_ftime64` and `clock` of the CRT.
//!
//! [Acquiring high-resolution time stamps]: https://learn.microsoft.com/windows/win32/sysinfo/acquiring-high-resolution-time-stamps
//! [Interrupt time]: https://learn.microsoft.com/windows/win32/sysinfo/interrupt-time
//! [System time]: https://learn.microsoft.com/windows/win32/sysinfo/system-time

use crate::properties::infos;
use crate::{Counts, Info, Properties};

/// At the rate of the hardware. What it does in a sleep is not documented.
const COUNTER: Properties =
    Properties { slewed: Some(false), runs_in_suspend: None, ..Properties::MONOTONIC };
const UNBIASED: Properties = Properties { runs_in_suspend: Some(false), ..COUNTER };
const INTERRUPT: Properties = Properties { runs_in_suspend: Some(true), ..COUNTER };
const CALENDAR: Properties = Properties::CALENDAR;
const THREAD: Properties = Properties::THREAD;
const PROCESS: Properties = Properties::PROCESS;

const FILETIME: Option<f64> = Some(100.0);
const MILLISECOND: Option<f64> = Some(1e6);

infos! {
    QPC, "qpc", "QueryPerformanceCounter()", None, COUNTER.with_variant("nt-qpc");
    NT_QPC, "nt-qpc", "NtQueryPerformanceCounter()", None, COUNTER.by_syscall();
    FILE_TIME, "file-time", "GetSystemTimeAsFileTime()", FILETIME, CALENDAR.unfenced();
    FILE_TIME_PRECISE, "file-time-precise", "GetSystemTimePreciseAsFileTime()", FILETIME, CALENDAR;
    INTERRUPT_TIME, "interrupt-time", "QueryInterruptTime()", FILETIME, INTERRUPT.unfenced();
    INTERRUPT_TIME_PRECISE, "interrupt-time-precise", "QueryInterruptTimePrecise()", FILETIME, INTERRUPT;
    UNBIASED_TIME, "unbiased-time", "QueryUnbiasedInterruptTime()", FILETIME, UNBIASED.unfenced();
    UNBIASED_TIME_PRECISE, "unbiased-time-precise", "QueryUnbiasedInterruptTimePrecise()", FILETIME, UNBIASED;
    TICK_COUNT, "tick-count", "GetTickCount()", MILLISECOND, INTERRUPT.unfenced();
    TICK_COUNT_64, "tick-count-64", "GetTickCount64()", MILLISECOND, INTERRUPT.unfenced();
    TIME_GET_TIME, "time-get-time", "timeGetTime()", MILLISECOND, COUNTER.unfenced();
    TIME_GET_TIME_1MS, "time-get-time-1ms", "timeGetTime() after timeBeginPeriod(1)", MILLISECOND, COUNTER.unfenced();
    THREAD_TIMES, "thread-times", "GetThreadTimes()", FILETIME, THREAD;
    PROCESS_TIMES, "process-times", "GetProcessTimes()", FILETIME, PROCESS;
    THREAD_CYCLES, "thread-cycle-time", "QueryThreadCycleTime()", None, Properties { counts: Some(Counts::ThreadCycles), ..THREAD };
    PROCESS_CYCLES, "process-cycle-time", "QueryProcessCycleTime()", None, PROCESS;
    CRT_CLOCK, "crt-clock", "clock() of the C runtime", MILLISECOND, CALENDAR;
    FTIME64, "ftime64", "_ftime64()", MILLISECOND, CALENDAR.unfenced();
}
