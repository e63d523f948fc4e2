//! The implementation for 64-bit Arm.

mod absent;
mod chains;
mod hidden;

use std::arch::asm;

use chains::chains;

pub use super::arm_counters::Cntvct as BareInstruction;
pub use super::arm_counters::CntvctIsb as FencedInstruction;
pub(crate) use absent::{declared_rate, trapping_instruction};
pub use absent::{hypervisor, identity};
pub(crate) use hidden::*;

/// Keeps all later instructions from beginning before all earlier ones have completed:
/// `isb` after a barrier for loads.
#[inline(always)]
pub fn fence() {
    // SAFETY: barriers change no register, flag or memory. `nomem` is not given, so that the
    // compiler does not move loads and stores across the barrier.
    unsafe { asm!("dsb ld", "isb", options(nostack, preserves_flags)) };
}

chains!(3 operands, ["subs {left}, {left}, #1", "b.ne 2b"]);
