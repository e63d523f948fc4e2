//! 64-bit Arm.

use std::arch::asm;

use super::Instruction;
use crate::counters::Counter;
use crate::{Info, arm};

pub(crate) use super::absent::trap;
#[allow(unused_imports, reason = "read only where the system has perf events")]
pub(crate) use super::absent::{has_rdpmc, rdpmc};
pub use super::absent::{hypervisor, identity};
pub(crate) use super::hidden::*;

/// Lets nothing that stands behind it begin before everything that stands before it has completed: `isb` after a barrier for
/// loads.
#[inline(always)]
pub fn fence() {
    // SAFETY: barriers change no register, no flag and no memory. `nomem` is not given, so that loads and stores stay on
    // their side.
    unsafe { asm!("dsb ld", "isb", options(nostack, preserves_flags)) };
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
            "b.ne 2b",
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
            "b.ne 2b",
            a = inout(reg) 1_usize => _, b = inout(reg) 1_usize => _, c = inout(reg) 1_usize => _,
            d = inout(reg) 1_usize => _, e = inout(reg) 1_usize => _, f = inout(reg) 1_usize => _,
            left = inout(reg) twenty_fours => _,
            options(nomem, nostack)
        );
    }
}

// Options of the counters below. No `pure`: the same instruction answers differently each time. No `nomem`: loads and stores of
// the work between two reads shall stay between them.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $info:ident, $hertz:expr, [$($instruction:literal),*];)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Instruction for $name {
            const INFO: Info = arm::$info;
            const TRAPS: bool = true;

            fn declared_hz() -> Option<f64> {
                $hertz
            }

            #[inline(always)]
            fn read() -> u64 {
                let count: u64;
                // SAFETY: whoever opened the timer has seen the instructions succeed; they write this register.
                unsafe { asm!($($instruction,)* count = out(reg) count, options(nostack, preserves_flags)) };
                count
            }
        }
    )*};
}

counters! {
    /// The virtual counter.
    Cntvct, CNTVCT, cntfrq(), ["mrs {count}, cntvct_el0"];
    /// Held back until everything before it has completed.
    CntvctIsb, CNTVCT_ISB, cntfrq(), ["isb", "mrs {count}, cntvct_el0"];
    /// The form that waits by itself, by its number: assemblers know it by name from Armv8.6 on.
    Cntvctss, CNTVCTSS, cntfrq(), ["mrs {count}, s3_3_c14_c0_6"];
    /// Cycles of the core.
    Pmccntr, PMCCNTR, None, ["mrs {count}, pmccntr_el0"];
}

/// What the firmware says to be the rate of the virtual counter.
fn cntfrq() -> Option<f64> {
    let hertz: u64;
    // SAFETY: who may read the counter may read its frequency: one bit permits both (CNTKCTL_EL1.EL0VCTEN, or EL0PCTEN).
    unsafe {
        asm!("mrs {hertz}, cntfrq_el0", hertz = out(reg) hertz, options(nomem, nostack, preserves_flags))
    };
    Some(hertz as f64)
}

crate::catalogue::list![Counter<Cntvct>, Counter<CntvctIsb>, Counter<Cntvctss>, Counter<Pmccntr>];

pub use self::{Cntvct as Bare, CntvctIsb as Fenced};
