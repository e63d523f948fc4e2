//! Code that a core runs far ahead in: a tree of steps as an interpreter of queries or of bytecode
//! has one.
//!
//! A step calls the one below it through a pointer, loads what it needs, and branches. Every call
//! and every branch goes the same way each time, so that the core predicts all of them and has
//! hundreds of instructions under way, those of later rows among them.
//!
//! Memory that the caches of a core do not hold.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arch::opaque;
use crate::work::MULTIPLIER;

/// Steps of a plan on either side of the read.
const STEPS: usize = 6;
/// Rows that it is worked off on: they stay in the nearest cache.
const ROWS: usize = 64;
/// Columns of a row.
const COLUMNS: usize = 8;

type TableRow = [usize; COLUMNS];

/// A step and the one below it.
struct Step {
    run: fn(&Step, &TableRow) -> usize,
    below: Option<Box<Step>>,
    column: usize,
    most: usize,
    constant: usize,
}

impl Step {
    #[inline(always)]
    fn below(&self, row: &TableRow) -> usize {
        self.below
            .as_ref()
            .map_or(self.constant, |step| (step.run)(step, row))
    }

    #[inline(always)]
    fn column(&self, row: &TableRow, more: usize) -> usize {
        row[(self.column + more) % COLUMNS]
    }
}

/// What a scan does: it takes a column, and looks whether it is there.
#[inline(never)]
fn scan(step: &Step, row: &TableRow) -> usize {
    let value = step.column(row, 0);
    if value > step.most {
        return 0;
    }
    step.below(row).wrapping_add(value)
}

/// What a filter does: two comparisons with constants, both of which hold.
#[inline(never)]
fn filter(step: &Step, row: &TableRow) -> usize {
    let below = step.below(row);
    if step.column(row, 1) > step.most {
        return below;
    }
    if step.column(row, 2) == step.constant {
        return 0;
    }
    below ^ step.constant
}

/// What a projection does: arithmetic on columns.
#[inline(never)]
fn project(step: &Step, row: &TableRow) -> usize {
    let below = step.below(row);
    let sum = step.column(row, 0).wrapping_add(step.column(row, 3) >> 2);
    let other = step.column(row, 4).wrapping_sub(step.column(row, 5)) & step.constant;
    if sum == step.constant {
        return other;
    }
    below.wrapping_add(sum).wrapping_add(other)
}

/// What a join does: it looks for a key, of which the first one it meets is right.
#[inline(never)]
fn join(step: &Step, row: &TableRow) -> usize {
    let below = step.below(row);
    let key = step.column(row, 6).wrapping_mul(MULTIPLIER);
    let mut probe = key & (COLUMNS - 1);
    while row[probe] > step.most {
        probe = (probe + 1) % COLUMNS;
    }
    below ^ row[probe]
}

/// Both sides, and what they are worked off on.
pub(crate) struct Plan {
    outer: Step,
    inner: Step,
    rows: Vec<TableRow>,
}

impl Plan {
    pub(super) fn of_this_process() -> &'static Self {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(|| {
            // The columns are small and the bounds large, which the compiler is not told.
            let rows = (0..ROWS)
                .map(|row| std::array::from_fn(|column| black_box(row + 3 * column)))
                .collect();
            Self {
                outer: tree(0),
                inner: tree(3),
                rows,
            }
        })
    }

    #[inline(always)]
    pub(super) fn outer(&self, row: usize) -> usize {
        (self.outer.run)(&self.outer, &self.rows[row % ROWS])
    }

    #[inline(always)]
    pub(super) fn inner(&self, row: usize) -> usize {
        (self.inner.run)(&self.inner, &self.rows[row % ROWS])
    }
}

fn tree(first: usize) -> Step {
    let kinds: [fn(&Step, &TableRow) -> usize; 4] = [scan, filter, project, join];
    let step = |below: Option<Box<Step>>, number: usize| Step {
        run: black_box(kinds[(first + number) % kinds.len()]),
        below,
        column: black_box(number),
        most: black_box(1 << 20),
        constant: black_box(1 << 21),
    };
    (0..STEPS - 1).fold(step(None, STEPS), |below, number| {
        step(Some(Box::new(below)), number)
    })
}

/// Bits of an index: 16 MiB of 64-bit words, more than a core has for itself; a cache that cores
/// share may hold it.
const BITS: u32 = if usize::BITS == 64 { 21 } else { 22 };

/// The memory. Every word is the same: the address of the next load follows from what was loaded
/// all the same, as far as the core knows, and nothing has to be put in order first.
pub(crate) struct Lines {
    words: Vec<usize>,
    /// Where the last row of loads ended: another one from the same place would find them in the
    /// caches.
    at: AtomicUsize,
}

impl Lines {
    /// Touched once, so that it is there.
    pub(super) fn of_this_process() -> &'static Self {
        static LINES: OnceLock<Lines> = OnceLock::new();
        LINES.get_or_init(|| Self {
            words: vec![1; 1 << BITS],
            at: AtomicUsize::new(3),
        })
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
