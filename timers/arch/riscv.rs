//! The implementation for RISC-V.

mod absent;
mod chains;
mod hidden;

use std::arch::asm;

use chains::chains;

pub use super::riscv_counters::{Rdtime as BareInstruction, RdtimeFence as FencedInstruction};
pub(crate) use absent::{declared_rate, trapping_instruction};
pub use absent::{hypervisor, identity};
pub(crate) use hidden::*;

/// Keeps later loads, stores and reads of counters from beginning before all earlier loads and
/// stores have completed: reads of counters are ordered as device input (manual, vol. I, "CSR
/// Access Ordering"). Other instructions are not ordered.
#[inline(always)]
pub fn fence() {
    // SAFETY: a barrier changes no register and no memory. `nomem` is not given, so that the
    // compiler does not move loads and stores across the barrier.
    unsafe { asm!("fence iorw, iorw", options(nostack, preserves_flags)) };
}

chains!(3 operands, ["addi {left}, {left}, -1", "bnez {left}, 2b"]);
