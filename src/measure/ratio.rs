//! How many times as long one operation takes as another, of runs that were taken in turn.

use serde::Serialize;

use crate::analysis::statistics::{mean, standard_deviation, student_quantile};

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
