//! The counters of RISC-V (Zicntr): time, cycles, instructions.
//!
//! What ticks: `time` is a clock that all harts share, at the constant rate that the device
//! tree declares (`timebase-frequency`), 1 to 25 MHz on most boards; `cycle` the cycles of the
//! hart and `instret` the instructions that it completed. Who may read them: `time` any
//! process, by an instruction that some CPUs hand to their firmware, which takes as long as a
//! system call; `cycle` and `instret` where the kernel permits it (mcounteren, scounteren),
//! which Linux has not done by itself since 6.6 (`kernel.perf_user_access`). Only an attempt
//! tells.
//!
//! How they lie: none of them waits for what stands before it, and `fence` makes it wait for
//! loads and stores only. Instructions are no time. Sources: *The RISC-V Instruction Set
//! Manual*, vol. I, "Zicntr"; Linux Documentation/admin-guide/sysctl/kernel.rst.

use super::arm_counters::CYCLES;
use crate::entry::clocks;
use crate::{Counted, Properties};

const INSTRUCTIONS: Properties = Properties {
    counts: Some(Counted::SomethingElse),
    ..CYCLES
};

clocks! { "RISC-V", target_arch = "riscv64";
    Counter<Rdtime>, "rdtime", "rdtime", None, Properties::COUNTER;
    Counter<RdtimeFence>, "rdtime-fence", "fence; rdtime", None, Properties::COUNTER;
    Counter<Rdcycle>, "rdcycle", "rdcycle", None, CYCLES;
    Counter<Rdinstret>, "rdinstret", "rdinstret", None, INSTRUCTIONS;
}

#[cfg(target_arch = "riscv64")]
pub use here::*;
#[cfg(target_arch = "riscv64")]
mod here {
    use std::arch::asm;

    use crate::arch::Instruction;
    pub(super) use crate::counters::Counter;

    const TIMEBASE: Option<&str> = Some("cpus/timebase-frequency");

    // No `pure`: the same instruction answers differently each time. No `nomem`: loads and stores of
    // the work between two reads shall stay between them.
    macro_rules! counters {
        ($($(#[$doc:meta])* $name:ident, $rate:expr, [$($instruction:literal),*];)*) => {$(
            $(#[$doc])*
            pub struct $name;

            impl Instruction for $name {
                const TRAPS: bool = true;
                const DEVICE_TREE: Option<&'static str> = $rate;

                #[inline(always)]
                fn read() -> u64 {
                    let count: u64;
                    // SAFETY: the timer is opened only once the instruction has succeeded; it writes
                    // this register.
                    unsafe { asm!($($instruction,)* count = out(reg) count, options(nostack, preserves_flags)) };
                    count
                }
            }
        )*};
    }

    counters! {
        /// The wall clock of all harts.
        Rdtime, TIMEBASE, ["csrr {count}, time"];
        /// Held back until the loads and stores before it have completed.
        RdtimeFence, TIMEBASE, ["fence iorw, iorw", "csrr {count}, time"];
        /// Cycles of the hart.
        Rdcycle, None, ["csrr {count}, cycle"];
        /// Instructions that the hart has retired.
        Rdinstret, None, ["csrr {count}, instret"];
    }
}
