//! Order statistics and intervals on plain slices.

use crate::analysis::Estimate;

/// A sorted copy. NaN does not occur: all inputs are integers or quotients of positive numbers.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile of a sorted slice, interpolated linearly between neighbours; `None` for an empty one.
#[must_use]
pub fn quantile(sorted: &[f64], probability: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = probability.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64))
}

/// The median; `None` for an empty slice.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The arithmetic mean; `None` for an empty slice.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean of the middle half. Unlike the median it averages quantisation away, unlike the mean it does not see
/// interruptions as long as fewer than a quarter of the values carry one.
#[must_use]
pub fn midmean(values: &[f64]) -> Option<f64> {
    midmean_but(values, 0.0)
}

/// The same of all but the highest `disturbed` share of the values.
#[must_use]
pub fn midmean_but(values: &[f64], disturbed: f64) -> Option<f64> {
    let sorted = sorted(values);
    let kept = sorted.len() - (disturbed.clamp(0.0, 0.9) * sorted.len() as f64).round() as usize;
    let sorted = &sorted[..kept];
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// The standard deviation that a normal distribution with the same quartiles has; `None` for an empty slice.
#[must_use]
pub fn robust_deviation(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    Some((quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?) / 1.349)
}

/// The 95 % interval for what fresh processes agree on: Student's t around the mean of one figure a process. The
/// value is their median. With a single process the ends are unknown and equal the value.
#[must_use]
pub fn over_processes(figures: &[f64]) -> Option<Estimate> {
    let value = median(figures)?;
    let centre = mean(figures)?;
    let count = figures.len();
    if count < 2 {
        return Some(Estimate { value, low: value, high: value, samples: count });
    }
    let variance = figures.iter().map(|figure| (figure - centre).powi(2)).sum::<f64>() / (count - 1) as f64;
    let half = student_t(count - 1) * (variance / count as f64).sqrt();
    Some(Estimate {
        value,
        low: (centre - half).min(value),
        high: (centre + half).max(value),
        samples: count,
    })
}

/// The 97.5 % quantile of Student's t distribution.
fn student_t(degrees: usize) -> f64 {
    const TABLE: [f64; 12] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179];
    match degrees {
        0 => f64::INFINITY,
        1..=12 => TABLE[degrees - 1],
        // Cornish-Fisher expansion around the normal quantile 1.960; within 0.1 % from here on.
        more => 1.959_964 + 2.372_3 / more as f64 + 2.822_5 / (more as f64).powi(2),
    }
}
