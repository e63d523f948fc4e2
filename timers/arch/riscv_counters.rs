//! The counters of RISC-V (Zicntr): time, cycles, instructions.
//!
//! What ticks: `time` is a clock that all harts (hardware threads) share, at the constant rate that
//! the device tree declares (`timebase-frequency`), 1 to 25 MHz on most boards; `cycle` counts the
//! cycles of the hart and `instret` the completed instructions. Who may read them: `time` any
//! process, by an instruction that on some CPUs traps to the firmware, which takes as long as a
//! system call; `cycle` and `instret` only if the kernel permits it (mcounteren, scounteren), which
//! Linux does not by default since 6.6 (`kernel.perf_user_access`). Only an attempt shows whether a
//! read is permitted.
//!
//! How they lie: a read does not wait for earlier instructions; `fence` before it makes it wait for
//! loads and stores only. Sources: *The RISC-V Instruction Set
//! Manual*, vol. I, "Zicntr"; Linux Documentation/admin-guide/sysctl/kernel.rst.

use super::arm_counters::CYCLES;
use crate::entry::clocks;
use crate::{Counted, Properties};

const INSTRUCTIONS: Properties = Properties {
    counts: Some(Counted::SomethingElse),
    ..CYCLES
};

clocks! { "RISC-V", target_arch = "riscv64";
    InstructionCounter<Rdtime>, "rdtime", "rdtime", None, Properties::COUNTER;
    InstructionCounter<RdtimeFence>, "rdtime-fence", "fence; rdtime", None, Properties::COUNTER;
    InstructionCounter<Rdcycle>, "rdcycle", "rdcycle", None, CYCLES;
    InstructionCounter<Rdinstret>, "rdinstret", "rdinstret", None, INSTRUCTIONS;
}

#[cfg(target_arch = "riscv64")]
pub use here::*;
#[cfg(target_arch = "riscv64")]
mod here {
    use std::fs;

    use crate::arch::counters;
    pub(super) use crate::counters::InstructionCounter;

    counters! {
        /// The clock that all harts share.
        Rdtime, timebase(), ["csrr {count}, time"];
        /// The clock, read after all earlier loads and stores have completed.
        RdtimeFence, timebase(), ["fence iorw, iorw", "csrr {count}, time"];
        /// The cycles of the hart.
        Rdcycle, None, ["csrr {count}, cycle"];
        /// The completed instructions of the hart.
        Rdinstret, None, ["csrr {count}, instret"];
    }

    /// The rate of `time` in hertz, as the device tree declares it: one or two 32-bit words, most
    /// significant byte first. `None` if not declared.
    fn timebase() -> Option<f64> {
        let bytes = fs::read("/proc/device-tree/cpus/timebase-frequency").ok()?;
        let number = bytes
            .iter()
            .fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
        matches!(bytes.len(), 4 | 8).then_some(number as f64)
    }
}
