//! Finds clocks of two precisions, which round a part of their readings to a coarser unit.

use crate::trace::Integers;

/// Returns the coarser unit, a power of ten in ticks, and the share of readings, each counted
/// once until it changes, that are multiples of it; `None` if they have one precision.
pub fn find_two(readings: &Integers) -> Option<(i64, f64)> {
    /// The least number of readings of either precision. *Judgement*.
    const MIN_READINGS: usize = 20;
    /// The least ratio of the number of rounded readings to that of the most frequent other remainder.
    /// *Judgement*: steps of a fraction of the unit have equally many of several remainders.
    const MIN_RATIO: usize = 3;
    /// The least ratio of the number of other readings to that of pairs of successive ones that have the
    /// same remainder. *Judgement*: if the loop takes a whole number of units, nearly all have.
    const MIN_DISTINCT: usize = 10;
    let mut values = readings.to_vec();
    values.dedup();
    let share_of_rounded = |power: u32| {
        let unit = 10_i64.pow(power);
        let mut rests: Vec<i64> = values.iter().map(|value| value.rem_euclid(unit)).collect();
        let equal = rests
            .windows(2)
            .filter(|pair| pair[0] == pair[1] && pair[0] != 0)
            .count();
        rests.sort_unstable();
        let (rounded, others) = rests.split_at(rests.partition_point(|rest| *rest == 0));
        let most = others.chunk_by(|a, b| a == b).map(<[i64]>::len).max()?;
        let has_two = rounded.len() >= MIN_READINGS.max(MIN_RATIO * most)
            && others.len() >= MIN_READINGS.max(MIN_DISTINCT * equal);
        has_two.then(|| (unit, rounded.len() as f64 / rests.len() as f64))
    };
    (1..=9).rev().find_map(share_of_rounded)
}
