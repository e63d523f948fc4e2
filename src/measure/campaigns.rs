//! Whole campaigns, repeated. The samples of one show what it varied by while it lasted; where code and data came to lie, what the core did
//! and who else used it differ from one process to the next. So each campaign is a sample of its own here.

use super::stability::Stability;
use super::summary::{Sample, Summary};
use super::trial::Goal;
use super::worker::Row;
use crate::method::Budget;

/// One row over those of several campaigns, measured in the same way: its mean is that of their means, its interval holds what they
/// differ by, and its samples are they. `None` without any.
#[must_use]
pub fn over(rows: &[Row], goal: &Goal) -> Option<Row> {
    let sample = |row: &Row| Sample { weight: 1, ns_per_call: row.summary.mean_ns, disturbed: None };
    let samples: Vec<Sample> = rows.iter().map(sample).collect();
    let clock_error = rows.iter().map(|row| row.summary.clock_error).fold(0.0, f64::max);
    let budget = Budget { drift: clock_error, ..Budget::default() };
    let summary = Summary {
        calls: rows.iter().map(|row| row.summary.calls).sum(),
        disturbed: rows.iter().map(|row| row.summary.disturbed).sum(),
        ..Summary::of(&samples, &budget, goal.confidence)?
    };
    let first = rows.first()?;
    let stability = Stability::of(&samples, goal);
    Some(Row { way: first.way.clone(), calls: first.calls, summary, stability, samples })
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::measure::trial::Measured;

    /// About normal.
    fn scatter(random: &mut StdRng) -> f64 {
        (0..12).map(|_| random.random_range(-0.5..0.5)).sum()
    }

    /// A campaign of an operation of 100 ns, in a process that is off by some 3 %, whose samples differ by 0.5 %.
    fn campaign(goal: &Goal, random: &mut StdRng) -> Row {
        let own = 100.0 * (1.0 + 0.03 * scatter(random));
        let sample = |random: &mut StdRng| own * (1.0 + 0.005 * scatter(random));
        let samples: Vec<Sample> =
            (0..10).map(|_| Sample { weight: 8, ns_per_call: sample(random), disturbed: None }).collect();
        let budget = Budget { quantisation: 0.001, ..Budget::default() };
        let summary = Summary::of(&samples, &budget, goal.confidence).unwrap();
        Row::of("adaptive", Measured { calls: 8, summary, samples }, goal)
    }

    #[test]
    fn an_interval_over_campaigns_holds_what_they_differ_by_and_that_of_one_does_not() {
        let goal = Goal::default();
        let (mut of_one, mut of_all) = (0, 0);
        for seed in 0..500 {
            let mut random = StdRng::seed_from_u64(seed);
            let rows: Vec<Row> = (0..8).map(|_| campaign(&goal, &mut random)).collect();
            let found = over(&rows, &goal).unwrap();
            let holds = |row: &Row| u32::from((row.summary.low_ns..=row.summary.high_ns).contains(&100.0));
            (of_one, of_all) = (of_one + holds(&rows[0]), of_all + holds(&found));
            assert_eq!((found.summary.samples, found.summary.calls), (8, 640));
            assert!(found.summary.error < 0.06, "{:?}", found.summary);
        }
        assert!(of_one < 200, "{of_one} of 500 single campaigns hold the truth");
        assert!(of_all > 465, "{of_all} of 500 intervals over campaigns hold the truth");
    }

    #[test]
    fn no_campaign_is_no_row() {
        assert_eq!(over(&[], &Goal::default()), None);
    }
}
