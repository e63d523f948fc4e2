//! Finds the step of a lattice: noisy values (durations or times) lie on a lattice if the distances
//! between them are nearly integer multiples of one length, the step.
//!
//! Divided by the step, the values of a lattice have nearly equal fractional parts, their phases.
//! The *concentration* measures how equal the phases are: 1 if they are identical, about 0 if they
//! are uniformly distributed. Values come in *clusters*, for example one for each scan; the phases
//! are equal only within a cluster.

use std::ops::RangeInclusive;

use crate::statistics::phasors::{Complex, Sweep};
use crate::statistics::{
    CONFIDENCE, DEVIATION_PER_MEDIAN, SIGNIFICANT_DEVIATIONS, median, sorted, student_quantile,
};

/// The smallest concentration of phases that counts as a lattice: that of noise with a standard
/// deviation of a tenth of a step. *Computed*: 0.82.
pub const MIN_CONCENTRATION: f64 = 0.8;
/// The smallest range of values from which a step is found, in steps: three multiples span two
/// steps. *Computed*.
const MIN_RANGE_STEPS: f64 = 1.8;
/// The largest accepted probability that uniformly distributed phases have the found concentration
/// at any of the tested frequencies. *Chance*: a step is found in one of a thousand sets of values
/// that have none.
const MAX_CHANCE: f64 = 1e-3;
/// Multiples of the found step, and divisors of it, whose fit is compared with that of the found
/// step. *Judgement*.
const COMPARED_MULTIPLES: [f64; 2] = [2.0, 3.0];
/// The decrease of the concentration if 5 % of the values are outliers, which lie half a step off
/// the lattice. *Computed*.
const OUTLIER_LOSS: f64 = 0.1;
/// The number of tested frequencies (1/step) in the width of a peak of the concentration, which is
/// 1 divided by the range of the values. *Numerical*: the top of a peak is at most a sixteenth of
/// this width from a tested frequency.
const OVERSAMPLING: f64 = 8.0;
/// The smallest ratio of the concentration at the tested frequency nearest to a peak to that of the
/// peak itself. *Default*: moves no figure.
const MIN_PEAK_RATIO: f64 = 0.95;
/// The largest number of tested frequencies. They begin at the longest step; shorter steps than the
/// last frequency tests are not found. *Numerical*.
const MAX_FREQUENCIES: usize = 20_000;

/// A lattice that explains the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitLattice {
    /// The step, in the unit of the values.
    pub step: f64,
    /// Half the width of the 95 % interval of the step, in the same unit.
    pub half_width: f64,
    /// The concentration of the phases, from 0 to 1.
    pub concentration: f64,
}

/// Returns the concentration of the phases that the values in each cluster have for a step.
pub fn concentration(clusters: &[Vec<f64>], step: f64) -> f64 {
    concentration_from_sums(
        clusters
            .iter()
            .map(|values| (values.len(), sum_of_phases(values, step))),
    )
}

/// Returns the concentration. `sums` gives, for each cluster, the number of values and the sum of
/// the unit vectors that point in the directions of their phases.
fn concentration_from_sums(sums: impl Iterator<Item = (usize, Complex)>) -> f64 {
    // The phases of a few values agree by chance. Therefore the mean squared length of the sum of
    // `n` vectors with random phases, which is `n`, is subtracted.
    let (mut squares, mut pairs) = (0.0, 0.0);
    for (count, sum) in sums {
        let count = count as f64;
        squares += sum.length().powi(2) - count;
        pairs += count * (count - 1.0);
    }
    if pairs > 0.0 {
        (squares / pairs).max(0.0).sqrt()
    } else {
        0.0
    }
}

/// Returns the sum of the unit vectors that point in the directions of the phases.
fn sum_of_phases(values: &[f64], step: f64) -> Complex {
    Complex::sum(values.iter().map(|value| (value / step, 1.0)))
}

/// Returns the distance of each value from the nearest point of the lattice, in the unit of the
/// values; negative for values below that point.
pub fn residuals(clusters: &[Vec<f64>], step: f64) -> Vec<f64> {
    let distances = |values: &Vec<f64>| -> Vec<f64> {
        let numbers = multiples(values, step);
        let phase = sum_of_phases(values, step).turns();
        values
            .iter()
            .zip(numbers)
            .map(|(value, number)| (value / step - phase - number) * step)
            .collect()
    };
    clusters.iter().flat_map(distances).collect()
}

/// Returns the number of steps from the phase of the cluster to the point of the lattice that is
/// nearest to each value of the cluster.
pub fn multiples(values: &[f64], step: f64) -> Vec<f64> {
    let phase = sum_of_phases(values, step).turns();
    let number = |value: &f64| (value / step - phase).round();
    values.iter().map(number).collect()
}

/// Returns the largest of the ranges that the values of the clusters have.
pub fn largest_range(clusters: &[Vec<f64>]) -> f64 {
    clusters.iter().map(range).fold(0.0, f64::max)
}

/// Returns the range of the values.
pub fn range<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    let sorted = sorted(values);
    sorted.last().unwrap_or(&0.0) - sorted.first().unwrap_or(&0.0)
}

/// Returns the largest range of values from which all steps not shorter than `shortest` can be
/// tested.
pub fn longest_testable_range(shortest: f64) -> f64 {
    MAX_FREQUENCIES as f64 / OVERSAMPLING * shortest
}

