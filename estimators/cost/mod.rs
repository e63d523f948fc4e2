//! Estimates the cost of an invocation in one process: of an isolated call, and amortised over
//! consecutive calls.
//!
//! A *bracket* is two reads of the reference with nothing between them, the *floor* the time of the
//! loop around a call; both are subtracted.
//!
//! Single calls between two reads of the reference give the cost of an isolated call, quantised by
//! the step of the reference; their distribution must be estimated from the quantised samples. A
//! batch of calls gives the amortised cost, with a precision that grows with the length of the
//! batch. The two costs differ because consecutive calls overlap: an isolated call waits for the
//! read before it, and the read after it waits for the call.
//!
//! The cost of a call is mostly a number of core cycles, and the core frequency varies: 45 cycles
//! take 16.3 ns at 2.76 GHz and 18.3 ns at 2.46 GHz. So the frequency of every window of
//! measurement is recorded, and its times are scaled to the frequency of the whole campaign.

pub mod adds;
pub mod edges;
pub mod singles;

use crate::cost::singles::MeasuringClock;
use crate::distribution::cells::{self, without_interruptions};
use crate::distribution::shape::CostShape;
pub use crate::model::Following;
use crate::model::{Hertz, MIN_PROCESSES};
use crate::statistics::{mean, median, midmean, midmean_without_highest, quantile, sorted};
use crate::trace::{Batches, Observations, Reference};

/// The costs found in one process, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessCost {
    /// Median of single invocations from their estimated distribution. It may be slightly negative
    /// for a call without cost.
    pub isolated: f64,
    /// Median of that distribution after it is shifted so that its mean is the amortised cost.
    pub batch_median: f64,
    /// Amortised cost: the mean over batches.
    pub amortised: f64,
    /// Median of single invocations as measured by the reference, minus the bracket.
    pub single_median: f64,
    /// 90th percentile of single invocations as measured by the reference, minus the bracket, with
    /// interpolation between steps.
    pub p90: f64,
    /// Their 99th percentile, likewise.
    pub p99: f64,
    /// The longest single invocation, minus the bracket.
    pub longest: f64,
    /// Upper limit of the median: the larger of `p99` and `isolated`, plus a step of the reference
    /// if all calls may have the same phase relative to it.
    pub median_limit: f64,
    /// Standard error of `batch_median`, from the standard error of the mean of the single calls.
    pub error: f64,
    /// Model error of the median; larger if no model explains the single calls.
    pub model_error: f64,
}

/// The input for the cost of one process.
pub struct ObservedCalls<'a> {
    /// The observations.
    pub run: &'a Observations,
    /// The timer that measured brackets, single calls and batches.
    pub reference: &'a Reference,
    /// The clock that measures single invocations for `shape`.
    pub clock: &'a MeasuringClock,
    /// The distribution of single invocations as measured by that clock.
    pub shape: &'a CostShape,
    /// The distribution of single invocations as measured by the reference.
    pub by_reference: &'a CostShape,
}

/// Returns whether no batch took any time according to the reference; false without batches.
pub fn never_moved(run: &Observations) -> bool {
    let took_no_time = |batches: &Batches| batches.deltas.iter().all(|&delta| delta <= 0);
    !run.batches.deltas.is_empty() && took_no_time(&run.batches)
}

