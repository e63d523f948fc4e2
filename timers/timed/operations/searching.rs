//! Binary search.

use std::hint::black_box;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::timed::window::Operation;

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
pub(super) fn same(size: u64) -> impl Operation {
    let items = sorted(size);
    let wanted = (items.len() as u32).saturating_sub(1) * 2 / 5;
    move || search(black_box(wanted), black_box(&items))
}

/// Another item each time, in random order; all are there.
pub(super) fn random(size: u64) -> impl Operation {
    let items = sorted(size);
    let mut random = StdRng::seed_from_u64(1);
    let wanted: Vec<u32> = (0..ITEMS).map(|_| random.random_range(0..items.len().max(1) as u32)).collect();
    let mut next = 0;
    move || {
        next = (next + 1) % ITEMS;
        search(black_box(wanted[next]), black_box(&items))
    }
}
