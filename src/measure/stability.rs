//! Whether samples agree, and how many more would do, as `pyperf check` tells it.

use serde::{Deserialize, Serialize};

use super::summary::Sample;
use super::trial::Goal;
use crate::statistics::{mean, quantile, sorted, standard_deviation, student_quantile};

/// A standard deviation of this share of the mean, or more, is not stable.
/// *Definition*: the convention of pyperf.
const MOST_DEVIATION: f64 = 0.1;
/// A sample that lies beyond the quartiles by more than this many times their distance lies far off
/// (Tukey's outer fence): of normal ones two in a million do. *Chance*.
const FENCE: f64 = 3.0;
/// Quartiles of fewer say nothing.
/// *Judgement*.
const FEWEST: usize = 5;
/// More samples are not advised: what differs by as much is not made better by them.
/// *Judgement*.
const MOST_SAMPLES: usize = 100_000;

/// How well the samples of a measurement agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Whether their deviation is small.
    pub stable: bool,
    /// Their standard deviation as a share of the mean; null with a single one.
    pub deviation: Option<f64>,
    /// How many lie far from the others.
    pub outliers: usize,
    /// Whether the first is one of them, and slow: caches were cold.
    pub slow_start: bool,
    /// How many, if they vary as these do, hold the mean within the error that was asked for; null
    /// where that is not known, or out of reach.
    pub samples_needed: Option<usize>,
}

impl Stability {
    /// Of the samples that count.
    #[must_use]
    pub fn of(samples: &[Sample], goal: &Goal) -> Self {
        let counted = samples.iter().filter(|sample| sample.disturbed.is_none());
        let each: Vec<f64> = counted.map(|sample| sample.ns_per_call).collect();
        let deviation = standard_deviation(&each)
            .zip(mean(&each))
            .map(|(deviation, mean)| deviation / mean);
        let (low, high) = fences(&each).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let outliers = each.iter().filter(|&&ns| ns < low || ns > high).count();
        Self {
            stable: deviation.is_some_and(|share| share < MOST_DEVIATION),
            deviation,
            outliers,
            slow_start: each.first().is_some_and(|&first| first > high),
            samples_needed: deviation.and_then(|share| needed(share, goal)),
        }
    }
}

fn fences(each: &[f64]) -> Option<(f64, f64)> {
    let sorted = sorted(each);
    let (low, high) = (quantile(&sorted, 0.25)?, quantile(&sorted, 0.75)?);
    let beyond = FENCE * (high - low);
    (each.len() >= FEWEST).then_some((low - beyond, high + beyond))
}

/// The fewest, or a few more, of which Student's t times the standard error is within the error.
fn needed(deviation: f64, goal: &Goal) -> Option<usize> {
    let enough = |samples: &usize| {
        student_quantile(goal.confidence, samples - 1) * deviation
            <= goal.error * (*samples as f64).sqrt()
    };
    std::iter::successors(Some(2_usize), |samples| Some(samples + 1 + samples / 20))
        .take_while(|samples| *samples <= MOST_SAMPLES)
        .find(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(each: &[f64]) -> Stability {
        let sample = |&ns_per_call| Sample {
            weight: 1,
            ns_per_call,
            disturbed: None,
        };
        Stability::of(
            &each.iter().map(sample).collect::<Vec<_>>(),
            &Goal::default(),
        )
    }

    #[test]
    fn what_agrees_is_stable() {
        let found = of(&[100.0, 101.0, 99.0, 100.5, 99.5, 100.0]);
        assert!(
            found.stable && found.outliers == 0 && !found.slow_start,
            "{found:?}"
        );
        assert!(
            found
                .samples_needed
                .is_some_and(|samples| (3..8).contains(&samples)),
            "{found:?}"
        );
    }

    #[test]
    fn a_cold_start_is_seen() {
        let found = of(&[140.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2]);
        assert!(
            !found.stable && found.slow_start && found.outliers == 1,
            "{found:?}"
        );
        let later = of(&[100.0, 101.0, 99.0, 140.0, 99.5, 100.0, 100.2]);
        assert!(
            !later.stable && !later.slow_start && later.outliers == 1,
            "{later:?}"
        );
    }

    #[test]
    fn what_varies_needs_more_samples() {
        let found = of(&[80.0, 120.0, 90.0, 110.0, 100.0, 85.0, 115.0]);
        let deviation = found.deviation.unwrap();
        assert!(
            !found.stable && found.outliers == 0 && deviation > 0.1,
            "{found:?}"
        );
        // 1.96 standard errors are 1 % of the mean.
        let exact = (1.96 * deviation / 0.01).powi(2);
        let needed = found.samples_needed.unwrap() as f64;
        assert!(
            (exact..1.06 * exact + 3.0).contains(&needed),
            "{needed}, not {exact}"
        );
        assert_eq!(
            of(&[1.0, 1e3, 1.0, 1e3, 1.0])
                .samples_needed
                .map(|samples| samples > 1_000),
            Some(true)
        );
    }

    #[test]
    fn one_sample_tells_nothing() {
        let found = of(&[100.0]);
        assert!(!found.stable && found.deviation.is_none() && found.samples_needed.is_none());
        assert_eq!(of(&[]).outliers, 0);
    }
}
