//! The code of the built-in operations: arithmetic, copies of byte arrays, binary search, and three
//! sorting algorithms. Before each call of a sort the array is shuffled outside the timed region.

use std::hint::black_box;

use rand::rngs::StdRng;
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
    let mut random = StdRng::seed_from_u64(1);
    let wanted: Vec<u32> = (0..SEARCHED_ITEMS)
        .map(|_| random.random_range(0..items.len().max(1) as u32))
        .collect();
    let mut next = 0;
    move || {
        next = (next + 1) % SEARCHED_ITEMS;
        search(black_box(wanted[next]), black_box(&items))
    }
}

/// Selection sort.
pub(super) fn selection_sort(size: u64) -> impl Operation {
    shuffled(size, |items| {
        for at in 0..items.len() {
            let mut least = at;
            for other in at + 1..items.len() {
                if items[other] < items[least] {
                    least = other;
                }
            }
            items.swap(at, least);
        }
    })
}

/// Quicksort with the middle item as pivot.
pub(super) fn quicksort(size: u64) -> impl Operation {
    shuffled(size, quicksort_items)
}

/// Heap sort.
pub(super) fn heapsort(size: u64) -> impl Operation {
    shuffled(size, |items| {
        for root in (0..items.len() / 2).rev() {
            sift(items, root);
        }
        for end in (1..items.len()).rev() {
            items.swap(0, end);
            sift(&mut items[..end], 0);
        }
    })
}

/// An operation that sorts an array, which is shuffled before each call.
fn shuffled(size: u64, sort: fn(&mut [u32])) -> impl Operation {
    let mut random = StdRng::seed_from_u64(1);
    let data: Vec<u32> = (0..size.min(u64::from(u32::MAX)) as u32).collect();
    WithSetUp {
        data,
        set_up: move |items: &mut Vec<u32>| {
            // Fisher–Yates shuffle.
            for at in (1..items.len()).rev() {
                items.swap(at, random.random_range(0..=at));
            }
        },
        call: move |items: &mut Vec<u32>| sort(items),
    }
}

/// Sorts by quicksort.
fn quicksort_items(items: &mut [u32]) {
    let mut items = items;
    while items.len() > 1 {
        // Not the last item as pivot, because then the left part could contain all items.
        let pivot = items[(items.len() - 1) / 2];
        let (mut low, mut high) = (0, items.len() - 1);
        loop {
            while items[low] < pivot {
                low += 1;
            }
            while items[high] > pivot {
                high -= 1;
            }
            if low >= high {
                break;
            }
            items.swap(low, high);
            low += 1;
            high -= 1;
        }
        // Recursion only for the smaller part, so that the stack stays shallow.
        let (left, right) = items.split_at_mut(high + 1);
        if left.len() < right.len() {
            quicksort_items(left);
            items = right;
        } else {
            quicksort_items(right);
            items = left;
        }
    }
}

/// Restores the order of a heap below `root`.
fn sift(items: &mut [u32], mut root: usize) {
    loop {
        let mut child = 2 * root + 1;
        if child >= items.len() {
            return;
        }
        if child + 1 < items.len() && items[child + 1] > items[child] {
            child += 1;
        }
        if items[root] >= items[child] {
            return;
        }
        items.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_arrays_of_any_size() {
        fn sorts(mut operation: impl Operation) {
            for _ in 0..50 {
                operation.set_up();
                operation.call();
            }
        }
        for size in [0, 1, 2, 3, 17, 100] {
            sorts(selection_sort(size));
            sorts(quicksort(size));
            sorts(heapsort(size));
        }
        let mut random = StdRng::seed_from_u64(7);
        for size in 0..60_usize {
            // Only nine different values, so that some items are equal.
            let items: Vec<u32> = (0..size).map(|_| random.random_range(0..9)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            let mut sorted = items.clone();
            quicksort_items(&mut sorted);
            assert_eq!(sorted, expected);
        }
    }
}
