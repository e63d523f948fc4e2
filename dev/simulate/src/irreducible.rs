//! Computes the width that intervals keep with infinitely many observations: a reference with
//! coarse steps leaves a range of medians and spreads possible, however often it is read.

use statrs::distribution::{ContinuousCDF, Normal};

use super::infinite_samples::remaining;
use super::truth::{cost_quantiles, factors};
use super::{Case, FREQUENCY, Truth};
use timermeter::cost::singles::MAX_OWN_STEP_RATIO;
use timermeter::model::{Hertz, Nanos};
use timermeter::quality::quality;

/// The widths of exact intervals with infinitely many observations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IrreducibleWidths {
    /// Width for the cost, in nanoseconds.
    pub cost: f64,
    /// Width for the spread.
    pub spread: f64,
    /// Width for Quality, in [0, 1].
    pub quality: f64,
}

/// The quantiles of the core frequency that stand for a frequency that varies.
const FREQUENCY_QUANTILES: [f64; 4] = [0.125, 0.375, 0.625, 0.875];

/// Computes the widths for a case; they are 0 if single readings resolve the costs.
#[must_use]
pub fn irreducible_widths(case: &Case, truth: &Truth) -> IrreducibleWidths {
    let (own, reference) = (case.timer.step.max(case.timer.unit), case.reference.step);
    let step = if truth.resolution.is_some() && own < MAX_OWN_STEP_RATIO * reference {
        own
    } else {
        reference
    };
    let calls: Vec<f64> = cost_quantiles(&case.timer)
        .iter()
        .map(|call| call / step)
        .collect();
    let reach = truth.resolution.unwrap_or(0.0);
    let Some(open) = remaining(&calls, &relative_costs(case), reach / step) else {
        return IrreducibleWidths::default();
    };
    let cost = (open.above_mean[1] - open.above_mean[0]) * step;
    let quality_at = |cost: f64, spread: f64| {
        let cycles = |ns: f64| Nanos(ns).cycles(Hertz(FREQUENCY));
        quality(cycles(reach), cycles(cost), spread).unwrap_or(0.0)
    };
    let best = quality_at(
        (truth.cost - cost / 2.0).max(truth.cost / 2.0),
        open.share[1],
    );
    let worst = quality_at(truth.cost + cost / 2.0, open.share[0]);
    let quality = if truth.resolution.is_some() && truth.monotonic {
        best - worst
    } else {
        0.0
    };
    IrreducibleWidths {
        cost,
        spread: open.share[1] - open.share[0],
        quality: quality.max(0.0),
    }
}

/// Returns the costs of a call in different processes and at different frequencies, relative to the
/// nominal cost.
fn relative_costs(case: &Case) -> Vec<f64> {
    let wander = if case.timer.follows_core {
        case.surroundings.wander
    } else {
        0.0
    };
    let normal = Normal::standard();
    let varied = FREQUENCY_QUANTILES.map(|quantile| (wander * normal.inverse_cdf(quantile)).exp());
    let levels: &[f64] = if wander > 0.0 { &varied } else { &[1.0] };
    let processes = factors(case.surroundings.processes);
    processes
        .iter()
        .flat_map(|(factor, _)| levels.iter().map(move |level| factor * level))
        .collect()
}