/// Returns the costs in one process at `core_frequency`; `floor` is the cost of the loop
/// ([`floor`]). `None` if an observation is missing.
pub fn cost(
    observed: &ObservedCalls,
    floor: f64,
    core_frequency: CommonFrequency,
) -> Option<ProcessCost> {
    let ObservedCalls {
        run,
        reference,
        clock,
        shape,
        by_reference,
    } = observed;
    let ns = reference.ns_per_tick;
    let scale = |batches: &Batches| core_frequency.scale(batches.core_hz);
    let bracket = bracket(run, reference)?;
    let bracket_ns = bracket * scale(&run.bracket) * ns;
    let interrupted = interrupted_batch_share(run, by_reference.interruption_share());
    let batch = midmean_without_highest(floats(&run.batches), interrupted)? * scale(&run.batches);
    let amortised =
        ((batch - bracket * scale(&run.bracket)) / run.batches.calls.max(1) as f64 - floor) * ns;
    // The sum of a few skewed costs is skewed, so its midmean lies below its mean (Cornish–Fisher
    // expansion).
    let skew = MIDMEAN_SKEW * by_reference.skewness_length() * ns * scale(&run.singles);
    let amortised = amortised + skew / run.batches.calls.max(1) as f64;
    let single_tick_ns = ns * scale(&run.singles);
    let tick_ns = clock.ns_per_tick
        * core_frequency.scale(if clock.self_measured {
            run.readings.core_hz
        } else {
            run.singles.core_hz
        });
    let above_mean = (shape.median() - shape.core_mean()) * tick_ns;
    // A single call is measured in the same loop as a batch, with one iteration.
    let overhead_ns = bracket_ns + floor * ns;
    let mean_isolated = by_reference.core_mean() * single_tick_ns - overhead_ns;
    let isolated = if clock.self_measured {
        mean_isolated + above_mean
    } else {
        shape.median() * tick_ns - overhead_ns
    };
    let samples = run.singles.deltas.len() as f64;
    let [p90, p99] = [0.9, 0.99]
        .map(|share| by_reference.interpolated_quantile(share) * single_tick_ns - overhead_ns);
    let longest =
        floats(&run.singles).into_iter().fold(0.0, f64::max) * single_tick_ns - overhead_ns;
    // If single calls show no variation, all may have the same phase relative to the reference; a
    // whole step is then uncertain.
    let may_be_locked =
        by_reference.core_variance() < MAX_LOCKED_VARIANCE * reference.step * reference.step;
    let median_limit = p99.max(isolated)
        + if may_be_locked {
            reference.step * single_tick_ns
        } else {
            0.0
        };
    Some(ProcessCost {
        isolated,
        batch_median: amortised + above_mean,
        amortised,
        single_median: median(floats(&run.singles))? * single_tick_ns - overhead_ns,
        p90,
        p99,
        longest: longest.max(p99),
        median_limit,
        error: (by_reference.core_variance() * single_tick_ns * single_tick_ns / samples).sqrt(),
        model_error: shape.model_uncertainty() * tick_ns,
    })
}

/// The variance of single calls, in squared steps of the reference, below which almost all calls
/// show the same level. *Default*: moves no figure; a constant cost shows 0.17 on average.
const MAX_LOCKED_VARIANCE: f64 = 0.1;

/// The distance from the mean to the midmean of a slightly skewed distribution, in units of its
/// third central moment divided by its variance: (1 − E[z² | |z| < 0.6745]) / 6 for a standard
/// normal z. *Computed*.
const MIDMEAN_SKEW: f64 = 0.143;

/// The mean duration of two reads of the reference with nothing between them, in its ticks;
/// quantisation does not bias the mean.
fn bracket(run: &Observations, reference: &Reference) -> Option<f64> {
    Some(mean(without_interruptions(&run.bracket.deltas, reference.step))? * reference.step)
}

/// The share of batches that contain a rare interruption, if each call is interrupted with the
/// probability `interruption_share`.
fn interrupted_batch_share(run: &Observations, interruption_share: f64) -> f64 {
    1.0 - (1.0 - interruption_share).powf(run.batches.calls as f64)
}

/// The cost of the loop around a call, in ticks of the reference at `core_frequency`: the least
/// cost, over all processes, of a loop around an empty timer. The least cost is used because the
/// loop around a real timer only waits for the reads, so what delays the empty loop in one process
/// does not affect it. Zero if the host has no empty timer.
pub fn floor(runs: &[Observations], reference: &Reference, core_frequency: CommonFrequency) -> f64 {
    let cost_of_batch =
        |batches: &Batches| Some(midmean(floats(batches))? * core_frequency.scale(batches.core_hz));
    let loop_cost = |run: &Observations| {
        let bracket = bracket(run, reference)? * core_frequency.scale(run.bracket.core_hz);
        Some((cost_of_batch(&run.floor)? - bracket) / run.floor.calls.max(1) as f64)
    };
    let least = runs
        .iter()
        .filter_map(loop_cost)
        .fold(f64::INFINITY, f64::min);
    if least.is_finite() {
        least.max(0.0)
    } else {
        0.0
    }
}

/// The approximate cost of a call, in ticks of the reference, for planning. `None` if a list is
/// empty.
pub fn approximate_cost(pilot: &Batches, bracket: &Batches) -> Option<f64> {
    let calls = pilot.calls.max(1) as f64;
    Some(((median(floats(pilot))? - median(floats(bracket))?) / calls).max(0.0))
}

/// The approximate cost of a call in a process, in nanoseconds.
pub fn approximate_cost_ns(run: &Observations, reference: &Reference) -> f64 {
    approximate_cost(&run.batches, &run.bracket).unwrap_or(0.0) * reference.ns_per_tick
}

