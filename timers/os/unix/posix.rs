//! The clocks of POSIX and Linux, each read through libc and, if the system has one, by the system
//! call. macOS has the clocks of POSIX.
//!
//! What ticks: the kernel's timekeeping. It scales a counter of the hardware (the *clock source*:
//! TSC, CNTVCT, HPET, or what a hypervisor offers) to nanoseconds. At what rate: NTP trims the rate
//! of MONOTONIC and REALTIME; MONOTONIC_RAW runs at the rate of the hardware; the COARSE clocks
//! return the time of the last timer interrupt (every 1/CONFIG_HZ, 1 to 10 ms); the CPU-time clocks
//! return the time that the scheduler charged. `clock_getres` reports 1 ns for most clocks, which
//! is their unit and not their resolution. REALTIME, `gettimeofday` and `time` step when the clock
//! is set.
//!
//! Who may read them: any process, unless a seccomp filter forbids the call. libc uses the vDSO,
//! which reads the clock source in user mode, if the kernel and the clock source allow it
//! (`vdso(7)`); otherwise, and always for the CPU-time clocks, libc makes the system call. A clock
//! can therefore fail after it was opened: when the clock source changes, or by a preloaded library.
//! Each read tests the status of its call, which costs a compare and a branch that is never taken;
//! what it returned is checked outside the timed region, where a reading becomes a number.
//!
//! How they lie: the vDSO reads the TSC (since Linux 5.3 on x86 after `lfence` or by `rdtscp`), so
//! it faults if reading the TSC faults. MONOTONIC stops while the machine is suspended, BOOTTIME
//! does not. `clock()` is the CPU time of the whole process. `times()` counts in 1/100 s,
//! independent of CONFIG_HZ. `getrusage` rounds user and system time down to microseconds
//! separately; for a thread both grow only at timer interrupts and context switches. Sources:
//! `clock_gettime(2)`, `gettimeofday(2)`, `time(2)`, `clock(3)`, `times(2)`, `getrusage(2)`.

use crate::Properties;

const MONOTONIC: Properties = Properties {
    // On macOS CLOCK_MONOTONIC includes the time in suspend (clock_gettime(3)).
    runs_in_suspend: Some(cfg!(target_os = "macos")),
    ..Properties::MONOTONIC
};
/// A clock whose rate no time service trims.
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
/// The nanoseconds per tick of `clock()`: 1/CLOCKS_PER_SEC, which is 1 000 000 in POSIX.
const CLOCK_UNIT_NS: f64 = 1e3;

pub mod clocks {
    use super::*;
    use crate::entry::clocks;
    #[cfg(not(windows))]
    use crate::os::clocks::*;

    /// Lists the clocks of `clock_gettime`: for each way to read them how its calls are written, and its clocks
    /// with their ids and properties.
    macro_rules! posix_clocks {
        ($($route:ident $call:literal { $($clock:ident, $id:literal, $properties:expr;)* })*) => {
            clocks! { "POSIX", not(windows);
                $($(PosixClock<$route, $clock>, $id, concat!($call, stringify!($clock), ")"), Some(1.0), $properties;)*)*
                Gettimeofday, "gettimeofday", "gettimeofday()", Some(1e3), CALENDAR;
            }
        };
    }

