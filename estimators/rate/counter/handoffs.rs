//! Compares the counters of CPUs by readings that threads pass between CPUs (*handoffs*): constant
//! offsets, and occasional backward steps.

use crate::model::CpuOffset;
use crate::rate::order::offsets;
use crate::trace::{HandoffPair, Pair};

/// Backward steps between CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossCpuBackward {
    /// The number of backward steps.
    pub backward: u64,
    /// The number of handoffs.
    pub handoffs: u64,
    /// The number of handoffs whose two readings differed: others could not show a step back.
    pub changed: u64,
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

/// Returns the offsets of the counters of CPUs in nanoseconds; `ns` is the length of a tick.
pub fn cpu_offsets(pairs: &[HandoffPair], ns: f64) -> Vec<CpuOffset> {
    offsets(&explained(pairs), 1.0, ns)
}

/// Returns the duration of the fastest handoff in nanoseconds: a reading that is passed to a CPU
/// whose counter is behind by more may be larger than the next one there.
pub fn fastest_ns(pairs: &[HandoffPair], ns: f64) -> f64 {
    let duration = |pair: &Pair| {
        let [there, back] = pair.min_difference;
        Some(i64::midpoint(there?, back?))
    };
    explained(pairs)
        .iter()
        .filter_map(duration)
        .min()
        .unwrap_or(0) as f64
        * ns
}

/// The pairs of CPUs whose least differences show their offset: not those of which single readings
/// step backwards.
fn explained(pairs: &[HandoffPair]) -> Vec<Pair> {
    pairs
        .iter()
        .filter(|pair| offset_explains_steps(pair))
        .map(|pair| pair.pair.clone())
        .collect()
}

/// Returns the backward steps that no offset explains. `None` without handoffs.
pub fn unexplained(pairs: &[HandoffPair], ns: f64) -> Option<CrossCpuBackward> {
    count_backward_steps(pairs, ns, |pair| !offset_explains_steps(pair))
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
    let sum = |count: fn(&Pair) -> u32| pairs.iter().map(|pair| u64::from(count(&pair.pair))).sum();
    let handoffs = sum(|pair| pair.handoffs);
    let largest = counted().map(|pair| pair.pair.largest).max();
    let usual = pairs
        .iter()
        .flat_map(|pair| pair.median_difference)
        .flatten()
        .max();
    (handoffs > 0).then(|| CrossCpuBackward {
        backward: counted().map(|pair| u64::from(pair.pair.backward)).sum(),
        handoffs,
        changed: sum(|pair| pair.changed.unwrap_or(pair.handoffs)),
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
