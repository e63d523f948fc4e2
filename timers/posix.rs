//! The clocks of POSIX and Linux, through libc and, for the same clocks, through the bare system
//! call. Other systems have those of POSIX: `systems.rs` says how they differ.
//!
//! What ticks: the kernel's timekeeping. It scales a counter of the hardware (the *clock source*:
//! TSC, CNTVCT, HPET, or what a hypervisor offers) to nanoseconds. At what rate: MONOTONIC and
//! REALTIME run at a rate that NTP trims, MONOTONIC_RAW at that of the hardware; the COARSE clocks
//! give the time of the last timer interrupt (1/CONFIG_HZ, 1 to 10 ms); the CPU-time clocks count
//! what the scheduler charged. `clock_getres` says 1 ns for most of them, which is their unit and
//! not their step. REALTIME, `gettimeofday` and `time` follow the clock when it is set.
//!
//! Who may read them: any process, unless a seccomp filter forbids the call. libc goes through the
//! vDSO, which reads the clock source in user mode, where the kernel and the clock source allow it
//! (`vdso(7)`); otherwise, and always for the CPU-time clocks, it makes the system call.
//!
//! How they lie: the vDSO reads the TSC (since Linux 5.3 on x86 after `lfence` or by `rdtscp`), so
//! it faults where the TSC does. MONOTONIC stands still while the machine sleeps, BOOTTIME does
//! not. `clock()` is CPU time of the whole process. `times()` counts in 1/100 s whatever CONFIG_HZ
//! is. `getrusage` gives user and system time cut to microseconds one by one, and that of a thread
//! only grows at timer interrupts and switches of task. Sources: `clock_gettime(2)`,
//! `gettimeofday(2)`, `time(2)`, `clock(3)`, `times(2)`, `getrusage(2)`.

use std::io;
use std::mem::MaybeUninit;

use crate::arch::opaque;
use crate::os::clocks::{
    self, Kernel, Libc, Route, clock_t, getrusage, refused, resolution, timespec, timeval,
    try_clock, vdso_permitted, wide,
};
use crate::{Info, Properties, Ticks, Timer, Unavailable};

macro_rules! clocks {
    ($route:ident, $call:literal; $($name:ident, $id:literal, $clock:ident, $since:literal, $properties:expr;)*) => {$(
        #[doc = concat!("`", $call, stringify!($clock), ")`.")]
        pub struct $name;

        impl Timer for $name {
            const INFO: Info = Info {
                id: $id,
                label: concat!($call, stringify!($clock), ")"),
                ns_per_tick: Some(1.0),
                properties: $properties,
            };
            type Reading = timespec;

            fn declared_resolution() -> Option<f64> {
                resolution(clocks::$clock)
            }

            fn open() -> Result<Self, Unavailable> {
                try_clock::<$route>(clocks::$clock, Self::INFO.label, $since).map(|()| Self)
            }

            #[inline(always)]
            fn read(&self) -> timespec {
                // Not set to zero first: that would be two stores more than the call.
                let mut time = MaybeUninit::uninit();
                $route::clock_gettime(clocks::$clock, &mut time);
                // SAFETY: `open` made the same call and it succeeded. For a known clock and a valid
                // pointer it then has no way to fail, and the kernel has written both fields.
                word_by_word(unsafe { time.assume_init() })
            }

            fn ticks(&self, time: timespec) -> Ticks {
                nanoseconds(time)
            }
        }
    )*};
}

const MONOTONIC: Properties = Properties {
    runs_in_suspend: Some(clocks::MONOTONIC_RUNS_IN_SUSPEND),
    ..Properties::MONOTONIC
};
const RAW: Properties = Properties {
    slewed: Some(false),
    ..MONOTONIC
};
const BOOTTIME: Properties = Properties {
    runs_in_suspend: Some(true),
    ..MONOTONIC
};
const CALENDAR: Properties = Properties::CALENDAR;
const PROCESS: Properties = Properties::PROCESS;
const THREAD: Properties = Properties::THREAD;

