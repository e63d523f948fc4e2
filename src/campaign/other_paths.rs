//! Compares two ways to read the same clock of this program, such as with and without a system
//! call.

use crate::campaign::sampling::Plan;
use crate::trace::OtherPath;

/// Divisor of the number of readings of the order test, which gives the number of readings by each
/// way: once on an idle CPU and once next to a busy thread.
/// *Judgement*: some ten milliseconds of a default run.
const READINGS_DIVISOR: u32 = 10;

/// Reads each of the given clocks that can be read in two ways by both of them; returns the id of
/// the clock and the comparison.
#[must_use]
pub fn other_paths(ids: &[&str], plan: &Plan) -> Vec<(&'static str, OtherPath)> {
    let compare = |read: timers::PairedReads| {
        let bounds_ns = [read.unit_ns, read.lag_ns];
        (
            read.id,
            OtherPath::from_readings(read.within, bounds_ns, read.busy, &read.readings),
        )
    };
    timers::paired_reads(ids, plan.order_readings / READINGS_DIVISOR)
        .into_iter()
        .map(compare)
        .collect()
}
