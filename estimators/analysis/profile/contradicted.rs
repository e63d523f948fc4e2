//! A cost that the intervals of the same clock contradict. Between two reads with nothing between them lies one call, whatever else lies there:
//! the shortest such interval is no shorter than a call, but for a step.

use crate::trace::Run;

/// This many calls may lie between two reads of a host: it calls the work, which is none, and keeps what it read. Those of runtimes take
/// up to 5 times a call.
/// *Seen*.
const APART: f64 = 10.0;
/// As many nanoseconds may do so beside calls that cost next to nothing.
/// *Judgement*.
const AROUND_NS: f64 = 50.0;

/// The shortest interval without work, in nanoseconds, where calls of this cost, in nanoseconds, cannot be: one of both is no measurement. `step` is that
/// of the clock, in its ticks; where it was not found, the smallest difference between two intervals bounds it.
pub(super) fn by_intervals(runs: &[&Run], step: Option<f64>, ns_per_tick: f64, cost: f64) -> Option<f64> {
    let without_work = runs.iter().flat_map(|run| &run.intervals).filter(|group| group.work == 0);
    let mut deltas: Vec<i64> = without_work.flat_map(|group| &group.deltas).copied().collect();
    deltas.sort_unstable();
    deltas.dedup();
    let apart = || deltas.windows(2).map(|pair| pair[1].abs_diff(pair[0])).min().map(|ticks| ticks as f64);
    let shortest = *deltas.first()? as f64;
    let least = (shortest - step.or_else(apart)?) * ns_per_tick;
    (least > APART * cost.max(0.0) + AROUND_NS).then_some(shortest * ns_per_tick)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Intervals;

    fn shortest(deltas: [&[i64]; 2], step: Option<f64>, cost: f64) -> Option<f64> {
        let of = |work: u64, deltas: &[i64]| Intervals { work, deltas: deltas.into() };
        let run = Run { intervals: vec![of(0, deltas[0]), of(7, deltas[1])], ..Run::default() };
        by_intervals(&[&run], step, 0.5, cost)
    }

    #[test]
    fn calls_do_not_fit_between_reads_that_are_much_longer() {
        assert_eq!(shortest([&[404, 400, 9_000], &[10]], Some(1.0), 1.0), Some(200.0));
        assert_eq!(shortest([&[404, 400, 9_000], &[10]], None, 1.0), Some(200.0));
        // Within a step of nothing; what else stands between two reads; an interruption; nothing seen without work.
        for (deltas, step, cost) in [
            ([&[400][..], &[][..]], 400.0, 1.0),
            ([&[400], &[]], 1.0, 20.0),
            ([&[100], &[]], 1.0, 0.0),
            ([&[9_000, 30], &[]], 1.0, 1.0),
            ([&[], &[400]], 1.0, 1.0),
        ] {
            assert_eq!(shortest(deltas, step.into(), cost), None, "{deltas:?}");
        }
        // A step that is not found may be all of it.
        for deltas in [[&[400, 400][..], &[]], [&[400, 800], &[]]] {
            assert_eq!(shortest(deltas, None, 1.0), None, "{deltas:?}");
        }
        // A trace may hold anything.
        assert_eq!(shortest([&[i64::MIN, i64::MAX], &[]], None, 1.0), None);
    }
}
