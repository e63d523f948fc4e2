//! The clocks of Windows.
//!
//! What ticks: `QueryPerformanceCounter` reads the TSC if Windows considers it reliable, else the
//! HPET or the ACPI timer, scaled to a rate that `QueryPerformanceFrequency` reports at run time
//! (10 MHz since Windows 10 1809); `NtQueryPerformanceCounter` reads the same clock by a system
//! call. The *interrupt time* and the *system time* are stored by the timer interrupt in a page
//! that all processes share, every 15.625 ms, or more often if a process requests it
//! (`timeBeginPeriod`); the *precise* form of the latter adds the progress of the performance
//! counter since then. `GetTickCount64` returns the interrupt time in milliseconds. Thread and
//! process times are charged at the timer interrupt.
//!
//! At what rate: the performance counter and the interrupt time run at the rate of the hardware;
//! the time service trims and sets the system time. The *unbiased* time stops while the machine is
//! suspended, the interrupt time does not.
//!
//! Who may read them: any process.
//!
//! How they lie: thread times miss threads that run only between two interrupts. Wine emulates all
//! these clocks with clocks of the host. Sources: [Acquiring high-resolution time stamps],
//! [Interrupt time], [System time].
//!
//! [Acquiring high-resolution time stamps]:
//! https://learn.microsoft.com/windows/win32/sysinfo/acquiring-high-resolution-time-stamps
//! [Interrupt time]: https://learn.microsoft.com/windows/win32/sysinfo/interrupt-time
//! [System time]: https://learn.microsoft.com/windows/win32/sysinfo/system-time

use crate::Properties;
use crate::entry::clocks;

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

/// The unit of a FILETIME, in nanoseconds.
const FILETIME: Option<f64> = Some(100.0);
/// A millisecond in nanoseconds.
const MILLISECOND: Option<f64> = Some(1e6);

clocks! { "Windows", windows;
    here::Qpc, "qpc", "QueryPerformanceCounter()", None, COUNTER.with_variant("nt-qpc");
    here::NtQpc, "nt-qpc", "NtQueryPerformanceCounter()", None, COUNTER.by_syscall();
    here::FileTime, "file-time", "GetSystemTimeAsFileTime()", FILETIME, CALENDAR.unfenced();
    here::FileTimePrecise, "file-time-precise", "GetSystemTimePreciseAsFileTime()", FILETIME, CALENDAR;
    here::UnbiasedTime, "unbiased-time", "QueryUnbiasedInterruptTime()", FILETIME, UNBIASED.unfenced();
    here::TickCount64, "tick-count-64", "GetTickCount64()", MILLISECOND, INTERRUPT.unfenced();
    here::ThreadTimes, "thread-times", "GetThreadTimes()", FILETIME, THREAD;
    here::ProcessTimes, "process-times", "GetProcessTimes()", FILETIME, PROCESS;
}

#[cfg(windows)]
pub mod here {
    use std::mem::MaybeUninit;

    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Performance::{
        QueryPerformanceCounter, QueryPerformanceFrequency,
    };
    use windows_sys::Win32::System::SystemInformation::{
        GetSystemTimeAsFileTime, GetSystemTimePreciseAsFileTime, GetTickCount64,
    };
    use windows_sys::Win32::System::Threading::{
        GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
    };
    use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

    use crate::{Available, Ticks, Timer};

    /// Defines timers. A row has the type of a reading and the expression that reads it, the
    /// conversion of a reading to ticks, and the nanoseconds per tick if not constant.
    macro_rules! timers {
        ($($name:ident: $reading:ty = $read:expr, $ticks:expr $(, ns_per_tick: $ns_per_tick:expr)?;)*) => {$(
            pub struct $name;

            impl Timer for $name {
                type Reading = $reading;

                $(fn ns_per_tick() -> Option<f64> {
                    $ns_per_tick
                })?

                fn open() -> Available<Self> {
                    Ok(Self)
                }

                #[inline(always)]
                fn read(&self) -> $reading {
                    // SAFETY: the functions only require valid pointers, which `return_written`
                    // and `cpu_times` pass.
                    unsafe { $read }
                }

                fn ticks(&self, reading: $reading) -> Ticks {
                    Ticks($ticks(reading))
                }
            }
        )*};
    }

    timers! {
        Qpc: i64 = return_written(|to| { QueryPerformanceCounter(to); }), |count| count as u64, ns_per_tick: qpc_ns_per_tick();
        NtQpc: i64 = return_written(|to| { NtQueryPerformanceCounter(to, std::ptr::null_mut()); }), |count| count as u64, ns_per_tick: qpc_ns_per_tick();
        FileTime: FILETIME = return_written(|to| GetSystemTimeAsFileTime(to)), filetime_ticks;
        FileTimePrecise: FILETIME = return_written(|to| GetSystemTimePreciseAsFileTime(to)), filetime_ticks;
        UnbiasedTime: u64 = return_written(|to| { QueryUnbiasedInterruptTime(to); }), |time| time;
        TickCount64: u64 = GetTickCount64(), |count| count;
        ThreadTimes: [FILETIME; 2] = cpu_times(|[start, end, kernel, user]| { GetThreadTimes(GetCurrentThread(), start, end, kernel, user); }), sum;
        ProcessTimes: [FILETIME; 2] = cpu_times(|[start, end, kernel, user]| { GetProcessTimes(GetCurrentProcess(), start, end, kernel, user); }), sum;
    }

    #[link(name = "ntdll")]
    unsafe extern "system" {
        /// Writes the counter and, if the second pointer is not null, its rate.
        fn NtQueryPerformanceCounter(counter: *mut i64, rate: *mut i64) -> i32;
    }

    /// Returns the value that `call` writes to the given pointer.
    #[inline(always)]
    fn return_written<T>(call: impl FnOnce(*mut T)) -> T {
        let mut value = MaybeUninit::uninit();
        call(value.as_mut_ptr());
        // SAFETY: the functions in the table are documented to write their result to a valid
        // pointer.
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

    /// The time in the kernel and the time in user mode.
    #[inline(always)]
    fn cpu_times(call: impl FnOnce([*mut FILETIME; 4])) -> [FILETIME; 2] {
        let mut times = [FILETIME::default(); 4];
        call(times.each_mut().map(|time| time as _));
        [times[2], times[3]]
    }

    fn sum([kernel, user]: [FILETIME; 2]) -> u64 {
        filetime_ticks(kernel).wrapping_add(filetime_ticks(user))
    }
}
