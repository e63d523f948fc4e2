//! Invocation cost in one process: of a call alone, and of calls in a row.
//!
//! Single calls between two reads of the reference tell what a call costs alone, as coarsely as the
//! reference moves: their distribution has to be found behind its steps. A batch of calls tells the
//! mean cost of calls in a row as finely as the batch is long. The two differ by what calls in a
//! row share: a call alone waits for the read before it, and the read after it waits for the call.
//!
//! Times at one frequency of the core.
//!
//! What a call costs is mostly a number of core cycles, and cores change their frequency from one
//! moment to the next: the same 45 cycles take 16.3 ns at 2.76 GHz and 18.3 ns at 2.46 GHz. So
//! every window of measurement knows the frequency that it ran at, and its times are reported as
//! they would be at the frequency of the whole campaign.

pub mod adds;
pub mod edges;
pub mod singles;

use crate::cost::singles::View;
use crate::distribution::cells::{rare_among, without_rare};
use crate::distribution::moments;
use crate::distribution::shape::Shape;
pub use crate::model::Following;
use crate::statistics::{mean, median, midmean, midmean_but, quantile, sorted};
use crate::trace::{Batches, Reference, Run};

/// The figures of one process, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Median of single invocations, as the distribution of the singles has it. May come out
    /// slightly negative for a call that costs nothing.
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
    /// Standard error of `by_batches`, for what chance does to the mean of the single calls, on
    /// which it depends.
    pub error: f64,
    /// What the median may be off by as no law is quite true, and more where none explains the
    /// singles.
    pub model: f64,
}

/// How the median of single invocations is found in one process.
pub struct ObservedCalls<'a> {
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

/// Single calls that never show more than the bracket, in batches that never move: nothing was
/// measured.
pub fn never_moved(run: &Run) -> bool {
    let still = |batches: &Batches| batches.deltas.iter().all(|&delta| delta <= 0);
    !run.batches.deltas.is_empty() && still(&run.batches)
}

/// The figures of one process at `core_frequency`; `floor` is that of the loop ([`floor`]). `None`
/// when something was not observed.
pub fn cost(seen: &ObservedCalls, floor: f64, core_frequency: CoreFrequency) -> Option<Cost> {
    let ObservedCalls {
        run,
        reference,
        view,
        shape,
        by_reference,
    } = seen;
    let ns = reference.ns_per_tick;
    let scale = |batches: &Batches| core_frequency.scale(batches.core_hz);
    let bracket = bracket(run, reference)?;
    let bracket_ns = bracket * scale(&run.bracket) * ns;
    let disturbed = disturbed(run, by_reference.rare());
    let batch = midmean_but(floats(&run.batches), disturbed)? * scale(&run.batches);
    let in_a_row =
        ((batch - bracket * scale(&run.bracket)) / run.batches.calls.max(1) as f64 - floor) * ns;
    // A sum of few skewed costs is skewed itself, and the middle half of it lies below its mean
    // (Cornish and Fisher).
    let skew = MIDMEAN_SKEW * by_reference.skewness_length() * ns * scale(&run.singles);
    let in_a_row = in_a_row + skew / run.batches.calls.max(1) as f64;
    let by_singles = ns * scale(&run.singles);
    let shown_ns = view.ns_per_tick
        * core_frequency.scale(if view.of_intervals {
            run.readings.core_hz
        } else {
            run.singles.core_hz
        });
    let above_mean = (shape.median() - shape.core_mean()) * shown_ns;
    // A single call stands in the same loop as many, which turns once.
    let around_ns = bracket_ns + floor * ns;
    let mean_alone = by_reference.core_mean() * by_singles - around_ns;
    let alone = if view.of_intervals {
        mean_alone + above_mean
    } else {
        shape.median() * shown_ns - around_ns
    };
    let samples = run.singles.deltas.len() as f64;
    let p99 = by_reference.interpolated_quantile(0.99) * by_singles - around_ns;
    // Where singles do not vary their phases may be locked, and their tail is as uncertain as their
    // median.
    let locked = by_reference.core_variance() < LOCKED * reference.step * reference.step;
    let most = p99.max(alone)
        + if locked {
            reference.step * by_singles
        } else {
            0.0
        };
    Some(Cost {
        alone,
        by_batches: in_a_row + above_mean,
        in_a_row,
        single_median: median(floats(&run.singles))? * by_singles - around_ns,
        p99,
        most,
        error: (by_reference.core_variance() * by_singles * by_singles / samples).sqrt(),
        model: shape.model_uncertainty() * shown_ns,
    })
}

/// A variance of single calls, in squared steps of the reference, below which all of them show as
/// one level or nearly so. *Default*: moves no figure; a constant cost shows 0.17 on average.
const LOCKED: f64 = 0.1;

/// How far the mean of the middle half of a slightly skewed distribution lies below its mean, in
/// units of its third central moment over its second: (1 − E[z² | |z| < 0.6745]) / 6 for a standard
/// normal z. *Computed*.
const MIDMEAN_SKEW: f64 = 0.143;

/// What two reads of the reference with nothing between them take, in its ticks: the mean, which
/// steps do not move.
fn bracket(run: &Run, reference: &Reference) -> Option<f64> {
    Some(mean(without_rare(&run.bracket.deltas, reference.step))? * reference.step)
}

/// The share of batches that hold a rare interruption: the longest ones.
fn disturbed(run: &Run, rare: f64) -> f64 {
    1.0 - (1.0 - rare).powf(run.batches.calls as f64)
}

