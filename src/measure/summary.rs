//! Computes the result of a measurement from its samples: mean, median, and their intervals.

use serde::{Deserialize, Serialize};

use estimators::model::Estimate;
use estimators::statistics::hypotheses::critical_value;
use estimators::statistics::{
    CONFIDENCE, mean, median_interval, quantile, sorted, standard_deviation,
};
use judgement::choice::Budget;

/// The result of one window, or of a group of windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallSample {
    /// Number of calls in the window or group.
    pub weight: u64,
    /// Mean duration of a call in nanoseconds, without the cost of the reads.
    pub ns_per_call: f64,
    /// The reason why the sample does not count; `None` if it counts.
    pub disturbed: Option<String>,
}

/// The duration of an operation.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredOperation {
    /// Number of calls in a sample; the intended number if the number varies.
    pub calls: u64,
    /// Mean duration of a call in the undisturbed samples, in nanoseconds. Its interval includes
    /// the error of the clock and the variation of the samples.
    pub mean_ns: Estimate,
    /// Median of the undisturbed samples, in nanoseconds per call; without an interval if there are
    /// too few samples.
    pub median_ns: Estimate,
    /// Standard deviation of the undisturbed samples, in nanoseconds per call; `None` for a single
    /// sample.
    pub deviation_ns: Option<f64>,
    /// Smallest undisturbed sample, in nanoseconds per call.
    pub min_ns: f64,
    /// Largest undisturbed sample, in nanoseconds per call.
    pub max_ns: f64,
    /// Half the width of the interval of the mean, as a share of the mean.
    pub error: f64,
    /// The part of `error` that the clock causes.
    pub clock_error: f64,
    /// The part of `error` that the variation of the samples causes.
    pub variation: f64,
    /// Number of undisturbed samples.
    pub valid: usize,
    /// All samples in the order in which they were taken.
    pub samples: Vec<CallSample>,
}

impl MeasuredOperation {
    /// Computes the result from the samples; `calls` becomes the field of that name. `None` if all
    /// samples are disturbed, or if their mean is not above zero, which means that the clock did
    /// not move.
    pub fn from_samples(calls: u64, samples: Vec<CallSample>, budget: &Budget) -> Option<Self> {
        let valid = samples.iter().filter(|sample| sample.disturbed.is_none());
        let weight: u64 = valid.clone().map(|sample| sample.weight).sum();
        let total = valid
            .clone()
            .map(|sample| sample.ns_per_call * sample.weight as f64);
        let mean_ns = total.sum::<f64>() / weight as f64;
        if !(mean_ns.is_finite() && mean_ns > 0.0) {
            return None;
        }
        let valid_ns = valid_ns(&samples);
        let ranked = sorted(&valid_ns);
        let deviation_ns = standard_deviation(&valid_ns);
        let t = critical_value(1.0 - CONFIDENCE, (valid_ns.len() - 1) as f64);
        // The variation cannot be estimated from a single sample.
        let variation = deviation_ns.map_or(0.0, |deviation| {
            t * deviation / (valid_ns.len() as f64).sqrt() / mean_ns
        });
        let clock_error = budget.total();
        let error = clock_error + variation;
        let ends = (mean_ns * (1.0 - error), mean_ns * (1.0 + error));
        let median_ns = quantile(&ranked, 0.5)?;
        Some(Self {
            calls,
            mean_ns: Estimate::with_ends(mean_ns, Some(ends)),
            median_ns: Estimate::with_ends(median_ns, median_interval(&ranked, CONFIDENCE)),
            deviation_ns,
            min_ns: *ranked.first()?,
            max_ns: *ranked.last()?,
            error,
            clock_error,
            variation,
            valid: valid_ns.len(),
            samples,
        })
    }
}

/// Returns the undisturbed samples, in nanoseconds per call.
fn valid_ns(samples: &[CallSample]) -> Vec<f64> {
    samples
        .iter()
        .filter(|sample| sample.disturbed.is_none())
        .map(|sample| sample.ns_per_call)
        .collect()
}

/// Returns the mean of the undisturbed samples, in nanoseconds per call; 0 if there are none.
pub(super) fn mean_valid_ns(samples: &[CallSample]) -> f64 {
    mean(valid_ns(samples)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(weight: u64, ns_per_call: f64) -> CallSample {
        CallSample {
            weight,
            ns_per_call,
            disturbed: None,
        }
    }

    #[test]
    fn samples_count_by_weight() {
        let budget = Budget {
            quantisation: 0.01,
            ..Budget::default()
        };
        let samples = vec![sample(1, 10.0), sample(3, 20.0)];
        let found = MeasuredOperation::from_samples(2, samples, &budget).unwrap();
        assert_eq!((found.mean_ns.value, found.valid), (17.5, 2));
        assert!(found.error > 0.01 && found.mean_ns.low() < Some(10.0));
    }

    #[test]
    fn disturbed_samples_do_not_count() {
        let disturbed = CallSample {
            disturbed: Some("interrupted".into()),
            ..sample(1, 1e9)
        };
        let summarise = |samples| MeasuredOperation::from_samples(1, samples, &Budget::default());
        let found = summarise(vec![sample(1, 10.0), disturbed.clone()]).unwrap();
        assert_eq!(
            (found.mean_ns.value, found.valid, found.deviation_ns),
            (10.0, 1, None)
        );
        assert_eq!(summarise(vec![disturbed]), None);
        assert_eq!(
            summarise(vec![sample(5, 0.0)]),
            None,
            "the clock did not move"
        );
    }
}
