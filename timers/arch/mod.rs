//! What differs from one instruction set to another: a file each, behind the same names. Nothing
//! outside this folder and `os` asks which one it is compiled for.
//!
//! Each has a fence, values hidden from the compiler, chains of additions, the counters that
//! instructions read, the instruction that traps, and what the processor says of itself. An
//! instruction set without counters takes `absent.rs`.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
mod absent;
#[cfg(target_arch = "arm")]
mod arm;
pub(crate) mod arm_counters;
#[allow(unused, reason = "an instruction set without a file has no chain")]
mod chains;
#[cfg(any(
    target_arch = "x86",
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv64"
))]
mod hidden;
#[cfg(not(any(
    target_arch = "x86",
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv64"
)))]
#[path = "portable.rs"]
mod processor;
#[cfg(target_arch = "riscv64")]
mod riscv;
pub(crate) mod riscv_counters;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86;
pub(crate) mod x86_counters;

#[cfg(target_arch = "aarch64")]
use aarch64 as processor;
#[cfg(target_arch = "arm")]
use arm as processor;
#[cfg(target_arch = "riscv64")]
use riscv as processor;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use x86 as processor;

pub use processor::*;

/// The same for a number that may be wider than a register.
#[inline(always)]
pub(crate) fn opaque_count(value: u64) -> u64 {
    #[cfg(target_pointer_width = "64")]
    return opaque(value as usize) as u64;
    #[cfg(not(target_pointer_width = "64"))]
    return (opaque((value >> 32) as usize) as u64) << 32 | opaque(value as usize) as u64;
}

/// An instruction that reads a counter.
pub trait Instruction: Send + Sync + 'static {
    /// Whether nothing but an attempt tells that it can be executed: those of x86 are told by CPUID
    /// and prctl(2).
    const TRAPS: bool = false;

    /// Whether this processor has it.
    ///
    /// # Errors
    /// Says what it lacks.
    fn present() -> Result<(), &'static str> {
        Ok(())
    }

    /// Ticks a second, where processor or firmware declare them. Asked for only where
    /// [`read`](Instruction::read) may be executed.
    fn declared_hz() -> Option<f64> {
        None
    }

    /// The file below `/proc/device-tree` that declares them otherwise.
    const DEVICE_TREE: Option<&'static str> = None;

    /// Executes it. It faults where the counter is not there or not permitted.
    fn read() -> u64;
}

/// What the processor says of itself to programs that ask it (CPUID); `None` where it does not
/// tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Vendor string.
    pub vendor: Option<String>,
    /// Brand string, as in `Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz`.
    pub model: Option<String>,
    /// Family.
    pub family: Option<u32>,
    /// Model number.
    pub model_number: Option<u32>,
    /// Stepping.
    pub stepping: Option<u32>,
    /// Whether it multiplies matrices (Intel AMX).
    pub amx: Option<bool>,
    /// Base frequency in hertz.
    pub base_hz: Option<f64>,
    /// Whether the time-stamp counter has one rate whatever the core does, and never stops.
    pub invariant_tsc: Option<bool>,
    /// Whether the time-stamp counter can be adjusted (IA32_TSC_ADJUST).
    pub tsc_adjust: Option<bool>,
    /// Whether a hypervisor can scale the time-stamp counter of its guests, where that is known to
    /// be so.
    pub tsc_scaling: Option<bool>,
}

/// What the processor says of the hypervisor under this system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hypervisor {
    /// What people call it; `None` on bare metal.
    pub name: Option<String>,
    /// The clocks that it offers its guests, as Linux calls them.
    pub clocks: Vec<&'static str>,
    /// Whether it says that the counter keeps its rate when the machine is moved, and by what;
    /// `None` where it says nothing.
    pub keeps_rate: Option<(bool, &'static str)>,
}
