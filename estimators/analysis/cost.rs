//! Invocation cost in one process: of a call alone, and of calls in a row.
//!
//! Single calls between two reads of the reference tell what a call costs alone, as coarsely as the reference moves: their
//! distribution has to be found behind its steps. A batch of calls tells the mean cost of calls in a row as finely as the
//! batch is long. The two differ by what calls in a row share: a call alone waits for the read before it, and the read after
//! it waits for the call.

use crate::analysis::cells::{rare_among, without_rare};
use crate::analysis::core_frequency::CoreFrequency;
use crate::analysis::moments;
use crate::analysis::shape::Shape;
use crate::analysis::singles::View;
use crate::analysis::statistics::{mean, median, midmean, midmean_but};
use crate::trace::{Batches, Reference, Run};

/// The figures of one process, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Median of single invocations, as the distribution of the singles has it. May come out slightly negative for a call
    /// that costs nothing.
    pub alone: f64,
    /// The same distribution around the mean of batches.
    pub by_batches: f64,
    /// Mean over batches.
    pub in_a_row: f64,
    /// Median of single invocations as the reference shows them, the bracket taken off.
    pub single_median: f64,
    /// 99th percentile of the same, its steps interpolated.
    pub p99: f64,
    /// What the median may be at most.
    pub most: f64,
    /// Standard error of `by_batches`, for what chance does to the mean of so many single calls, which it leans on.
    pub error: f64,
    /// What the median may be off by as no law is quite true, and more where none explains the singles.
    pub model: f64,
}

/// How the median of single invocations is found in one process.
pub struct Seen<'a> {
    /// What was observed.
    pub run: &'a Run,
    /// The timer that timed it.
    pub reference: &'a Reference,
    /// Who shows single invocations.
    pub view: &'a View,
    /// Their distribution, as he shows it.
    pub shape: &'a Shape,
    /// The distribution as the reference shows it.
    pub by_reference: &'a Shape,
}

/// Single calls that never show more than the bracket, in batches that never move: nothing was measured.
#[must_use]
pub fn never_moved(run: &Run) -> bool {
    let still = |batches: &Batches| batches.deltas.iter().all(|&delta| delta <= 0);
    !run.batches.deltas.is_empty() && still(&run.batches)
}

/// The figures of one process at `core_frequency`; `floor` is that of the loop ([`floor`]). `None` when something was not observed.
#[must_use]
pub fn cost(seen: &Seen, floor: f64, core_frequency: CoreFrequency) -> Option<Cost> {
    let Seen { run, reference, view, shape, by_reference } = seen;
    let ns = reference.ns_per_tick;
    let scale = |batches: &Batches| core_frequency.scale(batches.core_hz);
    let bracket = bracket(run, reference)?;
    let bracket_ns = bracket * scale(&run.bracket) * ns;
    let disturbed = disturbed(run, by_reference.rare());
    let batch = midmean_but(&floats(&run.batches), disturbed)? * scale(&run.batches);
    let in_a_row = ((batch - bracket * scale(&run.bracket)) / run.batches.calls.max(1) as f64 - floor) * ns;
    // A sum of few skewed costs is skewed itself, and the middle half of it lies below its mean (Cornish and Fisher).
    let skew = MIDMEAN_SKEW * by_reference.skewness_length() * ns * scale(&run.singles);
    let in_a_row = in_a_row + skew / run.batches.calls.max(1) as f64;
    let by_singles = ns * scale(&run.singles);
    let shown_ns = view.ns_per_tick
        * core_frequency.scale(if view.of_intervals { run.readings.core_hz } else { run.singles.core_hz });
    let above_mean = (shape.median() - shape.core_mean()) * shown_ns;
    // A single call stands in the same loop as many, which turns once.
    let around_ns = bracket_ns + floor * ns;
    let mean_alone = by_reference.core_mean() * by_singles - around_ns;
    let alone =
        if view.of_intervals { mean_alone + above_mean } else { shape.median() * shown_ns - around_ns };
    let samples = run.singles.deltas.len() as f64;
    let p99 = by_reference.interpolated_quantile(0.99) * by_singles - around_ns;
    // Where singles do not vary their phases may be locked, and their tail is as uncertain as their median.
    let locked = by_reference.core_variance() < LOCKED * reference.step * reference.step;
    let most = p99.max(alone) + if locked { reference.step * by_singles } else { 0.0 };
    Some(Cost {
        alone,
        by_batches: in_a_row + above_mean,
        in_a_row,
        single_median: median(&floats(&run.singles))? * by_singles - around_ns,
        p99,
        most,
        error: (by_reference.core_variance() * by_singles * by_singles / samples).sqrt(),
        model: shape.model_uncertainty() * shown_ns,
    })
}

