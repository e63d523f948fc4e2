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

/// The mean of all but the highest `disturbed` share of the values: it averages steps away where these are as large as what
/// the values vary by, which the middle half alone does not.
#[must_use]
pub fn mean_but(values: &[f64], disturbed: f64) -> Option<f64> {
    let sorted = sorted(values);
    let kept = sorted.len() - (disturbed.clamp(0.0, 0.9) * sorted.len() as f64).round() as usize;
    mean(&sorted[..kept])
}

/// The 95 % interval for what fresh processes agree on: Student's t around the mean of one figure a process. The
/// value is the mean of their middle half: processes tend to come in two or three kinds, as where their code came to lie, and a
/// median jumps from one kind to the other. With a single process the ends are unknown and equal the value.
#[must_use]
pub fn over_processes(figures: &[f64]) -> Option<Estimate> {
    let value = midmean(figures)?;
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

/// How many standard deviations on either side hold `confidence` of a normal distribution: 1.960 for 0.95. The
/// confidence is kept between 0 and 1 - 1e-9.
#[must_use]
pub fn normal_quantile(confidence: f64) -> f64 {
    let wanted = confidence.clamp(0.0, 1.0 - 1e-9) / 2.0;
    let (mut low, mut high) = (0.0, 6.5);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if half_normal(middle) < wanted { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The share of a normal distribution between its mean and `x` deviations above it, by the series
/// x + x³/3 + x⁵/15 + … times the density (Abramowitz and Stegun, 26.2.11).
fn half_normal(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > 1e-17 * sum && term > 0.0 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// As [`normal_quantile`], for a deviation that was estimated with `degrees` degrees of freedom (Student's t), by the
/// expansion of Abramowitz and Stegun, 26.7.5: within 0.1 % from five degrees on at 95 %, too small below four.
/// Infinite without any.
#[must_use]
pub fn student_quantile(confidence: f64, degrees: usize) -> f64 {
    if degrees == 0 {
        return f64::INFINITY;
    }
    let (x, n) = (normal_quantile(confidence), degrees as f64);
    let odd = |power: i32| x.powi(power);
    x + (odd(3) + x) / (4.0 * n)
        + (5.0 * odd(5) + 16.0 * odd(3) + 3.0 * x) / (96.0 * n.powi(2))
        + (3.0 * odd(7) + 19.0 * odd(5) + 17.0 * odd(3) - 15.0 * x) / (384.0 * n.powi(3))
        + (79.0 * odd(9) + 776.0 * odd(7) + 1482.0 * odd(5) - 1920.0 * odd(3) - 945.0 * x)
            / (92_160.0 * n.powi(4))
}

/// The standard deviation as an estimate from a sample; `None` with fewer than two values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_tables() {
        for (confidence, quantile) in
            [(0.5, 0.674_490), (0.95, 1.959_964), (0.99, 2.575_829), (0.999, 3.290_527)]
        {
            let found = normal_quantile(confidence);
            assert!((found - quantile).abs() < 1e-5, "{confidence}: {found}, not {quantile}");
        }
        for (degrees, quantile) in [(5, 2.571), (9, 2.262), (30, 2.042), (1_000, 1.962)] {
            let found = student_quantile(0.95, degrees);
            assert!((found - quantile).abs() < 0.001, "{degrees}: {found}, not {quantile}");
        }
        assert!(student_quantile(0.95, 0).is_infinite());
        assert!(normal_quantile(2.0).is_finite() && normal_quantile(-1.0) < 1e-6);
    }

    #[test]
    fn deviations_need_two_values() {
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
    }
}
