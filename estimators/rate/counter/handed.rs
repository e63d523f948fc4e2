//! From CPU to CPU: offsets that stay, and readings that go back now and then.

use crate::rate::order::{Offset, offsets};
use crate::trace::{Handed, Pair};

/// How far the counter of a CPU is ahead of that of the first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuOffset {
    /// The CPU.
    pub cpu: u32,
    /// In nanoseconds; negative when it is behind.
    pub ns: f64,
    /// The true offset lies within that of it.
    pub uncertainty_ns: f64,
    /// Whether it is known not to be 0.
    pub apart: bool,
    /// Whether a reading there may be seen to lie before one that was handed over to it.
    pub shows: bool,
}

/// Readings that go back between CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// How many did, beyond what offsets explain.
    pub backward: u64,
    /// Of how many handoffs.
    pub handoffs: u64,
    /// By how much at most, in nanoseconds.
    pub largest_ns: f64,
    /// What the second reading of a handoff is usually ahead by: what goes back by less does not
    /// show.
    pub usual_ns: f64,
}

/// Steps back from CPU to CPU are of an offset where the usual handoff shows it as well.
/// *Judgement*: half of it; what comes now and then moves no median.
const USUAL: f64 = 0.5;

/// Offsets, and what goes back though there are none; `ns` is the length of a tick.
pub fn judge(handed: &[Handed], ns: f64) -> (Vec<CpuOffset>, Option<Between>) {
    // A pair in which single readings went back tells no offset by its least.
    let steady = handed.iter().filter(|handed| is_steady(handed));
    let steady: Vec<Pair> = steady.map(|handed| handed.pair.clone()).collect();
    let latency = |pair: &Pair| Some(i64::midpoint(pair.least[0]?, pair.least[1]?));
    let latencies = steady.iter().filter_map(latency).min().unwrap_or(0) as f64 * ns;
    let offset = |offset: Offset| CpuOffset {
        cpu: offset.cpu,
        ns: offset.ticks * ns,
        uncertainty_ns: offset.uncertainty * ns,
        apart: offset.ticks.abs() > offset.uncertainty,
        shows: offset.ticks.abs() * ns > latencies,
    };
    let between = between(handed, ns, |handed| !is_steady(handed));
    let offsets = offsets(&steady, 1.0).into_iter().map(offset);
    (offsets.filter(|_| between.is_some()).collect(), between)
}

/// What goes back without fences, whatever the reason.
pub fn unfenced(handed: &[Handed], ns: f64) -> Option<Between> {
    between(handed, ns, |_| true)
}

/// What goes back in the pairs that count. `None` without handoffs.
fn between(handed: &[Handed], ns: f64, counts: fn(&Handed) -> bool) -> Option<Between> {
    let counted = || handed.iter().filter(|handed| counts(handed));
    let handoffs = handed
        .iter()
        .map(|handed| u64::from(handed.pair.handoffs))
        .sum();
    let largest = counted().map(|handed| handed.pair.largest).max();
    let usual = handed
        .iter()
        .flat_map(|handed| handed.usual)
        .flatten()
        .max();
    (handoffs > 0).then(|| Between {
        backward: counted()
            .map(|handed| u64::from(handed.pair.backward))
            .sum(),
        handoffs,
        largest_ns: largest.unwrap_or(0) as f64 * ns,
        usual_ns: usual.unwrap_or(0) as f64 * ns,
    })
}

/// Whether its steps backwards, if any, are those of an offset, which moves all handoffs of a
/// direction alike.
fn is_steady(handed: &Handed) -> bool {
    let half = |values: [Option<i64>; 2]| Some((values[0]? as f64 - values[1]? as f64) / 2.0);
    let (Some(least), Some(usual)) = (half(handed.pair.least), half(handed.usual)) else {
        return true;
    };
    // Where both ways went back, no offset explains both.
    let one_way = handed.pair.least.iter().flatten().sum::<i64>() >= 0;
    handed.pair.backward == 0 || (one_way && usual * least.signum() > USUAL * least.abs())
}