/// The share of rare interruptions among single calls.
pub fn interruption_share(run: &Observations, reference: &Reference) -> f64 {
    cells::interruption_share(&run.singles.deltas, reference.step).unwrap_or(0.0)
}

/// The lengths of batches, in ticks of the reference.
fn floats(batches: &Batches) -> Vec<f64> {
    batches.deltas.iter().map(|&delta| delta as f64).collect()
}

/// The core frequency that times are scaled to, in hertz; `None` leaves times as measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommonFrequency(pub Option<Hertz>);

impl CommonFrequency {
    /// The scale factor for a time measured while the core ran at `core_hz`.
    pub fn scale(self, core_hz: Option<Hertz>) -> f64 {
        let known = core_hz.zip(self.0);
        known.map_or(1.0, |(core, common)| core.0 / common.0)
    }
}

/// Returns what the cost follows: the core frequency if the costs scaled to one core frequency
/// (`at_core_frequency`) agree clearly better between processes than the costs as measured, or a
/// device in the reverse case. `core_hz` are the core frequencies of the processes in hertz; if
/// they agree, the cost is as constant in cycles as in time, and the answer is unknown.
pub fn following(at_core_frequency: &[f64], measured: &[f64], core_hz: &[f64]) -> Following {
    /// The largest ratio of the smaller to the larger relative scatter that counts as a clear
    /// difference. *Judgement*.
    const MAX_SCATTER_RATIO: f64 = 0.6;
    /// The least relative interquartile range of the core frequencies for a decision. *Judgement*:
    /// the measured frequency of a core that keeps it scatters by 0.2 % in most rows, by 0.6 % in the
    /// worst.
    const MIN_FREQUENCY_SCATTER: f64 = 0.01;
    let (Some(scaled_scatter), Some(measured_scatter), Some(frequency_scatter)) = (
        scatter(at_core_frequency),
        scatter(measured),
        scatter(core_hz),
    ) else {
        return Following::Unknown;
    };
    if at_core_frequency.len() < MIN_PROCESSES || frequency_scatter < MIN_FREQUENCY_SCATTER {
        Following::Unknown
    } else if scaled_scatter < MAX_SCATTER_RATIO * measured_scatter {
        Following::Core
    } else if measured_scatter < MAX_SCATTER_RATIO * scaled_scatter {
        Following::Device
    } else {
        Following::Unknown
    }
}

/// The relative interquartile range of the values.
fn scatter(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
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
        assert_eq!(
            CommonFrequency(Some(Hertz(2e9))).scale(Some(Hertz(3e9))),
            1.5
        );
        assert_eq!(CommonFrequency(None).scale(Some(Hertz(3e9))), 1.0);
        assert_eq!(CommonFrequency(Some(Hertz(2e9))).scale(None), 1.0);
    }

    /// Returns what a cost with these times in nanoseconds at these core frequencies follows.
    fn followed(measured: &[f64], ghz: &[f64]) -> Following {
        let at_core_frequency = measured.iter().zip(ghz).map(|(ns, ghz)| ns * ghz / 2.6);
        following(&at_core_frequency.collect::<Vec<f64>>(), measured, ghz)
    }

    #[test]
    fn fixed_costs_stay_unscaled() {
        let frequencies = [2.4, 2.5, 2.6, 2.7, 2.8, 2.45, 2.75];
        let core_costs = frequencies.map(|ghz| 100.0 / ghz);
        let device_costs = [500.0; 7];
        assert_eq!(followed(&core_costs, &frequencies), Following::Core);
        assert_eq!(followed(&device_costs, &frequencies), Following::Device);
        assert_eq!(
            followed(&device_costs[..2], &frequencies[..2]),
            Following::Unknown,
            "too few to tell"
        );
        assert_eq!(
            following(&core_costs, &device_costs, &[]),
            Following::Unknown,
            "no frequency is known"
        );
    }

    /// The errors of the measured frequency of a core that keeps it make the scaled costs scatter
    /// more than the costs as measured, or less.
    #[test]
    fn constant_frequency_shows_nothing() {
        let errors = [-0.003, 0.001, -0.001, 0.002, 0.0, 0.003, -0.002];
        let frequencies = |scale: f64| errors.map(|error| 3.69 * (1.0 + scale * error));
        let [constant, core_costs] = [[8.4726; 7], frequencies(1.0).map(|ghz| 31.26 / ghz)];
        for costs in [constant, core_costs] {
            assert_eq!(followed(&costs, &frequencies(1.0)), Following::Unknown);
        }
        assert_eq!(followed(&constant, &frequencies(4.0)), Following::Device);
    }
}
