//! The operations: arithmetic; copies of arrays of bytes; binary search; and three sorts, of which
//! each call sorts an array that was shuffled before it, outside the timed region.

use std::hint::black_box;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::timed::window::{Operation, WithSetUp};

/// `length` multiplications, each of which waits for the one before: twice as many take twice as
/// long.
pub(super) fn chain(length: u64) -> impl Operation {
    let mut state = 1_u64;
    move || {
        state = timers::links(state, black_box(length));
        state
    }
}

/// A hundred logarithms; the result of a call is where the next one starts.
pub(super) fn log_chain() -> impl Operation {
    let mut value = 123.456_f64;
    move || {
        for _ in 0..100 {
            // The logarithm of what is not positive is none; the chain goes on with the absolute
            // value.
            value = value.abs().max(f64::MIN_POSITIVE).ln();
        }
        value
    }
}

/// Twenty multiplications in a chain, of a number that changes from call to call.
pub(super) fn multiply() -> impl Operation {
    each_of(|x| {
        let first = 1.1 * x;
        (0..19).fold(first, |product, _| product * first)
    })
}

/// A function of the numbers from 0 to 255, one after the other.
pub(super) fn each_of(function: impl Fn(f64) -> f64) -> impl Operation {
    let mut next = 0_u8;
    move || {
        next = next.wrapping_add(1);
        function(f64::from(black_box(next)))
    }
}

fn bytes(size: u64) -> Vec<u8> {
    (0..size)
        .map(|at| (at.wrapping_mul(0x9e37_79b9) >> 7) as u8)
        .collect()
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

/// Random items are made beforehand, as making one takes about as long as finding it.
const ITEMS: usize = 1 << 14;

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

/// The same item each time, just before the middle: the CPU learns the way.
pub(super) fn search_same(size: u64) -> impl Operation {
    let items = sorted(size);
    let wanted = (items.len() as u32).saturating_sub(1) * 2 / 5;
    move || search(black_box(wanted), black_box(&items))
}

/// Another item each time, in random order; all are there.
pub(super) fn search_random(size: u64) -> impl Operation {
    let items = sorted(size);
    let mut random = StdRng::seed_from_u64(1);
    let wanted: Vec<u32> = (0..ITEMS)
        .map(|_| random.random_range(0..items.len().max(1) as u32))
        .collect();
    let mut next = 0;
    move || {
        next = (next + 1) % ITEMS;
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

/// Quicksort around the middle item.
pub(super) fn quicksort(size: u64) -> impl Operation {
    shuffled(size, partition)
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

fn shuffled(size: u64, sort: fn(&mut [u32])) -> impl Operation {
    let mut random = StdRng::seed_from_u64(1);
    let data: Vec<u32> = (0..size.min(u64::from(u32::MAX)) as u32).collect();
    WithSetUp {
        data,
        set_up: move |items: &mut Vec<u32>| {
            // Fisher and Yates.
            for at in (1..items.len()).rev() {
                items.swap(at, random.random_range(0..=at));
            }
        },
        call: move |items: &mut Vec<u32>| sort(items),
    }
}

fn partition(items: &mut [u32]) {
    let mut items = items;
    while items.len() > 1 {
        // Never the last item: the left part would then be all there is.
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
        // The smaller part by recursion, the larger by the loop: the stack stays shallow.
        let (left, right) = items.split_at_mut(high + 1);
        if left.len() < right.len() {
            partition(left);
            items = right;
        } else {
            partition(right);
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
    fn all_three_sort() {
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
            // Few values, so that some are equal.
            let items: Vec<u32> = (0..size).map(|_| random.random_range(0..9)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            let mut mine = items.clone();
            partition(&mut mine);
            assert_eq!(mine, expected);
        }
    }
}
