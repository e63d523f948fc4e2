//! Hides values from the compiler by empty `asm!` blocks, which leave the values in their
//! registers.

use std::arch::asm;

/// Returns the same value, about which the compiler knows nothing any more; the value is computed
/// even if the result is unused. Unlike `black_box`, it leaves the value in its register, so that a
/// loop does not wait for memory.
#[inline(always)]
pub(crate) fn opaque(value: usize) -> usize {
    let mut value = value;
    // SAFETY: the block has no instructions, so that `nomem`, `nostack` and `preserves_flags` hold.
    // `pure` is not given, so that the compiler keeps each block.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// Returns the same reference, which the compiler treats as a new one: data behind it must be
/// loaded again, as in a program that reads a timer occasionally.
#[inline(always)]
pub(crate) fn opaque_reference<T>(value: &T) -> &T {
    let mut pointer: *const T = value;
    // SAFETY: the block has no instructions. `nomem` is not given, so that the compiler assumes
    // that the data behind the pointer may have changed.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    // SAFETY: the block left the pointer unchanged, so that it is valid as long as `value`.
    unsafe { &*pointer }
}

/// Makes the compiler write a value to memory, as if it were used there. Unlike `black_box`, it
/// does not copy the value: copying a value that was just written in two halves would wait a dozen
/// cycles (a failed store forwarding).
#[inline(always)]
pub(crate) fn keep<T>(value: &T) {
    let pointer: *const T = value;
    // SAFETY: the block has no instructions. `nomem` is not given, because the value must be in
    // memory.
    unsafe { asm!("/* {0} */", in(reg) pointer, options(nostack, preserves_flags, readonly)) };
}

/// Places the loop that follows at the start of a cache line, wherever the linker puts the
/// function. A loop of a few instructions that crosses a line takes a cycle more per turn on
/// AMD Zen 4, and up to 11 more at first; on Intel cores since Skylake, a jump that crosses or ends
/// at 32 bytes is decoded anew in each turn (Intel, *Mitigations for Jump Conditional Code Erratum*,
/// 2019). Both would depend on unrelated code of the program.
#[inline(always)]
pub(crate) fn align_loop() {
    // SAFETY: the block only pads the code.
    unsafe { asm!(".p2align 6", options(nomem, nostack, preserves_flags)) };
}

/// Whether [`align_loop`] has an effect.
#[cfg(test)]
pub(crate) const LOOPS_ARE_ALIGNED: bool = true;
