//! The code of the built-in operations: arithmetic, copies of byte arrays, binary search, and a sort,
//! before each call of which the array is shuffled outside the timed region.

use std::hint::black_box;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::timed::window::{Operation, WithSetUp};

/// A chain of `length` dependent multiplications; its time is proportional to the length.
pub(super) fn chain(length: u64) -> impl Operation {
    let mut state = 1_u64;
    move || {
        state = timers::run_chain(state, black_box(length));
        state
    }
}

/// A hundred logarithms; each call begins with the result of the previous call.
pub(super) fn log_chain() -> impl Operation {
    let mut value = 123.456_f64;
    move || {
        for _ in 0..100 {
            // The absolute value, because negative numbers have no logarithm.
            value = value.abs().max(f64::MIN_POSITIVE).ln();
        }
        value
    }
}

/// A chain of twenty multiplications with another number in each call.
pub(super) fn multiply() -> impl Operation {
    apply_to_next_number(|x| {
        let first = 1.1 * x;
        (0..19).fold(first, |product, _| product * first)
    })
}

/// Applies a function to one number per call: 0 to 255 in turn.
pub(super) fn apply_to_next_number(function: impl Fn(f64) -> f64) -> impl Operation {
    let mut next = 0_u8;
    move || {
        next = next.wrapping_add(1);
        function(f64::from(black_box(next)))
    }
}

/// An array of varying bytes.
fn bytes(size: u64) -> Vec<u8> {
    (0..size)
        .map(|at| (at.wrapping_mul(0x9e37_79b9) >> 7) as u8)
        .collect()
}

/// Clones an array.
pub(super) fn clone(size: u64) -> impl Operation {
    let original = bytes(size);
    move || black_box(&original).clone()
}

/// Creates an array of zeros and copies bytes into it.
pub(super) fn new_and_copy(size: u64) -> impl Operation {
    let original = bytes(size);
    move || {
        let original = black_box(&original);
        // `black_box` keeps the compiler from omitting the zeros, which are never read.
        let mut copy = black_box(vec![0_u8; original.len()]);
        copy.copy_from_slice(original);
        copy
    }
}

/// The number of random items to search for. They are drawn beforehand, because drawing an item
/// takes about as long as finding it.
const SEARCHED_ITEMS: usize = 1 << 14;

/// Binary search.
#[inline(never)]
fn search(wanted: u32, items: &[u32]) -> Option<usize> {
    let (mut low, mut high) = (0, items.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match items[middle].cmp(&wanted) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

fn sorted(size: u64) -> Vec<u32> {
    (0..size.min(u64::from(u32::MAX)) as u32).collect()
}

/// Searches for the same item in each call, so that the CPU learns to predict the branches.
pub(super) fn search_same(size: u64) -> impl Operation {
    let items = sorted(size);
    let wanted = (items.len() as u32).saturating_sub(1) * 2 / 5;
    move || search(black_box(wanted), black_box(&items))
}

/// Searches for another random item of the array in each call.
pub(super) fn search_random(size: u64) -> impl Operation {
    let items = sorted(size);
    let mut random = SmallRng::seed_from_u64(1);
    let wanted: Vec<u32> = (0..SEARCHED_ITEMS)
        .map(|_| random.random_range(0..items.len().max(1) as u32))
        .collect();
    let mut next = 0;
    move || {
        next = (next + 1) % SEARCHED_ITEMS;
        search(black_box(wanted[next]), black_box(&items))
    }
}

/// Sorts an array, which is shuffled before each call.
pub(super) fn sort(size: u64) -> impl Operation {
    let mut random = SmallRng::seed_from_u64(1);
    WithSetUp {
        data: sorted(size),
        set_up: move |items: &mut Vec<u32>| {
            // Fisher–Yates shuffle.
            for at in (1..items.len()).rev() {
                items.swap(at, random.random_range(0..=at));
            }
        },
        call: |items: &mut Vec<u32>| items.sort_unstable(),
    }
}
