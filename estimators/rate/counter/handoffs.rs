//! Compares the counters of CPUs by readings passed between them: constant offsets, and occasional
//! backward steps.

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
    /// Whether a reading on this CPU may precede a reading that was passed to it.
    pub exceeds_handoff: bool,
}

/// Backward steps between CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossCpuBackward {
    /// The number of backward steps, beyond those that offsets explain.
    pub backward: u64,
    /// The number of handoffs.
    pub handoffs: u64,
    /// The largest backward step, in nanoseconds.
    pub largest_ns: f64,
    /// The median difference between the two readings of a handoff, in nanoseconds, of the pair of
    /// CPUs with the largest one; smaller backward steps are not detectable.
    pub usual_ns: f64,
}

/// Backward steps from CPU to CPU are due to an offset if the median handoff shows at least this
/// share of them. *Judgement*: occasional steps do not change a median.
const MIN_OFFSET_SHARE: f64 = 0.5;

/// Returns the offsets, and the backward steps without an offset; `ns` is the length of a tick in
/// nanoseconds.
pub fn offsets_and_backward_steps(
    handed: &[HandoffPair],
    ns: f64,
) -> (Vec<CpuOffset>, Option<CrossCpuBackward>) {
    // If single readings of a pair step backwards, its least difference does not show the offset.
    let explained = handed
        .iter()
        .filter(|handed| has_no_unexplained_step(handed));
    let explained: Vec<Pair> = explained.map(|handed| handed.pair.clone()).collect();
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
    let between = count_backward_steps(handed, ns, |handed| !has_no_unexplained_step(handed));
    let offsets = offsets(&explained, 1.0).into_iter().map(offset);
    (offsets.filter(|_| between.is_some()).collect(), between)
}

/// Returns the backward steps without fences, whatever their cause.
pub fn unfenced(handed: &[HandoffPair], ns: f64) -> Option<CrossCpuBackward> {
    count_backward_steps(handed, ns, |_| true)
}

/// Returns the backward steps in the pairs for which `counts` holds. `None` without handoffs.
fn count_backward_steps(
    handed: &[HandoffPair],
    ns: f64,
    counts: fn(&HandoffPair) -> bool,
) -> Option<CrossCpuBackward> {
    let counted = || handed.iter().filter(|handed| counts(handed));
    let handoffs = handed
        .iter()
        .map(|handed| u64::from(handed.pair.handoffs))
        .sum();
    let largest = counted().map(|handed| handed.pair.largest).max();
    let usual = handed
        .iter()
        .flat_map(|handed| handed.median_difference)
        .flatten()
        .max();
    (handoffs > 0).then(|| CrossCpuBackward {
        backward: counted()
            .map(|handed| u64::from(handed.pair.backward))
            .sum(),
        handoffs,
        largest_ns: largest.unwrap_or(0) as f64 * ns,
        usual_ns: usual.unwrap_or(0) as f64 * ns,
    })
}

/// Returns whether the backward steps, if any, are due to an offset, which shifts all handoffs of a
/// direction equally.
fn has_no_unexplained_step(handed: &HandoffPair) -> bool {
    let half = |values: [Option<i64>; 2]| Some((values[0]? as f64 - values[1]? as f64) / 2.0);
    let (Some(least), Some(usual)) = (
        half(handed.pair.min_difference),
        half(handed.median_difference),
    ) else {
        return true;
    };
    // If both directions have backward steps, no offset explains them.
    let one_way = handed.pair.min_difference.iter().flatten().sum::<i64>() >= 0;
    handed.pair.backward == 0
        || (one_way && usual * least.signum() > MIN_OFFSET_SHARE * least.abs())
}
