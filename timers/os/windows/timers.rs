//! The clocks of Windows.
//!
//! What ticks: `QueryPerformanceCounter` reads the TSC if Windows considers it reliable, else the
//! HPET or the ACPI timer, scaled to a rate that `QueryPerformanceFrequency` reports at run time
//! (10 MHz since Windows 10 1809); `NtQueryPerformanceCounter` reads the same clock by a system
//! call. The *interrupt time* and the *system time* are stored by the timer interrupt in a page
//! that all processes share, every 15.625 ms, or more often if a process requests it
//! (`timeBeginPeriod`); their *precise* forms add the progress of the performance counter since
//! then. `GetTickCount`, `GetTickCount64` and `timeGetTime` return the interrupt time in
//! milliseconds. Thread and process times are charged at the timer interrupt, cycle times at each
//! context switch, in cycles of the TSC.
//!
//! At what rate: the performance counter and the interrupt time run at the rate of the hardware;
//! the time service trims and sets the system time. The *unbiased* time stops while the machine is
//! suspended, the interrupt time does not.
//!
//! Who may read them: any process. `QueryInterruptTime` and the precise forms exist since Windows
//! 10; if a function is missing, as some are in Wine, the timer is listed as unavailable.
//!
//! How they lie: `GetTickCount` wraps around after 49.7 days. Thread times miss threads that run
//! only between two interrupts. Wine emulates all these clocks with clocks of the host, and the
//! cycle times may not advance; they are then listed as unavailable. `clock()` of the C runtime is
//! not CPU time: it returns the elapsed time since the process started. Sources: [Acquiring
//! high-resolution time stamps], [Interrupt time], [System time], `_ftime64` and `clock` of the
//! CRT.
//!
//! [Acquiring high-resolution time stamps]:
//! https://learn.microsoft.com/windows/win32/sysinfo/acquiring-high-resolution-time-stamps
//! [Interrupt time]: https://learn.microsoft.com/windows/win32/sysinfo/interrupt-time
//! [System time]: https://learn.microsoft.com/windows/win32/sysinfo/system-time

use crate::entry::clocks;
use crate::{Counted, Properties};

/// A clock at the rate of the hardware. Its behaviour in suspend is not documented.
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
const CYCLES: Properties = Properties {
    counts: Some(Counted::ThreadCycles),
    ..THREAD
};

/// The unit of a FILETIME, in nanoseconds.
const FILETIME: Option<f64> = Some(100.0);
/// A millisecond in nanoseconds.
const MILLISECOND: Option<f64> = Some(1e6);

clocks! { "Windows", windows;
    here::Qpc, "qpc", "QueryPerformanceCounter()", None, COUNTER.with_variant("nt-qpc");
    here::NtQpc, "nt-qpc", "NtQueryPerformanceCounter()", None, COUNTER.by_syscall();
    here::FileTime, "file-time", "GetSystemTimeAsFileTime()", FILETIME, CALENDAR.unfenced();
    here::FileTimePrecise, "file-time-precise", "GetSystemTimePreciseAsFileTime()", FILETIME, CALENDAR;
    here::InterruptTime, "interrupt-time", "QueryInterruptTime()", FILETIME, INTERRUPT.unfenced();
    here::InterruptTimePrecise, "interrupt-time-precise", "QueryInterruptTimePrecise()", FILETIME, INTERRUPT;
    here::UnbiasedTime, "unbiased-time", "QueryUnbiasedInterruptTime()", FILETIME, UNBIASED.unfenced();
    here::UnbiasedTimePrecise, "unbiased-time-precise", "QueryUnbiasedInterruptTimePrecise()", FILETIME, UNBIASED;
    here::TickCount, "tick-count", "GetTickCount()", MILLISECOND, INTERRUPT.unfenced();
    here::TickCount64, "tick-count-64", "GetTickCount64()", MILLISECOND, INTERRUPT.unfenced();
    here::TimeGetTime, "time-get-time", "timeGetTime()", MILLISECOND, COUNTER.unfenced();
    here::ThreadTimes, "thread-times", "GetThreadTimes()", FILETIME, THREAD;
    here::ProcessTimes, "process-times", "GetProcessTimes()", FILETIME, PROCESS;
    here::ThreadCycles, "thread-cycle-time", "QueryThreadCycleTime()", None, CYCLES;
    here::ProcessCycles, "process-cycle-time", "QueryProcessCycleTime()", None, PROCESS;
    here::CrtClock, "crt-clock", "clock() of the C runtime", MILLISECOND, CALENDAR;
    here::Ftime64, "ftime64", "_ftime64()", MILLISECOND, CALENDAR.unfenced();
}

