//! The implementation for 32-bit Arm.

use std::sync::atomic::{Ordering, fence as memory_fence};

use super::chains::chains;

pub(crate) use super::absent::{declared_rate, trapping_instruction};
pub use super::absent::{hypervisor, identity};
pub use super::absent_counters::FencedInstruction;
pub use super::arm_counters::Cntvct as BareInstruction;
pub(crate) use super::hidden::*;

/// Orders loads and stores only. Other instructions may still cross it, because Armv6 lacks `isb`.
#[inline(always)]
pub fn fence() {
    memory_fence(Ordering::SeqCst);
}

chains!(3 operands, ["subs {left}, {left}, #1", "bne 2b"]);
