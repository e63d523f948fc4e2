//! 64-bit Arm.

use std::arch::asm;

use super::chains::chains;

pub(crate) use super::absent::{declared_rate, trap};
pub use super::absent::{hypervisor, identity};
pub use super::arm_counters::Cntvct as Bare;
pub use super::arm_counters::wide::CntvctIsb as Fenced;
pub(crate) use super::hidden::*;

/// Lets nothing that stands behind it begin before everything that stands before it has completed:
/// `isb` after a barrier for loads.
#[inline(always)]
pub fn fence() {
    // SAFETY: barriers change no register, no flag and no memory. `nomem` is not given, so that
    // loads and stores stay on their side.
    unsafe { asm!("dsb ld", "isb", options(nostack, preserves_flags)) };
}

macro_rules! add {
    ($register:literal) => {
        concat!(
            "add {", $register, "}, {", $register, "}, {", $register, "}"
        )
    };
}

chains!(add, ["subs {left}, {left}, #1", "b.ne 2b"], 4 of [a "a", b "b", c "c", d "d", e "e", f "f"]);
