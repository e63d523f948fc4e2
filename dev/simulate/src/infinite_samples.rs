//! Computes the range of medians and spreads that infinitely many samples of a coarse reference
//! leave possible, from the true distribution of costs.

use timermeter::distribution::bounds::{
    AlignedShares, FeasibleRange, VARIANCE_ERROR, bound_median_and_share,
};
use timermeter::distribution::cells::MAX_LEVEL_GAP;
use timermeter::distribution::shape::MIN_INTERPOLATED_VARIANCE;
use timermeter::statistics::mean;

/// Returns the ranges of the median and of the spread. `calls` are equally probable costs, in steps
/// of the reference and in ascending order; `factors` are the relative costs of processes. The
/// ranges are empty if the costs vary over so many steps that single samples resolve them. `None`
/// without calls.
#[must_use]
pub fn remaining(calls: &[f64], factors: &[f64], reach: f64) -> Option<FeasibleRange> {
    /// Stands for infinitely many: the sampling error is far below the error allowed for shares.
    /// *Numerical*.
    const SAMPLES: f64 = 1e12;
    let main = around_median(calls);
    let centre = mean(main)?;
    let variance = mean(
        main.iter()
            .map(|call| (call - centre).powi(2))
            .collect::<Vec<_>>(),
    )?;
    if variance > MIN_INTERPOLATED_VARIANCE {
        return Some(FeasibleRange::default());
    }
    let processes: Vec<(f64, f64, Vec<f64>)> = factors
        .iter()
        .map(|factor| {
            let place = (centre * factor).rem_euclid(1.0);
            let levels = |call: &f64| call - centre + place;
            let first = (levels(main.first().unwrap_or(&centre))).floor();
            let last = (levels(main.last().unwrap_or(&centre))).ceil();
            let share = |level: i64| {
                let shown = |call: &f64| (1.0 - (levels(call) - level as f64).abs()).max(0.0);
                main.iter().map(shown).sum::<f64>() / main.len() as f64
            };
            (
                place,
                first,
                (first as i64..=last as i64).map(share).collect(),
            )
        })
        .collect();
    let aligned: Vec<AlignedShares> = processes
        .iter()
        .map(|(place, first, shares)| AlignedShares {
            first: *first,
            shares,
            samples: SAMPLES,
            mean_fraction: *place,
            dispersion: 1.0,
        })
        .collect();
    let below = calls.partition_point(|call| *call < main[0]) as f64 / calls.len() as f64;
    let mass = main.len() as f64 / calls.len() as f64;
    let open = bound_median_and_share(
        &aligned,
        Some((variance, VARIANCE_ERROR)),
        (0.5 - below) / mass,
        reach,
    )?;
    Some(FeasibleRange {
        share: open.share.map(|share| share * mass),
        ..open
    })
}

/// Returns the cluster of sorted costs that contains the median: the costs that no gap separates
/// from it.
fn around_median(calls: &[f64]) -> &[f64] {
    if calls.is_empty() {
        return calls;
    }
    let is_gap = |pair: &[f64]| pair[1] - pair[0] > MAX_LEVEL_GAP;
    let (low, high) = calls.split_at(calls.len() / 2);
    let from = low.len().saturating_sub(1);
    let first = (1..=from)
        .rev()
        .find(|at| is_gap(&calls[at - 1..=*at]))
        .unwrap_or(0);
    let last = (from + 1..from + high.len()).find(|at| is_gap(&calls[*at..at + 2]));
    &calls[first..last.map_or(calls.len(), |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTORS: [f64; 4] = [0.96, 0.99, 1.01, 1.04];

    fn width(calls: &[f64]) -> f64 {
        let [low, high] = remaining(calls, &FACTORS, 0.1).unwrap().above_mean;
        high - low
    }

    #[test]
    fn two_costs_within_step_stay_open() {
        let mut two = vec![5.2; 600];
        two.extend([5.7; 400]);
        let smooth: Vec<f64> = (0..1000).map(|at| 5.0 + f64::from(at) / 1e3).collect();
        let [constant, two, smooth] = [&vec![5.3; 1000], &two, &smooth].map(|calls| width(calls));
        assert!(
            constant < 0.1 && two > constant && smooth > constant,
            "{constant}, {two}, {smooth}"
        );
    }

    #[test]
    fn remaining_range_holds_the_truth() {
        let mut three = vec![3.0; 550];
        three.extend([[3.4; 300].as_slice(), &[3.9; 150]].concat());
        let mean = mean(&three).unwrap();
        let open = remaining(&three, &FACTORS, 0.5).unwrap();
        let above = 3.0 - mean;
        assert!(
            open.above_mean[0] <= above + 0.01 && above <= open.above_mean[1],
            "{open:?}"
        );
        assert!(
            open.share[0] <= 0.85 && 0.85 <= open.share[1] + 1e-6,
            "{open:?}"
        );
    }

    #[test]
    fn only_the_median_cluster_counts() {
        let mut apart = vec![3.0; 700];
        apart.extend([30.0; 300]);
        assert!(width(&apart) < 0.1);
        assert!(remaining(&[], &FACTORS, 1.0).is_none());
        let far: Vec<f64> = (0..1000).map(|at| f64::from(at) / 50.0).collect();
        assert_eq!(width(&far), 0.0);
    }
}
