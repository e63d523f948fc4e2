//! 64-bit Arm.

use std::arch::asm;

use super::Instruction;
use super::chains::chains;
use crate::counters::Counter;
use crate::{Info, arm};

pub(crate) use super::absent::{declared_rate, trap};
#[allow(unused_imports, reason = "read only where the system has perf events")]
pub(crate) use super::absent::{has_rdpmc, rdpmc};
pub use super::absent::{hypervisor, identity};
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

// Options of the counters below. No `pure`: the same instruction answers differently each time. No
// `nomem`: loads and stores of the work between two reads shall stay between them.
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
                // SAFETY: the timer is opened only once the instruction has succeeded; they write
                // this register.
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
    // SAFETY: who may read the counter may read its frequency: one bit permits both
    // (CNTKCTL_EL1.EL0VCTEN, or EL0PCTEN).
    unsafe {
        asm!("mrs {hertz}, cntfrq_el0", hertz = out(reg) hertz, options(nomem, nostack, preserves_flags))
    };
    Some(hertz as f64)
}

crate::catalogue::list![
    Counter<Cntvct>,
    Counter<CntvctIsb>,
    Counter<Cntvctss>,
    Counter<Pmccntr>
];

pub use self::{Cntvct as Bare, CntvctIsb as Fenced};
