//! x86, of 64 bits and of 32 with SSE2. Sources: Intel, *Software Developer's Manual*, vol. 2; AMD,
//! *Architecture Programmer's Manual*, vol. 3.

mod hypervisor;
mod identity;

use std::arch::asm;
use std::sync::LazyLock;

use raw_cpuid::cpuid;

use super::Instruction;
use super::chains::chains;
use crate::counters::Counter;
use crate::{Info, x86};

pub use hypervisor::hypervisor;
pub(crate) use identity::declared_rate;
pub use identity::identity;

pub(crate) use super::hidden::*;

/// Lets nothing that stands behind it begin before everything that stands before it has completed:
/// `lfence` (Intel SDM vol. 2A; on AMD where it is dispatch-serialising, which Linux switches on).
#[inline(always)]
pub fn fence() {
    // SAFETY: LFENCE belongs to SSE2, which Rust takes for granted; it changes no register, no flag
    // and no memory. `nomem` is not given, so that loads and stores stay on their side.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

macro_rules! add {
    ($register:literal) => {
        concat!("add {", $register, "}, {", $register, "}")
    };
}

#[cfg(target_arch = "x86_64")]
chains!(add, ["dec {left}", "jnz 2b"], 4 of [a "a", b "b", c "c", d "d", e "e", f "f"]);
// There are no more registers.
#[cfg(target_arch = "x86")]
chains!(add, ["dec {left}", "jnz 2b"], 6 of [a "a", b "b", c "c", d "d"]);

// Options of the counters below. No `pure`: the same instruction answers differently each time, and
// without it a block is neither removed nor merged with another nor moved out of a loop. No
// `nomem`: loads and stores of the work between two reads shall stay between them. `nostack`:
// nothing is pushed. `preserves_flags`: none of the instructions writes RFLAGS.

/// The bare instruction.
pub struct Rdtsc;

impl Instruction for Rdtsc {
    const INFO: Info = x86::RDTSC;

    fn present() -> Result<(), &'static str> {
        // Asked once: references are opened for each loop, and beneath a hypervisor CPUID takes as
        // long as hundreds of reads.
        static HAS: LazyLock<bool> = LazyLock::new(|| cpuid!(1).edx & 1 << 4 != 0);
        HAS.then_some(())
            .ok_or("this CPU has no time-stamp counter (CPUID 1, EDX bit 4)")
    }

    #[inline(always)]
    fn read() -> u64 {
        let (low, high): (usize, usize);
        // SAFETY: opening the timer found the instruction and the right to use it. It writes EAX
        // and EDX and clears the upper halves of both registers, where they have such.
        unsafe {
            asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        }
        (high as u64) << 32 | low as u64
    }
}

/// Held back until everything before it has completed.
pub struct RdtscLfence;

impl Instruction for RdtscLfence {
    const INFO: Info = x86::RDTSC_LFENCE;

    fn present() -> Result<(), &'static str> {
        Rdtsc::present()
    }

    #[inline(always)]
    fn read() -> u64 {
        let (low, high): (usize, usize);
        // SAFETY: as for `rdtsc`; LFENCE belongs to SSE2, which Rust takes for granted, and changes
        // no register.
        unsafe {
            asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        }
        (high as u64) << 32 | low as u64
    }
}

/// The form that waits by itself and also names the CPU.
pub struct Rdtscp;

impl Instruction for Rdtscp {
    const INFO: Info = x86::RDTSCP;

    fn present() -> Result<(), &'static str> {
        // Leaf 8000_0000H names the last one that may be asked.
        static HAS: LazyLock<bool> = LazyLock::new(|| {
            cpuid!(0x8000_0000).eax >= 0x8000_0001 && cpuid!(0x8000_0001).edx & 1 << 27 != 0
        });
        HAS.then_some(())
            .ok_or("this CPU has no RDTSCP (CPUID 8000_0001H, EDX bit 27)")
    }

    #[inline(always)]
    fn read() -> u64 {
        let (low, high): (usize, usize);
        // SAFETY: as for `rdtsc`; ECX receives IA32_TSC_AUX, which is not needed here.
        unsafe {
            asm!("rdtscp", out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags));
        }
        (high as u64) << 32 | low as u64
    }
}

crate::catalogue::list![Counter<Rdtsc>, Counter<RdtscLfence>, Counter<Rdtscp>];

pub use self::{Rdtsc as Bare, RdtscLfence as Fenced};

/// Reads a performance counter. It faults where the kernel does not permit it or there is no such
/// counter.
#[inline(always)]
#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn rdpmc(counter: u32) -> u64 {
    let (low, high): (usize, usize);
    // SAFETY: the caller knows from the kernel that the instruction is permitted, and the counter.
    // It takes ECX, writes EAX and EDX and clears the upper halves of both.
    unsafe {
        asm!("rdpmc", in("ecx") counter, out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    (high as u64) << 32 | low as u64
}

/// Whether there is an instruction that reads the counters of perf events.
#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn has_rdpmc() -> Result<(), &'static str> {
    Ok(())
}

/// An instruction that a hypervisor has to carry out: CPUID, which traps on Intel VT-x always and
/// on AMD-V wherever the hypervisor says so, as all do. `None` on bare metal.
pub(crate) fn trap() -> Option<fn() -> u64> {
    /// Leaf 1, ECX bit 31: a hypervisor runs beneath this system.
    const HYPERVISOR: u32 = 1 << 31;
    (cpuid!(1).ecx & HYPERVISOR != 0).then_some(|| cpuid!(0).eax.into())
}
