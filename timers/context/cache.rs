//! Memory that the caches of a core do not hold.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arch::opaque;
use crate::work::MULTIPLIER;

/// Bits of an index: 16 MiB of 64-bit words, more than a core has for itself; a cache that cores share may hold it.
const BITS: u32 = if usize::BITS == 64 { 21 } else { 22 };

/// The memory. Every word is the same: the address of the next load follows from what was loaded all the same, as far as the core
/// knows, and nothing has to be put in order first.
pub(super) struct Lines {
    words: Vec<usize>,
    /// Where the last row of loads ended: another one from the same place would find them in the caches.
    at: AtomicUsize,
}

impl Lines {
    /// Touched once, so that it is there.
    pub(super) fn of_this_process() -> &'static Self {
        static LINES: OnceLock<Lines> = OnceLock::new();
        LINES.get_or_init(|| Self { words: vec![1; 1 << BITS], at: AtomicUsize::new(3) })
    }

    /// Where a row of loads begins.
    pub(super) fn begin(&self) -> usize {
        self.at.load(Ordering::Relaxed)
    }

    /// Where it ended.
    pub(super) fn end(&self, at: usize) {
        self.at.store(at, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn load(&self, at: usize) -> usize {
        opaque(self.words[at >> (usize::BITS - BITS)])
    }

    /// Where the next load is, as far from the last one as chance has it.
    #[inline(always)]
    pub(super) fn next(at: usize, loaded: usize) -> usize {
        at.wrapping_mul(MULTIPLIER).wrapping_add(loaded)
    }
}
