//! The clocks of POSIX and Linux, through libc and, for the same clocks, through the bare system call.
//!
//! What ticks: the kernel's timekeeping. It scales a counter of the hardware (the *clock source*: TSC, CNTVCT, HPET,
//! or what a hypervisor offers) to nanoseconds. At what rate: MONOTONIC and REALTIME run at a rate that NTP trims,
//! MONOTONIC_RAW at that of the hardware; the COARSE clocks give the time of the last timer interrupt (1/CONFIG_HZ,
//! 1 to 10 ms); the CPU-time clocks count what the scheduler charged. `clock_getres` says 1 ns for most of them,
//! which is their unit and not their step. REALTIME, `gettimeofday` and `time` follow whoever sets the clock.
//!
//! Who may read them: everybody, unless a seccomp filter forbids the call. libc goes through the vDSO, which
//! reads the clock source in user mode, where the kernel and the clock source allow it (`vdso(7)`);
//! otherwise, and always for the CPU-time clocks, it makes the system call.
//!
//! How they lie: the vDSO reads the TSC (since Linux 5.3 on x86 after `lfence` or by `rdtscp`), so it faults where
//! the TSC does. MONOTONIC stands still while the machine sleeps, BOOTTIME does not. `clock()` is CPU time of
//! the whole process. `times()` counts in 1/100 s whatever CONFIG_HZ is. `getrusage` gives user and system time cut
//! to microseconds one by one, and that of a thread only grows at timer interrupts and switches of task.
//! Sources: `clock_gettime(2)`, `gettimeofday(2)`, `time(2)`, `clock(3)`, `times(2)`, `getrusage(2)`.

use std::io;
use std::mem::MaybeUninit;

use libc::{c_int, c_long, clock_t, clockid_t, rusage, time_t, timespec, timeval};

use crate::work::opaque;
use crate::{Info, Properties, Ticks, Timer, Unavailable, x86};

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
                resolution(libc::$clock)
            }

            fn open() -> Result<Self, Unavailable> {
                try_clock::<$route>(libc::$clock, Self::INFO.label, $since).map(|()| Self)
            }

            #[inline(always)]
            fn read(&self) -> timespec {
                // Not set to zero first: that would be two stores more than the call.
                let mut time = MaybeUninit::uninit();
                $route::clock_gettime(libc::$clock, &mut time);
                // SAFETY: `open` made the same call and it succeeded. For a known clock and a valid pointer it then
                // has no way to fail, and the kernel has written both fields.
                word_by_word(unsafe { time.assume_init() })
            }

            fn ticks(&self, time: timespec) -> Ticks {
                Ticks(time.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec) as u64)
            }
        }
    )*};
}

const MONOTONIC: Properties = Properties::MONOTONIC;
const RAW: Properties = Properties { slewed: Some(false), ..MONOTONIC };
const BOOTTIME: Properties = Properties { runs_in_suspend: Some(true), ..MONOTONIC };
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

/// What `clock_getres` says of a clock, in nanoseconds.
fn resolution(clock: clockid_t) -> Option<f64> {
    let mut time = MaybeUninit::<timespec>::uninit();
    // SAFETY: the pointer is valid for a timespec.
    let status = unsafe { libc::clock_getres(clock, time.as_mut_ptr()) };
    // SAFETY: the call succeeded, so both fields are written.
    let time = (status == 0).then(|| unsafe { time.assume_init() })?;
    Some(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64).filter(|ns| *ns > 0.0)
}

/// A way to the kernel's clocks.
trait Route {
    /// Makes the call. The status is 0, or tells [`error`](Route::error) what went wrong.
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long;

    /// What a status other than 0 means, right after the call.
    fn error(status: c_long) -> io::Error;

    /// Whether the call can be made without crashing.
    fn permitted(clock: clockid_t) -> Result<(), Unavailable>;
}

/// The function of libc, hence the vDSO where there is one.
struct Libc;

impl Route for Libc {
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        // SAFETY: the pointer is valid for a timespec.
        c_long::from(unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) })
    }

    fn error(_status: c_long) -> io::Error {
        io::Error::last_os_error()
    }

    fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
        match clock {
            // Of these the vDSO only copies what the timer interrupt left; or it makes the system call.
            libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_REALTIME_COARSE
            | libc::CLOCK_PROCESS_CPUTIME_ID
            | libc::CLOCK_THREAD_CPUTIME_ID => Ok(()),
            _ => x86::vdso_permitted(),
        }
    }
}