/// What the loop around a call takes, in ticks of the reference at `core_frequency`: that around a
/// timer that reads nothing, in the process where it took least. The loops of real timers wait for
/// their reads and never for themselves, so whatever slows the empty loop in a process does not
/// slow them. Zero where the host has no such timer.
pub fn floor(runs: &[Run], reference: &Reference, core_frequency: CoreFrequency) -> f64 {
    let middle =
        |batches: &Batches| Some(midmean(floats(batches))? * core_frequency.scale(batches.core_hz));
    let of = |run: &Run| {
        let bracket = bracket(run, reference)? * core_frequency.scale(run.bracket.core_hz);
        Some((middle(&run.floor)? - bracket) / run.floor.calls.max(1) as f64)
    };
    let least = runs.iter().filter_map(of).fold(f64::INFINITY, f64::min);
    if least.is_finite() {
        least.max(0.0)
    } else {
        0.0
    }
}

/// How much single invocations vary, in nanoseconds: what a step of the reference leaves of the
/// variation of singles, or what batches show, whichever is more.
pub fn deviation(run: &Run, reference: &Reference, by_reference: &Shape) -> f64 {
    let step = reference.step;
    let singles = (by_reference.core_variance() - step * step / 4.0)
        .max(0.0)
        .sqrt();
    let batches = moments::of_calls(run, reference).variance;
    let batches = if batches.1.is_finite() {
        batches.0.max(0.0).sqrt() * step
    } else {
        0.0
    };
    singles.max(batches) * reference.ns_per_tick
}

/// The cost of a call, roughly: all that a plan needs. In ticks of the reference.
pub fn rough(pilot: &Batches, bracket: &Batches) -> Option<f64> {
    let calls = pilot.calls.max(1) as f64;
    Some(((median(floats(pilot))? - median(floats(bracket))?) / calls).max(0.0))
}

/// The same of what a process observed, in nanoseconds.
pub fn rough_ns(run: &Run, reference: &Reference) -> f64 {
    rough(&run.batches, &run.bracket).unwrap_or(0.0) * reference.ns_per_tick
}

/// The share of rare interruptions among single calls.
pub fn rare(run: &Run, reference: &Reference) -> f64 {
    rare_among(&run.singles.deltas, reference.step).unwrap_or(0.0)
}

fn floats(batches: &Batches) -> Vec<f64> {
    batches.deltas.iter().map(|&delta| delta as f64).collect()
}

/// The frequency of the core that times are told at, in hertz; without one they are told as they
/// were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreFrequency(pub Option<f64>);

impl CoreFrequency {
    /// What a time has to be multiplied by that was measured while the core ran at `core_hz`.
    pub fn scale(self, core_hz: Option<f64>) -> f64 {
        match (core_hz, self.0) {
            (Some(core), Some(common)) if core > 0.0 && common > 0.0 => core / common,
            _ => 1.0,
        }
    }
}

/// Whether the figures of processes follow the core: those that agree clearly better are the right
/// ones, reported at one frequency (`at_core_frequency`) or as they were measured.
pub fn following(at_core_frequency: &[f64], measured: &[f64]) -> Following {
    /// With fewer processes nothing can be told.
    /// *Judgement*: quartiles of fewer are single figures.
    const FEWEST: usize = 4;
    /// The scatter of the right figures is at most this part of that of the wrong ones.
    /// *Judgement*.
    const CLEARLY: f64 = 0.6;
    let (Some(of_core_frequency), Some(of_measured)) =
        (scatter(at_core_frequency), scatter(measured))
    else {
        return Following::Unknown;
    };
    if at_core_frequency.len() < FEWEST {
        Following::Unknown
    } else if of_core_frequency < CLEARLY * of_measured {
        Following::Core
    } else if of_measured < CLEARLY * of_core_frequency {
        Following::Device
    } else {
        Following::Unknown
    }
}

/// How far apart the quartiles of figures lie, as a share of their middle.
fn scatter(figures: &[f64]) -> Option<f64> {
    let sorted = sorted(figures);
    Some(
        (quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?)
            / quantile(&sorted, 0.5)?.abs().max(1e-9),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_at_one_frequency() {
        assert_eq!(CoreFrequency(Some(2e9)).scale(Some(3e9)), 1.5);
        assert_eq!(CoreFrequency(None).scale(Some(3e9)), 1.0);
        assert_eq!(CoreFrequency(Some(2e9)).scale(None), 1.0);
    }

    #[test]
    fn fixed_costs_stay_unscaled() {
        let frequencies = [2.4, 2.5, 2.6, 2.7, 2.8, 2.45, 2.75];
        let of_core: Vec<f64> = frequencies.iter().map(|ghz| 100.0 / ghz).collect();
        let at_core_frequency: Vec<f64> = of_core
            .iter()
            .zip(frequencies)
            .map(|(ns, ghz)| ns * ghz / 2.6)
            .collect();
        assert_eq!(following(&at_core_frequency, &of_core), Following::Core);
        let of_device = [500.0; 7];
        let at_core_frequency: Vec<f64> = of_device
            .iter()
            .zip(frequencies)
            .map(|(ns, ghz)| ns * ghz / 2.6)
            .collect();
        assert_eq!(following(&at_core_frequency, &of_device), Following::Device);
        assert_eq!(
            following(&at_core_frequency[..2], &of_device[..2]),
            Following::Unknown,
            "too few to tell"
        );
        assert_eq!(
            following(&of_device, &of_device),
            Following::Unknown,
            "the core kept its frequency"
        );
    }
}
