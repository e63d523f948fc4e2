//! Instruction sets that nobody has written a file for: the clocks can be read, and the frequency of the core is not known.

use std::hint::black_box;
use std::sync::atomic::{Ordering, fence as memory_fence};

/// Keeps the compiler and the memory from reordering, and no more.
#[inline(always)]
pub fn fence() {
    memory_fence(Ordering::SeqCst);
}

#[inline(always)]
pub(crate) fn opaque(value: u64) -> u64 {
    black_box(value)
}

#[inline(always)]
pub(crate) fn afresh<T>(value: &T) -> &T {
    black_box(value)
}

#[inline(always)]
pub(crate) fn keep<T>(value: &T) {
    black_box(value);
}

/// An addition that goes through memory takes several cycles, so that such a chain would tell a wrong frequency.
pub(crate) const COUNTS_CYCLES: bool = false;

#[inline(always)]
pub(crate) fn sixteen_additions(state: u64) -> u64 {
    (0..16).fold(state, |state, _| black_box(state).wrapping_add(state))
}

#[inline(always)]
pub(crate) fn four_additions_each(states: [u64; 6]) -> [u64; 6] {
    states.map(|state| (0..4).fold(state, |state, _| black_box(state).wrapping_add(state)))
}
