//! The implementation for instruction sets without their own file. The system's clocks are
//! readable; the frequency of the core cannot be measured.

mod absent;
mod absent_counters;

use std::hint::black_box;
use std::sync::atomic::{Ordering, fence as memory_fence};

pub(crate) use absent::{declared_rate, trapping_instruction};
pub use absent::{hypervisor, identity};
pub use absent_counters::{CounterOfX86, FencedInstruction};

/// Placeholder for `rdtsc`.
pub type BareInstruction = CounterOfX86<0>;

/// Orders loads and stores only.
#[inline(always)]
pub fn fence() {
    memory_fence(Ordering::SeqCst);
}

/// As in `hidden.rs`.
#[inline(always)]
pub(crate) fn opaque(value: usize) -> usize {
    black_box(value)
}

/// As in `hidden.rs`.
#[inline(always)]
pub(crate) fn opaque_reference<T>(value: &T) -> &T {
    black_box(value)
}

/// As in `hidden.rs`.
#[inline(always)]
pub(crate) fn keep<T>(value: &T) {
    black_box(value);
}

/// Nothing: the compiler places the loops.
#[inline(always)]
pub(crate) fn align_loop() {}

/// As in `hidden.rs`.
#[cfg(test)]
pub(crate) const LOOPS_ARE_ALIGNED: bool = false;

/// `false`, because `black_box` keeps the sum in memory: an addition then takes several cycles, and
/// the chain would show a wrong frequency.
pub(crate) const ADDITION_TAKES_ONE_CYCLE: bool = false;

pub(crate) fn dependent_additions(sixteens: usize) {
    (0..sixteens.saturating_mul(16)).fold(1_usize, |sum, _| black_box(sum).wrapping_add(sum));
}

pub(crate) fn independent_additions(twenty_fours: usize) {
    dependent_additions(twenty_fours.saturating_mul(2));
}
