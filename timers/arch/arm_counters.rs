//! The counters of Arm that user mode may be let read: the generic timer's virtual counter, and
//! the cycle counter.
//!
//! What ticks: CNTVCT, a counter of 56 bits or more that all CPUs share, less an offset that a
//! hypervisor sets. At what rate: a constant one, 1 to 100 MHz on most, 1 GHz from Armv8.6 on.
//! CNTFRQ says which, but that is a register that the firmware writes, or forgets to: it is
//! believed where the kernel's clock agrees. PMCCNTR counts cycles of the core, at whatever
//! frequency that has.
//!
//! Who may read them: CNTVCT any process, as the vDSO does, unless the kernel traps it to work
//! around an erratum of the counter, or `prctl(PR_SET_TSC)` forbade it (64-bit, since Linux
//! 6.12); in 32-bit programs on some kernels none. CNTVCTSS is there with FEAT_ECV (Armv8.6).
//! PMCCNTR where a kernel module or a debugger switched it on for user mode (PMUSERENR), which
//! Linux by itself does not. Only an attempt tells.
//!
//! How they lie: a read of CNTVCT waits for nothing before it and may be done early (Arm ARM,
//! D12.1); `isb` before it, or CNTVCTSS, holds it back. The counter moves in steps of the
//! timer's clock, or of a slower one by more than one tick. A CPU that sleeps may stop PMCCNTR,
//! and each CPU has its own. Sources: *Arm Architecture Reference Manual for A-profile*, D12
//! (Generic Timer) and D13 (PMU); Linux Documentation/arch/arm64/cpu-feature-registers.rst and
//! perf.rst.

use crate::entry::clocks;
use crate::{Counted, Family, Properties};

/// Cycles of one core, which are no time.
pub(crate) const CYCLES: Properties = Properties {
    family: Some(Family::PerfEvent),
    counts: Some(Counted::ThreadCycles),
    ..Properties::COUNTER
};

clocks! { "Arm", any(target_arch = "arm", target_arch = "aarch64");
    Counter<Cntvct>, "cntvct", "mrs CNTVCT_EL0", None, Properties::COUNTER;
}

#[cfg(any(target_arch = "arm", target_arch = "aarch64"))]
use crate::counters::Counter;
#[cfg(target_arch = "arm")]
pub use narrow::Cntvct;
#[cfg(target_arch = "aarch64")]
pub use wide::Cntvct;

/// What 32-bit Arm has: the counter came with Armv7's virtualization extensions.
#[cfg(target_arch = "arm")]
mod narrow {
    use std::arch::asm;

    use crate::arch::Instruction;

    /// The virtual counter.
    pub struct Cntvct;

    impl Instruction for Cntvct {
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
            // SAFETY: the timer is opened only once the instruction has succeeded; it writes these
            // two registers.
            unsafe {
                asm!("mrrc p15, 1, {low}, {high}, c14", low = out(reg) low, high = out(reg) high, options(nostack, preserves_flags));
            }
            u64::from(high) << 32 | u64::from(low)
        }
    }
}

/// What 64-bit Arm alone has, and the virtual counter there.
pub(crate) mod wide {
    use super::CYCLES;
    use crate::Properties;
    use crate::entry::clocks;

    const FENCED: Properties = Properties {
        needs_fence: Some(false),
        ..Properties::COUNTER
    };

    clocks! { "64-bit Arm", target_arch = "aarch64";
        Counter<CntvctIsb>, "cntvct-isb", "isb; mrs CNTVCT_EL0", None, FENCED;
        Counter<Cntvctss>, "cntvctss", "mrs CNTVCTSS_EL0", None, FENCED;
        Counter<Pmccntr>, "pmccntr", "mrs PMCCNTR_EL0", None, CYCLES;
    }

    #[cfg(target_arch = "aarch64")]
    pub use here::*;
    #[cfg(target_arch = "aarch64")]
    mod here {
        use std::arch::asm;

        use crate::arch::counters;
        pub(super) use crate::counters::Counter;

        counters! {
            /// The virtual counter.
            Cntvct, cntfrq(), ["mrs {count}, cntvct_el0"];
            /// Held back until everything before it has completed.
            CntvctIsb, cntfrq(), ["isb", "mrs {count}, cntvct_el0"];
            /// The form that waits by itself, by its number: assemblers know it by name from Armv8.6
            /// on.
            Cntvctss, cntfrq(), ["mrs {count}, s3_3_c14_c0_6"];
            /// Cycles of the core.
            Pmccntr, None, ["mrs {count}, pmccntr_el0"];
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
    }
}