#[cfg(windows)]
pub mod here {
    use std::io;
    use std::mem::MaybeUninit;

    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Performance::{
        QueryPerformanceCounter, QueryPerformanceFrequency,
    };
    use windows_sys::Win32::System::SystemInformation::{
        GetSystemTimeAsFileTime, GetSystemTimePreciseAsFileTime, GetTickCount, GetTickCount64,
    };
    use windows_sys::Win32::System::Threading::{
        GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
    };
    use windows_sys::Win32::System::WindowsProgramming::{
        QueryProcessCycleTime, QueryThreadCycleTime, QueryUnbiasedInterruptTime,
    };

    use crate::os::windows::handle::find_function;
    use crate::{Available, Ticks, Timer, Unavailable, work};

    /// Defines timers. A row has the type of the timer's state and the expression that opens it,
    /// the type of a reading and the expression that reads it, the conversion of a reading to
    /// ticks, and the nanoseconds per tick if not constant.
    macro_rules! timers {
        ($($name:ident: $state:ty = $open:expr, $reading:ty = |$pattern:pat_param| $read:expr, $ticks:expr $(, ns_per_tick: $ns_per_tick:expr)?;)*) => {$(
            pub struct $name($state);

            impl Timer for $name {
                type Reading = $reading;

                $(fn ns_per_tick() -> Option<f64> {
                    $ns_per_tick
                })?

                fn open() -> Available<Self> {
                    // SAFETY: the types of the function pointers are the documented signatures.
                    #[allow(unused_unsafe, reason = "some timers have no state to open")]
                    unsafe { $open }.map(Self)
                }

                #[inline(always)]
                fn read(&self) -> $reading {
                    let $pattern = &self.0;
                    // SAFETY: the functions only require valid pointers, which `return_written`
                    // passes.
                    #[allow(unused_unsafe, reason = "functions of the C runtime are declared safe")]
                    unsafe { $read }
                }

                fn ticks(&self, reading: $reading) -> Ticks {
                    Ticks($ticks(reading))
                }
            }
        )*};
    }

    timers! {
        Qpc: () = Ok(()), i64 = |()| return_written(|to| { QueryPerformanceCounter(to); }), |count| count as u64, ns_per_tick: qpc_ns_per_tick();
        NtQpc: NtWrites = find_function("ntdll.dll\0", "NtQueryPerformanceCounter\0"), i64 = |call| return_written(|to| { call(to, std::ptr::null_mut()); }), |count| count as u64, ns_per_tick: qpc_ns_per_tick();
        FileTime: () = Ok(()), FILETIME = |()| return_written(|to| GetSystemTimeAsFileTime(to)), filetime_ticks;
        FileTimePrecise: () = Ok(()), FILETIME = |()| return_written(|to| GetSystemTimePreciseAsFileTime(to)), filetime_ticks;
        InterruptTime: Writes = find_function("kernelbase.dll\0", "QueryInterruptTime\0"), u64 = |call| return_written(|to| call(to)), |time| time;
        InterruptTimePrecise: Writes = find_function("kernelbase.dll\0", "QueryInterruptTimePrecise\0"), u64 = |call| return_written(|to| call(to)), |time| time;
        UnbiasedTime: () = Ok(()), u64 = |()| return_written(|to| { QueryUnbiasedInterruptTime(to); }), |time| time;
        UnbiasedTimePrecise: Writes = find_function("kernelbase.dll\0", "QueryUnbiasedInterruptTimePrecise\0"), u64 = |call| return_written(|to| call(to)), |time| time;
        TickCount: () = Ok(()), u32 = |()| GetTickCount(), u64::from;
        TickCount64: () = Ok(()), u64 = |()| GetTickCount64(), |count| count;
        TimeGetTime: Returns = find_function("winmm.dll\0", "timeGetTime\0"), u32 = |call| call(), u64::from;
        ThreadTimes: () = check_times(thread_times), [FILETIME; 2] = |()| cpu_times(thread_times), sum;
        ProcessTimes: () = check_times(process_times), [FILETIME; 2] = |()| cpu_times(process_times), sum;
        ThreadCycles: () = check_cycles(|to| QueryThreadCycleTime(GetCurrentThread(), to)), u64 = |()| return_written(|to| { QueryThreadCycleTime(GetCurrentThread(), to); }), |cycles| cycles;
        ProcessCycles: () = check_cycles(|to| QueryProcessCycleTime(GetCurrentProcess(), to)), u64 = |()| return_written(|to| { QueryProcessCycleTime(GetCurrentProcess(), to); }), |cycles| cycles;
        CrtClock: () = Ok(()), i32 = |()| crt_clock(), |clock: i32| clock as u64;
        Ftime64: () = Ok(()), (i64, u16) = |()| ftime64(), |(seconds, milliseconds): (i64, u16)| seconds.wrapping_mul(1000).wrapping_add(milliseconds.into()) as u64;
    }

