//! Estimates variance and skewness of single calls from batches. A step of the reference hides this
//! variation in single samples, but variances add up over the calls of a batch.

use std::f64::consts::{PI, TAU};

use crate::distribution::cells::{Cluster, LevelCounts, without_interruptions};
use crate::statistics::{SIGNIFICANT_DEVIATIONS, bisect, mean, variance};
use crate::trace::{Batches, Observations, Reference};

/// Variance and skewness of a call, each with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Variance in squared steps of the reference, or in squared units of time after
    /// [`scaled`](Self::scaled); an infinite error means that it is unknown.
    pub variance: (f64, f64),
    /// Third central moment divided by the cube of the standard deviation; 2 for an exponential
    /// distribution. `None` if it is unknown.
    pub skewness: Option<(f64, f64)>,
}

impl Moments {
    /// No moment is known.
    pub const UNKNOWN: Self = Self {
        variance: (0.0, f64::INFINITY),
        skewness: None,
    };

    /// Converts the moments to a unit that is smaller by `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        let (value, error) = self.variance;
        Self {
            variance: (value * factor * factor, error * factor * factor),
            ..self
        }
    }
}

/// The number of consecutive batches that are compared with their own mean; two such blocks are the
/// fewest. *Judgement*: drift, such as that of the core frequency, is slower.
const BLOCK_BATCHES: usize = 20;
/// The largest difference between the share of batches in the largest cluster of batches and the
/// share that is expected to consist of calls of the main cluster only. If the difference is
/// larger, the largest cluster also holds batches with other calls, and the batches are not used.
/// *Chance*: about two standard errors of the share of 40 batches.
const MAX_SHARE_DIFFERENCE: f64 = 0.15;
/// The least share of batches in the largest cluster. *Judgement*: a smaller cluster
/// is a section of a wide distribution.
const MIN_CLUSTER_SHARE: f64 = 0.4;

/// Estimates the moments of a call in one process, in steps of the reference, from batches of few,
/// some and many calls. Independent variation of calls adds up, so all batch lengths give the same
/// variance of a call. Slow variation, such as that of the core frequency or of branch prediction,
/// affects only long batches; so the smallest estimate is used.
///
/// Costs of single calls form clusters. The main cluster contains their median. If there is no main
/// cluster, the core takes its place: all calls except rare interruptions.
pub fn estimate(run: &Observations, reference: &Reference) -> Moments {
    if calls_take_turns(&without_interruptions(&run.singles.deltas, reference.step)) {
        return Moments::UNKNOWN;
    }
    let cells = LevelCounts::from_samples(&run.singles.deltas, reference.step);
    let main_share = cells.map_or(1.0, |cells| match &cells.main {
        Some(main) => main.share(),
        None => cells.core().len() as f64 / cells.samples(),
    });
    let all = [&run.small_batches, &run.medium_batches, &run.batches]
        .map(|batches| CallMoments::from_batches(batches, reference.step, main_share));
    let Some(variance) = combine_estimates(all.iter().flatten().map(|moments| moments.variance))
    else {
        return Moments::UNKNOWN;
    };
    // The skewness of a batch falls with the number of its calls, so only small batches show it.
    let skewness = all[0]
        .as_ref()
        .and_then(|moments| moments.third)
        .and_then(|third| skewness(third, variance));
    Moments { variance, skewness }
}

/// Returns whether slow calls come in turn, so that their variance does not add up: sums of
/// consecutive calls vary much less than those of independent calls. `levels` are those of single
/// calls in the order of measurement, in steps.
fn calls_take_turns(levels: &[f64]) -> bool {
    /// The number of consecutive calls in a sum. *Judgement*: slow calls at longer distances are
    /// rare.
    const CONSECUTIVE_CALLS: usize = 8;
    /// The least variance of a call, in squared steps. *Computed*: calls of equal length show a
    /// variance up to 0.25, which may take turns as the phase of the reference does.
    const MIN_VARIANCE: f64 = 0.35;
    /// The largest ratio to the variance of sums of independent calls. *Chance*: seven standard
    /// errors below 1 with 300 sums.
    const MAX_VARIANCE_RATIO: f64 = 0.45;
    let sums: Vec<f64> = levels
        .chunks_exact(CONSECUTIVE_CALLS)
        .map(|calls| calls.iter().sum())
        .collect();
    let [single, of_sums] = [levels, &sums].map(|values| variance(values).unwrap_or(0.0));
    single > MIN_VARIANCE && of_sums < MAX_VARIANCE_RATIO * CONSECUTIVE_CALLS as f64 * single
}