    posix_clocks! {
        Libc "clock_gettime(" {
            CLOCK_MONOTONIC, "monotonic", MONOTONIC.with_variant("monotonic-syscall");
            CLOCK_MONOTONIC_RAW, "monotonic-raw", RAW.with_variant("monotonic-raw-syscall");
            CLOCK_MONOTONIC_COARSE, "monotonic-coarse", MONOTONIC.unfenced().with_variant("monotonic-coarse-syscall");
            CLOCK_REALTIME, "realtime", CALENDAR.with_variant("realtime-syscall");
            CLOCK_REALTIME_COARSE, "realtime-coarse", CALENDAR.unfenced().with_variant("realtime-coarse-syscall");
            CLOCK_BOOTTIME, "boottime", BOOTTIME.with_variant("boottime-syscall");
            CLOCK_TAI, "tai", CALENDAR;
            CLOCK_PROCESS_CPUTIME_ID, "process-cputime", PROCESS.with_variant("process-cputime-syscall");
            CLOCK_THREAD_CPUTIME_ID, "thread-cputime", THREAD.with_variant("thread-cputime-syscall");
        }
        SystemCall "syscall(SYS_clock_gettime, " {
            CLOCK_MONOTONIC, "monotonic-syscall", MONOTONIC.by_syscall();
            CLOCK_MONOTONIC_RAW, "monotonic-raw-syscall", RAW.by_syscall();
            CLOCK_MONOTONIC_COARSE, "monotonic-coarse-syscall", MONOTONIC.by_syscall();
            CLOCK_REALTIME, "realtime-syscall", CALENDAR.by_syscall();
            CLOCK_REALTIME_COARSE, "realtime-coarse-syscall", CALENDAR.by_syscall();
            CLOCK_BOOTTIME, "boottime-syscall", BOOTTIME.by_syscall();
            CLOCK_PROCESS_CPUTIME_ID, "process-cputime-syscall", PROCESS;
            CLOCK_THREAD_CPUTIME_ID, "thread-cputime-syscall", THREAD;
        }
    }
}

pub mod seconds {
    use super::*;
    use crate::entry::clocks;
    use crate::failures::{checked, record_value};
    use crate::{Available, Ticks, Timer};

    clocks! { "all systems", all();
        Time, "time", "time()", Some(1e9), CALENDAR.unfenced();
    }

    /// `time`: whole seconds. On Linux the vDSO returns those of CLOCK_REALTIME_COARSE.
    pub struct Time;

    impl Timer for Time {
        type Reading = i64;

        fn open() -> Available<Self> {
            checked(Self)
        }

        #[inline(always)]
        fn read(&self) -> i64 {
            crate::os::clocks::time()
        }

        fn ticks(&self, reading: i64) -> Ticks {
            if reading == -1 {
                record_value::<Self>(-1);
            }
            Ticks(reading as u64)
        }
    }
}

pub mod accounts {
    use super::*;
    use crate::entry::clocks;
    #[cfg(not(windows))]
    use crate::os::clocks::RUSAGE_THREAD;

    // `times` returns elapsed time; on Linux that is the time since boot without suspend, read by a
    // system call.
    clocks! { "POSIX", not(windows);
        CpuClock, "clock", "clock()", Some(CLOCK_UNIT_NS), PROCESS;
        Times, "times", "times()", None, MONOTONIC.by_syscall();
        Getrusage<{ libc::RUSAGE_SELF }>, "getrusage-self", "getrusage(RUSAGE_SELF)", Some(1e3), PROCESS;
        Getrusage<RUSAGE_THREAD>, "getrusage-thread", "getrusage(RUSAGE_THREAD)", Some(1e3), THREAD;
    }
}

/// The types of some clocks, for measurements compiled for one of them.
pub mod by_type {
    #[cfg(not(windows))]
    pub use super::here::{Monotonic, MonotonicCoarse, ProcessCputime};
}

#[cfg(not(windows))]
pub use here::*;
#[cfg(not(windows))]
mod here {
    use std::io;
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;
    use std::sync::atomic::{AtomicI32, Ordering};

    use libc::{c_int, c_long, clock_t, clockid_t, timespec, timeval};

    use crate::arch::opaque;
    use crate::failures::{checked, record_value, wrong_value};
    use crate::os::clocks::*;
    use crate::{Available, Described, Ticks, Timer, Unavailable, record_failure};

    /// `CLOCK_MONOTONIC`, by libc.
    pub type Monotonic = PosixClock<Libc, CLOCK_MONOTONIC>;
    /// `CLOCK_MONOTONIC_COARSE`, by libc.
    pub type MonotonicCoarse = PosixClock<Libc, CLOCK_MONOTONIC_COARSE>;
    /// `CLOCK_PROCESS_CPUTIME_ID`, by libc.
    pub type ProcessCputime = PosixClock<Libc, CLOCK_PROCESS_CPUTIME_ID>;

    /// `CLOCK_REALTIME`, by libc.
    pub type Realtime = PosixClock<Libc, CLOCK_REALTIME>;

