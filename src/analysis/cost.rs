//! Invocation cost: the median of single invocations, exact also below the step of the reference.
//!
//! A batch of calls yields the *mean* cost, as finely as the batch is long, but is blind to modes. Single calls show the
//! modes and so the median, but carry what it takes to order them with the reads of the reference around them, some
//! nanoseconds. The means of both tell how much that is: it is taken off, as far as the two means are known well enough.

use crate::analysis::moments;
use crate::analysis::pace::Pace;
use crate::analysis::shape::core_moments;
use crate::analysis::spread::Singles;
use crate::analysis::statistics::{median, midmean, midmean_but, quantile, sorted};
use crate::trace::{Batches, Reference, Run};

/// The cost figures of one process, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Median of single invocations, floors taken off. May come out slightly negative for a call that costs nothing.
    pub median: f64,
    /// Median of single invocations as the reference shows them, the bracket taken off.
    pub single_median: f64,
    /// 99th percentile of the same.
    pub p99: f64,
    /// Standard deviation of the middle of the single invocations.
    pub deviation: f64,
    /// How far the cheapest invocations lie below the median.
    pub lower_width: f64,
    /// How far apart the cheapest hundredth and the cheapest tenth of the invocations end.
    pub edge: f64,
}

/// How much ordering single calls with the reads around them takes, at most, in nanoseconds.
const PLAUSIBLE_ORDERING_NS: f64 = 4.0;

/// The cost figures of one process, at `pace`. `shape` is that of its single invocations at that pace, `floor` that of
/// the loop ([`floor`]).
/// `None` when something was not observed.
#[must_use]
pub fn cost(run: &Run, reference: &Reference, shape: &Singles, floor: f64, pace: Pace) -> Option<Cost> {
    let ns = reference.ns_per_tick;
    let scale = |batches: &Batches| pace.scale(batches.core_hz);
    let bracket = midmean(&floats(&run.bracket))? * scale(&run.bracket);
    let disturbed = disturbed(run, shape.rare());
    let batch = midmean_but(&floats(&run.batches), disturbed)? * scale(&run.batches);
    let mean = ((batch - bracket) / run.batches.calls as f64 - floor) * ns;
    // A sum of few skewed costs is skewed itself, and the middle half of it lies below its mean (Cornish and Fisher).
    let mean = mean + MIDMEAN_SKEW * shape.skewness_length() / run.batches.calls as f64;
    let own_bracket = if shape.of_intervals { 0.0 } else { bracket * ns };
    let ordering = shape.core_mean() - own_bracket - mean;
    let calls = (run.batches.calls * run.batches.deltas.len() as u64 / 2) as f64;
    let error = shape.core_variance() * (1.0 / run.singles.deltas.len() as f64 + 1.0 / calls);
    let known = PLAUSIBLE_ORDERING_NS.powi(2) / (PLAUSIBLE_ORDERING_NS.powi(2) + error);
    let singles = sorted(&floats(&run.singles));
    Some(Cost {
        median: shape.median() - own_bracket - known * ordering,
        single_median: (quantile(&singles, 0.5)? * scale(&run.singles) - bracket) * ns,
        p99: (quantile(&singles, 0.99)? * scale(&run.singles) - bracket) * ns,
        deviation: deviation(run, reference, shape.rare())?,
        lower_width: shape.quantile(0.5) - shape.quantile(0.02),
        edge: shape.quantile(0.1) - shape.quantile(0.01),
    })
}

/// How far the mean of the middle half of a slightly skewed distribution lies below its mean, in units of its third
/// central moment over its second: (1 − E[z² | |z| < 0.6745]) / 6 for a standard normal z.
const MIDMEAN_SKEW: f64 = 0.143;

/// The share of batches that hold a rare interruption: the longest ones.
fn disturbed(run: &Run, rare: f64) -> f64 {
    1.0 - (1.0 - rare).powf(run.batches.calls as f64)
}

/// What the loop around a call takes, in ticks of the reference at `pace`: that around a timer that reads nothing, in the process
/// where it took least. The loops of real timers wait for their reads and never for themselves, so whatever slows the
/// empty loop in a process does not slow them. Zero where the host has no such timer.
#[must_use]
pub fn floor(runs: &[Run], pace: Pace) -> f64 {
    let middle = |batches: &Batches| Some(midmean(&floats(batches))? * pace.scale(batches.core_hz));
    let of = |run: &Run| Some((middle(&run.floor)? - middle(&run.bracket)?) / run.floor.calls.max(1) as f64);
    let least = runs.iter().filter_map(of).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least.max(0.0) } else { 0.0 }
}

/// How much single invocations vary, in nanoseconds: what a step of the reference leaves of the variation of singles,
/// or what batches show, whichever is more.
fn deviation(run: &Run, reference: &Reference, rare: f64) -> Option<f64> {
    let [variance, _] = core_moments(&run.singles.deltas, reference.step)?;
    let singles = (variance - reference.step * reference.step / 4.0).max(0.0).sqrt() * reference.ns_per_tick;
    Some(singles.max(moments::deviation(run, reference, rare)?))
}

/// The cost of a call, roughly: all that a plan needs. In ticks of the reference.
#[must_use]
pub fn rough(pilot: &Batches, bracket: &Batches) -> Option<f64> {
    let calls = pilot.calls.max(1) as f64;
    Some(((median(&floats(pilot))? - median(&floats(bracket))?) / calls).max(0.0))
}

fn floats(batches: &Batches) -> Vec<f64> {
    batches.deltas.iter().map(|&delta| delta as f64).collect()
}
