//! The time-stamp counter of x86, read by its own instructions.
//!
//! What ticks: a 64-bit counter of each logical CPU, zero at reset. At what rate: on CPUs with
//! an *invariant* TSC (CPUID 8000_0007H, EDX bit 8) a constant one, whatever the frequency of
//! the core; it is near the nominal frequency but not declared, hence no `ns_per_tick`. Before
//! about 2008 it counted core cycles. A hypervisor may scale and offset it. Some CPUs advance
//! it in strides (the product of base clock and multiplier) rather than by one.
//!
//! Who may read it: any process, unless the process gave that up or lost it:
//! `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)` (`PR_SET_TSC(2const)`), and seccomp's strict mode, make
//! the instructions fault, and with them whatever uses them: the vDSO too crashes then, which
//! is why the clocks that go through it ask
//! [`vdso_permitted`](crate::os::clocks::vdso_permitted).
//!
//! How it lies: `rdtsc` waits for nothing, so work that stands before it may still be under way
//! when it reads, and work behind it may have begun. Between threads it may run before the very
//! load that brought the other thread's message, and so seem to go backwards. Where the counter
//! strides, a second bare `rdtsc` within one stride was seen (Zen 4, strides of 26) to return
//! one tick more than the first: the smallest difference is then not the stride.
//! `lfence; rdtsc` reads only once all instructions before it have completed (on AMD where
//! LFENCE is dispatch-serialising, which Linux switches on); `rdtscp` waits, too, for what
//! stands before it; neither holds back what stands behind. Counters of different sockets, or a
//! guest moved to another host, may disagree. Sources: Intel, *Software Developer's Manual*,
//! vol. 3B, "Time-Stamp Counter", and vol. 2B, RDTSC and RDTSCP; AMD, *Architecture
//! Programmer's Manual*, vol. 3, RDTSC, RDTSCP, and vol. 2, MSR C001_1029.

use crate::Properties;
use crate::entry::clocks;

/// It waits for what stands before it by itself.
const FENCED: Properties = Properties {
    needs_fence: Some(false),
    ..Properties::COUNTER
};

clocks! { "x86", any(target_arch = "x86", target_arch = "x86_64");
    Counter<Rdtsc>, "rdtsc", "rdtsc", None, Properties::COUNTER;
    Counter<RdtscLfence>, "rdtsc-lfence", "lfence; rdtsc", None, FENCED;
    Counter<Rdtscp>, "rdtscp", "rdtscp", None, FENCED;
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub use here::*;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod here {
    use std::arch::asm;
    use std::sync::LazyLock;

    use raw_cpuid::cpuid;

    use crate::arch::Instruction;
    pub(super) use crate::counters::Counter;

    // Asked once: references are opened for each loop, and beneath a hypervisor CPUID takes as long
    // as hundreds of reads.
    static HAS_TSC: LazyLock<bool> = LazyLock::new(|| cpuid!(1).edx & 1 << 4 != 0);
    // Leaf 8000_0000H names the last one that may be asked.
    static HAS_RDTSCP: LazyLock<bool> = LazyLock::new(|| {
        cpuid!(0x8000_0000).eax >= 0x8000_0001 && cpuid!(0x8000_0001).edx & 1 << 27 != 0
    });

    // No `pure`: the same instruction answers differently each time, and without it a block is
    // neither removed nor merged with another nor moved out of a loop. No `nomem`: loads and stores
    // of the work between two reads shall stay between them. `nostack`: nothing is pushed.
    // `preserves_flags`: none of the instructions writes RFLAGS.
    macro_rules! counters {
        ($($(#[$doc:meta])* $name:ident, $has:ident, $missing:literal, [$($instruction:literal),*] ($($clobbered:tt)*);)*) => {$(
            $(#[$doc])*
            pub struct $name;

            impl Instruction for $name {
                fn present() -> Result<(), &'static str> {
                    $has.then_some(()).ok_or($missing)
                }

                #[inline(always)]
                fn read() -> u64 {
                    let (low, high): (usize, usize);
                    // SAFETY: opening the timer found the instruction and the right to use it. It
                    // writes EAX, EDX and what is named, and clears the upper halves of the
                    // registers, where they have such. LFENCE belongs to SSE2, which Rust takes for
                    // granted, and changes no register.
                    unsafe {
                        asm!($($instruction,)* out("rax") low, out("rdx") high, $(out($clobbered) _,)* options(nostack, preserves_flags));
                    }
                    (high as u64) << 32 | low as u64
                }
            }
        )*};
    }

    counters! {
        /// The bare instruction.
        Rdtsc, HAS_TSC, "this CPU has no time-stamp counter (CPUID 1, EDX)", ["rdtsc"] ();
        /// Held back until everything before it has completed.
        RdtscLfence, HAS_TSC, "this CPU has no time-stamp counter (CPUID 1, EDX)", ["lfence", "rdtsc"] ();
        /// The form that waits by itself and also names the CPU, in ECX.
        Rdtscp, HAS_RDTSCP, "this CPU has no RDTSCP (CPUID 8000_0001H, EDX)", ["rdtscp"] ("rcx");
    }
}
