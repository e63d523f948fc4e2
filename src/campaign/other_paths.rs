//! Clocks of this program that are to be had in several ways, read beside each other.

use crate::campaign::sampling::Plan;
use crate::trace::OtherPath;

/// Readings of each, idle and beside a busy CPU, are this part of those whose order is looked at.
/// *Judgement*: some ten milliseconds of a default run.
const PART: u32 = 10;

/// What was seen of those of these clocks that are known twice, by their ids.
#[must_use]
pub fn other_paths(ids: &[&str], plan: &Plan) -> Vec<(&'static str, OtherPath)> {
    let reduced = |read: timers::PairedReads| {
        let kinds = [read.unit_ns, read.lag_ns];
        (
            read.id,
            OtherPath::from_readings(read.within, kinds, read.busy, &read.readings),
        )
    };
    timers::paired_reads(ids, plan.order_readings / PART)
        .into_iter()
        .map(reduced)
        .collect()
}
