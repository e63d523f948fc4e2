//! The counters of Arm that user mode may be let read: the generic timer's virtual counter, and the cycle counter.
//!
//! What ticks: CNTVCT, a counter of 56 bits or more that all CPUs share, less an offset that a hypervisor sets. At what rate: a constant one,
//! 1 to 100 MHz on most, 1 GHz from Armv8.6 on. CNTFRQ says which, but that is a register that the firmware writes, or forgets to:
//! it is believed where the kernel's clock agrees. PMCCNTR counts cycles of the core, at whatever frequency that has.
//!
//! Who may read them: CNTVCT any process, as the vDSO does, unless the kernel traps it to work around an erratum of the counter, or
//! `prctl(PR_SET_TSC)` forbade it (64-bit, since Linux 6.12); in 32-bit programs on some kernels none. CNTVCTSS is there with FEAT_ECV (Armv8.6). PMCCNTR
//! where a kernel module or a debugger switched it on for user mode (PMUSERENR), which Linux by itself does not. Only an attempt tells.
//!
//! How they lie: a read of CNTVCT waits for nothing before it and may be done early (Arm ARM, D12.1); `isb` before it, or CNTVCTSS, holds it back. The
//! counter moves in steps of the timer's clock, or of a slower one by more than one tick. A CPU that sleeps may stop PMCCNTR, and
//! each CPU has its own. Sources: *Arm Architecture Reference Manual for A-profile*, D12 (Generic Timer) and D13 (PMU); Linux
//! Documentation/arch/arm64/cpu-feature-registers.rst and perf.rst.

use crate::properties::infos;
use crate::{Counts, Family, Info, Properties};

const FENCED: Properties = Properties { needs_fence: Some(false), ..Properties::COUNTER };
/// Cycles of one core, which are no time.
pub(crate) const CYCLES: Properties =
    Properties { family: Some(Family::PerfEvent), counts: Some(Counts::ThreadCycles), ..Properties::COUNTER };

infos! {
    CNTVCT, "cntvct", "mrs CNTVCT_EL0", None, Properties::COUNTER;
    CNTVCT_ISB, "cntvct-isb", "isb; mrs CNTVCT_EL0", None, FENCED;
    CNTVCTSS, "cntvctss", "mrs CNTVCTSS_EL0", None, FENCED;
    PMCCNTR, "pmccntr", "mrs PMCCNTR_EL0", None, CYCLES;
}
