//! Finds the lattice of noisy lengths or instants: the step and its uncertainty.

use std::ops::RangeInclusive;

use crate::statistics::phasors::{Complex, Sweep};
use crate::statistics::{CONFIDENCE, median, quantile, sorted, student_quantile};

/// The least concentration of phases for a lattice, as for noise of a tenth of a step. *Computed*:
/// 0.82.
pub const CONCENTRATED: f64 = 0.8;
/// The least range of values, in steps: three levels are two steps apart. *Computed*.
const LEVELS: f64 = 1.8;
/// The share of values at either end that is not used for this range. *Default*: moves no figure.
pub const ENDS: f64 = 0.05;
/// The probability that uniformly distributed phases agree so well at any of the tested
/// frequencies. *Chance*.
const CHANCE: f64 = 1e-3;
/// Multiples of a step that must be excluded. *Judgement*.
const MULTIPLES: [f64; 2] = [2.0, 3.0];
/// The decrease of the concentration due to outliers: 5 % of the values, half a step off.
/// *Computed*.
const OUTLIERS: f64 = 0.1;
/// The number of tested frequencies per resolvable frequency for values of this range. *Numerical*:
/// at most a sixteenth of its width beside a peak.
const OVERSAMPLING: f64 = 8.0;
/// The least ratio of the concentration at the nearest tested frequency to the peak. *Default*:
/// moves no figure.
const NEAR_PEAK: f64 = 0.95;
/// The largest number of tested frequencies; shorter steps are not found. *Numerical*.
const FREQUENCIES: usize = 20_000;
/// Residuals larger than this many standard deviations, estimated from their median, are excluded
/// from the fit. *Chance*: 0.3 % of a normal law.
const OUTLYING: f64 = 3.0;
/// The ratio of the standard deviation to the median absolute deviation of a normal distribution.
/// *Computed*.
const NORMAL: f64 = 1.4826;

/// A lattice that explains the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Its step.
    pub step: f64,
    /// Half the width of its 95 % interval.
    pub half: f64,
    /// The concentration of the phases, from 0 to 1.
    pub concentration: f64,
}

/// Returns the concentration of the phases of values for a step, within each cluster: 1 if they are
/// equal, around 0 if they are uniformly distributed.
pub fn concentration(clusters: &[Vec<f64>], step: f64) -> f64 {
    agreement(
        clusters
            .iter()
            .map(|values| (values.len(), resultant(values, step))),
    )
}