/// Combines several estimates of one variance: the estimate whose upper end (the value plus its
/// standard error) is smallest, and the estimates that agree with it.
fn combine_estimates(each: impl Iterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let least = each
        .clone()
        .min_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)))?;
    let consistent = each.filter(|other| {
        (other.0 - least.0).abs() <= SIGNIFICANT_DEVIATIONS * other.1.hypot(least.1)
    });
    let (mut weights, mut sum) = (0.0, 0.0);
    for (value, error) in consistent {
        weights += error.powi(-2);
        sum += value * error.powi(-2);
    }
    Some((sum / weights, weights.powf(-0.5)))
}

/// The skewness and its standard error. `None` if it is unknown.
fn skewness((third, third_error): (f64, f64), (variance, error): (f64, f64)) -> Option<(f64, f64)> {
    /// A skewness with a larger standard error counts as unknown. *Judgement*: the skewness itself
    /// lies between 0 and 2.
    const MAX_SKEWNESS_ERROR: f64 = 1.0;
    let value = third / variance.powf(1.5);
    let uncertainty = (third_error / variance.powf(1.5)).hypot(1.5 * value * error / variance);
    (variance > 0.0 && uncertainty < MAX_SKEWNESS_ERROR).then_some((value, uncertainty))
}

/// The moments of one call, derived from the lengths of batches, which are sums of calls. Each has
/// its standard error.
struct CallMoments {
    /// In squared steps.
    variance: (f64, f64),
    /// The third central moment, in cubed steps. `None` if quantisation hides it.
    third: Option<(f64, f64)>,
}

impl CallMoments {
    /// The least standard deviation of batches, in steps, at which the contribution of quantisation
    /// to their third moment is negligible. *Computed*: the factor exp(−2π² 0.4²) of the first term
    /// of the series in `without_quantisation` is 0.04.
    const MIN_DEVIATION_STEPS: f64 = 0.4;
    /// The remaining error of the corrected variance, in squared steps, if the lengths of batches
    /// form a lattice, such as that of two costs half a step apart. The same number is the
    /// remaining error of their third moment, in cubed steps. *Computed*: the largest value of the
    /// second term of the series in `without_quantisation`, 1/4π².
    const LATTICE_ERROR: f64 = 0.025;
    /// The scatter of estimated variances and third moments for distributions with tails, relative
    /// to that for normal distributions. *Judgement*: somewhat more than 1.
    const TAIL_FACTOR: f64 = 1.3;
    /// The least ratio of the error of the corrected variance to that of the observed variance.
    /// *Judgement*: if the mean level is a whole number, the slope of the series in
    /// `without_quantisation` can make the ratio as small as 1/9.
    const MIN_ERROR_RATIO: f64 = 0.25;