/// A variance of single calls, in squared steps of the reference, below which all of them show as one level or nearly so.
/// *Default*: moves no figure; a constant cost shows 0.17 on average.
const LOCKED: f64 = 0.1;

/// How far the mean of the middle half of a slightly skewed distribution lies below its mean, in units of its third
/// central moment over its second: (1 − E[z² | |z| < 0.6745]) / 6 for a standard normal z.
/// *Computed*.
const MIDMEAN_SKEW: f64 = 0.143;

/// What two reads of the reference with nothing between them take, in its ticks: the mean, which steps do not move.
fn bracket(run: &Run, reference: &Reference) -> Option<f64> {
    Some(mean(&without_rare(&run.bracket.deltas, reference.step))? * reference.step)
}

/// The share of batches that hold a rare interruption: the longest ones.
fn disturbed(run: &Run, rare: f64) -> f64 {
    1.0 - (1.0 - rare).powf(run.batches.calls as f64)
}

/// What the loop around a call takes, in ticks of the reference at `core_frequency`: that around a timer that reads nothing, in the process
/// where it took least. The loops of real timers wait for their reads and never for themselves, so whatever slows the
/// empty loop in a process does not slow them. Zero where the host has no such timer.
#[must_use]
pub fn floor(runs: &[Run], reference: &Reference, core_frequency: CoreFrequency) -> f64 {
    let middle = |batches: &Batches| Some(midmean(&floats(batches))? * core_frequency.scale(batches.core_hz));
    let of = |run: &Run| {
        let bracket = bracket(run, reference)? * core_frequency.scale(run.bracket.core_hz);
        Some((middle(&run.floor)? - bracket) / run.floor.calls.max(1) as f64)
    };
    let least = runs.iter().filter_map(of).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least.max(0.0) } else { 0.0 }
}

/// How much single invocations vary, in nanoseconds: what a step of the reference leaves of the variation of singles,
/// or what batches show, whichever is more.
#[must_use]
pub fn deviation(run: &Run, reference: &Reference, by_reference: &Shape) -> f64 {
    let step = reference.step;
    let singles = (by_reference.core_variance() - step * step / 4.0).max(0.0).sqrt();
    let batches = moments::of(run, reference).variance;
    let batches = if batches.1.is_finite() { batches.0.max(0.0).sqrt() * step } else { 0.0 };
    singles.max(batches) * reference.ns_per_tick
}

/// The cost of a call, roughly: all that a plan needs. In ticks of the reference.
#[must_use]
pub fn rough(pilot: &Batches, bracket: &Batches) -> Option<f64> {
    let calls = pilot.calls.max(1) as f64;
    Some(((median(&floats(pilot))? - median(&floats(bracket))?) / calls).max(0.0))
}

/// The share of rare interruptions among single calls.
#[must_use]
pub fn rare(run: &Run, reference: &Reference) -> f64 {
    rare_among(&run.singles.deltas, reference.step).unwrap_or(0.0)
}

fn floats(batches: &Batches) -> Vec<f64> {
    batches.deltas.iter().map(|&delta| delta as f64).collect()
}
