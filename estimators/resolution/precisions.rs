//! Finds clocks of two precisions, which round a part of their readings to a coarser unit.

/// Returns the coarser unit, in ticks, and the share of readings that are multiples of it; `None` if
/// the readings of the processes have one precision.
pub fn find_two(readings: &[&[i64]]) -> Option<(i64, f64)> {
    /// The coarser units that are tried, as powers of ten. *Judgement*.
    const POWERS: std::ops::RangeInclusive<u32> = 1..=9;
    /// The least number of readings of either precision. *Judgement*.
    const MIN_READINGS: usize = 20;
    /// The least ratio of the number of rounded readings to that of the most frequent other remainder.
    /// *Judgement*: steps of a fraction of the unit have equally many of several remainders.
    const MIN_RATIO: usize = 5;
    /// The largest share of the other readings whose distance from the next is a multiple of the
    /// unit. *Judgement*: in a loop of such a length, all readings have one remainder.
    const MAX_EQUAL: f64 = 0.1;
    let two_precisions = |unit: &i64| {
        let (mut rounded, mut others, mut equal, mut pairs) = (0, Vec::new(), 0, 0);
        for process in readings {
            let mut last = None;
            for value in process.iter() {
                let rest = value.rem_euclid(*unit);
                match (last.replace((value, rest)), rest) {
                    (Some((before, _)), _) if before == value => {}
                    (_, 0) => rounded += 1,
                    (before, _) => {
                        others.push(rest);
                        let fine = before.filter(|before| before.1 != 0);
                        pairs += usize::from(fine.is_some());
                        equal += usize::from(fine.is_some_and(|before| before.1 == rest));
                    }
                }
            }
        }
        others.sort_unstable();
        let most = others.chunk_by(|a, b| a == b).map(<[i64]>::len).max()?;
        let has_two = rounded >= MIN_READINGS.max(MIN_RATIO * most)
            && others.len() >= MIN_READINGS
            && equal as f64 <= MAX_EQUAL * pairs as f64;
        has_two.then(|| (*unit, rounded as f64 / (rounded + others.len()) as f64))
    };
    let units = POWERS.rev().map(|power| 10_i64.pow(power));
    units.into_iter().find_map(|unit| two_precisions(&unit))
}
