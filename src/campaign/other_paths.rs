//! Compares different ways to read the same clock of this program.

use crate::campaign::sampling::Plan;
use crate::trace::OtherPath;

/// Divisor of the readings of the order test: the readings of each way, on an idle CPU and next to
/// a busy one.
/// *Judgement*: some ten milliseconds of a default run.
const READINGS_DIVISOR: u32 = 10;

/// Returns the comparison for each of the given clocks that can be read in two ways, with its id.
#[must_use]
pub fn other_paths(ids: &[&str], plan: &Plan) -> Vec<(&'static str, OtherPath)> {
    let reduced = |read: timers::PairedReads| {
        let kinds = [read.unit_ns, read.lag_ns];
        (
            read.id,
            OtherPath::from_readings(read.within, kinds, read.busy, &read.readings),
        )
    };
    timers::paired_reads(ids, plan.order_readings / READINGS_DIVISOR)
        .into_iter()
        .map(reduced)
        .collect()
}
