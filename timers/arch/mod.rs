//! Code specific to an instruction set: one file per instruction set, with the same interface. Code
//! outside this folder and `os` does not depend on the instruction set.
//!
//! Each file defines a fence, values hidden from the compiler, chains of additions, the counters
//! read by instructions, an instruction that traps to the hypervisor, and the identity that the
//! processor reports. `absent.rs` replaces what an instruction set does not have.

pub(crate) mod arm_counters;
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "riscv.rs")]
#[cfg_attr(any(target_arch = "x86", target_arch = "x86_64"), path = "x86.rs")]
#[cfg_attr(
    not(any(
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "x86",
        target_arch = "x86_64"
    )),
    path = "portable.rs"
)]
mod processor;
pub(crate) mod riscv_counters;
pub(crate) mod x86_counters;

pub use processor::*;

/// Defines counters that an instruction reads into one 64-bit register: name, rate that processor
/// or firmware declares, instructions.
///
/// The option `pure` is not given, because the same instruction returns another value each time;
/// nor `nomem`, so that loads and stores of the work between two reads stay between them.
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $hertz:expr, [$($instruction:literal),*];)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl $crate::arch::Instruction for $name {
            const MAY_FAULT: bool = true;

            fn declared_hz() -> Option<f64> {
                $hertz
            }

            #[inline(always)]
            fn read() -> u64 {
                let count: u64;
                // SAFETY: the timer is opened only once the instructions have succeeded; they write
                // only this register.
                unsafe { std::arch::asm!($($instruction,)* count = out(reg) count, options(nostack, preserves_flags)) };
                count
            }
        }
    )*};
}
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
pub(crate) use counters;

/// Hides a 64-bit value from the compiler, as `opaque` does for a value of register width.
#[inline(always)]
pub(crate) fn opaque_count(value: u64) -> u64 {
    #[cfg(target_pointer_width = "64")]
    return opaque(value as usize) as u64;
    #[cfg(not(target_pointer_width = "64"))]
    return (opaque((value >> 32) as usize) as u64) << 32 | opaque(value as usize) as u64;
}

/// An instruction that reads a counter.
pub trait Instruction: Send + Sync + 'static {
    /// `true` if only an attempt shows that the instruction can be executed; for x86, CPUID and
    /// prctl(2) show it.
    const MAY_FAULT: bool = false;

    /// Checks that this processor has the instruction.
    ///
    /// # Errors
    /// The feature that the processor lacks.
    fn present() -> Result<(), &'static str> {
        Ok(())
    }

    /// The counter rate in hertz declared by processor or firmware; `None` if not declared. Called
    /// only if [`read`](Instruction::read) may be executed.
    fn declared_hz() -> Option<f64> {
        None
    }

    /// Reads the counter. Faults if the counter is missing or not permitted.
    fn read() -> u64;
}

/// The identity that the processor reports (CPUID); a field is `None` if not reported.
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
    /// Whether the processor multiplies matrices (Intel AMX).
    pub amx: Option<bool>,
    /// Base frequency in hertz.
    pub base_hz: Option<f64>,
    /// Whether the time-stamp counter has a constant rate and never stops.
    pub invariant_tsc: Option<bool>,
}