/// The same concentration from the size of each cluster and the sum of its unit vectors.
fn agreement(sums: impl Iterator<Item = (usize, Complex)>) -> f64 {
    // A few values agree by chance: a cluster of `n` values adds `n` to the squared length of the
    // sum.
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

/// The sum of unit vectors.
fn resultant(values: &[f64], step: f64) -> Complex {
    Complex::sum(values.iter().map(|value| (value / step, 1.0)))
}

/// The residuals of values from their lattice, separately for each cluster.
pub fn residuals(clusters: &[Vec<f64>], step: f64) -> Vec<f64> {
    let off = |values: &Vec<f64>| -> Vec<f64> {
        let numbers = numbers(values, step);
        let phase = resultant(values, step).turns();
        let both = values.iter().zip(numbers);
        both.map(|(value, number)| (value / step - phase - number) * step)
            .collect()
    };
    clusters.iter().flat_map(off).collect()
}

/// The multiples on the lattice of the values of one cluster.
pub fn numbers(values: &[f64], step: f64) -> Vec<f64> {
    let phase = resultant(values, step).turns();
    let number = |value: &f64| (value / step - phase).round();
    values.iter().map(number).collect()
}

/// The largest range of values of a cluster.
pub fn span(clusters: &[Vec<f64>]) -> f64 {
    let spans = clusters.iter().map(|values| spread(&sorted(values), 0.0));
    spans.fold(0.0, f64::max)
}

/// The range of sorted values without this share at either end.
pub fn spread(sorted: &[f64], but: f64) -> f64 {
    quantile(sorted, 1.0 - but).unwrap_or(0.0) - quantile(sorted, but).unwrap_or(0.0)
}

/// The largest range of values for which all steps from `shortest` on can be tested.
pub fn longest_span(shortest: f64) -> f64 {
    FREQUENCIES as f64 / OVERSAMPLING * shortest
}

/// Returns the largest step in the range whose concentration is a peak of at least `least` and is
/// significant given the number of tested frequencies. `None` if values lie on multiples of only
/// two or three such steps: then some multiples of longer steps did not occur.
pub fn largest(clusters: &[Vec<f64>], steps: RangeInclusive<f64>, least: f64) -> Option<f64> {
    let span = span(clusters);
    let longest = steps
        .end()
        .min(spread(&sorted(clusters.iter().flatten()), ENDS) / LEVELS);
    if !(longest > *steps.start() && *steps.start() > 0.0 && longest.is_finite()) {
        return None;
    }
    let stride = 1.0 / (OVERSAMPLING * span);
    let count = (((1.0 / steps.start() - 1.0 / longest) / stride) as usize).min(FREQUENCIES);
    // Degrees of freedom: each cluster has a phase of its own.
    let degrees = |values: &Vec<f64>| values.len().saturating_sub(1) as f64;
    let degrees: f64 = clusters.iter().map(degrees).sum();
    let least = least.max(((count as f64 + 1.0).ln() - CHANCE.ln()).sqrt() / degrees.sqrt());
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
        agreement(sums.filter_map(|(values, sweep)| Some((values.len(), sweep.next()?))))
    };
    let (mut before, mut here) = (next(), next());
    for number in 1..=count {
        let after = next();
        if here >= before && here > after && here >= NEAR_PEAK * least {
            let (step, height) = climbed(clusters, frequency(number), stride);
            // On a lattice, halves and thirds of a step have a smaller concentration, because noise
            // is a larger part of them, except for outliers.
            let of_shorter = || {
                MULTIPLES
                    .iter()
                    .any(|times| concentration(clusters, step / times) > height + OUTLIERS)
            };
            if height >= least && !of_shorter() {
                let of_longer = MULTIPLES
                    .iter()
                    .any(|times| concentration(clusters, times * step) >= least);
                return (!of_longer).then_some(step);
            }
        }
        (before, here) = (here, after);
    }
    None
}

/// Returns the step at the top of the peak around a frequency, and the height of the peak.
fn climbed(clusters: &[Vec<f64>], frequency: f64, mut stride: f64) -> (f64, f64) {
    let (mut best, mut height) = (frequency, concentration(clusters, 1.0 / frequency));
    for _ in 0..12 {
        stride /= 2.0;
        for candidate in [best - stride, best + stride] {
            let there = concentration(clusters, 1.0 / candidate);
            if there > height {
                (best, height) = (candidate, there);
            }
        }
    }
    (1.0 / best, height)
}

/// Fits a line to values over their multiples on the lattice, with an intercept for each cluster.
/// `None` if the step is undetermined.
pub fn fitted(clusters: &[Vec<f64>], near: f64) -> Option<Lattice> {
    let mut step = near;
    let mut found = None;
    for _ in 0..3 {
        let mut points = Vec::new();
        for values in clusters {
            let phase = resultant(values, step).turns() * step;
            let number = |value: f64| ((value - phase) / step).round();
            points.push(
                values
                    .iter()
                    .map(|&value| (number(value), value - phase))
                    .collect::<Vec<_>>(),
            );
        }
        let off = |step: f64, &(number, value): &(f64, f64)| value - number * step;
        let deviations: Vec<f64> = points
            .iter()
            .flatten()
            .map(|point| off(step, point).abs())
            .collect();
        // The tolerance of 1e-5 keeps values without noise, whose residuals are rounding errors.
        let reach = OUTLYING * NORMAL * median(&deviations)? + 1e-5 * step;
        let (mut squares, mut products, mut values, mut count) = (0.0, 0.0, 0.0, 0.0);
        for points in &mut points {
            points.retain(|point| off(step, point).abs() <= reach);
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
        let half = student_quantile(CONFIDENCE, count as usize - 1) * (variance / squares).sqrt();
        found = Some(Lattice {
            step,
            half,
            concentration: concentration(clusters, step),
        });
    }
    found
}
