//! 32-bit Arm.

use std::arch::asm;
use std::sync::atomic::{Ordering, fence as memory_fence};

use super::Instruction;
use super::chains::chains;
use crate::counters::Counter;
use crate::{Info, arm};

pub use super::absent::{Fenced, hypervisor, identity};
pub(crate) use super::absent::{declared_rate, trap};
#[allow(unused_imports, reason = "read only where the system has perf events")]
pub(crate) use super::absent::{has_rdpmc, rdpmc};
pub(crate) use super::hidden::*;

/// Keeps the compiler and the memory from reordering. Not `isb`, which Armv6 lacks: instructions
/// may still begin before it.
#[inline(always)]
pub fn fence() {
    memory_fence(Ordering::SeqCst);
}

macro_rules! add {
    ($register:literal) => {
        concat!(
            "add {", $register, "}, {", $register, "}, {", $register, "}"
        )
    };
}

chains!(add, ["subs {left}, {left}, #1", "bne 2b"], 4 of [a "a", b "b", c "c", d "d", e "e", f "f"]);

/// The virtual counter, which came with Armv7's virtualization extensions.
pub struct Cntvct;

impl Instruction for Cntvct {
    const INFO: Info = arm::CNTVCT;
    const TRAPS: bool = true;

    fn declared_hz() -> Option<f64> {
        let hertz: u32;
        // SAFETY: who may read the counter may read its frequency (CNTKCTL.PL0VCTEN).
        unsafe {
            asm!("mrc p15, 0, {hertz}, c14, c0, 0", hertz = out(reg) hertz, options(nomem, nostack, preserves_flags))
        };
        Some(hertz.into())
    }

    #[inline(always)]
    fn read() -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: the timer is opened only once the instruction has succeeded; it writes these two
        // registers. No `pure` and no `nomem`: it answers differently each time, and the work
        // between two reads shall stay between them.
        unsafe {
            asm!("mrrc p15, 1, {low}, {high}, c14", low = out(reg) low, high = out(reg) high, options(nostack, preserves_flags));
        }
        u64::from(high) << 32 | u64::from(low)
    }
}

crate::catalogue::list![Counter<Cntvct>];

pub use self::Cntvct as Bare;
