//! Compares the counters of CPUs by readings that threads pass between CPUs (*handoffs*): constant
//! offsets, and occasional backward steps.

use crate::rate::order::{Offset, offsets};
use crate::trace::{HandoffPair, Pair};

/// The offset of the counter of a CPU from that of the first CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuOffset {
    /// The CPU.
    pub cpu: u32,
    /// Offset in nanoseconds; negative if the counter is behind.
    pub ns: f64,
    /// Uncertainty of the offset, in nanoseconds.
    pub uncertainty_ns: f64,
    /// Whether the offset is significantly different from 0.
    pub is_significant: bool,
    /// Whether the offset is longer than the fastest handoff, so that a reading on one CPU may be
    /// smaller than an earlier reading that was passed to it.
    pub exceeds_handoff: bool,
}

/// Backward steps between CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossCpuBackward {
    /// The number of backward steps.
    pub backward: u64,
    /// The number of handoffs.
    pub handoffs: u64,
    /// The largest backward step, in nanoseconds.
    pub largest_ns: f64,
    /// The median difference between the two readings of a handoff, in nanoseconds, for the pair of
    /// CPUs with the largest median; smaller backward steps are not detectable.
    pub usual_ns: f64,
}

/// Backward steps from CPU to CPU are due to an offset if the medians of both directions show more
/// than this share of the offset that the least differences show. *Judgement*: occasional steps do
/// not change a median.
const MIN_OFFSET_SHARE: f64 = 0.5;

/// Returns the offsets, and the backward steps that no offset explains; `ns` is the length of a
/// tick in nanoseconds. `None` without handoffs.
pub fn offsets_and_backward_steps(
    pairs: &[HandoffPair],
    ns: f64,
) -> (Vec<CpuOffset>, Option<CrossCpuBackward>) {
    // If single readings of a pair of CPUs step backwards, the least difference of the pair does
    // not show its offset.
    let explained = pairs.iter().filter(|pair| offset_explains_steps(pair));
    let explained: Vec<Pair> = explained.map(|pair| pair.pair.clone()).collect();
    let latency = |pair: &Pair| {
        Some(i64::midpoint(
            pair.min_difference[0]?,
            pair.min_difference[1]?,
        ))
    };
    let min_latency_ns = explained.iter().filter_map(latency).min().unwrap_or(0) as f64 * ns;
    let offset = |offset: Offset| CpuOffset {
        cpu: offset.cpu,
        ns: offset.ticks * ns,
        uncertainty_ns: offset.uncertainty * ns,
        is_significant: offset.ticks.abs() > offset.uncertainty,
        exceeds_handoff: offset.ticks.abs() * ns > min_latency_ns,
    };
    let backward = count_backward_steps(pairs, ns, |pair| !offset_explains_steps(pair));
    let offsets = offsets(&explained, 1.0).into_iter().map(offset);
    (offsets.filter(|_| backward.is_some()).collect(), backward)
}

/// Returns all backward steps in handoffs without fences, whatever their cause. `None` without
/// handoffs.
pub fn unfenced(pairs: &[HandoffPair], ns: f64) -> Option<CrossCpuBackward> {
    count_backward_steps(pairs, ns, |_| true)
}

/// Returns the backward steps of the pairs of CPUs for which `is_counted` holds. `None` without
/// handoffs.
fn count_backward_steps(
    pairs: &[HandoffPair],
    ns: f64,
    is_counted: fn(&HandoffPair) -> bool,
) -> Option<CrossCpuBackward> {
    let counted = || pairs.iter().filter(|pair| is_counted(pair));
    let handoffs = pairs.iter().map(|pair| u64::from(pair.pair.handoffs)).sum();
    let largest = counted().map(|pair| pair.pair.largest).max();
    let usual = pairs
        .iter()
        .flat_map(|pair| pair.median_difference)
        .flatten()
        .max();
    (handoffs > 0).then(|| CrossCpuBackward {
        backward: counted().map(|pair| u64::from(pair.pair.backward)).sum(),
        handoffs,
        largest_ns: largest.unwrap_or(0) as f64 * ns,
        usual_ns: usual.unwrap_or(0) as f64 * ns,
    })
}

/// Returns whether an offset, which shifts all handoffs of a direction equally, explains the
/// backward steps of a pair of CPUs; true if there are none, or no differences in one of the
/// directions.
fn offset_explains_steps(handoffs: &HandoffPair) -> bool {
    let half = |values: [Option<i64>; 2]| Some((values[0]? as f64 - values[1]? as f64) / 2.0);
    let (Some(least), Some(usual)) = (
        half(handoffs.pair.min_difference),
        half(handoffs.median_difference),
    ) else {
        return true;
    };
    // If both directions have backward steps, no offset explains them.
    let one_way = handoffs.pair.min_difference.iter().flatten().sum::<i64>() >= 0;
    handoffs.pair.backward == 0
        || (one_way && usual * least.signum() > MIN_OFFSET_SHARE * least.abs())
}
