//! The clocks of POSIX and Linux, through libc and, for the same clocks, through the bare system
//! call. Other systems but Windows have those of POSIX.
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

use crate::Properties;

const MONOTONIC: Properties = Properties {
    // Elsewhere CLOCK_BOOTTIME does, and on macOS CLOCK_UPTIME_RAW does not (clock_gettime(3)).
    runs_in_suspend: Some(cfg!(target_os = "macos")),
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
/// A microsecond where CLOCKS_PER_SEC is the million that POSIX demands; FreeBSD has 128.
const CLOCK_UNIT_NS: f64 = if cfg!(target_os = "freebsd") {
    1e9 / 128.0
} else {
    1e3
};

pub(crate) mod clocks {
    use super::*;
    use crate::entry::clocks;
    #[cfg(not(windows))]
    use crate::os::clocks::*;

    clocks! { "POSIX", not(windows);
        PosixClock<Libc, CLOCK_MONOTONIC>, "monotonic", "clock_gettime(CLOCK_MONOTONIC)", Some(1.0), MONOTONIC.with_variant("monotonic-syscall");
        PosixClock<Libc, CLOCK_MONOTONIC_RAW>, "monotonic-raw", "clock_gettime(CLOCK_MONOTONIC_RAW)", Some(1.0), RAW.with_variant("monotonic-raw-syscall");
        PosixClock<Libc, CLOCK_MONOTONIC_COARSE>, "monotonic-coarse", "clock_gettime(CLOCK_MONOTONIC_COARSE)", Some(1.0), MONOTONIC.unfenced().with_variant("monotonic-coarse-syscall");
        PosixClock<Libc, CLOCK_REALTIME>, "realtime", "clock_gettime(CLOCK_REALTIME)", Some(1.0), CALENDAR.with_variant("realtime-syscall");
        PosixClock<Libc, CLOCK_REALTIME_COARSE>, "realtime-coarse", "clock_gettime(CLOCK_REALTIME_COARSE)", Some(1.0), CALENDAR.unfenced().with_variant("realtime-coarse-syscall");
        PosixClock<Libc, CLOCK_BOOTTIME>, "boottime", "clock_gettime(CLOCK_BOOTTIME)", Some(1.0), BOOTTIME.with_variant("boottime-syscall");
        PosixClock<Libc, CLOCK_TAI>, "tai", "clock_gettime(CLOCK_TAI)", Some(1.0), CALENDAR;
        PosixClock<Libc, CLOCK_PROCESS_CPUTIME_ID>, "process-cputime", "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)", Some(1.0), PROCESS.with_variant("process-cputime-syscall");
        PosixClock<Libc, CLOCK_THREAD_CPUTIME_ID>, "thread-cputime", "clock_gettime(CLOCK_THREAD_CPUTIME_ID)", Some(1.0), THREAD.with_variant("thread-cputime-syscall");
        PosixClock<Kernel, CLOCK_MONOTONIC>, "monotonic-syscall", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)", Some(1.0), MONOTONIC.by_syscall();
        PosixClock<Kernel, CLOCK_MONOTONIC_RAW>, "monotonic-raw-syscall", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW)", Some(1.0), RAW.by_syscall();
        PosixClock<Kernel, CLOCK_MONOTONIC_COARSE>, "monotonic-coarse-syscall", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE)", Some(1.0), MONOTONIC.by_syscall();
        PosixClock<Kernel, CLOCK_REALTIME>, "realtime-syscall", "syscall(SYS_clock_gettime, CLOCK_REALTIME)", Some(1.0), CALENDAR.by_syscall();
        PosixClock<Kernel, CLOCK_REALTIME_COARSE>, "realtime-coarse-syscall", "syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE)", Some(1.0), CALENDAR.by_syscall();
        PosixClock<Kernel, CLOCK_BOOTTIME>, "boottime-syscall", "syscall(SYS_clock_gettime, CLOCK_BOOTTIME)", Some(1.0), BOOTTIME.by_syscall();
        PosixClock<Kernel, CLOCK_PROCESS_CPUTIME_ID>, "process-cputime-syscall", "syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID)", Some(1.0), PROCESS;
        PosixClock<Kernel, CLOCK_THREAD_CPUTIME_ID>, "thread-cputime-syscall", "syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID)", Some(1.0), THREAD;
        Gettimeofday, "gettimeofday", "gettimeofday()", Some(1e3), CALENDAR;
    }
}

pub(crate) mod seconds {
    use super::*;
    use crate::entry::clocks;
    use crate::{Ticks, Timer, Unavailable};

