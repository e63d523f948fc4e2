//! x86, of 64 bits and of 32 with SSE2. Sources: Intel, *Software Developer's Manual*, vol. 2; AMD,
//! *Architecture Programmer's Manual*, vol. 3.

mod hypervisor;
mod identity;

use std::arch::asm;

use raw_cpuid::cpuid;

use super::chains::chains;

pub use hypervisor::hypervisor;
pub(crate) use identity::declared_rate;
pub use identity::identity;

pub(crate) use super::hidden::*;
pub use super::x86_counters::{Rdtsc as Bare, RdtscLfence as Fenced};

/// Lets nothing that stands behind it begin before everything that stands before it has completed:
/// `lfence` (Intel SDM vol. 2A; on AMD where it is dispatch-serialising, which Linux switches on).
#[inline(always)]
pub fn fence() {
    // SAFETY: LFENCE belongs to SSE2, which Rust takes for granted; it changes no register, no flag
    // and no memory. `nomem` is not given, so that loads and stores stay on their side.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

macro_rules! add {
    ($register:literal) => {
        concat!("add {", $register, "}, {", $register, "}")
    };
}

#[cfg(target_arch = "x86_64")]
chains!(add, ["dec {left}", "jnz 2b"], 4 of [a "a", b "b", c "c", d "d", e "e", f "f"]);
// There are no more registers.
#[cfg(target_arch = "x86")]
chains!(add, ["dec {left}", "jnz 2b"], 6 of [a "a", b "b", c "c", d "d"]);

/// An instruction that a hypervisor has to carry out: CPUID, which traps on Intel VT-x always and
/// on AMD-V wherever the hypervisor says so, as all do. `None` on bare metal.
pub(crate) fn trap() -> Option<fn() -> u64> {
    /// Leaf 1, ECX bit 31: a hypervisor runs beneath this system.
    const HYPERVISOR: u32 = 1 << 31;
    (cpuid!(1).ecx & HYPERVISOR != 0).then_some(|| cpuid!(0).eax.into())
}
