//! The calls that read clocks, and the permission to read the counter of the CPU, by its
//! instruction or through the vDSO.
//!
//! A process without this permission is killed by SIGSEGV when it reads a system clock based on the
//! counter; the standard library does so for timeouts and temporary files. Therefore this program
//! restores the permission for itself, which any process may do, remembers that it was missing, and
//! lists the clocks that need it as unavailable. Source: `PR_SET_TSC(2const)`.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{env, fs, io};

pub use libc::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW,
    CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI,
    CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
};
use libc::{c_int, c_long, clockid_t, timespec};

use super::attempt::attempt;
use crate::os::posix::Route;
pub use crate::os::unix::time;
use crate::{Available, Unavailable, clock_sources};

/// Reads clocks by the libc function, which uses the vDSO if there is one.
pub struct Libc;

impl Route for Libc {
    fn permitted(clock: clockid_t) -> Available {
        match clock {
            // libc makes the system call.
            CLOCK_PROCESS_CPUTIME_ID | CLOCK_THREAD_CPUTIME_ID => call_permitted(),
            // The vDSO copies the time of the last timer interrupt and does not read the counter.
            CLOCK_MONOTONIC_COARSE | CLOCK_REALTIME_COARSE => Ok(()),
            _ => vdso_permitted(),
        }?;
        library_permitted(clock)
    }
}

/// Reads clocks by the system call, without the vDSO. Uses the instruction instead of libc's
/// `syscall()`, which moves seven registers and sets `errno` and thereby adds to the measured cost.
pub struct SystemCall;

impl Route for SystemCall {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        let mut number_then_status = libc::SYS_clock_gettime;
        // SAFETY: the calling convention of syscall(2) for x86-64: number in RAX, arguments in RDI
        // and RSI, result in RAX; the instruction itself overwrites RCX and R11. The kernel writes
        // a timespec to valid memory, so no `nomem`. `nostack`: the kernel has a stack of its own
        // and leaves the red zone alone.
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
        // SAFETY: the calling convention of syscall(2) for 64-bit Arm: number in X8, arguments in
        // X0 and X1, result in X0, all other registers kept. Options as on x86-64.
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

    #[cfg(target_arch = "riscv64")]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        let mut clock_then_status = i64::from(clock);
        // SAFETY: the calling convention of syscall(2) for RISC-V: number in A7, arguments in A0
        // and A1, result in A0, all other registers kept. Options as on x86-64.
        unsafe {
            std::arch::asm!(
                "ecall",
                in("a7") libc::SYS_clock_gettime,
                inlateout("a0") clock_then_status,
                in("a1") time.as_mut_ptr(),
                options(nostack)
            );
        }
        clock_then_status
    }

    /// Fallback if the instruction differs between processors (32-bit x86) or its registers are
    /// reserved (Arm in Thumb mode).
    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )))]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        // SAFETY: the pointer is valid for one timespec.
        let status = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time.as_mut_ptr()) };
        if status == 0 {
            0
        } else {
            -c_long::from(
                io::Error::last_os_error()
                    .raw_os_error()
                    .unwrap_or(libc::EINVAL),
            )
        }
    }

    #[allow(clippy::unnecessary_cast, reason = "a long has 32 bits or 64")]
    fn error(status: c_long) -> io::Error {
        io::Error::from_raw_os_error(-status as i32)
    }

    fn permitted(_clock: clockid_t) -> Available {
        call_permitted()
    }
}

/// Checks that the system call that reads clocks does not end this process.
fn call_permitted() -> Available {
    static PERMITTED: OnceLock<Available> = OnceLock::new();
    // SAFETY: the call takes and returns integers.
    let is_filtered = || unsafe { libc::prctl(libc::PR_GET_SECCOMP) } > 0;
    let check = || match is_filtered() {
        true => attempt("the system call clock_gettime", &|| {
            read_once::<SystemCall>(CLOCK_MONOTONIC)
        }),
        false => Ok(()),
    };
    PERMITTED.get_or_init(check).clone()
}

/// The libraries of `LD_PRELOAD` and `/etc/ld.so.preload` (ld.so(8)).
pub fn preloaded() -> &'static [String] {
    static ALL: OnceLock<Vec<String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let variable = env::var("LD_PRELOAD").unwrap_or_default();
        let file = fs::read_to_string("/etc/ld.so.preload").unwrap_or_default();
        let lists = [variable, file].join(" ");
        let names = lists.split([':', ' ', '\n', '\t']);
        (names.filter(|name| !name.is_empty()).map(str::to_owned)).collect()
    })
}

