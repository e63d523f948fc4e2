//! The time-stamp counter of x86, read by its own instructions.
//!
//! What ticks: a 64-bit counter of each logical CPU, zero at reset. At what rate: on CPUs with
//! an *invariant* TSC (CPUID 8000_0007H, EDX bit 8) a constant one, independent of the frequency of
//! the core; it is close to the nominal frequency but not declared, hence no `ns_per_tick`. Before
//! about 2008 it counted core cycles. A hypervisor may scale and offset it. Some CPUs advance
//! it in strides: at each tick of a slower base clock by the multiplier.
//!
//! Who may read it: any process, unless `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)` (`PR_SET_TSC(2const)`)
//! or seccomp's strict mode makes the instructions fault. The vDSO, which executes them, then
//! crashes too; therefore the clocks read through the vDSO first call
//! [`vdso_permitted`](crate::os::clocks::vdso_permitted).
//!
//! How it lies: `rdtsc` is not ordered: earlier instructions may still be under way when it reads
//! the counter, and later ones may have begun. In communication between threads it may be executed
//! before the load that received the other thread's message, and so seem to go backwards. On a CPU
//! whose counter strides (Zen 4, strides of 26), a second bare `rdtsc` within one stride returned
//! one tick more than the first, so that the smallest difference is not the stride. `lfence; rdtsc`
//! reads the counter after all earlier instructions have completed (on AMD if LFENCE is
//! dispatch-serialising, which Linux enables); `rdtscp` also waits for earlier instructions; later
//! instructions may begin before either. Counters of different sockets may disagree, as may those
//! of a guest before and after it is moved to another host. Sources: Intel, *Software Developer's
//! Manual*, vol. 3B, "Time-Stamp Counter", and vol. 2B, RDTSC and RDTSCP; AMD, *Architecture
//! Programmer's Manual*, vol. 3, RDTSC, RDTSCP, and vol. 2, MSR C001_1029.

use crate::Properties;
use crate::entry::clocks;

/// A counter whose read waits for earlier instructions.
const FENCED: Properties = Properties {
    needs_fence: Some(false),
    ..Properties::COUNTER
};

clocks! { "x86", any(target_arch = "x86", target_arch = "x86_64");
    InstructionCounter<Rdtsc>, "rdtsc", "rdtsc", None, Properties::COUNTER;
    InstructionCounter<RdtscLfence>, "rdtsc-lfence", "lfence; rdtsc", None, FENCED;
    InstructionCounter<Rdtscp>, "rdtscp", "rdtscp", None, FENCED;
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub use here::*;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod here {
    use std::arch::asm;
    use std::sync::LazyLock;

    use raw_cpuid::cpuid;

    use crate::arch::Instruction;
    pub(super) use crate::counters::InstructionCounter;

    // Evaluated once, because references are opened for each loop, and under a hypervisor CPUID
    // takes as long as hundreds of reads.
    static HAS_TSC: LazyLock<bool> = LazyLock::new(|| cpuid!(1).edx & 1 << 4 != 0);
    // Leaf 8000_0000H returns the number of the last extended leaf.
    static HAS_RDTSCP: LazyLock<bool> = LazyLock::new(|| {
        cpuid!(0x8000_0000).eax >= 0x8000_0001 && cpuid!(0x8000_0001).edx & 1 << 27 != 0
    });

    // `pure` is not given, because the instruction returns another value each time; so a block is
    // not removed, merged with another one or moved out of a loop. `nomem` is not given, so that
    // loads and stores of the work between two reads stay between them. `nostack`: nothing is
    // pushed. `preserves_flags`: none of the instructions writes RFLAGS.
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
                    // SAFETY: the timer is open, so that the CPU has the instruction and the
                    // process may use it. It writes EAX, EDX and the named clobbers, and clears
                    // their upper halves in 64-bit mode. LFENCE belongs to SSE2, which all x86
                    // targets of Rust have, and changes no register.
                    unsafe {
                        asm!($($instruction,)* out("rax") low, out("rdx") high, $(out($clobbered) _,)* options(nostack, preserves_flags));
                    }
                    (high as u64) << 32 | low as u64
                }
            }
        )*};
    }

    counters! {
        /// The counter, read by the bare instruction.
        Rdtsc, HAS_TSC, "this CPU has no time-stamp counter (CPUID 1, EDX)", ["rdtsc"] ();
        /// The counter, read after all earlier instructions have completed.
        RdtscLfence, HAS_TSC, "this CPU has no time-stamp counter (CPUID 1, EDX)", ["lfence", "rdtsc"] ();
        /// The form that waits for earlier instructions and also returns the number of the CPU in
        /// ECX.
        Rdtscp, HAS_RDTSCP, "this CPU has no RDTSCP (CPUID 8000_0001H, EDX)", ["rdtscp"] ("rcx");
    }
}
