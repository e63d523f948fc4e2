//! The clocks that one system alone has, a module a system: what each is, known on all of them. The
//! calls that read them stand in `os/`.

pub(crate) mod apple {
    //! The clocks of macOS that all else is timed by there. Their calls stand in `os/apple/`.
    //!
    //! What ticks: `mach_absolute_time` the counter of the CPU (CNTVCT on Arm at 24 MHz, the TSC on
    //! x86-64 scaled to nanoseconds), in units that `mach_timebase_info` tells while the system
    //! runs; it stands still while the machine sleeps. CLOCK_UPTIME_RAW is the same in nanoseconds.
    //!
    //! At what rate: that of the hardware. Who may read them: any process, in user mode.
    //!
    //! How they lie: none of them was ever read by this program on a Mac: they are type-checked
    //! only. Sources: clock_gettime(3) of macOS, [Mach absolute time units].
    //!
    //! [Mach absolute time units]:
    //! https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time

    use crate::properties::infos;
    use crate::{Info, Properties};

    const UPTIME: Properties = Properties {
        slewed: Some(false),
        ..Properties::MONOTONIC
    };

    infos! {
        ABSOLUTE, "mach-absolute", "mach_absolute_time()", None, UPTIME;
        UPTIME_RAW, "uptime-raw", "clock_gettime(CLOCK_UPTIME_RAW)", Some(1.0), UPTIME;
    }
}

pub(crate) mod ptp {
    //! Clocks on devices of their own, which Linux offers as `/dev/ptp0`, `/dev/ptp1`, … (dynamic
    //! POSIX clocks). The calls that read them stand in `os/linux/`.
    //!
    //! What ticks: an oscillator on a network card (IEEE 1588, hence the name), on a card with a
    //! GPS receiver, or the clock of the host of a virtual machine (`ptp_kvm`, Hyper-V).
    //! `/sys/class/ptp/ptp0/clock_name` says which. At what rate: nanoseconds, by an oscillator
    //! other than that of the system clock, which `ptp4l`, `phc2sys` or the host trims.
    //!
    //! Who may read them: a process that may open the device, mostly root alone. A read is a system
    //! call that asks the device: a register behind PCI Express, a microsecond and more, or a call
    //! of the hypervisor.
    //!
    //! How they lie: the device may be gone while it is open; the reading is 0 then. Most cards
    //! count TAI once `ptp4l` runs, and from any epoch before. A process that writes to the device
    //! may set it. Only the first four are timers. Sources: [Documentation/driver-api/ptp.rst] of
    //! Linux, clock_getres(2) ("Dynamic clocks").
    //!
    //! [Documentation/driver-api/ptp.rst]: https://docs.kernel.org/driver-api/ptp.html

    use crate::properties::infos;
    use crate::{Counted, Family, Info, Properties, ReadsBy};

    const NANOSECOND: Option<f64> = Some(1.0);

    const DEVICE: Properties = Properties {
        family: Some(Family::DeviceClock),
        counts: Some(Counted::Wall),
        settable: Some(true),
        slewed: Some(true),
        // It has its own power.
        runs_in_suspend: None,
        needs_fence: Some(false),
        reads_by: Some(ReadsBy::SystemCall),
        syscall_variant: None,
    };

    infos! {
        PTP0, "ptp0", "clock_gettime(/dev/ptp0)", NANOSECOND, DEVICE;
        PTP1, "ptp1", "clock_gettime(/dev/ptp1)", NANOSECOND, DEVICE;
        PTP2, "ptp2", "clock_gettime(/dev/ptp2)", NANOSECOND, DEVICE;
        PTP3, "ptp3", "clock_gettime(/dev/ptp3)", NANOSECOND, DEVICE;
    }
}

pub(crate) mod windows {
    //! The clocks of Windows. Their calls stand in `os/windows/`.
    //!
    //! What ticks: `QueryPerformanceCounter` the TSC where Windows trusts it, else HPET or the ACPI
    //! timer, scaled to a rate that `QueryPerformanceFrequency` tells while the system runs (10 MHz
    //! since Windows 10 1809); `NtQueryPerformanceCounter` is the same by its system call. The
    //! *interrupt time* and the *system time* are what the timer interrupt left in a page that all
    //! processes share, every 15.625 ms, or more often while a process asks for it
    //! (`timeBeginPeriod`); their *precise* forms add what the performance counter moved since.
    //! `GetTickCount`, `GetTickCount64` and `timeGetTime` give milliseconds of the interrupt time.
    //! Thread and process times are charged at the timer interrupt, cycle times at each switch of
    //! threads, in cycles of the TSC.
    //!
    //! At what rate: the performance counter and the interrupt time run at that of the hardware;
    //! the system time is trimmed and set by the time service. *Unbiased* time stands still while
    //! the machine sleeps, the interrupt time does not.
    //!
    //! Who may read them: any process. `QueryInterruptTime` and the precise forms came with Windows
    //! 10; where a function is missing, as some are in Wine, the timer is listed with that reason.
    //!
    //! How they lie: `GetTickCount` wraps after 49.7 days. Thread times miss whatever runs between
    //! two interrupts. Under Wine all of them are made from clocks of the host, and cycle times may
    //! stand still: then they are not offered. `clock()` of the C runtime is no CPU time here: it
    //! counts real time since the process began. Sources: [Acquiring high-resolution time stamps],
    //! [Interrupt time], [System time], `_ftime64` and `clock` of the CRT.
    //!
    //! [Acquiring high-resolution time stamps]:
    //! https://learn.microsoft.com/windows/win32/sysinfo/acquiring-high-resolution-time-stamps
    //! [Interrupt time]: https://learn.microsoft.com/windows/win32/sysinfo/interrupt-time [System
    //! time]: https://learn.microsoft.com/windows/win32/sysinfo/system-time

    use crate::properties::infos;
    use crate::{Counted, Info, Properties};

    /// At the rate of the hardware. What it does in a sleep is not documented.
    const COUNTER: Properties = Properties {
        slewed: Some(false),
        runs_in_suspend: None,
        ..Properties::MONOTONIC
    };
    const UNBIASED: Properties = Properties {
        runs_in_suspend: Some(false),
        ..COUNTER
    };
    const INTERRUPT: Properties = Properties {
        runs_in_suspend: Some(true),
        ..COUNTER
    };
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
        THREAD_CYCLES, "thread-cycle-time", "QueryThreadCycleTime()", None, Properties { counts: Some(Counted::ThreadCycles), ..THREAD };
        PROCESS_CYCLES, "process-cycle-time", "QueryProcessCycleTime()", None, PROCESS;
        CRT_CLOCK, "crt-clock", "clock() of the C runtime", MILLISECOND, CALENDAR;
        FTIME64, "ftime64", "_ftime64()", MILLISECOND, CALENDAR.unfenced();
    }
}
