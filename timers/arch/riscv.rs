//! RISC-V.

use std::arch::asm;

use super::Instruction;
use super::chains::chains;
use crate::counters::Counter;
use crate::{Info, riscv};

pub(crate) use super::absent::{declared_rate, trap};
#[allow(unused_imports, reason = "read only where the system has perf events")]
pub(crate) use super::absent::{has_rdpmc, rdpmc};
pub use super::absent::{hypervisor, identity};
pub(crate) use super::hidden::*;

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

// Options of the counters below. No `pure`: the same instruction answers differently each time. No
// `nomem`: loads and stores of the work between two reads shall stay between them.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $info:ident, $rate:expr, $low:literal, $high:literal, $before:literal;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Instruction for $name {
            const INFO: Info = riscv::$info;
            const TRAPS: bool = true;
            const DEVICE_TREE: Option<&'static str> = $rate;

            #[cfg(target_arch = "riscv64")]
            #[inline(always)]
            fn read() -> u64 {
                let count: u64;
                // SAFETY: the timer is opened only once the instruction has succeeded; it writes
                // this register.
                unsafe { asm!($before, concat!("csrr {count}, ", $low), count = out(reg) count, options(nostack, preserves_flags)) };
                count
            }

            /// By halves: the upper one again, in case the lower one wrapped meanwhile (the
            /// manual's own recipe).
            #[cfg(target_arch = "riscv32")]
            #[inline(always)]
            fn read() -> u64 {
                let (low, high): (u32, u32);
                // SAFETY: as on 64 bits; it writes these registers.
                unsafe {
                    asm!(
                        $before,
                        "2:",
                        concat!("csrr {high}, ", $high),
                        concat!("csrr {low}, ", $low),
                        concat!("csrr {again}, ", $high),
                        "bne {high}, {again}, 2b",
                        low = out(reg) low, high = out(reg) high, again = out(reg) _,
                        options(nostack, preserves_flags)
                    );
                }
                u64::from(high) << 32 | u64::from(low)
            }
        }
    )*};
}

const TIMEBASE: Option<&str> = Some("cpus/timebase-frequency");

counters! {
    /// The wall clock of all harts.
    Rdtime, RDTIME, TIMEBASE, "time", "timeh", "";
    /// Held back until the loads and stores before it have completed.
    RdtimeFence, RDTIME_FENCE, TIMEBASE, "time", "timeh", "fence iorw, iorw";
    /// Cycles of the hart.
    Rdcycle, RDCYCLE, None, "cycle", "cycleh", "";
    /// Instructions that the hart has retired.
    Rdinstret, RDINSTRET, None, "instret", "instreth", "";
}

crate::catalogue::list![
    Counter<Rdtime>,
    Counter<RdtimeFence>,
    Counter<Rdcycle>,
    Counter<Rdinstret>
];

pub use self::{Rdtime as Bare, RdtimeFence as Fenced};
