//! What a measurement came to.

use serde::{Deserialize, Serialize};

use crate::analysis::statistics::{mean, median, standard_deviation, student_quantile};
use crate::method::Budget;

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
    /// Sums up; `budget` is that of one sample, `confidence` that of the interval. `None` when no sample counts or the
    /// mean is not above zero: the clock then did not see the operation.
    #[must_use]
    pub fn of(samples: &[Sample], budget: &Budget, confidence: f64) -> Option<Self> {
        let counted: Vec<&Sample> = samples.iter().filter(|sample| sample.disturbed.is_none()).collect();
        let calls: u64 = counted.iter().map(|sample| sample.weight).sum();
        let total: f64 = counted.iter().map(|sample| sample.ns_per_call * sample.weight as f64).sum();
        let mean_ns = total / calls as f64;
        if !(mean_ns.is_finite() && mean_ns > 0.0) {
            return None;
        }
        let each: Vec<f64> = counted.iter().map(|sample| sample.ns_per_call).collect();
        let deviation_ns = standard_deviation(&each);
        let quantile = student_quantile(confidence, each.len() - 1);
        // A single sample does not show how samples vary.
        let variation =
            deviation_ns.map_or(0.0, |deviation| quantile * deviation / (each.len() as f64).sqrt() / mean_ns);
        let clock_error = budget.total();
        let error = clock_error + variation;
        Some(Self {
            mean_ns,
            deviation_ns,
            median_ns: median(&each).or(mean(&each))?,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(weight: u64, ns_per_call: f64) -> Sample {
        Sample { weight, ns_per_call, disturbed: None }
    }

    #[test]
    fn weights_count() {
        let budget = Budget { quantisation: 0.01, ..Budget::default() };
        let summary = Summary::of(&[sample(1, 10.0), sample(3, 20.0)], &budget, 0.95).unwrap();
        assert_eq!((summary.mean_ns, summary.calls, summary.samples), (17.5, 4, 2));
        assert!(summary.error > 0.01 && summary.low_ns < 10.0);
    }

    #[test]
    fn what_was_disturbed_does_not_count() {
        let lost = Sample { disturbed: Some("interrupted".into()), ..sample(1, 1e9) };
        let summary = Summary::of(&[sample(1, 10.0), lost.clone()], &Budget::default(), 0.95).unwrap();
        assert_eq!((summary.mean_ns, summary.disturbed, summary.deviation_ns), (10.0, 1, None));
        assert_eq!(Summary::of(&[lost], &Budget::default(), 0.95), None);
        assert_eq!(Summary::of(&[sample(5, 0.0)], &Budget::default(), 0.95), None, "nothing was seen");
    }
}
