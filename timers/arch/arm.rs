//! 32-bit Arm.

use std::arch::asm;
use std::sync::atomic::{Ordering, fence as memory_fence};

use super::Instruction;
use crate::counters::Counter;
use crate::{Info, arm};

pub(crate) use super::absent::trap;
pub use super::absent::{Fenced, hypervisor, identity};
#[allow(unused_imports, reason = "read only where the system has perf events")]
pub(crate) use super::absent::{has_rdpmc, rdpmc};
pub(crate) use super::hidden::*;

/// Keeps the compiler and the memory from reordering. Not `isb`, which Armv6 lacks: instructions may still begin before it.
#[inline(always)]
pub fn fence() {
    memory_fence(Ordering::SeqCst);
}

/// Whether the additions below take a cycle each.
pub(crate) const COUNTS_CYCLES: bool = true;

/// Sixteen additions at a time, each of which waits for the one before. The loop is part of the block, so that not even an
/// unoptimised build keeps the sum in memory.
#[inline(always)]
pub(crate) fn dependent_additions(sixteens: usize) {
    // SAFETY: register additions and a jump back; nothing else is touched. `nomem` and `nostack` hold, flags are
    // clobbered (so `preserves_flags` is not given), and without `pure` the block is not removed.
    unsafe {
        asm!(
            "2:",
            ".rept 16",
            "add {sum}, {sum}, {sum}",
            ".endr",
            "subs {left}, {left}, #1",
            "bne 2b",
            sum = inout(reg) 1_usize => _,
            left = inout(reg) sixteens => _,
            options(nomem, nostack)
        );
    }
}

/// Twenty-four additions at a time, of which six in a row do not wait for each other.
#[inline(always)]
pub(crate) fn independent_additions(twenty_fours: usize) {
    // SAFETY: as above.
    unsafe {
        asm!(
            "2:",
            ".rept 4",
            "add {a}, {a}, {a}",
            "add {b}, {b}, {b}",
            "add {c}, {c}, {c}",
            "add {d}, {d}, {d}",
            "add {e}, {e}, {e}",
            "add {f}, {f}, {f}",
            ".endr",
            "subs {left}, {left}, #1",
            "bne 2b",
            a = inout(reg) 1_usize => _, b = inout(reg) 1_usize => _, c = inout(reg) 1_usize => _,
            d = inout(reg) 1_usize => _, e = inout(reg) 1_usize => _, f = inout(reg) 1_usize => _,
            left = inout(reg) twenty_fours => _,
            options(nomem, nostack)
        );
    }
}

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
        // SAFETY: whoever opened the timer has seen the instruction succeed; it writes these two registers. No `pure` and no
        // `nomem`: it answers differently each time, and the work between two reads shall stay between them.
        unsafe {
            asm!("mrrc p15, 1, {low}, {high}, c14", low = out(reg) low, high = out(reg) high, options(nostack, preserves_flags));
        }
        u64::from(high) << 32 | u64::from(low)
    }
}

crate::catalogue::list![Counter<Cntvct>];

pub use self::Cntvct as Bare;
