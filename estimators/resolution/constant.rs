//! Proves steps of one unit by intervals that do not vary, such as those of a processor that does the
//! same work in the same number of cycles each time.
//!
//! A counter whose step is *s* units returns ⌊*ns*⌋ after *n* steps, so that intervals of *m* steps
//! vary by one unit unless *ms* is a whole number. If the intervals do not vary for most amounts of
//! work, all are whole multiples of a whole step, except for a unit that a clock of unique readings
//! adds to all. Differences that have no such step in common then prove steps of one unit.

use std::collections::BTreeSet;

use super::INTERRUPTED_SHARE;
use super::jump::group_by_work;
use crate::trace::Differences;

/// The least number of intervals with an amount of work. *Chance*: a step of 1.5 units varies none of
/// them in one of a billion amounts.
const MIN_INTERVALS: usize = 30;

/// Returns the longest step, in units, that such intervals do not exclude; `None` if they prove
/// nothing.
pub fn longest_step(groups: &[Differences]) -> Option<f64> {
    /// The least number of distinct intervals. *Chance*: at a step of 1.5 units one interval in two is a
    /// whole number of units, and all of these in one case of 65 000.
    const MIN_DISTINCT: usize = 16;
    /// The least share of amounts whose intervals do not vary. *Judgement*: a few may take either of
    /// two times.
    const MIN_CONSTANT: f64 = 0.75;
    /// The longest interval of a read without work, in units. *Numerical*: all steps up to it are tested.
    const MAX_SHORTEST: i64 = 1 << 17;
    /// The largest share of distinct intervals with one remainder. *Judgement*: half of all numbers are
    /// odd.
    const MAX_SAME: f64 = 0.75;
    let usual: Vec<Option<i64>> = group_by_work(groups)
        .into_values()
        .filter(|deltas| deltas.len() >= MIN_INTERVALS)
        .map(constant_interval)
        .collect();
    let constant = usual.iter().flatten();
    let distinct: BTreeSet<i64> = constant.clone().copied().collect();
    let shortest = *distinct
        .first()
        .filter(|it| (1..=MAX_SHORTEST).contains(*it))?;
    let have_in_common = |step: i64| {
        let mut remainders: Vec<i64> = distinct.iter().map(|value| value % step).collect();
        remainders.sort_unstable();
        let mut same = remainders.chunk_by(i64::eq);
        same.any(|same| same.len() as f64 > MAX_SAME * distinct.len() as f64)
    };
    let is_proven = distinct.len() >= MIN_DISTINCT
        && constant.count() as f64 >= MIN_CONSTANT * usual.len() as f64
        && !(2..=shortest).any(have_in_common);
    // A step of 1 + 1/m units adds a unit to an interval of m steps.
    is_proven.then(|| 1.0 + 1.0 / shortest as f64)
}

/// Returns the interval that most of those with one amount of work have; `None` if most differ, or
/// more than a few by one unit.
fn constant_interval(mut deltas: Vec<i64>) -> Option<i64> {
    deltas.sort_unstable();
    let same = deltas.chunk_by(i64::eq).max_by_key(|same| same.len())?;
    let near = deltas.iter().filter(|delta| delta.abs_diff(same[0]) == 1);
    let is_constant = near.count() as f64 <= INTERRUPTED_SHARE * same.len() as f64;
    (is_constant && 2 * same.len() >= deltas.len()).then_some(same[0])
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Differences of a processor on which the same work takes the same number of cycles each time, except
    /// for one in five that takes 260 more. `shown` returns the interval that a clock shows for so many
    /// cycles.
    fn intervals(mut shown: impl FnMut(i64, &mut StdRng) -> i64) -> Vec<Differences> {
        let mut random = StdRng::seed_from_u64(3);
        let cycles: Vec<i64> = (0..40)
            .map(|work| 59 + 11 * work + work * work % 7)
            .collect();
        let mut interval = |work: usize| {
            let more = if random.random_bool(0.2) { 260 } else { 0 };
            let delta = shown(cycles[work] + more, &mut random);
            Differences {
                work: work as u64,
                deltas: vec![delta].into(),
            }
        };
        (0..40 * 50).map(|at| interval(at * 7 % 40)).collect()
    }

    /// Differences of a clock whose step is so many cycles, at random times.
    fn by_steps(step: f64) -> Vec<Differences> {
        intervals(|cycles, random| {
            let begin = random.random_range(1e6..2e6_f64).floor();
            let shown = |time: f64| ((time / step).floor() * step).floor() as i64;
            shown(begin + cycles as f64) - shown(begin)
        })
    }

    #[test]
    fn constant_intervals_prove_one_unit() {
        let longest = longest_step(&by_steps(1.0)).expect("a proof");
        assert!(longest > 1.0 && longest < 1.05, "{longest}");
        // The duration of the work is unknown.
        assert!(longest_step(&intervals(|cycles, _| 3 * cycles + 1)).is_none());
    }

    #[test]
    fn longer_steps_are_never_one_unit() {
        for step in [1.02, 1.25, 1.5, 1.999, 2.0, 2.5, 4.17, 7.0, 26.05, 41.667] {
            assert_eq!(longest_step(&by_steps(step)), None, "{step}");
        }
    }

    /// A clock whose steps are in phase with the processor: 26 ticks, with unique readings; ten, in
    /// a part of the readings; and scaled to whole units.
    #[test]
    fn steps_in_phase_prove_nothing() {
        let unique = |cycles: i64, _: &mut StdRng| cycles / 26 * 26 - 1;
        assert_eq!(longest_step(&intervals(unique)), None);
        let two_precisions = |cycles: i64, random: &mut StdRng| match random.random_bool(0.1) {
            true => cycles,
            false => cycles / 10 * 10,
        };
        assert_eq!(longest_step(&intervals(two_precisions)), None);
        let scaled = |cycles: i64, random: &mut StdRng| {
            let steps = random.random_range(1_000_000..2_000_000_i64);
            (steps + cycles / 3) * 5 / 2 - steps * 5 / 2
        };
        assert_eq!(longest_step(&intervals(scaled)), None);
    }

    #[test]
    fn few_or_varying_intervals_prove_nothing() {
        let all = by_steps(1.0);
        assert_eq!(longest_step(&all[..1_000]), None);
        let noisy = |cycles: i64, random: &mut StdRng| cycles + random.random_range(0..3);
        assert_eq!(longest_step(&intervals(noisy)), None);
        assert_eq!(longest_step(&[]), None);
        let extreme = intervals(|_, random| random.random_range(i64::MIN..i64::MAX));
        assert_eq!(longest_step(&extreme), None);
    }

    /// All intervals are multiples of a step that is long and prime: nothing is proven, and the search ends
    /// at once.
    #[test]
    fn long_intervals_prove_nothing() {
        for step in [100_003, 1_000_000_000_039] {
            assert_eq!(longest_step(&intervals(|cycles, _| cycles * step)), None);
        }
    }
}
