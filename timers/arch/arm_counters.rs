//! The counters of Arm that user mode may be permitted to read: the virtual counter of the generic
//! timer, and the cycle counter.
//!
//! What ticks: CNTVCT is a counter of 56 bits or more that all CPUs share, less an offset set by
//! the hypervisor. At what rate: a constant one, 1 to 100 MHz on most machines, 1 GHz since
//! Armv8.6. The register CNTFRQ declares the rate, but some firmware does not set it correctly; the
//! value is used only if the kernel's clock confirms it. PMCCNTR counts cycles of the core, whose
//! frequency varies.
//!
//! Who may read them: CNTVCT any process, as the vDSO does, unless the kernel traps it to work
//! around an erratum of the counter, or `prctl(PR_SET_TSC)` forbade it (since Linux 6.12).
//! CNTVCTSS exists with FEAT_ECV (Armv8.6). PMCCNTR is readable only if a kernel module or a debugger enabled it for user mode (PMUSERENR), which Linux
//! itself does not. Only an attempt shows whether a read is permitted.
//!
//! How they lie: a read of CNTVCT does not wait for earlier instructions and may be executed early
//! (Arm ARM, D12.1); `isb` before it, or CNTVCTSS, prevents this. The counter is incremented with
//! the timer's clock, on some machines with a slower clock by several ticks. PMCCNTR is per CPU and
//! may stop while the CPU sleeps. Sources: *Arm Architecture Reference Manual for A-profile*, D12
//! (Generic Timer) and D13 (PMU); Linux Documentation/arch/arm64/cpu-feature-registers.rst and
//! perf.rst.

use crate::entry::clocks;
use crate::{Counted, Family, Properties};

/// A counter of the cycles of one core.
pub(crate) const CYCLES: Properties = Properties {
    family: Some(Family::PerfEvent),
    counts: Some(Counted::ThreadCycles),
    ..Properties::COUNTER
};

const FENCED: Properties = Properties {
    needs_fence: Some(false),
    ..Properties::COUNTER
};

clocks! { "64-bit Arm", target_arch = "aarch64";
    InstructionCounter<Cntvct>, "cntvct", "mrs CNTVCT_EL0", None, Properties::COUNTER;
    InstructionCounter<CntvctIsb>, "cntvct-isb", "isb; mrs CNTVCT_EL0", None, FENCED;
    InstructionCounter<Cntvctss>, "cntvctss", "mrs CNTVCTSS_EL0", None, FENCED;
    InstructionCounter<Pmccntr>, "pmccntr", "mrs PMCCNTR_EL0", None, CYCLES;
}

#[cfg(target_arch = "aarch64")]
pub use here::*;
#[cfg(target_arch = "aarch64")]
mod here {
    use std::arch::asm;

    use crate::arch::counters;
    pub(super) use crate::counters::InstructionCounter;

    counters! {
        /// The virtual counter.
        Cntvct, cntfrq(), ["mrs {count}, cntvct_el0"];
        /// The virtual counter, read after all earlier instructions have completed.
        CntvctIsb, cntfrq(), ["isb", "mrs {count}, cntvct_el0"];
        /// The self-synchronising form of the virtual counter. The register is given by its
        /// number, because assemblers know the name only with Armv8.6 enabled.
        Cntvctss, cntfrq(), ["mrs {count}, s3_3_c14_c0_6"];
        /// The cycles of the core.
        Pmccntr, None, ["mrs {count}, pmccntr_el0"];
    }

    /// The rate of the virtual counter in hertz, as declared by the firmware.
    fn cntfrq() -> Option<f64> {
        let hertz: u64;
        // SAFETY: this function is called only if the counter is readable, and the same bit
        // (CNTKCTL_EL1.EL0VCTEN or EL0PCTEN) permits both reads.
        unsafe {
            asm!("mrs {hertz}, cntfrq_el0", hertz = out(reg) hertz, options(nomem, nostack, preserves_flags))
        };
        Some(hertz as f64)
    }
}
