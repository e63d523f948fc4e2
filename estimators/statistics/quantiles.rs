//! Estimates quantiles over processes: the mean over all possible processes of the quantile that an
//! infinitely long process would have, with an interval.
//!
//! Processes differ in the location of their values, estimated by the median of each process. A
//! high quantile requires more values than a process has, so the values of all processes are pooled
//! after the differences of their medians are subtracted. All quantiles come from this one pool, so
//! that a higher one is never smaller.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::checked_gamma_ur;

use crate::model::Interval;
use crate::statistics::{
    CONFIDENCE, bisect, mean, mean_over_processes, median, quantile, sorted, standard_deviation,
};

/// The least number of values for the interval of a median. *Chance*: all of five values lie on one
/// side of the true median in 6 of 100 cases.
pub const MIN_MEDIAN_VALUES: usize = 6;

/// The least number of values that are expected beyond a quantile. *Chance*: fewer decide by
/// chance.
const MIN_VALUES_BEYOND: f64 = 5.0;

/// Returns the median with its interval, which is unbounded for too few values; `processes` holds
/// the values of each process. `None` without values.
pub fn median_over_processes(processes: &[Vec<f64>]) -> Option<Interval> {
    let found = mean_over_processes(processes.iter().filter_map(median))?;
    let value = centred_quantile(processes, 0.5, 1.0)?.value;
    let has_interval = processes.iter().flatten().count() >= MIN_MEDIAN_VALUES;
    Some(if has_interval && found.is_bounded() {
        Interval::around(value, found.half_width())
    } else {
        Interval::unbounded(value)
    })
}

/// Returns a quantile with its interval, which is unbounded for a single process. `processes` holds
/// the values of each process; `dependent_values` consecutive values count as one, because they
/// depend on each other. `None` if too few values lie beyond the quantile.
pub fn quantile_over_processes(
    processes: &[Vec<f64>],
    probability: f64,
    dependent_values: f64,
) -> Option<Interval> {
    let beyond = (1.0 - probability) * processes.iter().flatten().count() as f64;
    // Rounded, because 1 − 0.9 is not exactly a tenth.
    (beyond.round() >= MIN_VALUES_BEYOND)
        .then(|| centred_quantile(processes, probability, dependent_values))?
}

/// Returns these quantiles in ascending order, without those that contradict a lower one or the
/// largest value: the differences between processes are then too large for an estimate.
pub fn consistent_quantiles<const N: usize>(
    quantiles: [Option<Interval>; N],
    largest: f64,
) -> [Option<Interval>; N] {
    let mut least = f64::NEG_INFINITY;
    quantiles.map(|found| {
        let found = found.filter(|found| (least..=largest).contains(&found.value))?;
        least = found.value;
        Some(found)
    })
}

/// Returns a quantile of the values of all processes, after the differences of their medians are
/// subtracted as far as chance does not explain them.
fn centred_quantile(
    processes: &[Vec<f64>],
    probability: f64,
    dependent_values: f64,
) -> Option<Interval> {
    let mut processes: Vec<Vec<f64>> = processes
        .iter()
        .filter(|values| !values.is_empty())
        .map(sorted)
        .collect();
    let medians: Vec<f64> = processes.iter().filter_map(median).collect();
    let (centre, between_share) = (
        mean(&medians)?,
        share_between_processes(&processes, &medians),
    );
    for (values, median) in processes.iter_mut().zip(&medians) {
        let shift = between_share * (median - centre);
        values.iter_mut().for_each(|value| *value -= shift);
    }
    let pooled = pooled_quantile(&processes, probability, dependent_values)?;
    let Some(medians_interval) = mean_over_processes(&medians).filter(Interval::is_bounded) else {
        return Some(Interval::unbounded(pooled.value));
    };
    let half = between_share.sqrt() * medians_interval.half_width();
    Some(pooled.widened_by(half))
}

/// The share of the variance of the medians that is due to differences between processes, from 0 to
/// 1; the rest is sampling error.
fn share_between_processes(processes: &[Vec<f64>], medians: &[f64]) -> f64 {
    let Some(deviation) = standard_deviation(medians).filter(|deviation| *deviation > 0.0) else {
        return 0.0;
    };
    let sampling_variance = |values: &Vec<f64>| {
        let half = 0.5 / (values.len() as f64).sqrt();
        Some(((quantile(values, 0.5 + half)? - quantile(values, 0.5 - half)?) / 2.0).powi(2))
    };
    let sampling_variance = mean(processes.iter().filter_map(sampling_variance)).unwrap_or(0.0);
    let (ratio, degrees) = (
        deviation.powi(2) / sampling_variance,
        medians.len() as f64 - 1.0,
    );
    if is_consistent_with_chance(ratio * degrees, degrees) {
        0.0
    } else {
        (1.0 - 1.0 / ratio).max(0.0)
    }
}

