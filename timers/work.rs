//! Computation of known length, which the compiler cannot remove or shorten and the core cannot
//! overlap with itself.

use crate::arch::{self, opaque};

/// Multiplier of a 64-bit linear congruential generator with good spectral properties (Steele and
/// Vigna, "Computationally easy, spectrally good multipliers", 2022, table 5).
pub(crate) const MULTIPLIER: usize = 0xd134_2543_de82_ef95_u64 as usize;

/// Does `amount` units of work: a chain of multiply-and-add steps, each of which needs the result
/// of the previous one, so that a unit takes a few CPU cycles whatever else the core does. An
/// amount of 0 takes the same path through the code.
///
/// Each step is hidden from the compiler, which would otherwise merge eight steps into one, so that
/// seven units would be more expensive than eight.
#[inline(always)]
pub(crate) fn units(amount: u64) {
    opaque(steps(opaque(1), amount));
}

/// A chain of `length` dependent multiplications that begins with `state`; returns the state for
/// the next chain. Twice the length takes twice the time. The state stays in a register, because
/// cores since Golden Cove and Zen 2 predict where a value in memory is read again: a chain through
/// memory takes three or eight cycles per step, depending on the prediction. Not inlined, so that
/// all callers run the same machine code.
#[inline(never)]
pub fn run_chain(state: u64, length: u64) -> u64 {
    steps(state as usize, length) as u64
}

#[inline(always)]
fn steps(mut state: usize, length: u64) -> usize {
    repeat(length, |left| {
        state = opaque(state.wrapping_mul(MULTIPLIER).wrapping_add(left as usize));
    });
    state
}

/// Calls `turn` `count` times with the number of turns that are left, in a loop that the compiler
/// cannot shorten and whose speed does not depend on where the linker puts it.
#[inline(always)]
pub(crate) fn repeat(count: u64, mut turn: impl FnMut(u64)) {
    let mut left = arch::opaque_count(count);
    if left == 0 {
        return;
    }
    arch::align_loop();
    loop {
        turn(left);
        left -= 1;
        if left == 0 {
            return;
        }
    }
}

/// A chain of `count` dependent additions, rounded up to a multiple of 16. Each takes one core
/// cycle on all cores tested by this project, so that the time shows the frequency of the core.
#[inline(never)]
pub fn dependent_additions(count: u64) {
    arch::dependent_additions(rounds(count, 16));
}

/// `count` additions in six independent chains (four on 32-bit x86), rounded up to a multiple of
/// 24. The core begins as many per cycle as it can, so that the time shows whether another hardware
/// thread uses the same core.
#[inline(never)]
pub fn independent_additions(count: u64) {
    arch::independent_additions(rounds(count, 24));
}

/// The number of rounds of `additions` additions each, rounded up; at least 1.
fn rounds(count: u64, additions: u64) -> usize {
    usize::try_from(count.div_ceil(additions).max(1)).unwrap_or(usize::MAX)
}

/// A chain of `count` dependent multiplications of registers, rounded up to a multiple of 8: three
/// core cycles each on x86-64 since 2008, two to four on 64-bit Arm. It confirms the frequency
/// found by [`dependent_additions`].
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
