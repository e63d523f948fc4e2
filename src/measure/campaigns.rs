//! Whole campaigns, repeated. The samples of one show what it varied by while it lasted; where code and data came to lie, what the core did
//! and who else used it differ from one process to the next. So each campaign is a sample of its own here.
//!
//! How many times as long one operation takes as another, of runs that were taken in turn.

use serde::Serialize;

use super::stability::Stability;
use super::summary::{Sample, Summary};
use super::trial::Goal;
use super::worker::MeasuredRow;
use crate::analysis::statistics::{mean, standard_deviation, student_quantile};
use crate::method::Budget;

/// One row over those of several campaigns, measured in the same way: its mean is that of their means, its interval holds what they
/// differ by, and its samples are they. `None` without any.
#[must_use]
pub fn over(rows: &[MeasuredRow], goal: &Goal) -> Option<MeasuredRow> {
    let sample = |row: &MeasuredRow| Sample { weight: 1, ns_per_call: row.summary.mean_ns, disturbed: None };
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
    Some(MeasuredRow { way: first.way.clone(), calls: first.calls, summary, stability, samples })
}

/// A ratio of two means, with the interval that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The mean of the one by the mean of the other.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Ratio {
    /// Of something to itself.
    pub const ONE: Self = Self { ratio: 1.0, low: 1.0, high: 1.0 };

    /// Of samples in the order of their rounds: what made a round slow for both does not count, as the variance is that of the
    /// differences of each round (delta method, paired, on logarithms). `clock_error` is what the clock may do to either, as a share.
    /// None with fewer than two rounds.
    #[must_use]
    pub fn of(one: &[f64], other: &[f64], clock_error: f64, confidence: f64) -> Option<Self> {
        let rounds = one.len().min(other.len());
        let (one, other) = (&one[..rounds], &other[..rounds]);
        let (above, below) = (mean(one)?, mean(other).filter(|mean| *mean > 0.0)?);
        let differences: Vec<f64> = one.iter().zip(other).map(|(a, b)| a / above - b / below).collect();
        let variation = student_quantile(confidence, rounds.checked_sub(1)?)
            * standard_deviation(&differences)?
            / (rounds as f64).sqrt();
        let (ratio, error) = (above / below, variation + clock_error);
        Some(Self { ratio, low: ratio * (-error).exp(), high: ratio * error.exp() })
    }

    /// Whether the two differ by more than what is not known.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
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
    fn campaign(goal: &Goal, random: &mut StdRng) -> MeasuredRow {
        let own = 100.0 * (1.0 + 0.03 * scatter(random));
        let sample = |random: &mut StdRng| own * (1.0 + 0.005 * scatter(random));
        let samples: Vec<Sample> =
            (0..10).map(|_| Sample { weight: 8, ns_per_call: sample(random), disturbed: None }).collect();
        let budget = Budget { quantisation: 0.001, ..Budget::default() };
        let summary = Summary::of(&samples, &budget, goal.confidence).unwrap();
        MeasuredRow::of("adaptive", Measured { calls: 8, summary, samples }, goal)
    }

    #[test]
    fn an_interval_over_campaigns_holds_what_they_differ_by_and_that_of_one_does_not() {
        let goal = Goal::default();
        let (mut of_one, mut of_all) = (0, 0);
        for seed in 0..500 {
            let mut random = StdRng::seed_from_u64(seed);
            let rows: Vec<MeasuredRow> = (0..8).map(|_| campaign(&goal, &mut random)).collect();
            let found = over(&rows, &goal).unwrap();
            let holds =
                |row: &MeasuredRow| u32::from((row.summary.low_ns..=row.summary.high_ns).contains(&100.0));
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

    #[test]
    fn what_slows_a_whole_round_does_not_count() {
        let slow = [1.0, 2.0, 1.5, 3.0];
        let twice = slow.map(|round| 2.0 * round);
        let ratio = Ratio::of(&twice, &slow, 0.0, 0.95).unwrap();
        assert!((ratio.ratio - 2.0).abs() < 1e-12 && ratio.high - ratio.low < 1e-12, "{ratio:?}");
        assert!(ratio.differs() && !Ratio::of(&slow, &slow, 0.01, 0.95).unwrap().differs());
    }

    #[test]
    fn one_round_has_no_interval() {
        assert_eq!(Ratio::of(&[1.0], &[1.0], 0.0, 0.95), None);
        assert_eq!(Ratio::of(&[], &[], 0.0, 0.95), None);
    }

    /// Nineteen of twenty intervals hold the truth, whatever drifts under both.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = StdRng::seed_from_u64(7);
        let (truth, campaigns) = (1.3, 4_000);
        let mut noise = move || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
        let mut held = 0;
        for _ in 0..campaigns {
            let rounds: Vec<(f64, f64)> = (0..12)
                .map(|round| {
                    let drift = 1.0 + 0.03 * f64::from(round);
                    (truth * drift * (1.0 + 0.05 * noise()), drift * (1.0 + 0.08 * noise()))
                })
                .collect();
            let (one, other): (Vec<f64>, Vec<f64>) = rounds.into_iter().unzip();
            let ratio = Ratio::of(&one, &other, 0.0, 0.95).unwrap();
            held += u32::from(ratio.low <= truth && truth <= ratio.high);
        }
        let share = f64::from(held) / f64::from(campaigns);
        assert!((0.93..0.97).contains(&share), "{share}");
    }
}