    /// Widens a number of a kernel structure, whose width depends on the target.
    #[inline(always)]
    pub fn widen(number: impl Into<i64>) -> i64 {
        number.into()
    }

    /// A way to read the kernel's clocks: through libc or by the system call.
    pub trait Route: Send + Sync + 'static {
        /// Reads a clock, by default through libc. Returns 0 or a status for
        /// [`error`](Route::error).
        #[inline(always)]
        fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
            // SAFETY: the pointer is valid for one timespec.
            c_long::from(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })
        }

        /// The error for a status other than 0; must be called right after the failed call.
        fn error(_status: c_long) -> io::Error {
            io::Error::last_os_error()
        }

        /// Checks that the call does not crash the program.
        ///
        /// # Errors
        /// When this process may not read the clock.
        fn permitted(clock: clockid_t) -> Available;
    }

    /// A clock of `clock_gettime`, read by the route `R`.
    pub struct PosixClock<R, const CLOCK: clockid_t>(PhantomData<R>);

    impl<R: Route, const CLOCK: clockid_t> Timer for PosixClock<R, CLOCK>
    where
        Self: Described,
    {
        type Reading = timespec;

        fn declared_resolution() -> Option<f64> {
            let mut time = MaybeUninit::<timespec>::uninit();
            // SAFETY: the pointer is valid for one timespec.
            let status = unsafe { libc::clock_getres(CLOCK, time.as_mut_ptr()) };
            // SAFETY: the call succeeded, so that both fields are written.
            let time = (status == 0).then(|| unsafe { time.assume_init() })?;
            Some(nanoseconds(time) as f64).filter(|ns| *ns > 0.0)
        }

        fn open() -> Available<Self> {
            R::permitted(CLOCK)?;
            read_checked::<R>(CLOCK, Self::INFO.label).map(|_| Self(PhantomData))
        }

        #[inline(always)]
        fn read(&self) -> timespec {
            // Not initialised, because two more stores would add to the cost of the call.
            let mut time = MaybeUninit::uninit();
            let status = R::clock_gettime(CLOCK, &mut time);
            if status != 0 {
                return fail::<Self, R>(status);
            }
            // SAFETY: the call succeeded, so that both fields are written.
            word_by_word(unsafe { time.assume_init() })
        }

        fn ticks(&self, time: timespec) -> Ticks {
            if let Some(wrong) = wrong_nanoseconds(time) {
                record_value::<Self>(wrong);
            }
            Ticks(nanoseconds(time) as u64)
        }
    }

    /// Reads a clock once, in nanoseconds.
    ///
    /// # Errors
    /// When the call fails, or returns what is no time.
    pub fn read_checked<R: Route>(clock: clockid_t, label: &str) -> Available<i64> {
        // Not a time, because a seccomp filter can let the call succeed without effect.
        let mut time = latest_time();
        time.tv_nsec = -1;
        let mut time = MaybeUninit::new(time);
        match R::clock_gettime(clock, &mut time) {
            0 => {
                // SAFETY: the value was initialised.
                let time = unsafe { time.assume_init() };
                wrong_nanoseconds(time).map_or(Ok(nanoseconds(time)), |wrong| {
                    Err(wrong_value(label, wrong))
                })
            }
            status => Err(explain_failure(label, &R::error(status))),
        }
    }

    /// The nanoseconds of a time that is none, because they are not less than a second.
    pub fn wrong_nanoseconds(time: timespec) -> Option<String> {
        wrong_fraction("tv_nsec", widen(time.tv_nsec), 999_999_999)
    }

    /// The part of a time that is not less than a second; `None` if it is.
    #[inline(always)]
    fn wrong_fraction(field: &str, value: i64, most: i64) -> Option<String> {
        #[cold]
        #[inline(never)]
        fn describe(field: &str, value: i64, most: i64) -> String {
            format!("{field} = {value}, which has to be from 0 to {most}")
        }
        (!(0..=most).contains(&value)).then(|| describe(field, value, most))
    }

    /// The time that stands for a failed read: it is in the year 2037, so that it fits 32 bits and
    /// is after all times that a loop waits for.
    pub fn latest_time() -> timespec {
        // SAFETY: a timespec consists of integers and padding; all-zero bytes are a valid value.
        let mut time: timespec = unsafe { MaybeUninit::zeroed().assume_init() };
        time.tv_sec = (i32::MAX - (1 << 24)) as _;
        time
    }

    /// Loads seconds and nanoseconds separately, as most programs do. Otherwise the compiler loads
    /// both by one instruction. A load that is wider than the preceding stores waits until these
    /// have reached the cache: a dozen cycles that do not belong to the clock.
    #[inline(always)]
    pub fn word_by_word(time: timespec) -> timespec {
        timespec {
            tv_sec: opaque(time.tv_sec as usize) as _,
            tv_nsec: opaque(time.tv_nsec as usize) as _,
        }
    }

    /// The time in nanoseconds; negative before the zero of the clock.
    pub fn nanoseconds(time: timespec) -> i64 {
        widen(time.tv_sec)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(widen(time.tv_nsec))
    }

    /// Records a failed read with this status, and returns what stands for it.
    #[cold]
    #[inline(never)]
    fn fail<T: Described, R: Route>(status: c_long) -> timespec {
        /// Later by a second with each failed read, so that a loop ends that began with one.
        static FAILED_READS: AtomicI32 = AtomicI32::new(0);
        record_failure::<T>(explain_failure(T::INFO.label, &R::error(status)));
        let mut time = latest_time();
        let failed = FAILED_READS.fetch_add(1, Ordering::Relaxed);
        time.tv_sec = time.tv_sec.wrapping_add(failed as _);
        time
    }

    /// `gettimeofday`: CLOCK_REALTIME in microseconds, through the vDSO.
    pub struct Gettimeofday;

    impl Timer for Gettimeofday {
        type Reading = timeval;

        fn open() -> Available<Self> {
            vdso_permitted()?;
            checked(Self)
        }

        #[inline(always)]
        fn read(&self) -> timeval {
            let mut time = MaybeUninit::uninit();
            // SAFETY: the pointer is valid for one timeval; the pointer for the time zone may be
            // null.
            if unsafe { libc::gettimeofday(time.as_mut_ptr(), std::ptr::null_mut()) } != 0 {
                let tv_sec = fail::<Self, Libc>(-1).tv_sec;
                return timeval { tv_sec, tv_usec: 0 };
            }
            // SAFETY: the call succeeded, so that both fields are written.
            let time = unsafe { time.assume_init() };
            timeval {
                tv_sec: opaque(time.tv_sec as usize) as _,
                tv_usec: opaque(time.tv_usec as usize) as _,
            }
        }

        fn ticks(&self, time: timeval) -> Ticks {
            if let Some(wrong) = wrong_fraction("tv_usec", widen(time.tv_usec), 999_999) {
                record_value::<Self>(wrong);
            }
            microseconds(&[time])
        }
    }

    unsafe extern "C" {
        // Missing in the libc crate. The function has no arguments and no preconditions.
        safe fn clock() -> clock_t;
    }

    /// `clock`: the CPU time of the process.
    pub struct CpuClock;

    impl Timer for CpuClock {
        type Reading = clock_t;

        fn open() -> Available<Self> {
            // On Linux, libc reads this clock.
            ProcessCputime::availability()?;
            checked(Self)
        }

        #[inline(always)]
        fn read(&self) -> clock_t {
            clock()
        }

        fn ticks(&self, reading: clock_t) -> Ticks {
            clock_ticks::<Self>(reading)
        }
    }

    /// `times`: its return value, the elapsed time in clock ticks of 1/100 s (Linux).
    pub struct Times;

    impl Timer for Times {
        type Reading = clock_t;

        fn ns_per_tick() -> Option<f64> {
            // SAFETY: sysconf takes an integer and has no preconditions.
            let rate = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
            (rate > 0).then(|| 1e9 / rate as f64)
        }

        fn open() -> Available<Self> {
            let no_unit = || Unavailable::because("sysconf(_SC_CLK_TCK) reports no unit");
            Self::ns_per_tick().ok_or_else(no_unit)?;
            checked(Self)
        }

        /// Passes a structure, as programs do: for a null pointer Linux skips a part of the work.
        #[inline(always)]
        fn read(&self) -> clock_t {
            let mut spent = MaybeUninit::uninit();
            // SAFETY: the pointer is valid for one tms.
            unsafe { libc::times(spent.as_mut_ptr()) }
        }

        fn ticks(&self, reading: clock_t) -> Ticks {
            clock_ticks::<Self>(reading)
        }
    }

    /// The reading as an unsigned number. With 32 bits it wraps around: on Linux `times` does so
    /// five minutes after boot. The call failed if it is `!0`, which is -1 in any integer type.
    fn clock_ticks<T: Described>(reading: clock_t) -> Ticks {
        if reading == !0 {
            record_value::<T>(-1);
        }
        Ticks(reading as usize as u64)
    }

    /// `getrusage`: the sum of user and system time.
    pub struct Getrusage<const WHO: c_int>;

    impl<const WHO: c_int> Timer for Getrusage<WHO>
    where
        Self: Described,
    {
        /// User and system time only, so that the timed region does not copy the other 112 bytes.
        type Reading = [timeval; 2];

        fn open() -> Available<Self> {
            checked(Self)
        }

        #[inline(always)]
        fn read(&self) -> [timeval; 2] {
            let mut usage = MaybeUninit::<libc::rusage>::uninit();
            // SAFETY: the pointer is valid for one rusage.
            if unsafe { libc::getrusage(WHO, usage.as_mut_ptr()) } != 0 {
                fail::<Self, Libc>(-1);
                usage.write(
                    // SAFETY: a rusage consists of integers, for which zero is a valid value.
                    unsafe { MaybeUninit::zeroed().assume_init() },
                );
            }
            // SAFETY: the call succeeded, or the structure was written here.
            let usage = unsafe { usage.assume_init_ref() };
            [usage.ru_utime, usage.ru_stime]
        }

        fn ticks(&self, times: [timeval; 2]) -> Ticks {
            microseconds(&times)
        }
    }

    /// The sum of times in microseconds.
    fn microseconds(times: &[timeval]) -> Ticks {
        let each = times.iter().map(|time| {
            widen(time.tv_sec)
                .wrapping_mul(1_000_000)
                .wrapping_add(widen(time.tv_usec))
        });
        Ticks(each.fold(0, i64::wrapping_add) as u64)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn times_have_less_than_a_second() {
            let time = |seconds: i32, fraction: i32| {
                let mut time = latest_time();
                (time.tv_sec, time.tv_nsec) = (seconds as _, fraction as _);
                time
            };
            for (fraction, is_time) in [
                (-1, false),
                (0, true),
                (999_999_999, true),
                (1_000_000_005, false),
            ] {
                let wrong = wrong_nanoseconds(time(1, fraction));
                assert_eq!(wrong.is_none(), is_time, "{fraction}: {wrong:?}");
            }
            assert_eq!(nanoseconds(time(-2, 500_000_000)), -1_500_000_000);
        }

        #[test]
        fn failed_call_is_not_a_reading() {
            /// A clock that fails.
            struct Refused;

            impl Route for Refused {
                fn clock_gettime(_: clockid_t, _: &mut MaybeUninit<timespec>) -> c_long {
                    -c_long::from(libc::EPERM)
                }

                fn permitted(_: clockid_t) -> Available {
                    Ok(())
                }
            }

            impl<const CLOCK: clockid_t> Described for PosixClock<Refused, CLOCK> {
                const INFO: crate::Info = crate::Info {
                    id: "refused",
                    label: "refused()",
                    ..Monotonic::INFO
                };
            }

            type Clock = PosixClock<Refused, CLOCK_MONOTONIC>;
            let why = Clock::open().map(drop).expect_err("the call fails");
            assert!(why.reason.starts_with("refused(): "), "{why}");
            assert_eq!(crate::failure("refused"), None);
            let clock: Clock = PosixClock(PhantomData);
            let [first, second] = [clock.read(), clock.read()];
            assert!(latest_time().tv_sec <= first.tv_sec && first.tv_sec < second.tv_sec);
            assert!(crate::failure("refused").is_some());
        }
    }
}
