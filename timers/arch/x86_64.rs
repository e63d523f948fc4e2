//! x86-64. Sources: Intel, *Software Developer's Manual*, vol. 2; AMD, *Architecture Programmer's Manual*, vol. 3.

mod hypervisor;
mod identity;

use std::arch::asm;
use std::arch::x86_64::__cpuid;

pub use hypervisor::hypervisor;
pub use identity::identity;

/// Lets nothing that stands behind it begin before everything that stands before it has completed: `lfence` (Intel SDM
/// vol. 2A; on AMD where it is dispatch-serialising, which Linux switches on).
#[inline(always)]
pub fn fence() {
    // SAFETY: LFENCE belongs to SSE2, which all of x86-64 has; it changes no register, no flag and no memory. `nomem` is
    // not given, so that loads and stores stay on their side.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

/// Whether the additions below take a cycle each.
pub(crate) const COUNTS_CYCLES: bool = true;

/// Sixteen additions, each of which waits for the one before.
#[inline(always)]
pub(crate) fn sixteen_additions(state: u64) -> u64 {
    let mut state = state;
    // SAFETY: sixteen register additions; nothing else is touched. `nomem` and `nostack` hold, flags are
    // clobbered (so `preserves_flags` is not given), and without `pure` the block is not removed.
    unsafe {
        asm!(".rept 16", "add {state}, {state}", ".endr", state = inout(reg) state, options(nomem, nostack));
    }
    state
}

/// Four additions to each of six values that do not wait for each other.
#[inline(always)]
pub(crate) fn four_additions_each([mut a, mut b, mut c, mut d, mut e, mut f]: [u64; 6]) -> [u64; 6] {
    // SAFETY: register additions; nothing else is touched. Options as above.
    unsafe {
        asm!(
            ".rept 4",
            "add {a}, {a}",
            "add {b}, {b}",
            "add {c}, {c}",
            "add {d}, {d}",
            "add {e}, {e}",
            "add {f}, {f}",
            ".endr",
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c,
            d = inout(reg) d, e = inout(reg) e, f = inout(reg) f,
            options(nomem, nostack)
        );
    }
    [a, b, c, d, e, f]
}

// Options of the counters below. No `pure`: the same instruction answers differently each time, and without it a
// block is neither removed nor merged with another nor moved out of a loop. No `nomem`: loads and stores of the
// work between two reads shall stay between them. `nostack`: nothing is pushed. `preserves_flags`: none of the
// instructions writes RFLAGS.

#[inline(always)]
pub(crate) fn rdtsc() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: whoever opened the timer found the instruction and the right to use it. It writes EAX and EDX and clears
    // the upper halves of both registers.
    unsafe {
        asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    high << 32 | low
}

#[inline(always)]
pub(crate) fn lfence_rdtsc() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as for `rdtsc`; LFENCE belongs to SSE2, which all of x86-64 has, and changes no register.
    unsafe {
        asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    high << 32 | low
}

#[inline(always)]
pub(crate) fn rdtscp() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as for `rdtsc`; ECX receives IA32_TSC_AUX, which nobody wants here.
    unsafe {
        asm!("rdtscp", out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// Reads a performance counter. It faults where the kernel does not permit it or there is no such counter.
#[inline(always)]
#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn rdpmc(counter: u32) -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: the caller knows from the kernel that the instruction is permitted, and the counter. It takes ECX, writes
    // EAX and EDX and clears the upper halves of both.
    unsafe {
        asm!("rdpmc", in("ecx") counter, out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// Whether there is an instruction that reads the counters of perf events.
#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn has_rdpmc() -> Result<(), &'static str> {
    Ok(())
}

/// Whether the CPU has a time-stamp counter.
pub(crate) fn has_tsc() -> Result<(), &'static str> {
    let has = cpuid(1).edx & 1 << 4 != 0;
    has.then_some(()).ok_or("this CPU has no time-stamp counter (CPUID 1, EDX bit 4)")
}

/// Whether the CPU has RDTSCP.
pub(crate) fn has_rdtscp() -> Result<(), &'static str> {
    // Leaf 8000_0000H names the last one that may be asked.
    let has = cpuid(0x8000_0000).eax >= 0x8000_0001 && cpuid(0x8000_0001).edx & 1 << 27 != 0;
    has.then_some(()).ok_or("this CPU has no RDTSCP (CPUID 8000_0001H, EDX bit 27)")
}

/// An instruction that a hypervisor has to carry out: CPUID, which traps on Intel VT-x always and on AMD-V wherever the
/// hypervisor says so, as all do. `None` on bare metal.
pub(crate) fn trap() -> Option<fn() -> u64> {
    /// Leaf 1, ECX bit 31: somebody else runs beneath this system.
    const HYPERVISOR: u32 = 1 << 31;
    (cpuid(1).ecx & HYPERVISOR != 0).then_some(|| cpuid(0).eax.into())
}

#[allow(unused_unsafe, reason = "__cpuid is a safe function in newer releases of the standard library")]
fn cpuid(leaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 CPU has CPUID; it changes nothing.
    unsafe { __cpuid(leaf) }
}
