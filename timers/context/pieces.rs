//! Work for two contexts: a query plan ([`Plan`]) for `Context::Ahead`, and memory that exceeds the
//! caches of a core ([`Lines`]) for `Context::Memory`.
//!
//! A plan is a chain of steps, as in an interpreter of database queries or bytecode. A step calls
//! the next one through a pointer, loads columns of a row, and branches. All calls and branches go
//! the same way each time, so that the core predicts them and executes hundreds of instructions
//! ahead, including those of later rows.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arch::opaque;
use crate::work::MULTIPLIER;

/// The steps of a plan.
const STEPS: usize = 6;
/// The rows of the table; they fit into the first-level cache.
const ROWS: usize = 64;
/// The columns of a row.
const COLUMNS: usize = 8;

type TableRow = [usize; COLUMNS];

/// A step of a plan.
struct Step {
    run: fn(&Step, &TableRow) -> usize,
    /// The next step; `None` in the last one.
    next: Option<Box<Step>>,
    /// The first column that the step uses.
    column: usize,
    /// A bound that no column exceeds.
    maximum: usize,
    /// A number that no column equals.
    constant: usize,
}

impl Step {
    /// Runs the next step.
    #[inline(always)]
    fn run_next(&self, row: &TableRow) -> usize {
        self.next
            .as_ref()
            .map_or(self.constant, |step| (step.run)(step, row))
    }

    /// The column at an offset from the first column of the step.
    #[inline(always)]
    fn column(&self, row: &TableRow, offset: usize) -> usize {
        row[(self.column + offset) % COLUMNS]
    }
}

/// Table scan: loads a column and checks that it is not missing.
#[inline(never)]
fn scan(step: &Step, row: &TableRow) -> usize {
    let value = step.column(row, 0);
    if value > step.maximum {
        return 0;
    }
    step.run_next(row).wrapping_add(value)
}

/// Filter: two comparisons of columns with constants, which every row passes.
#[inline(never)]
fn filter(step: &Step, row: &TableRow) -> usize {
    let next = step.run_next(row);
    if step.column(row, 1) > step.maximum {
        return next;
    }
    if step.column(row, 2) == step.constant {
        return 0;
    }
    next ^ step.constant
}

/// Projection: arithmetic on columns.
#[inline(never)]
fn project(step: &Step, row: &TableRow) -> usize {
    let next = step.run_next(row);
    let sum = step.column(row, 0).wrapping_add(step.column(row, 3) >> 2);
    let other = step.column(row, 4).wrapping_sub(step.column(row, 5)) & step.constant;
    if sum == step.constant {
        return other;
    }
    next.wrapping_add(sum).wrapping_add(other)
}

/// Hash join: looks up a key; the first entry always matches.
#[inline(never)]
fn join(step: &Step, row: &TableRow) -> usize {
    let next = step.run_next(row);
    let key = step.column(row, 6).wrapping_mul(MULTIPLIER);
    let mut probe = key & (COLUMNS - 1);
    while row[probe] > step.maximum {
        probe = (probe + 1) % COLUMNS;
    }
    next ^ row[probe]
}

/// Two chains of steps and the table on which they run.
pub(crate) struct Plan {
    outer: Step,
    inner: Step,
    rows: Vec<TableRow>,
}

impl Plan {
    /// The plan, which all measurements of this process share.
    pub(super) fn shared() -> &'static Self {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(|| {
            // Columns are small and bounds are large; `black_box` hides this from the compiler.
            let rows = (0..ROWS)
                .map(|row| std::array::from_fn(|column| black_box(row + 3 * column)))
                .collect();
            Self {
                outer: steps_from(0),
                inner: steps_from(3),
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

/// A chain of all operations in turn, beginning with the operation of number `first`.
fn steps_from(first: usize) -> Step {
    let operations: [fn(&Step, &TableRow) -> usize; 4] = [scan, filter, project, join];
    let step = |next: Option<Box<Step>>, number: usize| Step {
        run: black_box(operations[(first + number) % operations.len()]),
        next,
        column: black_box(number),
        maximum: black_box(1 << 20),
        constant: black_box(1 << 21),
    };
    (0..STEPS - 1).fold(step(None, STEPS), |next, number| {
        step(Some(Box::new(next)), number)
    })
}

/// The number of bits of an index into the memory of [`Lines`]. The memory has 16 MiB, more than
/// the caches of one core; a cache that several cores share may hold it.
const INDEX_BITS: u32 = if usize::BITS == 64 { 21 } else { 22 };

/// Memory for dependent loads at random addresses. The address of the next load is computed from
/// the loaded word, so that the core has to wait for it. All words are equal; no random order has
/// to be prepared, because the address generator makes one.
pub(crate) struct Lines {
    words: Vec<usize>,
    /// The address after the last loop. The next loop continues there, because from the same start
    /// it would find its words in the caches.
    next_start: AtomicUsize,
}

impl Lines {
    /// The memory, which all measurements of this process share. All pages are written once.
    pub(super) fn shared() -> &'static Self {
        static LINES: OnceLock<Lines> = OnceLock::new();
        LINES.get_or_init(|| Self {
            words: vec![1; 1 << INDEX_BITS],
            next_start: AtomicUsize::new(3),
        })
    }

    /// The address at which a loop begins.
    pub(super) fn first_address(&self) -> usize {
        self.next_start.load(Ordering::Relaxed)
    }

    /// Stores the address at which the next loop begins.
    pub(super) fn continue_at(&self, address: usize) {
        self.next_start.store(address, Ordering::Relaxed);
    }

    /// Loads the word at an address, whose upper bits are the index.
    #[inline(always)]
    pub(super) fn load(&self, address: usize) -> usize {
        opaque(self.words[address >> (usize::BITS - INDEX_BITS)])
    }

    /// The address of the next load: a pseudo-random number that depends on the loaded word.
    #[inline(always)]
    pub(super) fn next_address(address: usize, loaded: usize) -> usize {
        address.wrapping_mul(MULTIPLIER).wrapping_add(loaded)
    }
}
