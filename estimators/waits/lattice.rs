//! Lengths or instants that lie on a lattice, give or take noise: the step and what it is known to.

use std::ops::RangeInclusive;

use crate::statistics::phasors::{Complex, Sweep};
use crate::statistics::{CONFIDENCE, median, quantile, sorted, student_quantile};

/// Concentration of the phases from which a lattice is believed: noise of a tenth of a step leaves
/// so much. *Computed*: 0.82.
pub const CONCENTRATED: f64 = 0.8;
/// Values spread over this many steps, at least, tell the step: three levels are two steps apart.
/// *Computed*.
const LEVELS: f64 = 1.8;
/// The share of values at either end without which they have to be.
/// *Default*: moves no figure.
pub const ENDS: f64 = 0.05;
/// The chance that phases which are any agree so well at one of the frequencies that are looked at.
/// *Chance*.
const CHANCE: f64 = 1e-3;
/// Steps that are this many times as long have to be ruled out.
/// *Judgement*.
const MULTIPLES: [f64; 2] = [2.0, 3.0];
/// What outliers take from the concentration: a twentieth of the values, half a step off.
/// *Computed*.
const OUTLIERS: f64 = 0.1;
/// Frequencies looked at for each that values so far apart tell from its neighbour.
/// *Numerical*: at most a sixteenth of its width beside a peak.
const OVERSAMPLING: f64 = 8.0;
/// What the concentration may lie below its peak at the nearest of these.
/// *Default*: moves no figure.
const NEAR_PEAK: f64 = 0.95;
/// Frequencies that are looked at, at most: shorter steps are not found.
/// *Numerical*.
const FREQUENCIES: usize = 20_000;
/// Values farther off than this many times the deviation that their median tells are left out of
/// the line. *Chance*: 0.3 % of a normal law.
const OUTLYING: f64 = 3.0;
/// A standard deviation over a median deviation, of a normal law.
/// *Computed*.
const NORMAL: f64 = 1.4826;

/// A lattice that explains the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Its step.
    pub step: f64,
    /// Half of its 95 % interval.
    pub half: f64,
    /// How well phases agree, from 0 to 1.
    pub concentration: f64,
}

/// How well the phases of values agree with a step, those of each cluster among themselves: 1 where
/// they are one, around 0 where they are any.
pub fn concentration(clusters: &[Vec<f64>], step: f64) -> f64 {
    agreement(
        clusters
            .iter()
            .map(|values| (values.len(), resultant(values, step))),
    )
}

/// The same of how many values each cluster has and the sum of their unit vectors.
fn agreement(sums: impl Iterator<Item = (usize, Complex)>) -> f64 {
    // Of a few values some agree by chance: a cluster of `n` adds `n` to the squared length of
    // their sum.
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

/// How far values lie off their lattice, those of each cluster off its own.
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

/// The number of each value of one cluster on their lattice.
pub fn numbers(values: &[f64], step: f64) -> Vec<f64> {
    let phase = resultant(values, step).turns();
    let number = |value: &f64| (value / step - phase).round();
    values.iter().map(number).collect()
}

/// How far apart values of one cluster lie at most.
pub fn span(clusters: &[Vec<f64>]) -> f64 {
    let spans = clusters.iter().map(|values| spread(&sorted(values), 0.0));
    spans.fold(0.0, f64::max)
}

/// How far apart sorted values lie but for this share at either end.
pub fn spread(sorted: &[f64], but: f64) -> f64 {
    quantile(sorted, 1.0 - but).unwrap_or(0.0) - quantile(sorted, but).unwrap_or(0.0)
}

/// How far apart values may lie for all steps from this one on to be looked at.
pub fn longest_span(shortest: f64) -> f64 {
    FREQUENCIES as f64 / OVERSAMPLING * shortest
}

/// The largest step within the range whose concentration is a peak of at least `least`, and higher
/// than chance would make it at any of the frequencies that were looked at. None where values lie
/// on multiples of two or three such steps only: then some of longer ones were not met.
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
    // Values that can disagree: each cluster agrees with one of its own.
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
            // On a lattice halves and thirds of a step agree less, as noise is more of them; but
            // for outliers.
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

/// The step at the top of the peak around a frequency, and its height.
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

/// The line through values over their numbers on the lattice, each cluster with a beginning of its
/// own. `None` where that does not tell a step.
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
        // A hundred-thousandth, so that values without noise are not left out for how numbers are
        // rounded.
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