    clocks! { "all systems", all();
        Time, "time", "time()", Some(1e9), CALENDAR.unfenced();
    }

    /// `time`: whole seconds; of CLOCK_REALTIME_COARSE, through the vDSO, on Linux.
    pub(crate) struct Time;

    impl Timer for Time {
        type Reading = i64;

        fn open() -> Result<Self, Unavailable> {
            match Self.read() {
                -1 => Err(Unavailable::because("time(): the system has no calendar")),
                _ => Ok(Self),
            }
        }

        #[inline(always)]
        fn read(&self) -> i64 {
            crate::os::clocks::time()
        }

        fn ticks(&self, reading: i64) -> Ticks {
            Ticks(reading as u64)
        }
    }
}

pub(crate) mod accounts {
    use super::*;
    use crate::entry::clocks;
    #[cfg(not(windows))]
    use crate::os::clocks::RUSAGE_THREAD;

    // `times` returns elapsed time; Linux counts it from boot without the sleep, and no vDSO answers
    // it.
    clocks! { "POSIX", not(windows);
        Clock, "clock", "clock()", Some(CLOCK_UNIT_NS), PROCESS;
        Times, "times", "times()", None, MONOTONIC.by_syscall();
        Getrusage<{ libc::RUSAGE_SELF }>, "getrusage-self", "getrusage(RUSAGE_SELF)", Some(1e3), PROCESS;
        Getrusage<RUSAGE_THREAD>, "getrusage-thread", "getrusage(RUSAGE_THREAD)", Some(1e3), THREAD;
    }
}

/// Timers that are known by their types.
pub mod by_type {
    #[cfg(not(windows))]
    pub use super::here::{
        Monotonic, MonotonicCoarse, MonotonicRaw, ProcessCputime, ThreadCputime,
    };
}

/// Reads those of these clocks that are to be had in another way too, each within that one.
#[cfg(windows)]
pub(crate) fn paired_reads(_: &[&str], _: u32, _: bool) -> Vec<crate::PairedReads> {
    Vec::new()
}

#[cfg(not(windows))]
pub(crate) use here::*;
#[cfg(not(windows))]
mod here {
    use std::io;
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;

    use libc::{c_int, c_long, clock_t, clockid_t, timespec, timeval};

    use super::seconds::Time;
    use crate::arch::{afresh, opaque};
    use crate::os::clocks::*;
    use crate::{Described, PairedReads, Ticks, Timer, Unavailable, find};

    /// `CLOCK_MONOTONIC`, by libc.
    pub type Monotonic = PosixClock<Libc, CLOCK_MONOTONIC>;
    /// `CLOCK_MONOTONIC_COARSE`, by libc.
    pub type MonotonicCoarse = PosixClock<Libc, CLOCK_MONOTONIC_COARSE>;
    /// `CLOCK_MONOTONIC_RAW`, by libc.
    pub type MonotonicRaw = PosixClock<Libc, CLOCK_MONOTONIC_RAW>;
    /// `CLOCK_PROCESS_CPUTIME_ID`, by libc.
    pub type ProcessCputime = PosixClock<Libc, CLOCK_PROCESS_CPUTIME_ID>;
    /// `CLOCK_THREAD_CPUTIME_ID`, by libc.
    pub type ThreadCputime = PosixClock<Libc, CLOCK_THREAD_CPUTIME_ID>;

    type Realtime = PosixClock<Libc, CLOCK_REALTIME>;
    type RealtimeCoarse = PosixClock<Libc, CLOCK_REALTIME_COARSE>;

    /// Reads those of these clocks that are to be had in another way too, each within that one.
    pub(crate) fn paired_reads(ids: &[&str], count: u32, busy: bool) -> Vec<PairedReads> {
        macro_rules! each {
            ($($clock:ty, $within:ty;)*) => {
                [$(ids.contains(&<$clock>::INFO.id).then(|| paired::<$within, $clock>(count, busy)).flatten()),*]
            };
        }
        let all = each! {
            PosixClock<Kernel, CLOCK_MONOTONIC>, Monotonic;
            PosixClock<Kernel, CLOCK_MONOTONIC_RAW>, MonotonicRaw;
            PosixClock<Kernel, CLOCK_BOOTTIME>, PosixClock<Libc, CLOCK_BOOTTIME>;
            PosixClock<Kernel, CLOCK_REALTIME>, Realtime;
            MonotonicCoarse, Monotonic;
            PosixClock<Kernel, CLOCK_MONOTONIC_COARSE>, Monotonic;
            RealtimeCoarse, Realtime;
            PosixClock<Kernel, CLOCK_REALTIME_COARSE>, Realtime;
            Gettimeofday, Realtime;
            Time, Realtime;
        };
        all.into_iter().flatten().collect()
    }

