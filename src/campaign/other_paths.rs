//! Compares two ways to read the same clock of this program, such as with and without a system
//! call.

use crate::campaign::sampling::Plan;
use crate::trace::OtherPath;

/// Each comparison takes the readings of the order test (`Plan::order_readings`) divided by this
/// number; there is one comparison on an idle machine and one next to a busy thread.
/// *Judgement*: some ten milliseconds of a default run.
const READINGS_DIVISOR: u32 = 10;

/// Compares the two ways for each of the given timers whose clock can be read in two ways. Returns
/// the id of the timer with each comparison.
#[must_use]
pub fn compare_paths(ids: &[&str], plan: &Plan) -> Vec<(&'static str, OtherPath)> {
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
