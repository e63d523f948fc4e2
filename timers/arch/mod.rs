//! What differs from one instruction set to another: a file each, behind the same names. Nothing outside this folder and `os`
//! asks which one it is compiled for.
//!
//! Each has a fence, values hidden from the compiler, chains of additions, the counters that instructions read, the
//! instruction that traps, and what the processor says of itself.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod hidden;
#[cfg(not(target_arch = "x86_64"))]
mod no_x86;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use hidden::*;
#[cfg(not(target_arch = "x86_64"))]
pub use no_x86::*;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use portable::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

/// What the processor says of itself to programs that ask it (CPUID); `None` where it does not tell.
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
    /// Base frequency in hertz.
    pub base_hz: Option<f64>,
    /// Whether the time-stamp counter has one rate whatever the core does, and never stops.
    pub invariant_tsc: Option<bool>,
    /// Whether the time-stamp counter can be adjusted (IA32_TSC_ADJUST).
    pub tsc_adjust: Option<bool>,
    /// Whether a hypervisor can scale the time-stamp counter of its guests, where that is known to be so.
    pub tsc_scaling: Option<bool>,
}

/// What the processor says of the hypervisor under this system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hypervisor {
    /// What people call it; `None` on bare metal.
    pub name: Option<String>,
    /// The clocks that it offers its guests, as Linux calls them.
    pub clocks: Vec<&'static str>,
}
