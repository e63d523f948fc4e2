//! Measures the memory that an operation allocates, from the difference of two repetition counts
//! (Caliper).
//!
//! The counters belong to [`timers::allocations`], which must be the allocator of the program.

use timers::allocations::{Allocated, allocated};

use super::window::Timed;

/// Memory allocated by one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerCall {
    /// Number of allocations.
    pub instances: f64,
    /// Number of allocated bytes.
    pub bytes: f64,
}

/// Counts the allocations of one call. After a first call, which may initialise data, it counts a
/// few calls and then many more. Allocations outside the calls occur in both counts, so they cancel
/// out in the difference.
pub fn per_call(timed: &mut dyn Timed) -> PerCall {
    const FEW_CALLS: u64 = 3;
    const MANY_CALLS: u64 = 100;
    count(timed, 1);
    let (few, many) = (
        count(timed, FEW_CALLS),
        count(timed, FEW_CALLS + MANY_CALLS),
    );
    let share = |many: u64, few: u64| (many as f64 - few as f64) / MANY_CALLS as f64;
    PerCall {
        instances: share(many.instances, few.instances),
        bytes: share(many.bytes, few.bytes),
    }
}

fn count(timed: &mut dyn Timed, calls: u64) -> Allocated {
    let mut total = Allocated::default();
    let mut add = |timed: &mut dyn Timed, calls| {
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
