//! RISC-V.

use std::arch::asm;

use super::chains::chains;

pub(crate) use super::absent::{declared_rate, trap};
pub use super::absent::{hypervisor, identity};
pub(crate) use super::hidden::*;
pub use super::riscv_counters::{Rdtime as Bare, RdtimeFence as Fenced};

/// Lets no load, store or read of a counter that stands behind it begin before all loads and stores
/// that stand before it have completed: reads of counters are ordered as input from a device
/// (manual, vol. I, "CSR Access Ordering"). Nothing holds back what touches neither memory nor
/// counters.
#[inline(always)]
pub fn fence() {
    // SAFETY: a barrier changes no register and no memory. `nomem` is not given, so that loads and
    // stores stay on their side.
    unsafe { asm!("fence iorw, iorw", options(nostack, preserves_flags)) };
}

macro_rules! add {
    ($register:literal) => {
        concat!(
            "add {", $register, "}, {", $register, "}, {", $register, "}"
        )
    };
}

chains!(add, ["addi {left}, {left}, -1", "bnez {left}, 2b"], 4 of [a "a", b "b", c "c", d "d", e "e", f "f"]);
