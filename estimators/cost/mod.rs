//! Estimates the cost of an invocation in one process: of an isolated call, and amortised over
//! consecutive calls.
//!
//! A *bracket* is two reads of the reference with nothing between them, a *turn* the time of the
//! loop around a call; both are subtracted. Native hosts time single calls without a loop, and
//! batches with so many calls in a turn that it is not subtracted.
//!
//! Single calls between two reads of the reference give the cost of an isolated call, in steps of
//! the reference. A batch of calls gives the amortised cost, with a precision that grows with the
//! length of the batch. The two costs differ because consecutive calls overlap: an isolated call
//! waits for the read before it, and the read after it waits for the call.
//!
//! The cost of a call is mostly a number of core cycles, and the core frequency varies: 45 cycles
//! take 16.3 ns at 2.76 GHz and 18.3 ns at 2.46 GHz. So the frequency of every window of
//! measurement is recorded, and its times are scaled to the frequency of the whole campaign.

pub mod adds;
pub mod edges;
pub mod singles;

use crate::cost::singles::MeasuringClock;
use crate::distribution::{Levels, Located, NEAR_STEPS, variance_in_batches, variance_of_constant};
pub use crate::model::Following;
use crate::model::{Hertz, MIN_PROCESSES};
use crate::statistics::{mean, median, midmean, midmean_without_highest, quantile, sorted};
use crate::trace::{Batches, Observations, Reference, Trace};

/// The calls of one process, prepared once for all estimators.
pub struct Calls<'a> {
    /// The observations.
    pub run: &'a Observations,
    /// Single calls between two reads of the reference, in its steps.
    pub singles: Located,
    /// Single calls as the timer itself shows them, in its steps, if it is the finer clock.
    by_timer: Option<Located>,
    /// Two reads of the reference alone.
    pub bracket: Levels,
    /// The least and the greatest variance of a call that batches show, in squared steps of the
    /// reference.
    variance: Option<[f64; 2]>,
}

impl<'a> Calls<'a> {
    /// Prepares the calls of all processes of a trace that have any.
    pub fn all(trace: &'a Trace) -> Vec<Self> {
        let prepare = |run| Self::new(run, trace.calls_reference());
        trace.runs.iter().filter_map(prepare).collect()
    }

    fn new(run: &'a Observations, reference: &Reference) -> Option<Self> {
        let levels = |batches: &Batches| Levels::new(batches.deltas.iter(), reference.step);
        let (singles, bracket) = (levels(&run.singles)?, levels(&run.bracket)?);
        // Slow variation adds to that of long batches, so each length gives an upper limit.
        let variance = [&run.small_batches, &run.medium_batches, &run.batches]
            .into_iter()
            .filter_map(|batches| variance_in_batches(&levels(batches)?, batches.calls as f64))
            .reduce(|one, other| [one[0].min(other[0]), one[1].min(other[1])]);
        let reads = bracket.near;
        let by_reads = (reads.variance - variance_of_constant(reads.mean)).max(0.0);
        Some(Self {
            run,
            singles: Located::new(singles, by_reads, variance),
            by_timer: None,
            bracket,
            variance,
        })
    }

    /// Adds the calls as `clock` shows them, if that is the timer itself.
    pub fn measure_by(&mut self, clock: &MeasuringClock, reference: &Reference) {
        let steps = reference.step * reference.ns_per_tick / (clock.step * clock.ns_per_tick);
        let variance = self
            .variance
            .map(|ends| ends.map(|variance| variance * steps * steps));
        self.by_timer = Some(clock)
            .filter(|clock| clock.self_measured)
            .and_then(|clock| Levels::new(clock.samples(self.run), clock.step))
            .map(|levels| Located::new(levels, 0.0, variance));
    }

    /// Single calls as the finest clock shows them, in its steps.
    pub fn finest(&self) -> &Located {
        self.by_timer.as_ref().unwrap_or(&self.singles)
    }
}

/// The costs found in one process, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessCost {
    /// The interval that chance leaves to the median of single invocations, by single calls alone. Its ends
    /// may be slightly negative for a call without cost.
    pub isolated: [f64; 2],
    /// How far the true median may lie from these, because steps hide the variation of calls, and what
    /// the loop takes is uncertain.
    pub hidden: f64,
    /// The median by batches: the amortised cost, corrected by the distance of the median of single
    /// calls from their mean.
    pub by_batches: f64,
    /// The median: that by batches, but no more than a step of the reference from that of single calls.
    pub median: f64,
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
}

/// Returns whether no batch took any time according to the reference; false without batches.
pub fn never_moved(run: &Observations) -> bool {
    let deltas = &run.batches.deltas;
    !deltas.is_empty() && deltas.iter().all(|delta| delta <= 0)
}

