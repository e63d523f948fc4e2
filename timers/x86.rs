//! The time-stamp counter of x86, read by its own instructions.
//!
//! What ticks: a 64-bit counter of each logical CPU, zero at reset. At what rate: on CPUs with an *invariant* TSC
//! (CPUID 8000_0007H, EDX bit 8) a constant one, whatever the frequency of the core; it is near the nominal
//! frequency but not declared, hence no `ns_per_tick`. Before about 2008 it counted core cycles. A hypervisor
//! may scale and offset it. Some CPUs advance it in strides (the product of base clock and multiplier) rather
//! than by one.
//!
//! Who may read it: any process, unless the process gave that up or lost it: `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)`
//! (`PR_SET_TSC(2const)`), and seccomp's strict mode, make the instructions fault, and with them whatever uses them:
//! the vDSO too crashes then, which is why the clocks that go through it ask [`vdso_permitted`](crate::os::clocks::vdso_permitted).
//!
//! How it lies: `rdtsc` waits for nothing, so work that stands before it may still be under way when it reads, and
//! work behind it may have begun. Between threads it may run before the very load that brought the other thread's
//! message, and so seem to go backwards. Where the counter strides, a second bare `rdtsc` within one stride was seen
//! (Zen 4, strides of 26) to return one tick more than the first: the smallest difference is then not the stride.
//! `lfence; rdtsc` reads only once all instructions before it have completed
//! (on AMD where LFENCE is dispatch-serialising, which Linux switches on); `rdtscp` waits, too, for what stands
//! before it; neither holds back what stands behind. Counters of different sockets, or a guest moved to
//! another host, may disagree. Sources: Intel, *Software Developer's Manual*, vol. 3B, "Time-Stamp Counter", and
//! vol. 2B, RDTSC and RDTSCP; AMD, *Architecture Programmer's Manual*, vol. 3, RDTSC, RDTSCP, and vol. 2,
//! MSR C001_1029.

use crate::properties::infos;
use crate::{Info, Properties};

/// It waits for what stands before it by itself.
const FENCED: Properties = Properties { needs_fence: Some(false), ..Properties::COUNTER };

infos! {
    RDTSC, "rdtsc", "rdtsc", None, Properties::COUNTER;
    RDTSC_LFENCE, "rdtsc-lfence", "lfence; rdtsc", None, FENCED;
    RDTSCP, "rdtscp", "rdtscp", None, FENCED;
}
