//! What an operation allocates: the difference of two repetition counts (Caliper).
//!
//! The counts are those of [`timers::allocations`], which has to be the allocator of the program.

use timers::allocations::{Allocated, allocated};

use super::window::Timed;

/// Memory that a call asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerCall {
    /// Calls of the allocator.
    pub instances: f64,
    /// Bytes.
    pub bytes: f64,
}

/// Counts a first call (which may initialise things), then a few calls, then many more: what is
/// allocated around the calls is in both, and goes out by the difference.
pub fn per_call(timed: &mut dyn Timed) -> PerCall {
    const FEW: u64 = 3;
    const MORE: u64 = 100;
    count(timed, 1);
    let (few, many) = (count(timed, FEW), count(timed, FEW + MORE));
    let share = |many: u64, few: u64| (many as f64 - few as f64) / MORE as f64;
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
