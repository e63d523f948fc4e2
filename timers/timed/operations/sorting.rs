//! Three sorts. Each call sorts an array that was shuffled before it, outside the timed region.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::timed::window::{Operation, WithSetUp};

/// Selection sort.
pub(super) fn selection(size: u64) -> impl Operation {
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
pub(super) fn quick(size: u64) -> impl Operation {
    shuffled(size, partition)
}

/// Heap sort.
pub(super) fn heap(size: u64) -> impl Operation {
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
            sorts(selection(size));
            sorts(quick(size));
            sorts(heap(size));
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
