//! Copies of arrays of bytes.

use std::hint::black_box;

use crate::timed::window::Operation;

fn bytes(size: u64) -> Vec<u8> {
    (0..size).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 7) as u8).collect()
}

/// The array is cloned.
pub(super) fn clone(size: u64) -> impl Operation {
    let original = bytes(size);
    move || black_box(&original).clone()
}

/// A new array of zeros, and the bytes copied into it.
pub(super) fn new_and_copy(size: u64) -> impl Operation {
    let original = bytes(size);
    move || {
        let original = black_box(&original);
        // Opaque, or the zeros would be left out, as they are not read.
        let mut copy = black_box(vec![0_u8; original.len()]);
        copy.copy_from_slice(original);
        copy
    }
}
