//! A global allocator that counts allocations and their bytes.
//!
//! What it counts: the calls of `alloc`, `alloc_zeroed` and `realloc` by all threads of the
//! process, and the requested bytes. How it lies: memory obtained in other ways (stacks, direct
//! `mmap`, C libraries) is not counted, nor are bytes added by rounding up. Until [`start`] nothing
//! is counted, and each call costs a load and a branch.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether allocations are counted.
static COUNTS: AtomicBool = AtomicBool::new(false);
/// The number of allocations.
static INSTANCES: AtomicU64 = AtomicU64::new(0);
/// The requested bytes.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator with counters. A program uses it as its `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// Allocations that were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// The number of allocations.
    pub instances: u64,
    /// The requested bytes.
    pub bytes: u64,
}

/// Counts allocations from now on.
pub fn start() {
    COUNTS.store(true, Ordering::Relaxed);
}

/// The allocations of all threads since [`start`]; always 0 if [`CountingAllocator`] is not the
/// global allocator.
pub fn allocated() -> Allocated {
    Allocated {
        instances: INSTANCES.load(Ordering::Relaxed),
        bytes: BYTES.load(Ordering::Relaxed),
    }
}

#[inline(always)]
fn count(size: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        INSTANCES.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(size as u64, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed unchanged to the system's allocator, which fulfils the contract of
// `GlobalAlloc`; counting only adds to two atomics, which neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller fulfils the same preconditions for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the same preconditions for this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller fulfils the same preconditions for this function.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller fulfils the same preconditions for this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