// Each with the release of Linux that brought the clock.
clocks! { Libc, "clock_gettime(";
    Monotonic, "monotonic", CLOCK_MONOTONIC, "2.6", MONOTONIC.with_variant("monotonic-syscall");
    MonotonicRaw, "monotonic-raw", CLOCK_MONOTONIC_RAW, "2.6.28", RAW.with_variant("monotonic-raw-syscall");
    MonotonicCoarse, "monotonic-coarse", CLOCK_MONOTONIC_COARSE, "2.6.32", MONOTONIC.unfenced().with_variant("monotonic-coarse-syscall");
    Realtime, "realtime", CLOCK_REALTIME, "2.6", CALENDAR.with_variant("realtime-syscall");
    RealtimeCoarse, "realtime-coarse", CLOCK_REALTIME_COARSE, "2.6.32", CALENDAR.unfenced().with_variant("realtime-coarse-syscall");
    Boottime, "boottime", CLOCK_BOOTTIME, "2.6.39", BOOTTIME.with_variant("boottime-syscall");
    Tai, "tai", CLOCK_TAI, "3.10", CALENDAR;
    ProcessCputime, "process-cputime", CLOCK_PROCESS_CPUTIME_ID, "2.6.12", PROCESS.with_variant("process-cputime-syscall");
    ThreadCputime, "thread-cputime", CLOCK_THREAD_CPUTIME_ID, "2.6.12", THREAD.with_variant("thread-cputime-syscall");
}

clocks! { Kernel, "syscall(SYS_clock_gettime, ";
    MonotonicSyscall, "monotonic-syscall", CLOCK_MONOTONIC, "2.6", MONOTONIC.by_syscall();
    MonotonicRawSyscall, "monotonic-raw-syscall", CLOCK_MONOTONIC_RAW, "2.6.28", RAW.by_syscall();
    MonotonicCoarseSyscall, "monotonic-coarse-syscall", CLOCK_MONOTONIC_COARSE, "2.6.32", MONOTONIC.by_syscall();
    RealtimeSyscall, "realtime-syscall", CLOCK_REALTIME, "2.6", CALENDAR.by_syscall();
    RealtimeCoarseSyscall, "realtime-coarse-syscall", CLOCK_REALTIME_COARSE, "2.6.32", CALENDAR.by_syscall();
    BoottimeSyscall, "boottime-syscall", CLOCK_BOOTTIME, "2.6.39", BOOTTIME.by_syscall();
    ProcessCputimeSyscall, "process-cputime-syscall", CLOCK_PROCESS_CPUTIME_ID, "2.6.12", PROCESS;
    ThreadCputimeSyscall, "thread-cputime-syscall", CLOCK_THREAD_CPUTIME_ID, "2.6.12", THREAD;
}

/// Fetches seconds and nanoseconds each by itself, as its users do. Left alone, the compiler copies
/// both by one instruction, and a load that is wider than the stores before it waits until these
/// have reached the cache: a dozen cycles that are not the clock's.
#[inline(always)]
pub(crate) fn word_by_word(time: timespec) -> timespec {
    timespec {
        tv_sec: opaque(time.tv_sec as usize) as _,
        tv_nsec: opaque(time.tv_nsec as usize) as _,
    }
}

/// The time as a number.
pub(crate) fn nanoseconds(time: timespec) -> Ticks {
    Ticks(
        wide(time.tv_sec)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(wide(time.tv_nsec)) as u64,
    )
}

/// `gettimeofday`: CLOCK_REALTIME in microseconds, through the vDSO.
pub(crate) struct Gettimeofday;

impl Timer for Gettimeofday {
    const INFO: Info = Info {
        id: "gettimeofday",
        label: "gettimeofday()",
        ns_per_tick: Some(1e3),
        properties: CALENDAR,
    };
    type Reading = timeval;

    fn open() -> Result<Self, Unavailable> {
        vdso_permitted()?;
        let status = clocks::gettimeofday(&mut MaybeUninit::uninit());
        if status == 0 {
            Ok(Self)
        } else {
            Err(refused("gettimeofday", &io::Error::last_os_error(), "2.6"))
        }
    }

    #[inline(always)]
    fn read(&self) -> timeval {
        let mut time = MaybeUninit::uninit();
        clocks::gettimeofday(&mut time);
        // SAFETY: `open` saw the call succeed, and with a valid pointer it has no way to fail.
        let time = unsafe { time.assume_init() };
        timeval {
            tv_sec: opaque(time.tv_sec as usize) as _,
            tv_usec: opaque(time.tv_usec as usize) as _,
        }
    }

    fn ticks(&self, time: timeval) -> Ticks {
        microseconds(&[time])
    }
}

/// `time`: whole seconds of CLOCK_REALTIME_COARSE, through the vDSO.
pub(crate) struct Time;

impl Timer for Time {
    const INFO: Info = Info {
        id: "time",
        label: "time()",
        ns_per_tick: Some(1e9),
        properties: CALENDAR.unfenced(),
    };
    type Reading = i64;