/// Returns the largest step in `steps` at which the concentration has a peak that is at least
/// `least` and that random phases would have with a probability of at most [`MAX_CHANCE`]. `None`
/// if there is no such peak, or if twice or three times the found step suits the values as well.
pub fn find_largest_step(
    clusters: &[Vec<f64>],
    steps: RangeInclusive<f64>,
    least: f64,
) -> Option<f64> {
    let span = largest_range(clusters);
    let longest = steps
        .end()
        .min(range(clusters.iter().flatten()) / MIN_RANGE_STEPS);
    if !(longest > *steps.start() && *steps.start() > 0.0 && longest.is_finite()) {
        return None;
    }
    let stride = 1.0 / (OVERSAMPLING * span);
    let count = (((1.0 / steps.start() - 1.0 / longest) / stride) as usize).min(MAX_FREQUENCIES);
    // Degrees of freedom: one is lost for the phase of each cluster.
    let degrees = |values: &Vec<f64>| values.len().saturating_sub(1) as f64;
    let degrees: f64 = clusters.iter().map(degrees).sum();
    let least = least.max(((count as f64 + 1.0).ln() - MAX_CHANCE.ln()).sqrt() / degrees.sqrt());
    let frequency = |number: usize| 1.0 / longest + (number as f64 - 1.0) * stride;
    let weighted: Vec<Vec<(f64, f64)>> = clusters
        .iter()
        .map(|values| values.iter().map(|value| (*value, 1.0)).collect())
        .collect();
    let mut sweeps: Vec<Sweep> = weighted
        .iter()
        .map(|values| Sweep::new(values, frequency(0), stride))
        .collect();
    let mut next = || {
        let sums = clusters.iter().zip(&mut sweeps);
        concentration_from_sums(
            sums.filter_map(|(values, sweep)| Some((values.len(), sweep.next()?))),
        )
    };
    let (mut before, mut here) = (next(), next());
    for number in 1..=count {
        let after = next();
        if here >= before && here > after && here >= MIN_PEAK_RATIO * least {
            let (step, height) = refine_peak(clusters, frequency(number), stride);
            // The concentration is smaller for a half or a third of the true step, because noise is
            // a larger part of it. Outliers half a step off the lattice lie on the lattice of half
            // the step, whose concentration is then larger by up to `OUTLIER_LOSS`.
            let shorter_fits_better = || {
                COMPARED_MULTIPLES
                    .iter()
                    .any(|times| concentration(clusters, step / times) > height + OUTLIER_LOSS)
            };
            if height >= least && !shorter_fits_better() {
                let longer_fits = COMPARED_MULTIPLES
                    .iter()
                    .any(|times| concentration(clusters, times * step) >= least);
                return (!longer_fits).then_some(step);
            }
        }
        (before, here) = (here, after);
    }
    None
}

/// Returns the step at the top of the peak around a frequency, and the concentration there.
fn refine_peak(clusters: &[Vec<f64>], frequency: f64, mut stride: f64) -> (f64, f64) {
    let (mut best, mut height) = (frequency, concentration(clusters, 1.0 / frequency));
    for _ in 0..12 {
        stride /= 2.0;
        for candidate in [best - stride, best + stride] {
            let candidate_height = concentration(clusters, 1.0 / candidate);
            if candidate_height > height {
                (best, height) = (candidate, candidate_height);
            }
        }
    }
    (1.0 / best, height)
}

/// Fits a line to the values over the numbers of their multiples of a step of about `near`. The
/// slope is the step; each cluster has its own intercept. `None` if the values do not determine the
/// step.
pub fn fit_lattice(clusters: &[Vec<f64>], near: f64) -> Option<WaitLattice> {
    let mut step = near;
    let mut found = None;
    for _ in 0..3 {
        let mut points = Vec::new();
        for values in clusters {
            let phase = sum_of_phases(values, step).turns() * step;
            let number = |value: f64| ((value - phase) / step).round();
            points.push(
                values
                    .iter()
                    .map(|&value| (number(value), value - phase))
                    .collect::<Vec<_>>(),
            );
        }
        let residual = |step: f64, &(number, value): &(f64, f64)| value - number * step;
        let deviations: Vec<f64> = points
            .iter()
            .flatten()
            .map(|point| residual(step, point).abs())
            .collect();
        // The tolerance of 1e-5 steps keeps values without noise, whose residuals are rounding
        // errors.
        let largest_residual =
            SIGNIFICANT_DEVIATIONS * DEVIATION_PER_MEDIAN * median(&deviations)? + 1e-5 * step;
        let (mut squares, mut products, mut values, mut count) = (0.0, 0.0, 0.0, 0.0);
        for points in &mut points {
            points.retain(|point| residual(step, point).abs() <= largest_residual);
            let size = points.len().max(1) as f64;
            let (numbers, sum) = points
                .iter()
                .fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
            for (number, value) in points.iter() {
                let (number, value) = (number - numbers / size, value - sum / size);
                (squares, products, values) = (
                    squares + number * number,
                    products + number * value,
                    values + value * value,
                );
            }
            count += points.len() as f64 - 1.0;
        }
        let slope = products / squares;
        if !(slope.is_finite() && slope > 0.0 && count > 1.0) {
            return found;
        }
        let variance = (values - slope * products).max(0.0) / (count - 1.0);
        step = slope;
        let half_width =
            student_quantile(CONFIDENCE, count as usize - 1) * (variance / squares).sqrt();
        found = Some(WaitLattice {
            step,
            half_width,
            concentration: concentration(clusters, step),
        });
    }
    found
}