/// Checks that libc does not end this process when it reads a clock: if the vDSO cannot read the
/// clock source, libc makes the system call, and a preloaded library may do anything.
fn library_permitted(clock: clockid_t) -> Available {
    static TRIED: Mutex<BTreeMap<clockid_t, Available>> = Mutex::new(BTreeMap::new());
    if call_permitted().is_ok() && preloaded().is_empty() {
        return Ok(());
    }
    let read = || read_once::<Libc>(clock);
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let tried = tried.entry(clock);
    tried
        .or_insert_with(|| attempt("clock_gettime() of the C library", &read))
        .clone()
}

fn read_once<R: Route>(clock: clockid_t) {
    R::clock_gettime(clock, &mut MaybeUninit::uninit());
}

/// Describes a failed call by the system's error message, with a remedy if one is known.
pub fn explain_failure(call: &str, error: &io::Error) -> Unavailable {
    let remedy = match error.raw_os_error() {
        Some(libc::EINVAL) => "this clock needs a later release of Linux",
        Some(libc::ENOSYS) => {
            "the kernel is too old for the call, or a seccomp filter (of a container, a sandbox) hides it"
        }
        Some(libc::EPERM | libc::EACCES) => {
            if cfg!(target_pointer_width = "32") {
                "a seccomp filter (of a container) may forbid clock_gettime64, which Docker allows since 19.03.9 with libseccomp 2.4.2"
            } else {
                "a seccomp filter (of a container, a sandbox) may forbid the call; run outside it"
            }
        }
        Some(libc::EMFILE) => "raise the limit of open files (`ulimit -n`)",
        _ => return Unavailable::failed_call(call, error),
    };
    Unavailable::failed_call(call, error).remedy(remedy)
}

/// Makes the cheapest system call, getppid, which reads one word.
#[inline(always)]
pub fn cheapest_call() -> u64 {
    // SAFETY: the call has no arguments and no preconditions.
    unsafe { libc::syscall(libc::SYS_getppid) as u64 }
}

/// The environment variable that informs child processes of this program that the permission was
/// missing. Internal: users do not set it.
const REFUSED_VARIABLE: &str = "TIMERMETER_COUNTER_REFUSED";

/// Restores the permission to read the counter if the parent process removed it. Must be called
/// before any other thread is started.
pub fn regain_counter() {
    if is_permitted() {
        return;
    }
    // SAFETY: the call takes integers only. It affects the calling thread; threads started later
    // inherit the setting.
    let status = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) };
    if status == 0 {
        // SAFETY: the caller ensures that no other thread exists, so none reads the environment.
        unsafe { env::set_var(REFUSED_VARIABLE, "1") };
    }
}

fn is_permitted() -> bool {
    let mut mode: c_int = 0;
    // SAFETY: PR_GET_TSC writes one int through its second argument.
    let status = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    // A kernel without PR_GET_TSC (some emulations of Linux, other processors) cannot have
    // forbidden the instruction.
    status != 0 || mode != libc::PR_TSC_SIGSEGV
}

/// Checks that programs started in the same way as this one may read the counter of the CPU: the
/// TSC of x86, or CNTVCT of 64-bit Arm since Linux 6.12.
pub fn tsc_permitted() -> Available {
    static WAS_REFUSED: OnceLock<bool> = OnceLock::new();
    if !*WAS_REFUSED.get_or_init(|| env::var_os(REFUSED_VARIABLE).is_some()) && is_permitted() {
        return Ok(());
    }
    Err(Unavailable::because(
        "this process may not read the counter of the CPU: prctl(PR_SET_TSC, PR_TSC_SIGSEGV) is in force",
    )
    .remedy("undo it with prctl(PR_SET_TSC, PR_TSC_ENABLE) in the program that set it; children inherit it"))
}

/// Checks that the vDSO can read the time. If the clock source is the counter of the CPU, or a
/// hypervisor clock based on it, the vDSO executes the same instruction and faults likewise.
pub fn vdso_permitted() -> Available {
    tsc_permitted().or_else(|why| {
        if vdso_reads_counter() {
            Err(why)
        } else {
            Ok(())
        }
    })
}

fn vdso_reads_counter() -> bool {
    super::machine::clock_source().is_none_or(|source| clock_sources::reads_counter(&source))
}

/// Checks that reading the time does not end this process, because [`regain_counter`] could not
/// restore the permission: a sandbox may refuse the call.
pub fn check_time_is_readable() -> Available {
    if is_permitted() {
        return Ok(());
    }
    vdso_permitted()
}
