//! The counters of RISC-V (Zicntr): time, cycles, instructions.
//!
//! What ticks: `time` is a clock that all harts share, at the constant rate that the device tree declares (`timebase-frequency`), 1 to 25 MHz on
//! most boards; `cycle` the cycles of the hart and `instret` the instructions that it completed. Who may read them: `time` any process,
//! by an instruction that some CPUs hand to their firmware, which takes as long as a system call; `cycle` and `instret` where the kernel
//! permits it (mcounteren, scounteren), which Linux has not done by itself since 6.6 (`kernel.perf_user_access`). Only an attempt tells.
//!
//! How they lie: none of them waits for what stands before it, and `fence` makes it wait for loads and stores only. Instructions are no
//! time. Sources: *The RISC-V Instruction Set Manual*, vol. I, "Zicntr"; Linux Documentation/admin-guide/sysctl/kernel.rst.

use crate::properties::infos;
use crate::{Counts, Info, Properties, arm};

const INSTRUCTIONS: Properties = Properties { counts: Some(Counts::SomethingElse), ..arm::CYCLES };

infos! {
    RDTIME, "rdtime", "rdtime", None, Properties::COUNTER;
    RDTIME_FENCE, "rdtime-fence", "fence; rdtime", None, Properties::COUNTER;
    RDCYCLE, "rdcycle", "rdcycle", None, arm::CYCLES;
    RDINSTRET, "rdinstret", "rdinstret", None, INSTRUCTIONS;
}
