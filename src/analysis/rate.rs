//! Rate: how long a tick and a unit of work are.

use crate::analysis::statistics::median;
use crate::trace::Intervals;

/// Ticks in a unit of work: the slope between the group with the least and the one with the most work. `None` unless the
/// intervals grow with the work.
#[must_use]
pub fn ticks_per_work(groups: &[Intervals]) -> Option<f64> {
    let least = groups.iter().min_by_key(|group| group.work)?;
    let most = groups.iter().max_by_key(|group| group.work)?;
    let grown = typical(most)? - typical(least)?;
    let work = (most.work - least.work) as f64;
    (grown > 0.0 && work > 0.0).then(|| grown / work)
}

fn typical(group: &Intervals) -> Option<f64> {
    median(&group.deltas.iter().map(|&delta| delta as f64).collect::<Vec<_>>())
}

/// Nanoseconds in a tick of a timer that moved by `timer` ticks while a clock of `clock_ns` nanoseconds a tick moved by `clock`
/// ticks. `None` unless both moved forward.
#[must_use]
pub fn ns_per_tick(timer: i64, clock: i64, clock_ns: f64) -> Option<f64> {
    (timer > 0 && clock > 0).then(|| clock as f64 * clock_ns / timer as f64)
}
