//! The calls that read clocks, and whether they may be made.
//!
//! Whether this process may read the counter of the CPU, by the instruction or through the vDSO.
//!
//! Who may not dies of each look at a clock of the system, the standard library's own included: a
//! timeout, a temporary file. So this program takes the permission back for itself, as any process
//! may, remembers that it had none, and lists what needs it as not to be had. Source:
//! `PR_SET_TSC(2const)`.

use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::{env, io};

pub use libc::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW,
    CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI,
    CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD,
};
use libc::{c_int, c_long, clockid_t, timespec};

use crate::Unavailable;
use crate::os::posix::Route;
pub use crate::os::unix::time;

/// The function of libc, hence the vDSO where there is one.
pub struct Libc;

impl Route for Libc {
    fn permitted(clock: clockid_t) -> Result<(), Unavailable> {
        match clock {
            // Of these the vDSO only copies what the timer interrupt left; or it makes the system
            // call.
            CLOCK_MONOTONIC_COARSE
            | CLOCK_REALTIME_COARSE
            | CLOCK_PROCESS_CPUTIME_ID
            | CLOCK_THREAD_CPUTIME_ID => Ok(()),
            _ => vdso_permitted(),
        }
    }
}

/// The system call past the vDSO. By the instruction itself rather than by libc's `syscall()`,
/// whose shuffling of seven registers and setting of `errno` would be measured along.
pub struct Kernel;

impl Route for Kernel {
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

    /// Where the instruction differs from one processor to the next (32-bit x86), or its registers
    /// are taken (Arm in Thumb).
    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )))]
    #[inline(always)]
    fn clock_gettime(clock: clockid_t, time: &mut MaybeUninit<timespec>) -> c_long {
        // SAFETY: the pointer is valid for a timespec.
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

    fn permitted(_clock: clockid_t) -> Result<(), Unavailable> {
        Ok(())
    }
}

/// A call that the system refused, in its own words.
pub fn refused(call: &str, error: &io::Error) -> Unavailable {
    let why = Unavailable::because(format!("{call}: {error}"));
    match error.raw_os_error() {
        Some(libc::EINVAL) => why.remedy("this clock needs a later release of Linux"),
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => why.remedy(
            "a seccomp filter (of a container, a sandbox) may forbid the call; run outside it",
        ),
        _ => why,
    }
}

/// The cheapest system call there is: it looks at one word.
#[inline(always)]
pub fn cheapest_call() -> u64 {
    // SAFETY: no arguments, no preconditions.
    unsafe { libc::syscall(libc::SYS_getppid) as u64 }
}

/// What tells those that this program starts that they would have none. A user has no use for it.
const REFUSED: &str = "TIMERMETER_COUNTER_REFUSED";

/// Takes back the permission to read the counter, where the parent process took it. To be called
/// first, before there is any other thread.
pub fn regain_counter() {
    if is_permitted() {
        return;
    }
    // SAFETY: this call takes plain integers and concerns the calling thread, from which all others
    // come.
    let status = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) };
    if status == 0 {
        // SAFETY: by the promise of the caller no other thread reads the environment meanwhile.
        unsafe { env::set_var(REFUSED, "1") };
    }
}

fn is_permitted() -> bool {
    let mut mode: c_int = 0;
    // SAFETY: PR_GET_TSC writes one int through its second argument.
    let status = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    // A kernel that does not know the question (some emulations of Linux, other processors) has not
    // forbidden anything either.
    status != 0 || mode != libc::PR_TSC_SIGSEGV
}

/// Whether programs that are started as this one may read the counter of the CPU: the TSC, CNTVCT
/// of 64-bit Arm since Linux 6.12.
pub fn tsc_permitted() -> Result<(), Unavailable> {
    static WAS_REFUSED: OnceLock<bool> = OnceLock::new();
    if !*WAS_REFUSED.get_or_init(|| env::var_os(REFUSED).is_some()) && is_permitted() {
        return Ok(());
    }
    Err(Unavailable::because(
        "this process may not read the counter of the CPU: prctl(PR_SET_TSC, PR_TSC_SIGSEGV) is in force",
    )
    .remedy("undo it with prctl(PR_SET_TSC, PR_TSC_ENABLE) in the program that set it; children inherit it"))
}

/// Whether the vDSO can read the time: it does so with the counter of the CPU where that, or what a
/// hypervisor builds on it, is the clock source, and then faults wherever the instruction does.
pub fn vdso_permitted() -> Result<(), Unavailable> {
    let Err(why) = tsc_permitted() else {
        return Ok(());
    };
    match std::fs::read_to_string(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ) {
        Ok(source) if !crate::clock_sources::reads_counter(source.trim()) => Ok(()),
        _ => Err(why),
    }
}
