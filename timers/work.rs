//! Computation that the compiler cannot remove, shorten or overlap with itself.

use crate::arch::{self, opaque};

/// Multiplier of a 64-bit linear congruential generator with good spectral properties (Steele and
/// Vigna, "Computationally easy, spectrally good multipliers", 2022, table 5).
pub(crate) const MULTIPLIER: usize = 0xd134_2543_de82_ef95_u64 as usize;

/// Does `amount` units of work: a chain of multiply-and-add steps, each of which waits for the one
/// before it, so that a unit takes a few CPU cycles whatever else the core does. The path is the
/// same for an amount of zero.
///
/// Each step is hidden from the compiler: it knows that eight steps of such a generator are one
/// step of another, and would make seven units more expensive than eight.
#[inline(always)]
pub(crate) fn units(amount: u64) {
    opaque(steps(opaque(1), amount));
}

/// `length` multiplications, each of which waits for the one before, the first for `state`; returns
/// where the next chain begins. Twice as many take twice as long. The state stays in a register:
/// cores since Golden Cove and Zen 2 guess where a value in memory will be read again, and a chain
/// through memory takes three cycles a link or eight, as they guessed. Not inlined, so that it is
/// the same machine code wherever it is called.
#[inline(never)]
#[must_use]
pub fn links(state: u64, length: u64) -> u64 {
    steps(state as usize, length) as u64
}

#[inline(always)]
fn steps(mut state: usize, length: u64) -> usize {
    let mut left = arch::opaque_count(length);
    while left != 0 {
        state = opaque(state.wrapping_mul(MULTIPLIER).wrapping_add(left as usize));
        left -= 1;
    }
    state
}

/// A chain of `count` dependent additions, rounded up to a multiple of 16: one core cycle each on
/// every core this project has met, so the time it takes tells the frequency of the core.
#[inline(never)]
pub fn dependent_additions(count: u64) {
    arch::dependent_additions(rounds(count, 16));
}

/// `count` additions in six chains that do not wait for each other (four on 32-bit x86), rounded up
/// to a multiple of 24: as many a cycle as the core can begin, so the time they take tells how much
/// of the core this thread has for itself.
#[inline(never)]
pub fn independent_additions(count: u64) {
    arch::independent_additions(rounds(count, 24));
}

fn rounds(count: u64, of: u64) -> usize {
    usize::try_from(count.div_ceil(of).max(1)).unwrap_or(usize::MAX)
}

/// A chain of `count` dependent multiplications of registers, rounded up to a multiple of 8: three
/// core cycles each on x86-64 since 2008, two to four on 64-bit Arm. A second witness beside
/// [`dependent_additions`].
#[inline(never)]
pub fn dependent_multiplications(count: u64) {
    let mut left = count.div_ceil(8).max(1);
    let mut state = opaque(3);
    while left != 0 {
        for _ in 0..8 {
            state = opaque(state.wrapping_mul(MULTIPLIER));
        }
        left -= 1;
    }
    opaque(state);
}