    fn open() -> Result<Self, Unavailable> {
        match clocks::time() {
            -1 => Err(refused("time()", &io::Error::last_os_error(), "2.6")),
            _ => Ok(Self),
        }
    }

    #[inline(always)]
    fn read(&self) -> i64 {
        clocks::time()
    }

    fn ticks(&self, reading: i64) -> Ticks {
        Ticks(reading as u64)
    }
}

/// `clock`: CPU time of the process, in microseconds where CLOCKS_PER_SEC is the million that POSIX
/// demands; FreeBSD has 128.
pub(crate) struct Clock;

impl Timer for Clock {
    const INFO: Info = Info {
        id: "clock",
        label: "clock()",
        ns_per_tick: Some(clocks::CLOCK_UNIT_NS),
        properties: PROCESS,
    };
    type Reading = clock_t;

    fn open() -> Result<Self, Unavailable> {
        // -1 of whatever type it is.
        if clocks::clock() == !0 {
            return Err(refused(
                "clock()",
                &io::ErrorKind::Unsupported.into(),
                "2.6",
            ));
        }
        Ok(Self)
    }

    #[inline(always)]
    fn read(&self) -> clock_t {
        clocks::clock()
    }

    fn ticks(&self, reading: clock_t) -> Ticks {
        unsigned(reading)
    }
}

/// `times`: the real time that the call returns, in clock ticks: 1/100 s on Linux.
pub(crate) struct Times;

impl Timer for Times {
    const INFO: Info = Info {
        id: "times",
        label: "times()",
        ns_per_tick: None,
        // Elapsed time in the return value; Linux counts it from boot without the sleep, and no
        // vDSO answers it.
        properties: MONOTONIC.by_syscall(),
    };
    type Reading = clock_t;

    fn ns_per_tick() -> Option<f64> {
        let rate = clocks::ticks_a_second();
        (rate > 0).then(|| 1e9 / rate as f64)
    }

    fn open() -> Result<Self, Unavailable> {
        match Self::ns_per_tick() {
            Some(_) => Ok(Self),
            None => Err(refused(
                "times()",
                &io::ErrorKind::Unsupported.into(),
                "2.6",
            )),
        }
    }

    #[inline(always)]
    fn read(&self) -> clock_t {
        clocks::times()
    }

    fn ticks(&self, reading: clock_t) -> Ticks {
        unsigned(reading)
    }
}

/// Counted modulo the width of the type, which on 32 bits is soon over: Linux lets `times` wrap
/// five minutes after boot.
fn unsigned(reading: clock_t) -> Ticks {
    Ticks(reading as usize as u64)
}

macro_rules! usages {
    ($($name:ident, $id:literal, $who:ident, $properties:expr;)*) => {$(
        #[doc = concat!("`getrusage(", stringify!($who), ")`: user and system time together.")]
        pub(crate) struct $name;

        impl Timer for $name {
            const INFO: Info = Info {
                id: $id,
                label: concat!("getrusage(", stringify!($who), ")"),
                ns_per_tick: Some(1e3),
                properties: $properties,
            };
            /// User and system time; the other 112 bytes need not be carried through the timed
            /// region.
            type Reading = [timeval; 2];

            fn open() -> Result<Self, Unavailable> {
                match getrusage(clocks::$who, &mut MaybeUninit::uninit()) {
                    0 => Ok(Self),
                    _ => Err(refused(Self::INFO.label, &io::Error::last_os_error(), "2.6.26")),
                }
            }

            #[inline(always)]
            fn read(&self) -> [timeval; 2] {
                let mut usage = MaybeUninit::uninit();
                getrusage(clocks::$who, &mut usage);
                // SAFETY: `open` saw the call succeed, and with a valid pointer it has no way to
                // fail.
                let usage = unsafe { usage.assume_init_ref() };
                [usage.ru_utime, usage.ru_stime]
            }

            fn ticks(&self, times: [timeval; 2]) -> Ticks {
                microseconds(&times)
            }
        }
    )*};
}

usages! {
    GetrusageSelf, "getrusage-self", RUSAGE_SELF, PROCESS;
    GetrusageThread, "getrusage-thread", RUSAGE_THREAD, THREAD;
}

fn microseconds(times: &[timeval]) -> Ticks {
    let each = times.iter().map(|time| {
        wide(time.tv_sec)
            .wrapping_mul(1_000_000)
            .wrapping_add(wide(time.tv_usec))
    });
    Ticks(each.fold(0, i64::wrapping_add) as u64)
}
