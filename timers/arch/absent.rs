//! Replacements for x86-only functions on other processors.

use super::{Hypervisor, Identity, Instruction, x86_counters};
use crate::counters::Counter;
use crate::{Described, Info};

/// An x86 counter, by its row in the table of x86 counters; never available here.
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

/// Placeholder for `rdtsc`.
#[allow(dead_code, reason = "instruction sets with a counter have their own")]
pub type Bare = CounterOfX86<0>;
/// Placeholder for `lfence; rdtsc`.
#[allow(dead_code, reason = "instruction sets with a counter have their own")]
pub type Fenced = CounterOfX86<1>;

/// Checks for `rdpmc`, which reads the counters of perf events; always fails here.
#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn has_rdpmc() -> Result<(), &'static str> {
    Err("rdpmc is an instruction of x86")
}

#[allow(dead_code, reason = "read only where the system has perf events")]
pub(crate) fn rdpmc(_counter: u32) -> u64 {
    unreachable!("never opened here")
}

/// An instruction that a hypervisor has to emulate; `None` because none is known here.
pub(crate) fn trap() -> Option<fn() -> u64> {
    None
}

/// The identity reported by the processor; empty, because user mode has no instruction for it.
#[must_use]
pub fn identity() -> Identity {
    Identity::default()
}

/// The counter rate that the processor declares, and the source of that value. Always `None` here;
/// rates that firmware declares are defined in the counter modules.
#[must_use]
pub(crate) fn declared_rate() -> Option<(f64, &'static str)> {
    None
}

/// The hypervisor reported by the processor; always `None` here.
#[must_use]
pub fn hypervisor() -> Option<Hypervisor> {
    None
}