/// The system call past the vDSO. By the instruction itself rather than by libc's `syscall()`, whose shuffling of
/// seven registers and setting of `errno` would be measured along.
struct Kernel;

impl Route for Kernel {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        let mut number_then_status = libc::SYS_clock_gettime;
        // SAFETY: the calling convention of syscall(2) for x86-64: number in RAX, arguments in RDI and RSI, result in
        // RAX; the instruction itself overwrites RCX and R11. The kernel writes a timespec to valid memory, so no
        // `nomem`. `nostack`: the kernel has a stack of its own and leaves the red zone alone.
        unsafe {
            std::arch::asm!(
                "syscall",
                inlateout("rax") number_then_status,
                in("rdi") i64::from(clock),
                in("rsi") time.as_mut_ptr(),
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack)
            );
        }
        number_then_status
    }

    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        let mut clock_then_status = i64::from(clock);
        // SAFETY: the calling convention of syscall(2) for 64-bit Arm: number in X8, arguments in X0 and X1, result
        // in X0, all other registers kept. Options as on x86-64.
        unsafe {
            std::arch::asm!(
                "svc 0",
                in("x8") libc::SYS_clock_gettime,
                inlateout("x0") clock_then_status,
                in("x1") time.as_mut_ptr(),
                options(nostack)
            );
        }
        clock_then_status
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        // SAFETY: the pointer is valid for a timespec.
        let status = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time.as_mut_ptr()) };
        if status == 0 {
            0
        } else {
            -c_long::from(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
        }
    }

    fn error(status: c_long) -> io::Error {
        io::Error::from_raw_os_error(-status as i32)
    }

    fn permitted(_clock: clockid_t) -> Result<(), Unavailable> {
        Ok(())
    }
}

fn try_clock<R: Route>(clock: clockid_t, label: &str, since: &str) -> Result<(), Unavailable> {
    R::permitted(clock)?;
    match R::clock_gettime(clock, &mut MaybeUninit::uninit()) {
        0 => Ok(()),
        status => Err(refused(label, &R::error(status), since)),
    }
}

/// Fetches seconds and nanoseconds each by itself, as whoever uses them does. Left alone, the compiler copies both by
/// one instruction, and a load that is wider than the stores before it waits until these have reached the cache: a
/// dozen cycles that are not the clock's.
#[inline(always)]
fn word_by_word(time: timespec) -> timespec {
    timespec { tv_sec: opaque(time.tv_sec as u64) as i64, tv_nsec: opaque(time.tv_nsec as u64) as i64 }
}

/// A call that the system refused, in its own words.
fn refused(call: &str, error: &io::Error, since: &str) -> Unavailable {
    let why = Unavailable::because(format!("{call}: {error}"));
    match error.raw_os_error() {
        Some(libc::EINVAL) => why.remedy(format!("this clock needs Linux {since} or later")),
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => {
            why.remedy("a seccomp filter (of a container, a sandbox) may forbid the call; run outside it")
        }
        _ => why,
    }
}

/// `gettimeofday`: CLOCK_REALTIME in microseconds, through the vDSO.
pub(crate) struct Gettimeofday;

impl Timer for Gettimeofday {
    const INFO: Info =
        Info { id: "gettimeofday", label: "gettimeofday()", ns_per_tick: Some(1e3), properties: CALENDAR };
    type Reading = timeval;

    fn open() -> Result<Self, Unavailable> {
        x86::vdso_permitted()?;
        // SAFETY: the pointer is valid for a timeval; the time zone is optional.
        let status = unsafe { libc::gettimeofday(MaybeUninit::uninit().as_mut_ptr(), std::ptr::null_mut()) };
        if status == 0 { Ok(Self) } else { Err(refused("gettimeofday", &io::Error::last_os_error(), "2.6")) }
    }

    #[inline(always)]
    fn read(&self) -> timeval {
        let mut time = MaybeUninit::uninit();
        // SAFETY: as in `open`, which saw it succeed; with a valid pointer it has no way to fail.
        let time = unsafe {
            libc::gettimeofday(time.as_mut_ptr(), std::ptr::null_mut());
            time.assume_init()
        };
        timeval { tv_sec: opaque(time.tv_sec as u64) as i64, tv_usec: opaque(time.tv_usec as u64) as i64 }
    }

