//! macOS' clocks as timers; `crate::apple` says what they are.

use std::mem::MaybeUninit;

use libc::clockid_t;

use crate::os::unix::clocks::resolution;
use crate::{Info, Ticks, Timer, Unavailable, apple as infos};

/// What `mach_timebase_info` tells: a tick is `numerator` / `denominator` nanoseconds.
#[repr(C)]
struct Timebase {
    numerator: u32,
    denominator: u32,
}

unsafe extern "C" {
    // No arguments, no preconditions.
    safe fn mach_absolute_time() -> u64;
    safe fn mach_approximate_time() -> u64;
    safe fn mach_continuous_time() -> u64;
    safe fn clock_gettime_nsec_np(clock: clockid_t) -> u64;
    fn mach_timebase_info(info: *mut Timebase) -> i32;
}

fn timebase() -> Option<f64> {
    let mut info = Timebase { numerator: 0, denominator: 0 };
    // SAFETY: the pointer is valid.
    let status = unsafe { mach_timebase_info(&raw mut info) };
    (status == 0 && info.numerator > 0 && info.denominator > 0)
        .then(|| f64::from(info.numerator) / f64::from(info.denominator))
}

macro_rules! counters {
    ($($name:ident, $info:ident, $call:ident;)*) => {$(
        pub(crate) struct $name;

        impl Timer for $name {
            const INFO: Info = infos::$info;
            type Reading = u64;

            fn ns_per_tick() -> Option<f64> {
                timebase()
            }

            fn open() -> Result<Self, Unavailable> {
                Ok(Self)
            }

            #[inline(always)]
            fn read(&self) -> u64 {
                $call()
            }

            fn ticks(&self, reading: u64) -> Ticks {
                Ticks(reading)
            }
        }
    )*};
}

counters! {
    Absolute, ABSOLUTE, mach_absolute_time;
    Approximate, APPROXIMATE, mach_approximate_time;
    Continuous, CONTINUOUS_TIME, mach_continuous_time;
}

macro_rules! nanoseconds {
    ($($name:ident, $info:ident, $clock:ident;)*) => {$(
        pub(crate) struct $name;

        impl Timer for $name {
            const INFO: Info = infos::$info;
            type Reading = u64;

            fn declared_resolution() -> Option<f64> {
                resolution(libc::$clock)
            }

            fn open() -> Result<Self, Unavailable> {
                match clock_gettime_nsec_np(libc::$clock) {
                    0 => Err(Unavailable::because(concat!(stringify!($clock), ": this macOS does not know it"))),
                    _ => Ok(Self),
                }
            }

            #[inline(always)]
            fn read(&self) -> u64 {
                clock_gettime_nsec_np(libc::$clock)
            }

            fn ticks(&self, reading: u64) -> Ticks {
                Ticks(reading)
            }
        }
    )*};
}

nanoseconds! {
    NsecUptimeRaw, NSEC_UPTIME_RAW, CLOCK_UPTIME_RAW;
    NsecUptimeRawApprox, NSEC_UPTIME_RAW_APPROX, CLOCK_UPTIME_RAW_APPROX;
    NsecMonotonic, NSEC_MONOTONIC, CLOCK_MONOTONIC;
    NsecMonotonicRaw, NSEC_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW;
    NsecMonotonicRawApprox, NSEC_MONOTONIC_RAW_APPROX, CLOCK_MONOTONIC_RAW_APPROX;
    NsecRealtime, NSEC_REALTIME, CLOCK_REALTIME;
    NsecThread, NSEC_THREAD, CLOCK_THREAD_CPUTIME_ID;
    NsecProcess, NSEC_PROCESS, CLOCK_PROCESS_CPUTIME_ID;
}

crate::os::unix::timer::clocks! { crate::apple;
    UptimeRaw, UPTIME_RAW, libc::CLOCK_UPTIME_RAW;
    UptimeRawApprox, UPTIME_RAW_APPROX, libc::CLOCK_UPTIME_RAW_APPROX;
    MonotonicRawApprox, MONOTONIC_RAW_APPROX, libc::CLOCK_MONOTONIC_RAW_APPROX;
}

