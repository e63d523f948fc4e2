//! Variation of single invocations that no single sample can show, because it is shorter than a step of the reference:
//! its size and its skewness, from batches, whose variation adds up.

use crate::analysis::shape::core_moments;
use crate::analysis::statistics::{mean, sorted};
use crate::trace::{Batches, Reference, Run};

/// Standard deviation and skewness of an invocation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// In nanoseconds; 0 when it is too small to be told.
    pub deviation: f64,
    /// Third central moment over the cube of the deviation; that of an exponential tail is 2.
    pub skewness: Option<f64>,
}

/// The standard deviation of an invocation in one process, in nanoseconds, from batches of few, some and many calls: what
/// differs from call to call adds up with the square root of the calls, so all give the same. What lasts for many calls, as
/// the frequency of a core does or what it has learned of branches, shows in long batches only; so the smallest counts.
#[must_use]
pub fn deviation(run: &Run, reference: &Reference, rare: f64) -> Option<f64> {
    /// Batches of constant length show at two levels, in turns at worst: half a step squared. What is not more than that says
    /// nothing.
    const TELLING: f64 = 0.55;
    let squared = reference.step * reference.step;
    let variance = |batches: &Batches| {
        let disturbed = 1.0 - (1.0 - rare).powf(batches.calls as f64);
        // A disturbed batch spoils both its differences, and chance may bring more of them.
        variance_of_neighbours(&batches.deltas, 2.5 * disturbed + 0.05)
    };
    // On average quantisation is a sixth of it.
    let of_a_call = |batches: &Batches, variance: f64| {
        ((variance - squared / 6.0) / batches.calls.max(1) as f64).sqrt() * reference.ns_per_tick
    };
    let of = |batches: &Batches| {
        let variance = variance(batches)?;
        Some(if variance > TELLING * squared { of_a_call(batches, variance) } else { 0.0 })
    };
    // Few calls hardly show that there is none.
    let few = variance(&run.few);
    let most = few.map_or(f64::INFINITY, |few| of_a_call(&run.few, few.max(TELLING * squared)));
    Some(most.min(of(&run.some)?).min(of(&run.batches)?))
}

/// The standard deviation of an invocation in steps of the timer, from the differences of its successive readings.
#[must_use]
pub fn deviation_of_readings(differences: &[i64], step: f64) -> Option<f64> {
    // Truncation adds a sixth of a squared step, and up to another where the unit truncates a still finer counter.
    const TRUNCATION: f64 = 0.25;
    let [variance, _] = core_moments(differences, step)?;
    Some((variance / (step * step) - TRUNCATION).max(0.0).sqrt())
}

/// Half the mean square of differences between neighbours, the largest share of `cut` left out.
fn variance_of_neighbours(deltas: &[i64], cut: f64) -> Option<f64> {
    let squares: Vec<f64> =
        deltas.windows(2).map(|pair| (pair[1].wrapping_sub(pair[0]) as f64).powi(2) / 2.0).collect();
    let squares = sorted(&squares);
    let left_out = (cut.min(0.6) * squares.len() as f64) as usize;
    mean(&squares[..squares.len() - left_out])
}

/// The skewness of an invocation, over all processes, from batches of few calls: the third central moment of a sum is
/// the sum of the third central moments, and quantisation adds none. `None` when the batches vary too little.
#[must_use]
pub fn skewness(runs: &[Run], reference: &Reference) -> Option<f64> {
    let each: Vec<[f64; 2]> =
        runs.iter().filter_map(|run| core_moments(&run.few.deltas, reference.step)).collect();
    let second = mean(&each.iter().map(|moments| moments[0]).collect::<Vec<_>>())?;
    let third = mean(&each.iter().map(|moments| moments[1]).collect::<Vec<_>>())?;
    let Batches { calls, .. } = runs.first()?.few;
    let squared = reference.step * reference.step;
    let variance = second - squared / 6.0;
    (variance > 0.3 * squared && calls > 0).then(|| third / variance.powf(1.5) * (calls as f64).sqrt())
}
