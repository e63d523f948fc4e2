//! 64-bit Arm.

use std::arch::asm;

/// Lets nothing that stands behind it begin before everything that stands before it has completed: `isb` after a barrier for
/// loads.
#[inline(always)]
pub fn fence() {
    // SAFETY: barriers change no register, no flag and no memory. `nomem` is not given, so that loads and stores stay on
    // their side.
    unsafe { asm!("dsb ld", "isb", options(nostack, preserves_flags)) };
}

/// Whether the additions below take a cycle each.
pub(crate) const COUNTS_CYCLES: bool = true;

/// Sixteen additions, each of which waits for the one before.
#[inline(always)]
pub(crate) fn sixteen_additions(state: u64) -> u64 {
    let mut state = state;
    // SAFETY: sixteen register additions; nothing else is touched. `nomem` and `nostack` hold, and
    // without `pure` the block is not removed.
    unsafe {
        asm!(
            ".rept 16",
            "add {state}, {state}, {state}",
            ".endr",
            state = inout(reg) state,
            options(nomem, nostack)
        );
    }
    state
}

/// Four additions to each of six values that do not wait for each other.
#[inline(always)]
pub(crate) fn four_additions_each([mut a, mut b, mut c, mut d, mut e, mut f]: [u64; 6]) -> [u64; 6] {
    // SAFETY: register additions; nothing else is touched. Options as above.
    unsafe {
        asm!(
            ".rept 4",
            "add {a}, {a}, {a}",
            "add {b}, {b}, {b}",
            "add {c}, {c}, {c}",
            "add {d}, {d}, {d}",
            "add {e}, {e}, {e}",
            "add {f}, {f}, {f}",
            ".endr",
            a = inout(reg) a, b = inout(reg) b, c = inout(reg) c,
            d = inout(reg) d, e = inout(reg) e, f = inout(reg) f,
            options(nomem, nostack)
        );
    }
    [a, b, c, d, e, f]
}
