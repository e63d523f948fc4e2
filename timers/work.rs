//! Computation that the compiler cannot remove, shorten or overlap with itself.

use std::hint::black_box;

/// Multiplier of a 64-bit linear congruential generator with good spectral properties (Steele and Vigna,
/// "Computationally easy, spectrally good multipliers", 2022, table 5).
const MULTIPLIER: u64 = 0xd134_2543_de82_ef95;

/// Does `amount` units of work: a chain of multiply-and-add steps, each of which waits for the one before it, so
/// that a unit takes a few CPU cycles whatever else the core does. The path is the same for an amount of zero.
#[inline(always)]
pub(crate) fn units(amount: u64) {
    let mut state = black_box(1_u64);
    let mut left = black_box(amount);
    while left != 0 {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(left);
        left -= 1;
    }
    black_box(state);
}

/// A chain of `count` dependent additions, rounded up to a multiple of 16: one core cycle each on every core this
/// project has met, so the time it takes tells the frequency of the core.
#[inline(never)]
pub fn dependent_additions(count: u64) {
    let mut left = count.div_ceil(16).max(1);
    let mut state = 1_u64;
    while left != 0 {
        // SAFETY: sixteen register additions; nothing else is touched. `nomem` and `nostack` hold, flags are
        // clobbered (so `preserves_flags` is not given), and without `pure` the block is not removed.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                ".rept 16",
                "add {state}, {state}",
                ".endr",
                state = inout(reg) state,
                options(nomem, nostack)
            );
        }
        // SAFETY: as above, for 64-bit Arm.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                ".rept 16",
                "add {state}, {state}, {state}",
                ".endr",
                state = inout(reg) state,
                options(nomem, nostack)
            );
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        for _ in 0..16 {
            state = black_box(state).wrapping_add(state);
        }
        left -= 1;
    }
    black_box(state);
}

/// A chain of `count` dependent 64-bit multiplications, rounded up to a multiple of 8: three core cycles each on
/// x86-64 since 2008, two to four on 64-bit Arm. A second witness beside [`dependent_additions`].
#[inline(never)]
pub fn dependent_multiplications(count: u64) {
    let mut left = count.div_ceil(8).max(1);
    let mut state = black_box(3_u64);
    while left != 0 {
        for _ in 0..8 {
            state = state.wrapping_mul(state | 1);
        }
        left -= 1;
    }
    black_box(state);
}