    /// `None` where either cannot be read, or has another unit than nanoseconds that are whole.
    fn paired<R: Timer, T: Timer>(count: u32, busy: bool) -> Option<PairedReads> {
        let (within, clock) = (R::open().ok()?, T::open().ok()?);
        let unit = |ns: Option<f64>| {
            let whole = ns.filter(|ns| *ns >= 1.0 && ns.fract() == 0.0);
            whole.map(|ns| ns as i64)
        };
        let (unit_within, unit_ns) = (unit(R::ns_per_tick())?, unit(T::ns_per_tick())?);
        let lag_ns = if T::INFO.id == "time" {
            // No resolution of it is declared: it is the coarse clock, in seconds.
            (find("realtime-coarse")?.declared_resolution)().unwrap_or(0.0) as i64
        } else {
            let declared = T::declared_resolution().filter(|ns| *ns > unit_ns as f64);
            declared.unwrap_or(0.0) as i64
        };
        let readings = read_between(&within, &clock, count);
        let ns = |before: R::Reading, own: T::Reading, after: R::Reading| {
            let [before, after] = [before, after].map(|reading| within.ticks(reading).0 as i64);
            [
                before.wrapping_mul(unit_within),
                (clock.ticks(own).0 as i64).wrapping_mul(unit_ns),
                after.wrapping_mul(unit_within),
            ]
        };
        let readings = readings
            .into_iter()
            .map(|(before, own, after)| ns(before, own, after))
            .collect();
        Some(PairedReads {
            id: T::INFO.id,
            within: R::INFO.id,
            unit_ns,
            lag_ns,
            busy,
            readings,
        })
    }

    #[inline(never)]
    fn read_between<R: Timer, T: Timer>(
        within: &R,
        clock: &T,
        count: u32,
    ) -> Vec<(R::Reading, T::Reading, R::Reading)> {
        let mut all = vec![(within.read(), clock.read(), within.read()); count as usize];
        for readings in &mut all {
            *readings = (
                afresh(within).read(),
                afresh(clock).read(),
                afresh(within).read(),
            );
        }
        all
    }

    /// A number of a structure of the kernel, most of which are as wide as a register.
    #[inline(always)]
    pub(crate) fn wide(number: impl Into<i64>) -> i64 {
        number.into()
    }

