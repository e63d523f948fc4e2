//! What only x86 has, for the others.

use super::{Hypervisor, Identity, Instruction, x86_counters};
use crate::counters::Counter;
use crate::{Described, Info};

/// A counter of x86, by its row. Instruction sets with a counter have references of their own.
pub struct CounterOfX86<const ROW: usize>;

impl<const ROW: usize> Instruction for CounterOfX86<ROW> {
    fn present() -> Result<(), &'static str> {
        Err("x86 only")
    }

    fn read() -> u64 {
        unreachable!("never opened here")
    }
}

impl<const ROW: usize> Described for Counter<CounterOfX86<ROW>> {
    const INFO: Info = x86_counters::ALL[ROW].info;
}

/// `rdtsc`.
#[allow(dead_code, reason = "instruction sets with a counter have their own")]
pub type Bare = CounterOfX86<0>;
/// `lfence; rdtsc`.
#[allow(dead_code, reason = "instruction sets with a counter have their own")]
pub type Fenced = CounterOfX86<1>;

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

/// The rate of the counter as the processor declares it, and where; what firmware declares stands
/// with the counters.
#[must_use]
pub(crate) fn declared_rate() -> Option<(f64, &'static str)> {
    None
}

/// What the processor says of a hypervisor; `None` where it cannot be asked.
#[must_use]
pub fn hypervisor() -> Option<Hypervisor> {
    None
}
