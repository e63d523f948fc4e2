//! The work of `Context::Ahead`: a query plan.
//!
//! A plan is a chain of steps, as in an interpreter of database queries or bytecode. A step calls
//! the next one through a pointer, loads columns of a row, and branches. All calls and branches go
//! the same way each time, so that the core predicts them and executes hundreds of instructions
//! ahead, including those of later rows.

use std::hint::black_box;
use std::sync::OnceLock;

use crate::work::MULTIPLIER;

/// The steps of a plan.
const STEPS: usize = 6;
/// The rows of the table; they fit into the first-level cache.
const ROWS: usize = 64;
/// The columns of a row.
const COLUMNS: usize = 8;

type TableRow = [usize; COLUMNS];

/// A step of a plan.
struct Stage {
    run: fn(&Stage, &TableRow) -> usize,
    /// The next step; `None` in the last one.
    next: Option<Box<Stage>>,
    /// The first column that the step uses.
    column: usize,
    /// A bound that no column exceeds.
    maximum: usize,
    /// A number that no column equals.
    constant: usize,
}

impl Stage {
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
fn scan(step: &Stage, row: &TableRow) -> usize {
    let value = step.column(row, 0);
    if value > step.maximum {
        return 0;
    }
    step.run_next(row).wrapping_add(value)
}

/// Filter: two comparisons of columns with constants, which every row passes.
#[inline(never)]
fn filter(step: &Stage, row: &TableRow) -> usize {
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
fn project(step: &Stage, row: &TableRow) -> usize {
    let next = step.run_next(row);
    let sum = step.column(row, 0).wrapping_add(step.column(row, 3) >> 2);
    let other = step.column(row, 4).wrapping_sub(step.column(row, 5)) & step.constant;
    if sum == step.constant {
        return other;
    }
    next.wrapping_add(sum).wrapping_add(other)
}

/// Hash join: imitates a lookup. The row serves as the hash table, a column as the key; the first
/// entry always matches.
#[inline(never)]
fn join(step: &Stage, row: &TableRow) -> usize {
    let next = step.run_next(row);
    let key = step.column(row, 6).wrapping_mul(MULTIPLIER);
    let mut probe = key & (COLUMNS - 1);
    while row[probe] > step.maximum {
        probe = (probe + 1) % COLUMNS;
    }
    next ^ row[probe]
}

/// Two chains of steps and the table on which they run.
pub(crate) struct QueryPlan {
    /// The chain that runs before the read of the timer.
    outer: Stage,
    /// The chain that runs after the read.
    inner: Stage,
    rows: Vec<TableRow>,
}

impl QueryPlan {
    /// The plan, which all measurements of this process share.
    pub(super) fn shared() -> &'static Self {
        static PLAN: OnceLock<QueryPlan> = OnceLock::new();
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

    /// Runs the outer chain on a row.
    #[inline(always)]
    pub(super) fn outer(&self, row: usize) -> usize {
        (self.outer.run)(&self.outer, &self.rows[row % ROWS])
    }

    /// Runs the inner chain on a row.
    #[inline(always)]
    pub(super) fn inner(&self, row: usize) -> usize {
        (self.inner.run)(&self.inner, &self.rows[row % ROWS])
    }
}

/// A chain of six steps. In the order in which they are called, their operations have the numbers
/// `first`, `first` − 1, `first` − 2, `first` − 3, `first` − 4 and `first` + 2, modulo 4.
fn steps_from(first: usize) -> Stage {
    let operations: [fn(&Stage, &TableRow) -> usize; 4] = [scan, filter, project, join];
    let step = |next: Option<Box<Stage>>, number: usize| Stage {
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
