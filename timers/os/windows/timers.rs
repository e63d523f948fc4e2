//! Windows' clocks as timers; `crate::windows` says what they are.

use std::io;
use std::mem::MaybeUninit;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::{
    GetSystemTimeAsFileTime, GetSystemTimePreciseAsFileTime, GetTickCount, GetTickCount64,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
};
use windows_sys::Win32::System::WindowsProgramming::{
    QueryProcessCycleTime, QueryThreadCycleTime, QueryUnbiasedInterruptTime,
};

use super::{discipline, handle};
use crate::{Info, Ticks, Timer, Unavailable, windows as infos, work};

/// What a call wrote that returns nothing, or cannot fail.
#[inline(always)]
fn written<T>(call: impl FnOnce(*mut T)) -> T {
    let mut value = MaybeUninit::uninit();
    call(value.as_mut_ptr());
    // SAFETY: the calls below are documented to write their result, given a valid pointer, and
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

/// Timers of functions that every Windows has. Each reading is made by the block, which calls that
/// function and nothing else.
macro_rules! imported {
    ($($name:ident, $info:ident, $reading:ty, $read:expr, $ticks:expr, $unit:expr, $resolution:expr;)*) => {$(
        pub(crate) struct $name;

        impl Timer for $name {
            const INFO: Info = infos::$info;
            type Reading = $reading;

            fn ns_per_tick() -> Option<f64> {
                $unit
            }

            fn declared_resolution() -> Option<f64> {
                $resolution
            }

            fn open() -> Result<Self, Unavailable> {
                Ok(Self)
            }

            #[inline(always)]
            fn read(&self) -> $reading {
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

imported! {
    Qpc, QPC, i64, written(|to| { QueryPerformanceCounter(to); }), |count| count as u64, qpc_unit(), qpc_unit();
    FileTime, FILE_TIME, FILETIME, written(|to| GetSystemTimeAsFileTime(to)), hundreds, Self::INFO.ns_per_tick, tick();
    FileTimePrecise, FILE_TIME_PRECISE, FILETIME, written(|to| GetSystemTimePreciseAsFileTime(to)), hundreds, Self::INFO.ns_per_tick, None;
    UnbiasedTime, UNBIASED_TIME, u64, written(|to| { QueryUnbiasedInterruptTime(to); }), |time| time, Self::INFO.ns_per_tick, tick();
    TickCount, TICK_COUNT, u32, GetTickCount(), u64::from, Self::INFO.ns_per_tick, tick();
    TickCount64, TICK_COUNT_64, u64, GetTickCount64(), |count| count, Self::INFO.ns_per_tick, tick();
    CrtClock, CRT_CLOCK, i32, crt_clock(), |clock: i32| clock as u64, Self::INFO.ns_per_tick, None;
    Ftime64, FTIME64, (i64, u16), ftime64(), |(seconds, milliseconds): (i64, u16)| seconds.wrapping_mul(1000).wrapping_add(milliseconds.into()) as u64, Self::INFO.ns_per_tick, tick();
}

/// Nanoseconds in a tick of the performance counter.
fn qpc_unit() -> Option<f64> {
    // SAFETY: the pointer is valid.
    let hertz = written(|to| unsafe {
        QueryPerformanceFrequency(to);
    });
    (hertz > 0).then(|| 1e9 / hertz as f64)
}

/// Timers of functions that some lack.
macro_rules! found {
    ($($name:ident, $info:ident, $library:literal, $function:literal, $type:ty, $call:expr, $reading:ty, $unit:expr;)*) => {$(
        pub(crate) struct $name($type);

        impl Timer for $name {
            const INFO: Info = infos::$info;
            type Reading = $reading;

            fn ns_per_tick() -> Option<f64> {
                $unit
            }

            fn open() -> Result<Self, Unavailable> {
                // SAFETY: the signature is the documented one.
                unsafe { handle::find_function($library, $function) }.map(Self)
            }

            #[inline(always)]
            fn read(&self) -> $reading {
                $call(self.0)
            }

            fn ticks(&self, reading: $reading) -> Ticks {
                Ticks(reading as u64)
            }
        }
    )*};
}

type Writes = unsafe extern "system" fn(*mut u64);
type NtWrites = unsafe extern "system" fn(*mut i64, *mut i64) -> i32;

#[inline(always)]
fn write(call: Writes) -> u64 {
    // SAFETY: the pointer is valid, which is all that these functions ask for.
    written(|to| unsafe { call(to) })
}

#[inline(always)]
fn nt_write(call: NtWrites) -> i64 {
    // SAFETY: the pointer is valid; that of the frequency is optional.
    written(|to| unsafe {
        call(to, std::ptr::null_mut());
    })
}

found! {
    NtQpc, NT_QPC, "ntdll.dll\0", "NtQueryPerformanceCounter\0", NtWrites, nt_write, i64, qpc_unit();
    InterruptTime, INTERRUPT_TIME, "kernelbase.dll\0", "QueryInterruptTime\0", Writes, write, u64, Self::INFO.ns_per_tick;
    InterruptTimePrecise, INTERRUPT_TIME_PRECISE, "kernelbase.dll\0", "QueryInterruptTimePrecise\0", Writes, write, u64, Self::INFO.ns_per_tick;
    UnbiasedTimePrecise, UNBIASED_TIME_PRECISE, "kernelbase.dll\0", "QueryUnbiasedInterruptTimePrecise\0", Writes, write, u64, Self::INFO.ns_per_tick;
}

type Returns = unsafe extern "system" fn() -> u32;
type Period = unsafe extern "system" fn(u32) -> u32;

/// `timeGetTime` as it is.
pub(crate) struct TimeGetTime(Returns);

impl Timer for TimeGetTime {
    const INFO: Info = infos::TIME_GET_TIME;
    type Reading = u32;

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: the signature is the documented one.
        unsafe { handle::find_function("winmm.dll\0", "timeGetTime\0") }.map(Self)
    }

    #[inline(always)]
    fn read(&self) -> u32 {
        // SAFETY: no arguments, no preconditions.
        unsafe { (self.0)() }
    }

    fn ticks(&self, reading: u32) -> Ticks {
        Ticks(reading.into())
    }
}

/// `timeGetTime` while this asks for a timer interrupt each millisecond.
pub(crate) struct TimeGetTime1Ms {
    clock: TimeGetTime,
    end: Period,
}

impl Timer for TimeGetTime1Ms {
    const INFO: Info = infos::TIME_GET_TIME_1MS;
    type Reading = u32;

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: the signatures are the documented ones.
        let [begin, end]: [Period; 2] = unsafe {
            [
                handle::find_function("winmm.dll\0", "timeBeginPeriod\0")?,
                handle::find_function("winmm.dll\0", "timeEndPeriod\0")?,
            ]
        };
        let clock = TimeGetTime::open()?;
        // SAFETY: a plain number.
        match unsafe { begin(1) } {
            0 => Ok(Self { clock, end }),
            _ => Err(Unavailable::because(
                "timeBeginPeriod(1): the system grants no period of 1 ms",
            )),
        }
    }

    #[inline(always)]
    fn read(&self) -> u32 {
        self.clock.read()
    }

    fn ticks(&self, reading: u32) -> Ticks {
        self.clock.ticks(reading)
    }
}

impl Drop for TimeGetTime1Ms {
    fn drop(&mut self) {
        // SAFETY: a plain number, that of the period that `open` asked for.
        unsafe { (self.end)(1) };
    }
}

/// Times that were charged: kernel's and user's.
macro_rules! charged {
    ($($name:ident, $info:ident, $call:ident, $of:ident;)*) => {$(
        pub(crate) struct $name;

        impl $name {
            #[inline(always)]
            fn ask(times: &mut [MaybeUninit<FILETIME>; 4]) -> i32 {
                let [created, exited, kernel, user] = times.each_mut().map(MaybeUninit::as_mut_ptr);
                // SAFETY: all pointers are valid; the handle is a constant of the caller.
                unsafe { $call($of(), created, exited, kernel, user) }
            }
        }

        impl Timer for $name {
            const INFO: Info = infos::$info;
            type Reading = [FILETIME; 2];

            fn declared_resolution() -> Option<f64> {
                tick()
            }

            fn open() -> Result<Self, Unavailable> {
                match Self::ask(&mut [MaybeUninit::uninit(); 4]) {
                    0 => Err(refused(Self::INFO.label)),
                    _ => Ok(Self),
                }
            }

            #[inline(always)]
            fn read(&self) -> [FILETIME; 2] {
                let mut times = [MaybeUninit::uninit(); 4];
                Self::ask(&mut times);
                // SAFETY: `open` saw the call succeed, which then writes all four.
                unsafe { [times[2].assume_init(), times[3].assume_init()] }
            }

            fn ticks(&self, [kernel, user]: [FILETIME; 2]) -> Ticks {
                Ticks(hundreds(kernel).wrapping_add(hundreds(user)))
            }
        }
    )*};
}

charged! {
    ThreadTimes, THREAD_TIMES, GetThreadTimes, GetCurrentThread;
    ProcessTimes, PROCESS_TIMES, GetProcessTimes, GetCurrentProcess;
}

/// Cycles that were charged; some emulations answer with a count that stands still.
macro_rules! cycles {
    ($($name:ident, $info:ident, $call:ident, $of:ident;)*) => {$(
        pub(crate) struct $name;

        impl Timer for $name {
            const INFO: Info = infos::$info;
            type Reading = u64;

            fn open() -> Result<Self, Unavailable> {
                let mut cycles = 0;
                // SAFETY: the pointer is valid; the handle is a constant of the caller.
                if unsafe { $call($of(), &raw mut cycles) } == 0 {
                    return Err(refused(Self::INFO.label));
                }
                let before = Self.read();
                work::dependent_additions(100_000);
                if Self.read() == before {
                    return Err(Unavailable::because("it can be asked but stands still"));
                }
                Ok(Self)
            }

            #[inline(always)]
            fn read(&self) -> u64 {
                // SAFETY: as in `open`.
                written(|to| unsafe {
                    $call($of(), to);
                })
            }

            fn ticks(&self, reading: u64) -> Ticks {
                Ticks(reading)
            }
        }
    )*};
}

cycles! {
    ThreadCycles, THREAD_CYCLES, QueryThreadCycleTime, GetCurrentThread;
    ProcessCycles, PROCESS_CYCLES, QueryProcessCycleTime, GetCurrentProcess;
}

fn refused(call: &str) -> Unavailable {
    Unavailable::because(format!("{call}: {}", io::Error::last_os_error()))
}

crate::catalogue::list![
    Qpc,
    NtQpc,
    FileTime,
    FileTimePrecise,
    InterruptTime,
    InterruptTimePrecise,
    UnbiasedTime,
    UnbiasedTimePrecise,
    TickCount,
    TickCount64,
    TimeGetTime,
    TimeGetTime1Ms,
    ThreadTimes,
    ProcessTimes,
    ThreadCycles,
    ProcessCycles,
    CrtClock,
    Ftime64,
];
