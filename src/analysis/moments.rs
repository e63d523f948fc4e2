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

/// The standard deviation of an invocation in one process, in nanoseconds: that of batches grows with the square root of
/// the calls. The longest batches, a share of `disturbed`, are left out.
#[must_use]
pub fn deviation(run: &Run, reference: &Reference, disturbed: f64) -> Option<f64> {
    let batches = sorted(&run.batches.deltas.iter().map(|&delta| delta as f64).collect::<Vec<_>>());
    let cut = (1.5 * disturbed + 0.04) * batches.len() as f64;
    let calm = &batches[..batches.len() - (cut as usize).min(batches.len() / 2)];
    let centre = mean(calm)?;
    let variance = calm.iter().map(|batch| (batch - centre).powi(2)).sum::<f64>() / calm.len() as f64;
    // A batch of constant length shows at two levels; that alone is at most a quarter of a step squared. What is not
    // clearly more says nothing.
    let quantisation = reference.step * reference.step / 4.0;
    let beyond = if variance > 1.6 * quantisation { variance - quantisation } else { 0.0 };
    Some((beyond / run.batches.calls as f64).sqrt() * reference.ns_per_tick)
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