    /// A function that writes its result to a pointer.
    type Writes = unsafe extern "system" fn(*mut u64);
    /// NtQueryPerformanceCounter: writes the counter and, if the pointer is not null, its rate.
    type NtWrites = unsafe extern "system" fn(*mut i64, *mut i64) -> i32;
    /// A function that returns its result.
    type Returns = unsafe extern "system" fn() -> u32;

    /// Returns the value that `call` writes to the given pointer.
    #[inline(always)]
    fn return_written<T>(call: impl FnOnce(*mut T)) -> T {
        let mut value = MaybeUninit::uninit();
        call(value.as_mut_ptr());
        // SAFETY: the functions in the table are documented to write their result to a valid
        // pointer. Those that can fail succeeded in `open`.
        unsafe { value.assume_init() }
    }

    /// The time in units of 100 ns.
    fn filetime_ticks(time: FILETIME) -> u64 {
        u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
    }

    /// The nanoseconds per tick of the performance counter.
    fn qpc_ns_per_tick() -> Option<f64> {
        // SAFETY: `return_written` passes a pointer that is valid for one i64.
        let hertz = return_written(|to| unsafe {
            QueryPerformanceFrequency(to);
        });
        (hertz > 0).then(|| 1e9 / hertz as f64)
    }

    unsafe extern "C" {
        fn _ftime64(time: *mut Timeb);
        // The function has no arguments and no preconditions.
        /// `clock()` of the C runtime: the elapsed milliseconds since the process started, unlike
        /// in POSIX.
        #[link_name = "clock"]
        safe fn crt_clock() -> i32;
    }

    /// `__timeb64` of the C runtime.
    #[repr(C)]
    struct Timeb {
        time: i64,
        millitm: u16,
        timezone: i16,
        dstflag: i16,
    }

    /// The date and time: seconds since 1970, and milliseconds.
    #[inline(always)]
    fn ftime64() -> (i64, u16) {
        // SAFETY: `return_written` passes a pointer that is valid for one structure.
        let time: Timeb = return_written(|to| unsafe { _ftime64(to) });
        (time.time, time.millitm)
    }

    /// The times of a thread or process: creation, exit, time in the kernel, time in user mode.
    type CpuTimes = [FILETIME; 4];

    #[inline(always)]
    fn thread_times(to: *mut CpuTimes) -> i32 {
        let at = |index| to.cast::<FILETIME>().wrapping_add(index);
        // SAFETY: the pointers point to the four elements of `CpuTimes`; the handle is the constant
        // for the caller.
        unsafe { GetThreadTimes(GetCurrentThread(), at(0), at(1), at(2), at(3)) }
    }

    #[inline(always)]
    fn process_times(to: *mut CpuTimes) -> i32 {
        let at = |index| to.cast::<FILETIME>().wrapping_add(index);
        // SAFETY: the pointers point to the four elements of `CpuTimes`; the handle is the constant
        // for the caller.
        unsafe { GetProcessTimes(GetCurrentProcess(), at(0), at(1), at(2), at(3)) }
    }

    /// Checks that the call succeeds.
    fn check_times(call: fn(*mut CpuTimes) -> i32) -> Available {
        let mut times = [FILETIME::default(); 4];
        match call(&raw mut times) {
            0 => Err(explain_failure()),
            _ => Ok(()),
        }
    }

    /// The time in the kernel and the time in user mode.
    #[inline(always)]
    fn cpu_times(call: impl FnOnce(*mut CpuTimes) -> i32) -> [FILETIME; 2] {
        let [_, _, kernel, user] = return_written(|to| {
            call(to);
        });
        [kernel, user]
    }

    fn sum([kernel, user]: [FILETIME; 2]) -> u64 {
        filetime_ticks(kernel).wrapping_add(filetime_ticks(user))
    }

    /// Checks that a count of cycles succeeds and increases: some emulators return a constant.
    fn check_cycles(call: impl Fn(*mut u64) -> i32) -> Available {
        let (mut before, mut after) = (0, 0);
        if call(&raw mut before) == 0 {
            return Err(explain_failure());
        }
        work::dependent_additions(100_000);
        call(&raw mut after);
        if after == before {
            return Err(Unavailable::because(
                "the call succeeds, but the count of cycles does not increase",
            ));
        }
        Ok(())
    }

    fn explain_failure() -> Unavailable {
        Unavailable::failed_call("the call failed", &io::Error::last_os_error())
    }
}
