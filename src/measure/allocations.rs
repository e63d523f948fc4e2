//! Measures the memory that an operation allocates: the difference between many and few calls, as
//! Caliper does. [`timers::allocations`] must be the allocator of the program, because that
//! allocator counts the allocations.

use timers::allocations::{self, Allocated, allocated};

use super::window::TimedOperation;

/// Measures the memory that one call allocates: the numbers of allocations and of bytes. Makes a
/// first call, which may initialise data, then counts the allocations of few calls and of many more.
/// Allocations that do not depend on the number of calls cancel out in the difference.
pub fn measure_per_call(timed: &mut dyn TimedOperation) -> [f64; 2] {
    const FEW_CALLS: u64 = 3;
    const FURTHER_CALLS: u64 = 100;
    allocations::start();
    count(timed, 1);
    let (few, many) = (
        count(timed, FEW_CALLS),
        count(timed, FEW_CALLS + FURTHER_CALLS),
    );
    let per_call = |many: u64, few: u64| (many as f64 - few as f64) / FURTHER_CALLS as f64;
    [
        per_call(many.instances, few.instances),
        per_call(many.bytes, few.bytes),
    ]
}

/// Counts the allocations of this number of calls, without those of the set-up.
fn count(timed: &mut dyn TimedOperation, calls: u64) -> Allocated {
    let mut total = Allocated::default();
    let mut add = |timed: &mut dyn TimedOperation, calls| {
        let before = allocated();
        timed.window(calls);
        let after = allocated();
        total.instances += after.instances - before.instances;
        total.bytes += after.bytes - before.bytes;
    };
    if timed.needs_set_up() {
        for _ in 0..calls {
            timed.set_up();
            add(timed, 1);
        }
    } else {
        add(timed, calls);
    }
    total
}