/// Returns the costs in one process at `core_frequency`. `clock` is the finest clock; `turn` is the
/// time of a turn of the loop in ticks ([`turn`]). `None` without batches.
pub fn cost(
    calls: &Calls,
    clock: &MeasuringClock,
    reference: &Reference,
    turn: f64,
    core_frequency: CommonFrequency,
) -> Option<ProcessCost> {
    let (run, singles, finest) = (calls.run, &calls.singles, calls.finest());
    let scaled = |batches: &Batches| reference.ns_per_tick * core_frequency.scale(batches.core_hz);
    let step = reference.step * scaled(&run.singles);
    let finest_step = clock.step_ns(run, core_frequency);
    let turn = turn * reference.ns_per_tick;
    let bracket_step = reference.step * scaled(&run.bracket);
    // Interruptions make the longest batches longer.
    let interrupted =
        1.0 - (1.0 - singles.levels.interruption_share()).powf(run.batches.calls as f64);
    let batch = usual_batch(&run.batches, reference.step, interrupted)? * scaled(&run.batches);
    let amortised =
        (batch - bracket_step * calls.bracket.mean()) / run.batches.calls.max(1) as f64 - turn;
    let above_mean = (finest.median - finest.levels.mean()) * finest_step;
    let overhead = bracket_step * calls.bracket.near.mean + turn;
    let isolated = match clock.self_measured {
        true => {
            // The finer clock shows by how much the median is above the mean.
            let overhead = bracket_step * calls.bracket.mean() + turn;
            singles.levels.mean() * step - overhead + above_mean
        }
        false => singles.median * step - overhead,
    };
    let by_batches = amortised + above_mean;
    let cycle = run.batches.core_hz.map_or(0.0, |hertz| 1e9 / hertz.0);
    let loop_error = match run.floor.deltas.is_empty() {
        true => UNROLLED_TURN_ERROR * cycle,
        // The core overlaps a turn with the calls, or takes a cycle more for it than in the empty loop.
        false => turn.max(cycle),
    };
    let median_cost = by_batches.clamp(isolated - step, isolated + step);
    let at_least = |level: f64| (level * step - overhead).max(median_cost);
    Some(ProcessCost {
        isolated: (finest.ends).map(|end| isolated + (end - finest.median) * finest_step),
        hidden: finest.error * finest_step + loop_error,
        by_batches,
        median: median_cost,
        amortised,
        single_median: median(floats(&run.singles))? * scaled(&run.singles) - overhead,
        p90: at_least(singles.levels.quantile(0.9)),
        p99: at_least(singles.levels.quantile(0.99)),
        longest: at_least(singles.levels.longest()),
    })
}

/// Returns the usual length of a batch, in ticks: the midmean; if most batches lie at two neighbouring levels of
/// the reference, their mean, because a midmean would mostly be the more frequent one of these.
fn usual_batch(batches: &Batches, step: f64, interrupted: f64) -> Option<f64> {
    let lengths = floats(batches);
    let middle = median(&lengths)?;
    let is_near = |length: &f64| (length - middle).abs() <= NEAR_STEPS * step;
    let near: Vec<f64> = lengths.iter().copied().filter(is_near).collect();
    match 2 * near.len() > lengths.len() {
        true => mean(near),
        false => midmean_without_highest(lengths, interrupted),
    }
}

/// What a loop with many calls in a turn, for which nothing is subtracted, adds to a call, in core cycles. *Judgement*:
/// eight calls in a turn of native hosts, which takes two cycles at most and overlaps with the calls.
const UNROLLED_TURN_ERROR: f64 = 0.25;

/// The time of a turn of the loop around a call, in ticks of the reference at `core_frequency`: the
/// least, over all processes, of a loop around an empty timer. The least is used because the loop
/// around a real timer only waits for the reads, so what delays the empty loop in one process does
/// not affect it. Zero if the host has no empty timer, as a native one.
pub fn turn(runs: &[Observations], reference: &Reference, core_frequency: CommonFrequency) -> f64 {
    let in_process = |run: &Observations| {
        let Observations { bracket, floor, .. } = run;
        let step = reference.step * core_frequency.scale(bracket.core_hz);
        let bracket = step * Levels::new(bracket.deltas.iter(), reference.step)?.mean();
        let turns = midmean(floats(floor))? * core_frequency.scale(floor.core_hz);
        Some((turns - bracket) / floor.calls.max(1) as f64)
    };
    let least = runs.iter().filter_map(in_process).reduce(f64::min);
    least.unwrap_or(0.0).max(0.0)
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
    Levels::new(run.singles.deltas.iter(), reference.step)
        .map_or(0.0, |levels| levels.interruption_share())
}

/// The lengths of batches, in ticks of the reference.
fn floats(batches: &Batches) -> Vec<f64> {
    batches.deltas.iter().map(|delta| delta as f64).collect()
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