    /// A way to the kernel's clocks.
    pub trait Route: Send + Sync + 'static {
        /// Makes the call, by libc unless there is another way. The status is 0, or tells
        /// [`error`](Route::error) what went wrong.
        #[inline(always)]
        fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
            // SAFETY: the pointer is valid for a timespec.
            c_long::from(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })
        }

        /// What a status other than 0 means, right after the call.
        fn error(_status: c_long) -> io::Error {
            io::Error::last_os_error()
        }

        /// Whether the call can be made without crashing.
        ///
        /// # Errors
        /// Says why not.
        fn permitted(clock: clockid_t) -> Result<(), Unavailable>;
    }

    /// A clock of `clock_gettime`, by a way to it.
    pub struct PosixClock<R, const CLOCK: clockid_t>(PhantomData<R>);

    impl<R: Route, const CLOCK: clockid_t> Timer for PosixClock<R, CLOCK>
    where
        Self: Described,
    {
        type Reading = timespec;

        fn declared_resolution() -> Option<f64> {
            let mut time = MaybeUninit::<timespec>::uninit();
            // SAFETY: the pointer is valid for a timespec.
            let status = unsafe { libc::clock_getres(CLOCK, time.as_mut_ptr()) };
            // SAFETY: the call succeeded, so both fields are written.
            let time = (status == 0).then(|| unsafe { time.assume_init() })?;
            Some(nanoseconds(time).0 as f64).filter(|ns| *ns > 0.0)
        }

        fn open() -> Result<Self, Unavailable> {
            R::permitted(CLOCK)?;
            match R::clock_gettime(CLOCK, &mut MaybeUninit::uninit()) {
                0 => Ok(Self(PhantomData)),
                status => Err(refused(Self::INFO.label, &R::error(status))),
            }
        }

        #[inline(always)]
        fn read(&self) -> timespec {
            // Not set to zero first: that would be two stores more than the call.
            let mut time = MaybeUninit::uninit();
            R::clock_gettime(CLOCK, &mut time);
            // SAFETY: `open` made the same call and it succeeded. For a known clock and a valid
            // pointer it then has no way to fail, and the kernel has written both fields.
            word_by_word(unsafe { time.assume_init() })
        }

        fn ticks(&self, time: timespec) -> Ticks {
            nanoseconds(time)
        }
    }

    /// Fetches seconds and nanoseconds each by itself, as its users do. Left alone, the compiler
    /// copies both by one instruction, and a load that is wider than the stores before it waits
    /// until these have reached the cache: a dozen cycles that are not the clock's.
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

    /// Whether the first try of a call succeeded.
    fn tried(label: &str, succeeded: bool) -> Result<(), Unavailable> {
        let why = || refused(label, &io::Error::last_os_error());
        succeeded.then_some(()).ok_or_else(why)
    }

    /// `gettimeofday`: CLOCK_REALTIME in microseconds, through the vDSO.
    pub(crate) struct Gettimeofday;

    impl Gettimeofday {
        #[inline(always)]
        fn call(time: &mut MaybeUninit<timeval>) -> c_int {
            // SAFETY: the pointer is valid for a timeval; the time zone is optional.
            unsafe { libc::gettimeofday(time.as_mut_ptr(), std::ptr::null_mut()) }
        }
    }

    impl Timer for Gettimeofday {
        type Reading = timeval;

        fn open() -> Result<Self, Unavailable> {
            vdso_permitted()?;
            let status = Self::call(&mut MaybeUninit::uninit());
            tried(Self::INFO.label, status == 0).map(|()| Self)
        }

        #[inline(always)]
        fn read(&self) -> timeval {
            let mut time = MaybeUninit::uninit();
            Self::call(&mut time);
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

    unsafe extern "C" {
        // The libc crate does not declare it. No arguments, no preconditions.
        safe fn clock() -> clock_t;
    }

    /// `clock`: CPU time of the process.
    pub(crate) struct Clock;

    impl Timer for Clock {
        type Reading = clock_t;

        fn open() -> Result<Self, Unavailable> {
            // -1 of whatever type it is.
            tried(Self::INFO.label, clock() != !0).map(|()| Self)
        }

        #[inline(always)]
        fn read(&self) -> clock_t {
            clock()
        }

        fn ticks(&self, reading: clock_t) -> Ticks {
            unsigned(reading)
        }
    }

    /// `times`: the real time that the call returns, in clock ticks: 1/100 s on Linux.
    pub(crate) struct Times;

    impl Timer for Times {
        type Reading = clock_t;

        fn ns_per_tick() -> Option<f64> {
            // SAFETY: sysconf has no preconditions.
            let rate = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
            (rate > 0).then(|| 1e9 / rate as f64)
        }

        fn open() -> Result<Self, Unavailable> {
            tried(Self::INFO.label, Self::ns_per_tick().is_some()).map(|()| Self)
        }

        /// With the structure, as programs call it: Linux skips the accounting for a null pointer.
        #[inline(always)]
        fn read(&self) -> clock_t {
            let mut spent = MaybeUninit::uninit();
            // SAFETY: the pointer is valid for a tms.
            unsafe { libc::times(spent.as_mut_ptr()) }
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

    /// `getrusage`: user and system time together.
    pub(crate) struct Getrusage<const WHO: c_int>;

    impl<const WHO: c_int> Getrusage<WHO> {
        #[inline(always)]
        fn call(usage: &mut MaybeUninit<libc::rusage>) -> c_int {
            // SAFETY: the pointer is valid for a rusage.
            unsafe { libc::getrusage(WHO, usage.as_mut_ptr()) }
        }
    }

    impl<const WHO: c_int> Timer for Getrusage<WHO>
    where
        Self: Described,
    {
        /// User and system time; the other 112 bytes need not be carried through the timed region.
        type Reading = [timeval; 2];

        fn open() -> Result<Self, Unavailable> {
            let status = Self::call(&mut MaybeUninit::uninit());
            tried(Self::INFO.label, status == 0).map(|()| Self)
        }

        #[inline(always)]
        fn read(&self) -> [timeval; 2] {
            let mut usage = MaybeUninit::uninit();
            Self::call(&mut usage);
            // SAFETY: `open` saw the call succeed, and with a valid pointer it has no way to fail.
            let usage = unsafe { usage.assume_init_ref() };
            [usage.ru_utime, usage.ru_stime]
        }

        fn ticks(&self, times: [timeval; 2]) -> Ticks {
            microseconds(&times)
        }
    }

    fn microseconds(times: &[timeval]) -> Ticks {
        let each = times.iter().map(|time| {
            wide(time.tv_sec)
                .wrapping_mul(1_000_000)
                .wrapping_add(wide(time.tv_usec))
        });
        Ticks(each.fold(0, i64::wrapping_add) as u64)
    }
}
