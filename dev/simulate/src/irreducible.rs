//! The width of intervals that would remain with infinitely many singles and batches: what a timer
//! that shows its calls in steps leaves open of them, by its true distribution.

use statrs::distribution::{ContinuousCDF, Normal};

use super::infinite_samples::remaining;
use super::truth::{calls, factors};
use super::{Case, FREQUENCY, Truth};
use timermeter::cost::singles::FINER;
use timermeter::model::{Hertz, Nanos};
use timermeter::quality::quality;

/// Widths of the intervals of cost in nanoseconds, of spread and of Quality.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IrreducibleWidths {
    /// Nanoseconds.
    pub cost: f64,
    /// A share.
    pub spread: f64,
    /// A share.
    pub quality: f64,
}

/// Where a frequency that wanders puts processes: quartiles of a normal law, and its middle.
const LEVELS: [f64; 4] = [0.125, 0.375, 0.625, 0.875];

/// What remains of a case; nothing where its calls show themselves.
#[must_use]
pub fn irreducible_widths(case: &Case, truth: &Truth) -> IrreducibleWidths {
    let (own, reference) = (case.timer.step.max(case.timer.unit), case.reference.step);
    let step = if truth.resolution.is_some() && own < FINER * reference {
        own
    } else {
        reference
    };
    let calls: Vec<f64> = calls(&case.timer).iter().map(|call| call / step).collect();
    let reach = truth.resolution.unwrap_or(0.0);
    let Some(open) = remaining(&calls, &places(case), reach / step) else {
        return IrreducibleWidths::default();
    };
    let cost = (open.above_mean[1] - open.above_mean[0]) * step;
    let of = |cost: f64, spread: f64| {
        let cycles = |ns: f64| Nanos(ns).cycles(Hertz(FREQUENCY));
        quality(cycles(reach), cycles(cost), spread).unwrap_or(0.0)
    };
    let best = of(
        (truth.cost - cost / 2.0).max(truth.cost / 2.0),
        open.share[1],
    );
    let worst = of(truth.cost + cost / 2.0, open.share[0]);
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

/// What a call takes in processes, over what it takes in a usual one.
fn places(case: &Case) -> Vec<f64> {
    let wander = if case.timer.follows_core {
        case.surroundings.wander
    } else {
        0.0
    };
    let normal = Normal::standard();
    let wandered = LEVELS.map(|level| (wander * normal.inverse_cdf(level)).exp());
    let levels: &[f64] = if wander > 0.0 { &wandered } else { &[1.0] };
    let processes = factors(case.surroundings.processes);
    processes
        .iter()
        .flat_map(|(factor, _)| levels.iter().map(move |level| factor * level))
        .collect()
}
