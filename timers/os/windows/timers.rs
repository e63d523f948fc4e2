//! The clocks of Windows.
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

use crate::entry::clocks;
use crate::{Counted, Properties};

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
const CYCLES: Properties = Properties {
    counts: Some(Counted::ThreadCycles),
    ..THREAD
};

const FILETIME: Option<f64> = Some(100.0);
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
    here::TimeGetTime1Ms, "time-get-time-1ms", "timeGetTime() after timeBeginPeriod(1)", MILLISECOND, COUNTER.unfenced();
    here::ThreadTimes, "thread-times", "GetThreadTimes()", FILETIME, THREAD;
    here::ProcessTimes, "process-times", "GetProcessTimes()", FILETIME, PROCESS;
    here::ThreadCycles, "thread-cycle-time", "QueryThreadCycleTime()", None, CYCLES;
    here::ProcessCycles, "process-cycle-time", "QueryProcessCycleTime()", None, PROCESS;
    here::CrtClock, "crt-clock", "clock() of the C runtime", MILLISECOND, CALENDAR;
    here::Ftime64, "ftime64", "_ftime64()", MILLISECOND, CALENDAR.unfenced();
}

#[cfg(windows)]
pub(super) mod here {
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

    use crate::os::discipline;
    use crate::os::windows::handle::find_function;
    use crate::{Ticks, Timer, Unavailable, work};

    /// Timers by what they keep, how that is opened, what a reading is and how it is made, and its
    /// ticks. Each reading is made by the block, which calls that function and nothing else.
    macro_rules! timers {
        ($($name:ident: $kept:ty = $open:expr, $reading:ty = |$pattern:pat_param| $read:expr, $ticks:expr, [$($unit:expr)?], [$($resolution:expr)?];)*) => {$(
            pub(crate) struct $name($kept);

            impl Timer for $name {
                type Reading = $reading;

                $(fn ns_per_tick() -> Option<f64> {
                    $unit
                })?

                $(fn declared_resolution() -> Option<f64> {
                    $resolution
                })?

                fn open() -> Result<Self, Unavailable> {
                    // SAFETY: the signatures are the documented ones.
                    #[allow(unused_unsafe, reason = "some have nothing to open")]
                    unsafe { $open }.map(Self)
                }

                #[inline(always)]
                fn read(&self) -> $reading {
                    let $pattern = &self.0;
                    // SAFETY: the functions have no preconditions but that pointers are valid.
                    #[allow(unused_unsafe, reason = "clocks of the C runtime are declared safe")]
                    unsafe { $read }
                }

                fn ticks(&self, reading: $reading) -> Ticks {
                    Ticks($ticks(reading))
                }
            }
        )*};
    }

    timers! {
        Qpc: () = Ok(()), i64 = |()| written(|to| { QueryPerformanceCounter(to); }), |count| count as u64, [qpc_unit()], [qpc_unit()];
        NtQpc: NtWrites = find_function("ntdll.dll\0", "NtQueryPerformanceCounter\0"), i64 = |call| written(|to| { call(to, std::ptr::null_mut()); }), |count| count as u64, [qpc_unit()], [];
        FileTime: () = Ok(()), FILETIME = |()| written(|to| GetSystemTimeAsFileTime(to)), hundreds, [], [tick()];
        FileTimePrecise: () = Ok(()), FILETIME = |()| written(|to| GetSystemTimePreciseAsFileTime(to)), hundreds, [], [];
        InterruptTime: Writes = find_function("kernelbase.dll\0", "QueryInterruptTime\0"), u64 = |call| written(|to| call(to)), |time| time, [], [];
        InterruptTimePrecise: Writes = find_function("kernelbase.dll\0", "QueryInterruptTimePrecise\0"), u64 = |call| written(|to| call(to)), |time| time, [], [];
        UnbiasedTime: () = Ok(()), u64 = |()| written(|to| { QueryUnbiasedInterruptTime(to); }), |time| time, [], [tick()];
        UnbiasedTimePrecise: Writes = find_function("kernelbase.dll\0", "QueryUnbiasedInterruptTimePrecise\0"), u64 = |call| written(|to| call(to)), |time| time, [], [];
        TickCount: () = Ok(()), u32 = |()| GetTickCount(), u64::from, [], [tick()];
        TickCount64: () = Ok(()), u64 = |()| GetTickCount64(), |count| count, [], [tick()];
        TimeGetTime: Returns = find_function("winmm.dll\0", "timeGetTime\0"), u32 = |call| call(), u64::from, [], [];
        TimeGetTime1Ms: FastInterrupt = FastInterrupt::begin(), u32 = |fast| (fast.time)(), u64::from, [], [];
        ThreadTimes: () = accepted(thread_times), [FILETIME; 2] = |()| charged(thread_times), sum, [], [tick()];
        ProcessTimes: () = accepted(process_times), [FILETIME; 2] = |()| charged(process_times), sum, [], [tick()];
        ThreadCycles: () = moving(|to| QueryThreadCycleTime(GetCurrentThread(), to)), u64 = |()| written(|to| { QueryThreadCycleTime(GetCurrentThread(), to); }), |cycles| cycles, [], [];
        ProcessCycles: () = moving(|to| QueryProcessCycleTime(GetCurrentProcess(), to)), u64 = |()| written(|to| { QueryProcessCycleTime(GetCurrentProcess(), to); }), |cycles| cycles, [], [];
        CrtClock: () = Ok(()), i32 = |()| crt_clock(), |clock: i32| clock as u64, [], [];
        Ftime64: () = Ok(()), (i64, u16) = |()| ftime64(), |(seconds, milliseconds): (i64, u16)| seconds.wrapping_mul(1000).wrapping_add(milliseconds.into()) as u64, [], [tick()];
    }

