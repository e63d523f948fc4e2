//! Values hidden from the compiler in the registers where they are, by a block of no instructions.

use std::arch::asm;

/// The same value, of which the compiler knows nothing any more; computed even if it is not used.
/// Unlike `black_box` it leaves the value in its register, so that no loop waits for memory.
#[inline(always)]
pub(crate) fn opaque(value: usize) -> usize {
    let mut value = value;
    // SAFETY: no instruction at all. Hence `nomem`, `nostack` and `preserves_flags` hold; `pure` is
    // not given, so that it stays where it is and happens each time.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// The same reference, of which the compiler does not know that it is the same: what is found
/// through it has to be fetched again, as by a caller that reads a timer once in a while.
#[inline(always)]
pub(crate) fn afresh<T>(value: &T) -> &T {
    let mut pointer: *const T = value;
    // SAFETY: no instruction at all. `nomem` is not given: what lies behind the pointer counts as
    // touched.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    // SAFETY: the pointer is still that of the reference.
    unsafe { &*pointer }
}

/// Has a value written to memory as if it were read. Unlike `black_box` it does not move the value,
/// which for one that was just written by halves would be a wait of a dozen cycles (the failed
/// forwarding of a store).
#[inline(always)]
pub(crate) fn keep<T>(value: &T) {
    let pointer: *const T = value;
    // SAFETY: no instruction at all. `nomem` is not given: that is the purpose.
    unsafe { asm!("/* {0} */", in(reg) pointer, options(nostack, preserves_flags, readonly)) };
}
