//! What a measurement came to.

use serde::{Deserialize, Serialize};

use crate::method::Budget;
use crate::statistics::{quantile, sorted, standard_deviation, student_quantile};

/// One measurement: some calls between two reads, or a group of single calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Calls that it covers.
    pub weight: u64,
    /// Nanoseconds a call.
    pub ns_per_call: f64,
    /// What disturbed it; it is then not counted.
    pub disturbed: Option<String>,
}

/// What the samples agree on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean duration of a call in nanoseconds: all time by all calls.
    pub mean_ns: f64,
    /// Standard deviation of the samples; null with a single one.
    pub deviation_ns: Option<f64>,
    /// Median of the samples.
    pub median_ns: f64,
    /// Lower end of the interval that holds the median with the confidence, by the ranks of the
    /// samples alone; null where these are too few.
    pub median_low_ns: Option<f64>,
    /// Upper end of it.
    pub median_high_ns: Option<f64>,
    /// The shortest of the samples.
    pub min_ns: f64,
    /// The longest.
    pub max_ns: f64,
    /// Lower end of the interval that holds the mean of the campaign with the confidence.
    pub low_ns: f64,
    /// Upper end of it.
    pub high_ns: f64,
    /// Half of that interval as a share of the mean: what is promised.
    pub error: f64,
    /// The part of it that the clock and the method bring.
    pub clock_error: f64,
    /// The part of it that the samples show: they vary among themselves.
    pub variation: f64,
    /// Calls that were counted.
    pub calls: u64,
    /// Samples that were counted.
    pub samples: usize,
    /// Samples that something disturbed, and which were not counted.
    pub disturbed: usize,
}

impl Summary {
    /// Sums up; `budget` is that of one sample, `confidence` that of the interval. `None` when no
    /// sample counts or the mean is not above zero: the clock then did not see the operation.
    #[must_use]
    pub fn of(samples: &[Sample], budget: &Budget, confidence: f64) -> Option<Self> {
        let counted: Vec<&Sample> = samples
            .iter()
            .filter(|sample| sample.disturbed.is_none())
            .collect();
        let calls: u64 = counted.iter().map(|sample| sample.weight).sum();
        let total: f64 = counted
            .iter()
            .map(|sample| sample.ns_per_call * sample.weight as f64)
            .sum();
        let mean_ns = total / calls as f64;
        if !(mean_ns.is_finite() && mean_ns > 0.0) {
            return None;
        }
        let each: Vec<f64> = counted.iter().map(|sample| sample.ns_per_call).collect();
        let ranked = sorted(&each);
        let median = median_interval(&ranked, confidence);
        let deviation_ns = standard_deviation(&each);
        let t = student_quantile(confidence, each.len() - 1);
        // A single sample does not show how samples vary.
        let variation = deviation_ns.map_or(0.0, |deviation| {
            t * deviation / (each.len() as f64).sqrt() / mean_ns
        });
        let clock_error = budget.total();
        let error = clock_error + variation;
        Some(Self {
            mean_ns,
            deviation_ns,
            median_ns: quantile(&ranked, 0.5)?,
            median_low_ns: median.map(|(low, _)| low),
            median_high_ns: median.map(|(_, high)| high),
            min_ns: *ranked.first()?,
            max_ns: *ranked.last()?,
            low_ns: mean_ns * (1.0 - error),
            high_ns: mean_ns * (1.0 + error),
            error,
            clock_error,
            variation,
            calls,
            samples: each.len(),
            disturbed: samples.len() - each.len(),
        })
    }
}

/// Between which of the sorted samples the median lies with the confidence: how many lie below it
/// is binomial, whatever their law is. `None` where not even the first and the last are far enough
/// apart.
fn median_interval(ranked: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let count = ranked.len();
    // The chance that exactly, and at most, this many of them lie below; the one as a logarithm, as
    // 2^-2000 is no number any more.
    let (mut log_exactly, mut at_most, mut outside) =
        (-(count as f64) * std::f64::consts::LN_2, 0.0_f64, None);
    for rank in 0..count / 2 {
        at_most += log_exactly.exp();
        if at_most > (1.0 - confidence) / 2.0 {
            break;
        }
        outside = Some(rank);
        log_exactly += ((count - rank) as f64).ln() - ((rank + 1) as f64).ln();
    }
    outside.map(|rank| (ranked[rank], ranked[count - 1 - rank]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(weight: u64, ns_per_call: f64) -> Sample {
        Sample {
            weight,
            ns_per_call,
            disturbed: None,
        }
    }

    #[test]
    fn weights_count() {
        let budget = Budget {
            quantisation: 0.01,
            ..Budget::default()
        };
        let summary = Summary::of(&[sample(1, 10.0), sample(3, 20.0)], &budget, 0.95).unwrap();
        assert_eq!(
            (summary.mean_ns, summary.calls, summary.samples),
            (17.5, 4, 2)
        );
        assert!(summary.error > 0.01 && summary.low_ns < 10.0);
    }

    #[test]
    fn what_was_disturbed_does_not_count() {
        let lost = Sample {
            disturbed: Some("interrupted".into()),
            ..sample(1, 1e9)
        };
        let summary =
            Summary::of(&[sample(1, 10.0), lost.clone()], &Budget::default(), 0.95).unwrap();
        assert_eq!(
            (summary.mean_ns, summary.disturbed, summary.deviation_ns),
            (10.0, 1, None)
        );
        assert_eq!(Summary::of(&[lost], &Budget::default(), 0.95), None);
        assert_eq!(
            Summary::of(&[sample(5, 0.0)], &Budget::default(), 0.95),
            None,
            "nothing was seen"
        );
    }

    #[test]
    fn medians_lie_between_the_ranks_of_the_tables() {
        let ranks =
            |count: u32| median_interval(&(1..=count).map(f64::from).collect::<Vec<_>>(), 0.95);
        assert_eq!((ranks(0), ranks(5)), (None, None));
        // Conover, Practical Nonparametric Statistics, table of the binomial.
        assert_eq!(
            [6, 10, 20, 100].map(|count| ranks(count).unwrap()),
            [(1.0, 6.0), (2.0, 9.0), (6.0, 15.0), (40.0, 61.0)]
        );
        let many = ranks(100_000).unwrap();
        assert!(
            (many.0 - (50_000.0 - 1.96 * 316.2 / 2.0)).abs() < 3.0,
            "{many:?}"
        );
    }
}
