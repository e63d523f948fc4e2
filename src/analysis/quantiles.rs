//! Quantiles over fresh processes: the mean over processes of what a process of infinite length would show, with an interval.
//!
//! Processes differ in where their values lie, which is what a median of each tells; that of far quantiles takes more values than a
//! process has, and how far they lie beyond the median is told by all processes together.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::checked_gamma_ur;

use super::interval::{CONFIDENCE, over_processes};
use super::statistics::{median, quantile, sorted};
use crate::model::{Estimate, Known};

/// The chance, where processes are alike, that the shares beyond a quantile differ by so much that they are taken to differ.
const ALIKE: f64 = 0.05;

/// A figure of each process, agreed on. `None` without any.
#[must_use]
pub fn agreed(figures: &[f64]) -> Option<Known> {
    over_processes(figures).map(known)
}

/// The median; `processes` are the values of each.
#[must_use]
pub fn agreed_median(processes: &[Vec<f64>]) -> Option<Known> {
    agreed(&processes.iter().filter_map(|values| median(values)).collect::<Vec<_>>())
}

/// A quantile, from `fewest` values on; `processes` are the values of each.
#[must_use]
pub fn agreed_quantile(processes: &[Vec<f64>], probability: f64, fewest: usize) -> Option<Known> {
    if processes.iter().map(Vec::len).sum::<usize>() < fewest.max(1) {
        return None;
    }
    let medians: Vec<f64> = processes.iter().filter_map(|values| median(values)).collect();
    let centre = over_processes(&medians)?;
    let processes = processes.iter().filter(|values| !values.is_empty());
    let beyond: Vec<Vec<f64>> = processes
        .zip(&medians)
        .map(|(values, median)| values.iter().map(|value| value - median).collect())
        .collect();
    let beyond = pooled(&beyond, probability)?;
    let shifts = [centre.low, centre.high].map(|end| beyond.value + end - centre.value);
    let found = if centre.is_bounded() { beyond.widened(&shifts) } else { unbounded(beyond) };
    let moved = |end: f64| end + centre.value;
    Some(known(Estimate {
        value: moved(found.value),
        low: moved(found.low),
        high: moved(found.high),
        samples: found.samples,
    }))
}

fn unbounded(estimate: Estimate) -> Estimate {
    Estimate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..estimate }
}

fn known(estimate: Estimate) -> Known {
    let end = |end: f64| (estimate.is_bounded()).then_some(end);
    Known { value: estimate.value, low: end(estimate.low), high: end(estimate.high) }
}

/// The quantile of all values together, with an interval between fractional order statistics (Hutson, *Calculating nonparametric
/// confidence intervals for quantiles using fractional order statistics*, Journal of Applied Statistics 26, 1999). Where the shares
/// beyond it differ between processes by more than chance, there are as many values fewer.
fn pooled(processes: &[Vec<f64>], probability: f64) -> Option<Estimate> {
    let all = sorted(&processes.concat());
    let value = quantile(&all, probability)?;
    let count = all.len() as f64;
    let effective = (count / dispersion(processes, value, probability)).max(1.0);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let [low, high] = [1.0 - tail, tail].map(|chance| {
        let position = fraction(effective, probability, chance) * (count + 1.0) - 1.0;
        quantile(&all, position / (count - 1.0).max(1.0)).unwrap_or(value)
    });
    Some(Estimate { value, low: low.min(value), high: high.max(value), samples: all.len() })
}

/// The order statistic, as a share of all, that lies below the quantile with this chance.
fn fraction(count: f64, probability: f64, chance: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        let (a, b) = ((count + 1.0) * middle, (count + 1.0) * (1.0 - middle));
        // The later an order statistic, the less likely it lies below.
        if beta_reg(a, b, probability) > chance { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// How much more than by chance the shares of values beyond `value` scatter between processes; 1 where they do not.
fn dispersion(processes: &[Vec<f64>], value: f64, probability: f64) -> f64 {
    let each = processes.iter().map(|values| {
        let beyond = values.iter().filter(|other| **other > value).count();
        (beyond as f64, values.len() as f64)
    });
    let share = 1.0 - probability;
    let squares: f64 =
        each.map(|(beyond, count)| (beyond - count * share).powi(2) / (count * share * probability)).sum();
    let degrees = processes.len() as f64 - 1.0;
    // Without degrees of freedom, or without any scatter, there is nothing to tell.
    let chance = checked_gamma_ur(degrees / 2.0, squares / 2.0).unwrap_or(1.0);
    if chance < ALIKE { (squares / degrees).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_of_the_tables() {
        // Of the median of 100 values: between the 40.6th and the 60.4th, in shares of 101.
        let [low, high] = [0.975, 0.025].map(|chance| fraction(100.0, 0.5, chance));
        assert!((low - 0.4035).abs() < 0.002 && (high - 0.5965).abs() < 0.002, "{low} {high}");
    }

    #[test]
    fn one_process_has_no_interval_and_few_values_no_quantile() {
        let one = vec![(0..600).map(f64::from).collect::<Vec<_>>()];
        let found = agreed_quantile(&one, 0.99, 500).unwrap();
        assert!((found.value - 593.0).abs() < 1.0 && found.low.is_none() && found.high.is_none());
        assert_eq!(agreed_quantile(&one, 0.999, 5_000), None);
        assert_eq!(agreed_quantile(&[], 0.9, 0), None);
        assert_eq!(agreed_median(&[vec![]]), None);
    }

    #[test]
    fn a_process_that_lies_elsewhere_widens_the_interval() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let moved = |by: f64| values.iter().map(|value| value + by).collect::<Vec<_>>();
        let width = |found: Known| found.high.unwrap() - found.low.unwrap();
        let alike = agreed_quantile(&[values.clone(), moved(0.1), moved(0.2)], 0.9, 50).unwrap();
        let apart = agreed_quantile(&[values.clone(), moved(50.0), moved(100.0)], 0.9, 50).unwrap();
        assert!(width(apart) > 5.0 * width(alike), "{alike:?} {apart:?}");
    }
}
