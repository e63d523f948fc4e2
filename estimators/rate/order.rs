//! Checks the order of readings: counts backward steps of successive readings, and bounds the
//! offsets between the clocks of CPUs from handoffs in both directions.
//!
//! In a *handoff*, a thread reads its clock and passes the reading to a thread on another CPU,
//! which then reads its own clock. A handoff takes time, so the difference between the second and
//! the first reading exceeds the offset of the second clock. The least difference is an upper bound
//! of the offset; the least difference in the other direction gives a lower bound. Bounds add up
//! along a path of pairs of CPUs, and the tightest path is used.

use crate::model::CpuOffset;
use crate::trace::Pair;

/// The expected number of events at which the probability of at least one event is 95 %. *Chance*:
/// 1 − e⁻³ is 0.95.
pub const EXPECTED_FOR_DETECTION: f64 = 3.0;
/// The fewest changes of a value of which a share below 1 would have shown a step back. *Computed*:
/// the next number after [`EXPECTED_FOR_DETECTION`].
pub const MIN_CHANGES: u32 = 4;

/// Number and size of backward steps of successive readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backward {
    /// The number of backward steps.
    pub steps: u64,
    /// The largest backward step, in ticks.
    pub largest: u64,
}

impl Backward {
    /// Counts the negative differences of successive readings.
    pub fn among(deltas: impl IntoIterator<Item = i64>) -> Self {
        deltas
            .into_iter()
            .filter(|&delta| delta < 0)
            .fold(Self::default(), |total, delta| Self {
                steps: total.steps + 1,
                largest: total.largest.max(delta.unsigned_abs()),
            })
    }

    /// Returns the backward steps of two sets of readings together.
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            largest: self.largest.max(other.largest),
        }
    }
}

/// Returns the offset of the clock of every CPU from that of the CPU with the lowest number: the
/// centre of its bounds. `step` is the step to which readings are truncated, in ticks; `ns` is the
/// length of a tick in nanoseconds. CPUs without a path in both directions are left out.
pub fn offsets(pairs: &[Pair], step: f64, ns: f64) -> Vec<CpuOffset> {
    let mut cpus: Vec<u32> = pairs
        .iter()
        .filter_map(|pair| pair.cpus)
        .flatten()
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    let index = |cpu: u32| cpus.binary_search(&cpu).unwrap_or_default();
    // A list of steps from CPU to CPU, with the upper bound of the offset between them.
    let mut steps = Vec::new();
    for pair in pairs {
        let Some([a, b]) = pair.cpus.map(|cpus| cpus.map(index)) else {
            continue;
        };
        let [there, back] = pair.min_difference.map(|least| Some(least? as f64 + step));
        steps.extend(there.map(|bound| ([a, b], bound)));
        steps.extend(back.map(|bound| ([b, a], bound)));
    }
    let [above, below] = [[0, 1], [1, 0]].map(|ends| tightest_paths(cpus.len(), &steps, ends));
    let relative_to_first = |index: usize| {
        let (above, below) = (above[index], -below[index]);
        CpuOffset {
            cpu: cpus[index],
            ns: f64::midpoint(above, below) * ns,
            uncertainty_ns: (above - below) / 2.0 * ns,
        }
    };
    (0..cpus.len())
        .map(relative_to_first)
        .filter(|offset| offset.uncertainty_ns.is_finite())
        .collect()
}

/// The largest number of sweeps over all pairs. *Numerical*: enough for any path through 64 CPUs; longer
/// ones would only tighten a bound.
const MAX_SWEEPS: usize = 64;

/// The least sum of the bounds along a path of steps from the first of `count` CPUs to each, which enters a step
/// at one of its ends and leaves it at the other; infinite without a path. Memory and time grow with the pairs,
/// which a trace may list for any number of CPUs.
fn tightest_paths(count: usize, steps: &[([usize; 2], f64)], [from, to]: [usize; 2]) -> Vec<f64> {
    let mut bounds = vec![f64::INFINITY; count];
    for _ in 0..MAX_SWEEPS {
        for (cpus, bound) in steps {
            bounds[cpus[to]] = bounds[cpus[to]].min(bounds[cpus[from]] + bound);
        }
        bounds.iter_mut().take(1).for_each(|own| *own = 0.0);
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(cpus: [u32; 2], there: i64, back: i64) -> Pair {
        Pair {
            cpus: Some(cpus),
            handoffs: 2,
            min_difference: [Some(there), Some(back)],
            ..Pair::default()
        }
    }

    #[test]
    fn both_directions_bound_an_offset() {
        // The clock of CPU 3 is 500 ticks behind; a handoff takes 80 ticks or more.
        let found = offsets(&[pair([0, 3], 80 - 500, 85 + 500)], 0.0, 1.0);
        assert_eq!(
            found[0],
            CpuOffset {
                cpu: 0,
                ns: 0.0,
                uncertainty_ns: 0.0
            }
        );
        assert_eq!(
            found[1],
            CpuOffset {
                cpu: 3,
                ns: -502.5,
                uncertainty_ns: 82.5
            }
        );
    }

    #[test]
    fn tightest_path_bounds_offset() {
        let pairs = [
            pair([0, 1], 900, 900),
            pair([0, 2], 50, 50),
            pair([2, 1], 50, 60),
        ];
        let found = offsets(&pairs, 0.0, 1.0);
        assert_eq!(
            found[1],
            CpuOffset {
                cpu: 1,
                ns: -5.0,
                uncertainty_ns: 105.0
            }
        );
        assert_eq!(
            offsets(&pairs, 10.0, 1.0)[2].uncertainty_ns,
            60.0,
            "truncation widens the bounds"
        );
    }

    /// As a trace of some kilobytes may list them: a matrix of them would take 80 GB.
    #[test]
    fn many_cpus_take_little_memory() {
        let pairs: Vec<Pair> = (1..100_000).map(|cpu| pair([0, cpu], 80, 90)).collect();
        let found = offsets(&pairs, 0.0, 1.0);
        assert_eq!(found[9].uncertainty_ns, 85.0);
    }

    #[test]
    fn no_pairs_give_no_offsets() {
        assert_eq!(offsets(&[], 1.0, 1.0), []);
        assert_eq!(offsets(&[Pair::default()], 1.0, 1.0), []);
    }
}