    type Writes = unsafe extern "system" fn(*mut u64);
    type NtWrites = unsafe extern "system" fn(*mut i64, *mut i64) -> i32;
    type Returns = unsafe extern "system" fn() -> u32;
    type Period = unsafe extern "system" fn(u32) -> u32;

    /// What a call wrote that returns nothing, or cannot fail.
    #[inline(always)]
    fn written<T>(call: impl FnOnce(*mut T)) -> T {
        let mut value = MaybeUninit::uninit();
        call(value.as_mut_ptr());
        // SAFETY: the calls above are documented to write their result, given a valid pointer, and
        // `open` tried those that may refuse.
        unsafe { value.assume_init() }
    }

    fn hundreds(time: FILETIME) -> u64 {
        u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
    }

    /// How often the timer interrupt moves the coarse clocks, as the system declares it.
    fn tick() -> Option<f64> {
        discipline::declared_tick_ns().ok().map(|ns| ns as f64)
    }

    /// Nanoseconds in a tick of the performance counter.
    fn qpc_unit() -> Option<f64> {
        // SAFETY: the pointer is valid.
        let hertz = written(|to| unsafe {
            QueryPerformanceFrequency(to);
        });
        (hertz > 0).then(|| 1e9 / hertz as f64)
    }

    unsafe extern "C" {
        fn _ftime64(time: *mut Timeb);
        // No arguments, no preconditions.
        /// Milliseconds of real time since the process began: what POSIX calls so is another one.
        #[link_name = "clock"]
        safe fn crt_clock() -> i32;
    }

    #[repr(C)]
    struct Timeb {
        time: i64,
        millitm: u16,
        timezone: i16,
        dstflag: i16,
    }

    /// Seconds and milliseconds of the time of the day.
    #[inline(always)]
    fn ftime64() -> (i64, u16) {
        // SAFETY: the pointer is valid.
        let time: Timeb = written(|to| unsafe { _ftime64(to) });
        (time.time, time.millitm)
    }

    /// `timeGetTime` while this asks for a timer interrupt each millisecond.
    struct FastInterrupt {
        time: Returns,
        end: Period,
    }

    impl FastInterrupt {
        fn begin() -> Result<Self, Unavailable> {
            // SAFETY: the signatures are the documented ones, and the period is a plain number.
            unsafe {
                let begin: Period = find_function("winmm.dll\0", "timeBeginPeriod\0")?;
                let fast = Self {
                    time: find_function("winmm.dll\0", "timeGetTime\0")?,
                    end: find_function("winmm.dll\0", "timeEndPeriod\0")?,
                };
                match begin(1) {
                    0 => Ok(fast),
                    _ => Err(Unavailable::because(
                        "timeBeginPeriod(1): the system grants no period of 1 ms",
                    )),
                }
            }
        }
    }

    impl Drop for FastInterrupt {
        fn drop(&mut self) {
            // SAFETY: a plain number, that of the period that `begin` asked for.
            unsafe { (self.end)(1) };
        }
    }

    /// When it began, when it ended, the kernel's time, the user's time.
    type Times = [FILETIME; 4];

    #[inline(always)]
    fn thread_times(to: *mut Times) -> i32 {
        let at = |place| to.cast::<FILETIME>().wrapping_add(place);
        // SAFETY: all pointers are valid; the handle is a constant of the caller.
        unsafe { GetThreadTimes(GetCurrentThread(), at(0), at(1), at(2), at(3)) }
    }

    #[inline(always)]
    fn process_times(to: *mut Times) -> i32 {
        let at = |place| to.cast::<FILETIME>().wrapping_add(place);
        // SAFETY: all pointers are valid; the handle is a constant of the caller.
        unsafe { GetProcessTimes(GetCurrentProcess(), at(0), at(1), at(2), at(3)) }
    }

    fn accepted(ask: fn(*mut Times) -> i32) -> Result<(), Unavailable> {
        let mut times = [FILETIME::default(); 4];
        match ask(&raw mut times) {
            0 => Err(refused()),
            _ => Ok(()),
        }
    }

    /// Times that were charged: kernel's and user's.
    #[inline(always)]
    fn charged(ask: impl FnOnce(*mut Times) -> i32) -> [FILETIME; 2] {
        let [_, _, kernel, user] = written(|to| {
            ask(to);
        });
        [kernel, user]
    }

    fn sum([kernel, user]: [FILETIME; 2]) -> u64 {
        hundreds(kernel).wrapping_add(hundreds(user))
    }

    /// Cycles that were charged; some emulations answer with a count that stands still.
    fn moving(ask: impl Fn(*mut u64) -> i32) -> Result<(), Unavailable> {
        let (mut before, mut after) = (0, 0);
        if ask(&raw mut before) == 0 {
            return Err(refused());
        }
        work::dependent_additions(100_000);
        ask(&raw mut after);
        if after == before {
            return Err(Unavailable::because("it can be asked but stands still"));
        }
        Ok(())
    }

    fn refused() -> Unavailable {
        Unavailable::because(format!(
            "the call is refused: {}",
            io::Error::last_os_error()
        ))
    }
}
