//! What other instruction sets than x86-64 lack.

use super::{Hypervisor, Identity};

const WHY: &str = "x86-64 only";

pub(crate) fn has_tsc() -> Result<(), &'static str> {
    Err(WHY)
}

pub(crate) fn has_rdtscp() -> Result<(), &'static str> {
    Err(WHY)
}

pub(crate) fn rdtsc() -> u64 {
    unreachable!("never opened here")
}

pub(crate) use self::{rdtsc as lfence_rdtsc, rdtsc as rdtscp};

/// Whether there is an instruction that reads the counters of perf events.
#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn has_rdpmc() -> Result<(), &'static str> {
    Err("rdpmc is an instruction of x86")
}

#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn rdpmc(_counter: u32) -> u64 {
    unreachable!("never opened here")
}

/// An instruction that a hypervisor has to carry out.
pub(crate) fn trap() -> Option<fn() -> u64> {
    None
}

/// What the processor says of itself: there is no instruction by which programs may ask.
#[must_use]
pub fn identity() -> Identity {
    Identity::default()
}

/// What the processor says of a hypervisor; `None` where it cannot be asked.
#[must_use]
pub fn hypervisor() -> Option<Hypervisor> {
    None
}
