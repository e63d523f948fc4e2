//! Whether this process may read the counter of the CPU, by the instruction or through the vDSO.
//!
//! Who may not dies of each look at a clock of the system, the standard library's own included: a timeout, a temporary file. So this program
//! takes the permission back for itself, as any process may, remembers that it had none, and lists what needs it as not to be had.
//! Source: `PR_SET_TSC(2const)`.

use std::env;
use std::sync::OnceLock;

use libc::c_int;

use crate::Unavailable;

/// What tells those that this program starts that they would have none. A user has no use for it.
const REFUSED: &str = "TIMERMETER_COUNTER_REFUSED";

/// Takes back the permission to read the counter, where the parent process took it. To be called first, before there is any other
/// thread.
pub fn regain_counter() {
    if is_permitted() {
        return;
    }
    // SAFETY: this call takes plain integers and concerns the calling thread, from which all others come.
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
    // A kernel that does not know the question (some emulations of Linux, other processors) has not forbidden anything either.
    status != 0 || mode != libc::PR_TSC_SIGSEGV
}

/// Whether programs that are started as this one may read the counter of the CPU: the TSC, CNTVCT of 64-bit Arm since Linux 6.12.
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

/// Whether the vDSO can read the time: it does so with the counter of the CPU where that, or what a hypervisor builds on it, is the
/// clock source, and then faults wherever the instruction does.
pub fn vdso_permitted() -> Result<(), Unavailable> {
    const COUNTERS: [&str; 3] = ["tsc", "kvm-clock", "arch_sys_counter"];
    let Err(why) = tsc_permitted() else { return Ok(()) };
    match std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource") {
        Ok(source) if !COUNTERS.iter().any(|counter| source.contains(counter)) => Ok(()),
        _ => Err(why),
    }
}
