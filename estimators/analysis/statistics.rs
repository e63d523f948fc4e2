//! Order statistics and intervals on plain slices.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::model::Estimate;

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

/// The median, and what nine tenths of the values lie between.
#[must_use]
pub fn nine_tenths(values: &[f64]) -> Option<Estimate> {
    let sorted = sorted(values);
    let at = |share| quantile(&sorted, share);
    Some(Estimate { value: at(0.5)?, low: at(0.05)?, high: at(0.95)?, samples: sorted.len() })
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

/// How many standard deviations on either side hold `confidence` of a normal distribution: 1.960 for 0.95. The
/// confidence is kept between 0 and 1 - 1e-9.
#[must_use]
pub fn normal_quantile(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(upper(confidence))
}

/// As [`normal_quantile`], for a deviation that was estimated with `degrees` degrees of freedom (Student's t). Infinite
/// without any.
#[must_use]
pub fn student_quantile(confidence: f64, degrees: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees as f64).map_or(f64::INFINITY, |law| law.inverse_cdf(upper(confidence)))
}

/// The share below the upper end of an interval around the middle.
fn upper(confidence: f64) -> f64 {
    0.5 + confidence.clamp(0.0, 1.0 - 1e-9) / 2.0
}

/// The interval between `low` and `high`, halved so many times, around the point up to which `is_below` holds.
#[must_use]
pub fn bisected(
    (mut low, mut high): (f64, f64),
    halvings: u32,
    is_below: impl Fn(f64) -> bool,
) -> (f64, f64) {
    for _ in 0..halvings {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

/// The standard deviation as an estimate from a sample; `None` with fewer than two values.
#[must_use]
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
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
        for (degrees, quantile) in
            [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (30, 2.042), (1_000, 1.962)]
        {
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
