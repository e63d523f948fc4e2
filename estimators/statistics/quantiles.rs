//! Estimates quantiles of values that several processes measured.

use crate::model::Estimate;
use crate::statistics::{Z, mean_over_processes, median, quantile, sorted};

/// The least number of values for the interval of a median. *Chance*: all of five values lie on one
/// side of the true median in 6 of 100 cases.
pub const MIN_MEDIAN_VALUES: usize = 6;

/// Returns a quantile of the values of all processes. Its interval contains two errors: that of
/// counting values, of which each is below the true quantile with that probability, and the scatter
/// of the processes, by their medians. It is unbounded for a single process or too few values. `None`
/// without values.
pub fn quantile_over_processes(processes: &[Vec<f64>], probability: f64) -> Option<Estimate> {
    let all = sorted(processes.iter().flatten());
    let value = quantile(&all, probability)?;
    let scatter = mean_over_processes(processes.iter().filter_map(median))?;
    if all.len() < MIN_MEDIAN_VALUES || !scatter.is_bounded() {
        return Some(Estimate::unbounded(value));
    }
    let error = Z * (probability * (1.0 - probability) / all.len() as f64).sqrt();
    let end = |share: f64| quantile(&all, share.clamp(0.0, 1.0)).unwrap_or(value);
    let counted = Estimate {
        value,
        low: end(probability - error),
        high: end(probability + error),
    };
    Some(counted.widened_by(scatter.half_width()))
}

/// Returns the slope of the line through points in ascending order: the median slope between points
/// half of all points apart. `None` if no two of them differ.
pub fn median_slope(points: &[[f64; 2]]) -> Option<f64> {
    let later = points.iter().skip(points.len().div_ceil(2));
    let pairs = points
        .iter()
        .zip(later)
        .filter(|(from, to)| to[0] > from[0]);
    median(pairs.map(|(from, to)| (to[1] - from[1]) / (to[0] - from[0])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_match_tables() {
        // The median of 100 values lies between the order statistics of rank 40.75 and 60.25.
        let process: Vec<f64> = (1..=50)
            .map(f64::from)
            .flat_map(|at| [at, 101.0 - at])
            .collect();
        let found = quantile_over_processes(&[process.clone(), process], 0.5).unwrap();
        assert!(
            (found.value - 50.5).abs() < 0.01 && (found.half_width() - 6.9).abs() < 0.2,
            "{found:?}"
        );
    }

    #[test]
    fn one_process_has_no_interval() {
        let one = vec![(0..600).map(f64::from).collect::<Vec<_>>()];
        let found = quantile_over_processes(&one, 0.99).unwrap();
        assert!((found.value - 593.0).abs() < 1.0 && !found.is_bounded());
        assert_eq!(quantile_over_processes(&[vec![]], 0.9), None);
    }

    #[test]
    fn differing_process_widens_the_interval() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let moved = |by: f64| values.iter().map(|value| value + by).collect::<Vec<_>>();
        let half = |by: f64| {
            let processes = [moved(0.0), moved(by), moved(2.0 * by)];
            quantile_over_processes(&processes, 0.9)
                .unwrap()
                .half_width()
        };
        assert!(half(50.0) > 5.0 * half(0.1));
    }
}
