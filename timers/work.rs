//! Computation that the compiler cannot remove, shorten or overlap with itself.

use std::hint::black_box;

/// Multiplier of a 64-bit linear congruential generator with good spectral properties (Steele and Vigna,
/// "Computationally easy, spectrally good multipliers", 2022, table 5).
const MULTIPLIER: u64 = 0xd134_2543_de82_ef95;

/// Does `amount` units of work: a chain of multiply-and-add steps, each of which waits for the one before it, so
/// that a unit takes a few CPU cycles whatever else the core does. The path is the same for an amount of zero.
///
/// Each step is hidden from the compiler: it knows that eight steps of such a generator are one step of another, and
/// would make seven units dearer than eight.
#[inline(always)]
pub(crate) fn units(amount: u64) {
    opaque(steps(opaque(1), amount));
}

/// `length` multiplications, each of which waits for the one before, the first for `state`; returns where the next chain begins.
/// Twice as many take twice as long. The state stays in a register: cores since Golden Cove and Zen 2 guess where a value in memory
/// will be read again, and a chain through memory takes three cycles a link or eight, as they guessed. Not inlined, so that it
/// is the same machine code wherever it is called.
#[inline(never)]
#[must_use]
pub fn links(state: u64, length: u64) -> u64 {
    steps(state, length)
}

#[inline(always)]
fn steps(mut state: u64, length: u64) -> u64 {
    let mut left = opaque(length);
    while left != 0 {
        state = opaque(state.wrapping_mul(MULTIPLIER).wrapping_add(left));
        left -= 1;
    }
    state
}

/// The same value, of which the compiler knows nothing any more; computed even if nobody uses it. Unlike `black_box`
/// it leaves the value in its register, so that no loop waits for memory.
#[inline(always)]
pub(crate) fn opaque(value: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut value = value;
        // SAFETY: no instruction at all. Hence `nomem`, `nostack` and `preserves_flags` hold; `pure` is not given, so
        // that it stays where it is and happens each time.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
        value
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    black_box(value)
}

/// The same reference, of which the compiler does not know that it is the same: what is found through it has to be
/// fetched again, as by a caller that reads a timer once in a while.
#[inline(always)]
pub(crate) fn afresh<T>(value: &T) -> &T {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut pointer: *const T = value;
        // SAFETY: no instruction at all. `nomem` is not given: what lies behind the pointer counts as touched.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
        // SAFETY: the pointer is still that of the reference.
        unsafe { &*pointer }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    black_box(value)
}

/// Has a value written to memory as if somebody looked at it. Unlike `black_box` it does not move the value, which
/// for one that was just written by halves would be a wait of a dozen cycles (the failed forwarding of a
/// store).
#[inline(always)]
pub(crate) fn keep<T>(value: &T) {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let pointer: *const T = value;
        // SAFETY: no instruction at all. `nomem` is not given: that is the purpose.
        unsafe { std::arch::asm!("/* {0} */", in(reg) pointer, options(nostack, preserves_flags, readonly)) };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    black_box(value);
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

/// `count` additions in six chains that do not wait for each other, rounded up to a multiple of 24: as many a cycle as the
/// core can begin, so the time they take tells how much of the core this thread has for itself.
#[inline(never)]
pub fn independent_additions(count: u64) {
    let mut left = count.div_ceil(24).max(1);
    let [mut a, mut b, mut c, mut d, mut e, mut f] = [1_u64; 6];
    while left != 0 {
        // SAFETY: register additions; nothing else is touched. `nomem` and `nostack` hold, flags are clobbered (so
        // `preserves_flags` is not given), and without `pure` the block is not removed.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                ".rept 4",
                "add {a}, {a}",
                "add {b}, {b}",
                "add {c}, {c}",
                "add {d}, {d}",
                "add {e}, {e}",
                "add {f}, {f}",
                ".endr",
                a = inout(reg) a, b = inout(reg) b, c = inout(reg) c,
                d = inout(reg) d, e = inout(reg) e, f = inout(reg) f,
                options(nomem, nostack)
            );
        }
        // SAFETY: as above, for 64-bit Arm.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
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
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        for register in [&mut a, &mut b, &mut c, &mut d, &mut e, &mut f] {
            *register = black_box(*register).wrapping_add(*register);
        }
        left -= 1;
    }
    black_box([a, b, c, d, e, f]);
}

/// A chain of `count` dependent 64-bit multiplications, rounded up to a multiple of 8: three core cycles each on
/// x86-64 since 2008, two to four on 64-bit Arm. A second witness beside [`dependent_additions`].
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