/// Time that the thread ran, user's and kernel's.
pub(crate) struct ThreadInfo {
    thread: libc::mach_port_t,
}

impl ThreadInfo {
    #[inline(always)]
    fn ask(&self, info: &mut MaybeUninit<libc::thread_basic_info>) -> i32 {
        let mut words = (size_of::<libc::thread_basic_info>() / size_of::<u32>()) as u32;
        // SAFETY: the pointer is valid for as many words as it says.
        unsafe {
            libc::thread_info(
                self.thread,
                libc::THREAD_BASIC_INFO.cast_unsigned(),
                info.as_mut_ptr().cast(),
                &raw mut words,
            )
        }
    }
}

impl Timer for ThreadInfo {
    const INFO: Info = infos::THREAD_INFO;
    type Reading = [libc::time_value_t; 2];

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: no preconditions; the port belongs to the thread as long as that lives.
        let timer = Self { thread: unsafe { libc::pthread_mach_thread_np(libc::pthread_self()) } };
        match timer.ask(&mut MaybeUninit::uninit()) {
            0 => Ok(timer),
            status => Err(Unavailable::because(format!("thread_info: status {status}"))),
        }
    }

    #[inline(always)]
    fn read(&self) -> [libc::time_value_t; 2] {
        let mut info = MaybeUninit::uninit();
        self.ask(&mut info);
        // SAFETY: `open` saw the call succeed, which then writes all.
        let info = unsafe { info.assume_init_ref() };
        [info.user_time, info.system_time]
    }

    fn ticks(&self, times: [libc::time_value_t; 2]) -> Ticks {
        let each = times.map(|time| i64::from(time.seconds) * 1_000_000 + i64::from(time.microseconds));
        Ticks(each.into_iter().fold(0, i64::wrapping_add) as u64)
    }
}

/// Time that the process ran, user's and kernel's, in ticks of `mach_absolute_time`.
pub(crate) struct ProcRusage;

impl ProcRusage {
    #[inline(always)]
    fn ask(usage: &mut MaybeUninit<libc::rusage_info_v0>) -> i32 {
        // SAFETY: the pointer is valid for that flavour.
        unsafe { libc::proc_pid_rusage(libc::getpid(), libc::RUSAGE_INFO_V0, usage.as_mut_ptr().cast()) }
    }
}

impl Timer for ProcRusage {
    const INFO: Info = infos::PROC_RUSAGE;
    type Reading = [u64; 2];

    fn ns_per_tick() -> Option<f64> {
        timebase()
    }

    fn open() -> Result<Self, Unavailable> {
        match Self::ask(&mut MaybeUninit::uninit()) {
            0 => Ok(Self),
            _ => {
                let error = std::io::Error::last_os_error();
                Err(Unavailable::because(format!("proc_pid_rusage: {error}")))
            }
        }
    }

    #[inline(always)]
    fn read(&self) -> [u64; 2] {
        let mut usage = MaybeUninit::uninit();
        Self::ask(&mut usage);
        // SAFETY: `open` saw the call succeed, which then writes all.
        let usage = unsafe { usage.assume_init_ref() };
        [usage.ri_user_time, usage.ri_system_time]
    }

    fn ticks(&self, [user, system]: [u64; 2]) -> Ticks {
        Ticks(user.wrapping_add(system))
    }
}

crate::catalogue::list![
    Absolute,
    Approximate,
    Continuous,
    UptimeRaw,
    UptimeRawApprox,
    MonotonicRawApprox,
    NsecUptimeRaw,
    NsecUptimeRawApprox,
    NsecMonotonic,
    NsecMonotonicRaw,
    NsecMonotonicRawApprox,
    NsecRealtime,
    NsecThread,
    NsecProcess,
    ThreadInfo,
    ProcRusage,
];
