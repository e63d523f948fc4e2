//! The time-stamp counter of x86-64, read by its own instructions.
//!
//! What ticks: a 64-bit counter of each logical CPU, zero at reset. At what rate: on CPUs with an *invariant* TSC
//! (CPUID 8000_0007H, EDX bit 8) a constant one, whatever the frequency of the core; it is near the nominal
//! frequency but declared by nobody, hence no `ns_per_tick`. Before about 2008 it counted core cycles. A hypervisor
//! may scale and offset it. Some CPUs advance it in strides (the product of base clock and multiplier) rather
//! than by one.
//!
//! Who may read it: everybody, unless the process gave that up or lost it: `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)`
//! (`PR_SET_TSC(2const)`), and seccomp's strict mode, make the instructions fault, and with them whatever uses them:
//! the vDSO too crashes then, which is why the clocks that go through it ask [`vdso_permitted`].
//!
//! How it lies: `rdtsc` waits for nothing, so work that stands before it may still be under way when it reads, and
//! work behind it may have begun. Between threads it may run before the very load that brought the other thread's
//! message, and so seem to go backwards. Where the counter strides, a second bare `rdtsc` within one stride was seen
//! (Zen 4, strides of 26) to return one tick more than the first: the smallest difference is then not the stride.
//! `lfence; rdtsc` reads only once all instructions before it have completed
//! (on AMD where LFENCE is dispatch-serialising, which Linux switches on); `rdtscp` likewise waits for what stands
//! before it; neither holds back what stands behind. Counters of different sockets, or a guest moved to
//! another host, may disagree. Sources: Intel, *Software Developer's Manual*, vol. 3B, "Time-Stamp Counter", and
//! vol. 2B, RDTSC and RDTSCP; AMD, *Architecture Programmer's Manual*, vol. 3, RDTSC, RDTSCP, and vol. 2,
//! MSR C001_1029.

use crate::{Info, Properties, Ticks, Timer, Unavailable};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $id:literal, $label:literal, $needs:expr, $instruction:ident, $properties:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Timer for $name {
            const INFO: Info = Info { id: $id, label: $label, ns_per_tick: None, properties: $properties };
            type Reading = u64;

            fn open() -> Result<Self, Unavailable> {
                instructions::permitted($needs).map(|()| Self)
            }

            #[inline(always)]
            fn read(&self) -> u64 {
                instructions::$instruction()
            }

            fn ticks(&self, reading: u64) -> Ticks {
                Ticks(reading)
            }
        }
    )*};
}

/// It waits for what stands before it by itself.
const FENCED: Properties = Properties { needs_fence: Some(false), ..Properties::COUNTER };

counters! {
    /// The bare instruction.
    Rdtsc, "rdtsc", "rdtsc", Needs::Rdtsc, rdtsc, Properties::COUNTER;
    /// Held back until everything before it has completed.
    RdtscLfence, "rdtsc-lfence", "lfence; rdtsc", Needs::Rdtsc, lfence_rdtsc, FENCED;
    /// The form that waits by itself and also names the CPU.
    Rdtscp, "rdtscp", "rdtscp", Needs::Rdtscp, rdtscp, FENCED;
}

/// Whether the vDSO can read the time: it does so with the TSC where that, or what a hypervisor builds on it, is the
/// clock source, and then faults wherever `rdtsc` does.
pub(crate) fn vdso_permitted() -> Result<(), Unavailable> {
    let Err(why) = Rdtsc::open() else { return Ok(()) };
    match std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource") {
        Ok(source) if !source.contains("tsc") && !source.contains("kvm-clock") => Ok(()),
        _ if cfg!(target_arch = "x86_64") => Err(why),
        _ => Ok(()),
    }
}

/// The instruction that the CPU has to have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Rdtsc,
    Rdtscp,
}

/// Options of the blocks below. No `pure`: the same instruction answers differently each time, and without it a
/// block is neither removed nor merged with another nor moved out of a loop. No `nomem`: loads and stores of the
/// work between two reads shall stay between them. `nostack`: nothing is pushed. `preserves_flags`: none of the
/// three instructions writes RFLAGS.
#[cfg(target_arch = "x86_64")]
mod instructions {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid;

    use super::Needs;
    use crate::Unavailable;

    #[inline(always)]
    pub(super) fn rdtsc() -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: `permitted` found the instruction and the right to use it. It writes EAX and EDX and clears the
        // upper halves of both registers.
        unsafe {
            asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        }
        high << 32 | low
    }

    #[inline(always)]
    pub(super) fn lfence_rdtsc() -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: as for `rdtsc`; LFENCE belongs to SSE2, which all of x86-64 has, and changes no register.
        unsafe {
            asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        }
        high << 32 | low
    }

    #[inline(always)]
    pub(super) fn rdtscp() -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: as for `rdtsc`; ECX receives IA32_TSC_AUX, which nobody wants here.
        unsafe {
            asm!("rdtscp", out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags));
        }
        high << 32 | low
    }

    /// Whether the CPU has the instruction and the process may use it.
    pub(super) fn permitted(needs: Needs) -> Result<(), Unavailable> {
        if !has_tsc() {
            return Err(Unavailable::because("this CPU has no time-stamp counter (CPUID 1, EDX bit 4)"));
        }
        if needs == Needs::Rdtscp && !has_rdtscp() {
            return Err(Unavailable::because("this CPU has no RDTSCP (CPUID 8000_0001H, EDX bit 27)"));
        }
        if reading_faults() {
            return Err(Unavailable::because(
                "this process may not read the time-stamp counter: prctl(PR_SET_TSC, PR_TSC_SIGSEGV) is in force",
            )
            .remedy("undo it with prctl(PR_SET_TSC, PR_TSC_ENABLE) in the program that set it; children inherit it"));
        }
        Ok(())
    }

    #[allow(unused_unsafe, reason = "__cpuid is a safe function in newer releases of the standard library")]
    fn has_tsc() -> bool {
        // SAFETY: every x86-64 CPU has CPUID and leaf 1.
        unsafe { __cpuid(1) }.edx & 1 << 4 != 0
    }

    #[allow(unused_unsafe, reason = "__cpuid is a safe function in newer releases of the standard library")]
    fn has_rdtscp() -> bool {
        // SAFETY: every x86-64 CPU has CPUID and leaf 8000_0000H, which names the last one that may be asked.
        unsafe { __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).edx & 1 << 27 != 0 }
    }

    /// A kernel that does not know the question (some emulations of Linux) has not forbidden anything either.
    fn reading_faults() -> bool {
        let mut mode: libc::c_int = 0;
        // SAFETY: PR_GET_TSC writes one int through its second argument.
        let status = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        status == 0 && mode == libc::PR_TSC_SIGSEGV
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod instructions {
    use super::Needs;
    use crate::Unavailable;

    pub(super) fn permitted(needs: Needs) -> Result<(), Unavailable> {
        let _ = (needs == Needs::Rdtsc, needs == Needs::Rdtscp);
        Err(Unavailable::because("x86-64 only"))
    }

    pub(super) fn rdtsc() -> u64 {
        unreachable!("never opened here")
    }

    pub(super) use self::{rdtsc as lfence_rdtsc, rdtsc as rdtscp};
}