    /// Estimates the moments of a call from batches of one length; `main_share` is the share of
    /// calls in the main cluster. `None` if too few batches remain, or if they hold other calls.
    fn from_batches(batches: &Batches, step: f64, main_share: f64) -> Option<Self> {
        let levels = largest_cluster_levels(&batches.deltas, step)?;
        let expected = main_share.powf(batches.calls as f64);
        let used_share = levels.len() as f64 / batches.deltas.len() as f64;
        if levels.len() < 2 * BLOCK_BATCHES
            || batches.calls == 0
            || (used_share - expected).abs() > MAX_SHARE_DIFFERENCE
        {
            return None;
        }
        let (mut second, mut third, mut blocks) = (0.0, 0.0, 0.0);
        for block in levels.chunks_exact(BLOCK_BATCHES) {
            let (centre, size) = (mean(block)?, BLOCK_BATCHES as f64);
            let sum_of_powers = |order: i32| {
                block
                    .iter()
                    .map(|level| (level - centre).powi(order))
                    .sum::<f64>()
            };
            second += sum_of_powers(2) / (size - 1.0);
            third += sum_of_powers(3) * size / ((size - 1.0) * (size - 2.0));
            blocks += 1.0;
        }
        let (second, third) = (second / blocks, third / blocks);
        let (mean_level, calls) = (mean(&levels)?, batches.calls as f64);
        let corrected = without_quantisation(second, mean_level);
        let second_error = Self::TAIL_FACTOR * second * (2.0 / levels.len() as f64).sqrt();
        // The error of the corrected variance due to the error of the observed variance.
        let corrected_error = (without_quantisation(second + second_error, mean_level)
            - without_quantisation(second - second_error, mean_level))
            / 2.0;
        let error = corrected_error
            .max(Self::MIN_ERROR_RATIO * second_error)
            .hypot(Self::LATTICE_ERROR);
        let third_error = Self::TAIL_FACTOR * (6.0 / levels.len() as f64).sqrt() * second.powf(1.5);
        let third =
            (corrected > Self::MIN_DEVIATION_STEPS * Self::MIN_DEVIATION_STEPS).then(|| {
                (
                    third / calls,
                    third_error.hypot(Self::LATTICE_ERROR) / calls,
                )
            });
        Some(Self {
            variance: (corrected / calls, error / calls),
            third,
        })
    }
}

/// Returns the lengths, in steps, of the batches in the largest cluster, whose calls were neither
/// interrupted nor unusually slow. If no cluster is large enough, returns all lengths except rare
/// interruptions. `None` without batches.
fn largest_cluster_levels(deltas: &[i64], step: f64) -> Option<Vec<f64>> {
    let cells = LevelCounts::from_samples(deltas, step)?;
    let most = cells
        .main
        .iter()
        .chain(&cells.others)
        .max_by(|a, b| a.share().total_cmp(&b.share()));
    let Some(window) = most
        .filter(|most| most.share() > MIN_CLUSTER_SHARE)
        .map(Cluster::window)
    else {
        return Some(without_interruptions(deltas, step));
    };
    let levels = deltas.iter().map(|&ticks| (ticks as f64 / step).round());
    Some(levels.filter(|level| window.contains(level)).collect())
}

/// Returns the variance of lengths without the part that quantisation adds, in squared steps.
/// `variance` and `mean` are those of the levels that the lengths show, which are whole numbers of
/// steps; f is the fractional part of the mean.
///
/// - A constant length shows at the two levels around it, at the upper one with probability f:
///   quantisation adds f (1 − f).
/// - With a standard deviation of half a step or more, lengths have all fractional parts alike:
///   quantisation adds the mean of f (1 − f), 1/6, which is 1/12 for each of the two reads.
/// - In between, a normal distribution of lengths multiplies term k of the Fourier series
///   f (1 − f) = 1/6 − Σ cos(2πkf) / (π²k²) by exp(−2π²k²σ²), where σ² is the true variance. The
///   first four terms are used.
fn without_quantisation(variance: f64, mean: f64) -> f64 {
    let with_quantisation = |true_variance: f64| {
        let term = |order: f64| {
            (TAU * order * mean).cos() * (-2.0 * PI * PI * order * order * true_variance).exp()
                / (PI * PI * order * order)
        };
        true_variance + 1.0 / 6.0 - (1..=4).map(|order| term(f64::from(order))).sum::<f64>()
    };
    bisect((0.0, variance.max(0.0) + 0.2), 50, |true_variance| {
        with_quantisation(true_variance) < variance
    })
    .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtracts_quantisation_by_phase() {
        // A constant length at 0.3 of a step has an observed variance of 0.21; in the middle, 0.25.
        assert!(without_quantisation(0.21, 7.3) < 0.01 && without_quantisation(0.25, 2.5) < 0.02);
        // For a variable length, quantisation adds 1/6.
        assert!((without_quantisation(4.0 + 1.0 / 6.0, 2.5) - 4.0).abs() < 1e-6);
        assert_eq!(without_quantisation(0.0, 3.0), 0.0);
    }
}
