//! The implementation for x86: 64-bit, and 32-bit with SSE2. Sources: Intel, *Software Developer's
//! Manual*, vol. 2; AMD, *Architecture Programmer's Manual*, vol. 3.

mod chains;
mod hidden;
#[path = "x86/hypervisor.rs"]
mod hypervisor;
#[path = "x86/identity.rs"]
mod identity;

use std::arch::asm;

use raw_cpuid::cpuid;

use chains::chains;

pub use hypervisor::hypervisor;
pub(crate) use identity::declared_rate;
pub use identity::identity;

pub use super::x86_counters::{Rdtsc as BareInstruction, RdtscLfence as FencedInstruction};
pub(crate) use hidden::*;

/// Keeps all later instructions from beginning before all earlier ones have completed:
/// `lfence` (Intel SDM vol. 2A; on AMD if it is dispatch-serialising, which Linux enables).
#[inline(always)]
pub fn fence() {
    // SAFETY: LFENCE belongs to SSE2, which all x86 targets of Rust have; it changes no register,
    // flag or memory. `nomem` is not given, so that the compiler does not move loads and stores
    // across the fence.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "x86_64")]
chains!(2 operands, ["dec {left}", "jnz 2b"]);
// 32-bit x86 has too few registers for six.
#[cfg(target_arch = "x86")]
chains!(2 operands, ["dec {left}", "jnz 2b"], 6 of [a "a", b "b", c "c", d "d"]);

/// An instruction that a hypervisor has to emulate: CPUID, which always traps on Intel VT-x, and on
/// AMD-V if the hypervisor requests it, as all hypervisors do. `None` on bare metal.
pub(crate) fn trapping_instruction() -> Option<fn() -> u64> {
    /// Leaf 1, ECX bit 31: this system runs on a hypervisor.
    const HYPERVISOR: u32 = 1 << 31;
    (cpuid!(1).ecx & HYPERVISOR != 0).then_some(|| cpuid!(0).eax.into())
}
