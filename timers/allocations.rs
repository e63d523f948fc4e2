//! A global allocator that counts: how often memory is asked for, and how much of it.
//!
//! What it counts: calls of `alloc`, `alloc_zeroed` and `realloc` by all threads of the process,
//! and the bytes that they ask for. How it lies: memory that does not come through the global
//! allocator (stacks, `mmap` by hand, C libraries) is not seen, and what the system rounds up is
//! not either. It costs two additions to shared counters a call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static INSTANCES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The allocator of the system, with a count. A program that wants to count makes it its
/// `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// What was allocated so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// Calls.
    pub instances: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
}

/// What was allocated so far by all threads. Zero for ever where [`Counting`] is not the allocator
/// of the program.
#[must_use]
pub fn allocated() -> Allocated {
    Allocated {
        instances: INSTANCES.load(Ordering::Relaxed),
        bytes: BYTES.load(Ordering::Relaxed),
    }
}

fn count(size: usize) {
    INSTANCES.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(size as u64, Ordering::Relaxed);
}

// SAFETY: every call is handed to the allocator of the system as it came, which keeps the contract;
// counting touches two statics and neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises for this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises for this call.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises for this call.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as the caller promises for this call.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