    fn ticks(&self, time: timeval) -> Ticks {
        microseconds(&[time])
    }
}

/// `time`: whole seconds of CLOCK_REALTIME_COARSE, through the vDSO.
pub(crate) struct Time;

impl Timer for Time {
    const INFO: Info =
        Info { id: "time", label: "time()", ns_per_tick: Some(1e9), properties: CALENDAR.unfenced() };
    type Reading = time_t;

    fn open() -> Result<Self, Unavailable> {
        Ok(Self)
    }

    #[inline(always)]
    fn read(&self) -> time_t {
        // SAFETY: a null pointer asks for the result alone.
        unsafe { libc::time(std::ptr::null_mut()) }
    }

    fn ticks(&self, reading: time_t) -> Ticks {
        Ticks(reading as u64)
    }
}

/// `clock`: CPU time of the process in microseconds (CLOCKS_PER_SEC is a million on every POSIX system).
pub(crate) struct Clock;

unsafe extern "C" {
    // The libc crate does not declare it for Linux. No arguments, no preconditions.
    safe fn clock() -> clock_t;
}

impl Timer for Clock {
    const INFO: Info = Info { id: "clock", label: "clock()", ns_per_tick: Some(1e3), properties: PROCESS };
    type Reading = clock_t;

    fn open() -> Result<Self, Unavailable> {
        match clock() {
            -1 => Err(Unavailable::because("clock(): the processor time is not available")),
            _ => Ok(Self),
        }
    }

    #[inline(always)]
    fn read(&self) -> clock_t {
        clock()
    }

    fn ticks(&self, reading: clock_t) -> Ticks {
        Ticks(reading as u64)
    }
}

/// `times`: the real time that the call returns, in 1/100 s.
pub(crate) struct Times;

impl Timer for Times {
    const INFO: Info = Info {
        id: "times",
        label: "times()",
        ns_per_tick: Some(1e7),
        // Elapsed time in the return value; Linux counts it from boot without the sleep, and no vDSO answers it.
        properties: MONOTONIC.by_syscall(),
    };
    type Reading = clock_t;

    fn open() -> Result<Self, Unavailable> {
        // SAFETY: sysconf has no preconditions.
        match unsafe { libc::sysconf(libc::_SC_CLK_TCK) } {
            100 => Ok(Self),
            rate => Err(Unavailable::because(format!(
                "times() counts {rate} clock ticks a second here (sysconf(_SC_CLK_TCK)), and this build knows 100"
            ))),
        }
    }

    #[inline(always)]
    fn read(&self) -> clock_t {
        // With the structure, as everybody calls it: Linux skips the accounting for a null pointer.
        let mut spent = MaybeUninit::uninit();
        // SAFETY: the pointer is valid for a tms.
        unsafe { libc::times(spent.as_mut_ptr()) }
    }

    fn ticks(&self, reading: clock_t) -> Ticks {
        Ticks(reading as u64)
    }
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
            /// User and system time; the other 112 bytes need not be carried through the timed region.
            type Reading = [timeval; 2];

            fn open() -> Result<Self, Unavailable> {
                match getrusage(libc::$who, &mut MaybeUninit::uninit()) {
                    0 => Ok(Self),
                    _ => Err(refused(Self::INFO.label, &io::Error::last_os_error(), "2.6.26")),
                }
            }

            #[inline(always)]
            fn read(&self) -> [timeval; 2] {
                let mut usage = MaybeUninit::uninit();
                getrusage(libc::$who, &mut usage);
                // SAFETY: `open` saw the call succeed, and with a valid pointer it has no way to fail.
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

#[inline(always)]
fn getrusage(who: c_int, usage: &mut MaybeUninit<rusage>) -> c_int {
    // SAFETY: the pointer is valid for a rusage.
    unsafe { libc::getrusage(who, usage.as_mut_ptr()) }
}

fn microseconds(times: &[timeval]) -> Ticks {
    let each = times.iter().map(|time| time.tv_sec.wrapping_mul(1_000_000).wrapping_add(time.tv_usec));
    Ticks(each.fold(0, i64::wrapping_add) as u64)
}