/// Returns whether a sum of squared standardised deviations with `degrees` degrees of freedom is
/// consistent with chance (chi-square test).
fn is_consistent_with_chance(squares: f64, degrees: f64) -> bool {
    // Without degrees of freedom, or without any scatter, there is no difference.
    checked_gamma_ur(degrees / 2.0, squares / 2.0).is_ok_and(|chance| chance >= 1.0 - CONFIDENCE)
        || squares <= 0.0
}

/// The quantile of the pooled values, with an interval between fractional order statistics (Hutson,
/// *Calculating nonparametric confidence intervals for quantiles using fractional order
/// statistics*, Journal of Applied Statistics 26, 1999). If the share of values above the quantile
/// varies between processes by more than chance, the effective number of values is smaller.
fn pooled_quantile(
    processes: &[Vec<f64>],
    probability: f64,
    dependent_values: f64,
) -> Option<Interval> {
    let all = sorted(processes.concat());
    let value = quantile(&all, probability)?;
    let count = all.len() as f64;
    let effective =
        (count / dispersion(processes, value, probability).max(dependent_values)).max(1.0);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let [low, high] = [1.0 - tail, tail].map(|chance| {
        let position = order_statistic_share(effective, probability, chance) * (count + 1.0) - 1.0;
        quantile(&all, position / (count - 1.0).max(1.0)).unwrap_or(value)
    });
    Some(Interval {
        value,
        low: low.min(value),
        high: high.max(value),
    })
}

/// The rank of the order statistic, among `count` values, that is below the quantile for
/// `probability` with the probability `chance`, as a share of `count + 1`.
fn order_statistic_share(count: f64, probability: f64, chance: f64) -> f64 {
    // The higher an order statistic, the lower the probability that it is below the quantile.
    let (low, high) = bisect((0.0, 1.0), 50, |share| {
        beta_reg(
            (count + 1.0) * share,
            (count + 1.0) * (1.0 - share),
            probability,
        ) > chance
    });
    f64::midpoint(low, high)
}

/// The overdispersion between processes of the number of values above `value`, the quantile for
/// `probability`; 1 if chance explains their variation.
fn dispersion(processes: &[Vec<f64>], value: f64, probability: f64) -> f64 {
    let each = processes.iter().map(|values| {
        let beyond = values.iter().filter(|other| **other > value).count();
        (beyond as f64, values.len() as f64)
    });
    let share = 1.0 - probability;
    let squares: f64 = each
        .map(|(beyond, count)| (beyond - count * share).powi(2) / (count * share * probability))
        .sum();
    let degrees = processes.len() as f64 - 1.0;
    if degrees < 1.0 || is_consistent_with_chance(squares, degrees) {
        1.0
    } else {
        (squares / degrees).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_match_tables() {
        // The median of 100 values lies between the order statistics of rank 40.75 and 60.25, which
        // are these shares of 101.
        let [low, high] = [0.975, 0.025].map(|chance| order_statistic_share(100.0, 0.5, chance));
        assert!(
            (low - 0.4035).abs() < 0.002 && (high - 0.5965).abs() < 0.002,
            "{low} {high}"
        );
    }

    #[test]
    fn few_values_have_no_quantile() {
        let one = vec![(0..600).map(f64::from).collect::<Vec<_>>()];
        let found = quantile_over_processes(&one, 0.99, 1.0).unwrap();
        assert!(
            (found.value - 593.0).abs() < 1.0 && found.low().is_none() && found.high().is_none()
        );
        assert_eq!(quantile_over_processes(&one, 0.999, 1.0), None);
        assert_eq!(quantile_over_processes(&[], 0.9, 1.0), None);
        assert_eq!(median_over_processes(&[vec![]]), None);
    }

    #[test]
    fn differing_process_widens_the_interval() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let moved = |by: f64| values.iter().map(|value| value + by).collect::<Vec<_>>();
        let width = |found: Interval| found.high().unwrap() - found.low().unwrap();
        let equal =
            quantile_over_processes(&[values.clone(), moved(0.1), moved(0.2)], 0.9, 1.0).unwrap();
        let between_share =
            quantile_over_processes(&[values.clone(), moved(50.0), moved(100.0)], 0.9, 1.0)
                .unwrap();
        assert!(
            width(between_share) > 5.0 * width(equal),
            "{equal:?} {between_share:?}"
        );
    }
}
