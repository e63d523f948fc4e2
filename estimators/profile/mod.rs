//! The profile of a timer: all its results, computed from its trace.

pub mod plot_data;

mod single_calls;

use self::single_calls::{FittedProcess, SingleCalls};
use crate::cost::adds::adds;
use crate::cost::singles::{MeasuringClock, successive};
use crate::cost::{CoreFrequency, Following, never_moved};
use crate::distribution::shape::{DistributionSummary, ModelKind, Shape};
use crate::model::{Adds, Distribution, Interval, Mode};
use crate::rate;
use crate::rate::order::Backward;
use crate::resolution::agreement::{Process, confirm_by_processes};
use crate::resolution::{Resolution, resolve};
use crate::statistics::{Regimes, mean, midmean, standard_deviation};
use crate::trace::{Intervals, Run, Trace};

/// The results for a timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The step, in ticks of the timer.
    pub resolution: Resolution,
    /// Nanoseconds in a tick.
    pub ns_per_tick: Option<f64>,
    /// Relative uncertainty of `ns_per_tick`.
    pub rate_uncertainty: f64,
    /// Cost of an isolated call: the median of single invocations, in nanoseconds.
    pub cost: Option<Interval>,
    /// Amortised cost of a call, in nanoseconds.
    pub amortised: Option<f64>,
    /// The time that a read adds to the code around it.
    pub adds: Option<Adds>,
    /// The reason why there is no cost although calls were timed.
    pub no_cost: Option<&'static str>,
    /// Median of single invocations as measured by the reference, in nanoseconds.
    pub single_median: Option<f64>,
    /// 99th percentile of single invocations as measured by the reference, in nanoseconds.
    pub p99: Option<f64>,
    /// Share of single invocations within ±1 resolution of the median, over processes.
    pub spread: Option<Interval>,
    /// Processes that were left out because the core was shared or changed its frequency during the
    /// measurement.
    pub disturbed: u32,
    /// Cost in nanoseconds and spread of each process that counts.
    pub processes: Vec<(f64, f64)>,
    /// Alternative costs and spreads, a systematic uncertainty that more processes do not reduce.
    pub instead: Vec<(f64, f64)>,
    /// Cost and spread under the other models that explain the samples equally well; only the
    /// extremes.
    pub model_alternatives: Vec<(f64, f64)>,
    /// The shortest interval without work, in nanoseconds, if it contradicts the cost.
    pub contradicted: Option<f64>,
    /// The two groups that the processes form, if any.
    pub regimes: Option<Regimes>,
    /// Whether the cost follows the frequency of the core.
    pub following: Following,
    /// The distribution of single invocations.
    pub distribution: Option<Distribution>,
    /// The kind of model used for single invocations.
    pub kind: ModelKind,
    /// Backward steps in successive readings.
    pub backward: Backward,
}

impl Profile {
    /// The resolved step, in ticks of the timer.
    pub fn step(&self) -> Option<f64> {
        match &self.resolution {
            Resolution::Resolved { step, .. } => Some(step.value),
            _ => None,
        }
    }

    /// The step in nanoseconds, or its upper limit.
    pub fn step_at_most_ns(&self) -> Option<f64> {
        Some(self.resolution.at_most()? * self.ns_per_tick?)
    }

    /// The resolved step in nanoseconds.
    pub fn resolution_ns(&self) -> Option<Interval> {
        match (&self.resolution, self.ns_per_tick) {
            (Resolution::Resolved { step, .. }, Some(ns)) => {
                let resolution = step.scaled(ns);
                let rate = resolution.value * self.rate_uncertainty;
                Some(resolution.widened([resolution.value - rate, resolution.value + rate]))
            }
            _ => None,
        }
    }
}

/// Computes the profile.
pub fn profile(trace: &Trace) -> Profile {
    let shown = FittedProcess::all(trace);
    let resolution = resolution_of(trace, &shown);
    let step = match &resolution {
        Resolution::Resolved { step, .. } => Some(step.value),
        _ => None,
    };
    let (ns_per_tick, rate_uncertainty) = rate::tick(trace).unzip();
    let resolution_ns = step.zip(ns_per_tick).map(|(step, ns)| step * ns);
    let measured: Vec<FittedProcess> = shown
        .into_iter()
        .filter(|shown| !never_moved(shown.run))
        .collect();
    let still = measured.is_empty() && !trace.runs.is_empty();
    let shown = calm(measured);
    let calls = SingleCalls::new(trace, &shown, MeasuringClock::best(trace, step));
    let calm: Vec<&Run> = shown.iter().map(|shown| shown.run).collect();
    let mut found = calls.figures_with_alternatives(resolution_ns);
    let contradicted = midmean(&found.estimates.costs)
        .zip(ns_per_tick)
        .and_then(|(cost, ns)| by_intervals(&calm, step, ns, cost));
    // Either alternative may be true, so the result includes both.
    let spread = midmean(&found.estimates.spreads).unwrap_or(f64::NAN);
    found
        .model_alternatives
        .extend(contradicted.map(|cost| (cost, spread)));
    let spread = found.spread();
    let shared = trace.shared > 0 && calm.iter().filter(|run| run.is_calm()).count() < FEWEST;
    let profile = Profile {
        resolution,
        ns_per_tick,
        rate_uncertainty: rate_uncertainty.unwrap_or(0.0),
        cost: found.cost(),
        amortised: found.over(|cost| cost.amortised),
        adds: adds(trace),
        no_cost: still.then_some("batches of many calls took no time by their reference"),
        single_median: found.over(|cost| cost.single_median),
        p99: found.over(|cost| cost.p99),
        processes: (found.estimates.costs.iter().copied())
            .zip(found.estimates.spreads.iter().copied())
            .collect(),
        contradicted,
        regimes: found.regimes,
        following: found.following,
        instead: found.instead,
        model_alternatives: found.model_alternatives,
        distribution: distribution(
            &calls.shapes(calls.model.kind),
            &calls.view,
            &found.estimates.costs,
        ),
        kind: calls.model.kind,
        disturbed: (trace.runs.len() - calm.len()) as u32,
        spread,
        backward: backward(trace),
    };
    if shared {
        on_a_shared_core(profile)
    } else {
        profile
    }
}

/// Determines the resolution of the timer without its other results.
pub fn resolution(trace: &Trace) -> Resolution {
    resolution_of(trace, &FittedProcess::all(trace))
}

fn resolution_of(trace: &Trace, shown: &[FittedProcess]) -> Resolution {
    let tight: Vec<Vec<i64>> = trace
        .runs
        .iter()
        .map(|run| successive(&run.readings.values))
        .collect();
    let context = SingleCalls::new(trace, shown, MeasuringClock::by_reference(trace)).context();
    let processes: Vec<Process> = Process::all(trace).collect();
    confirm_by_processes(
        resolve(
            &groups(trace).cloned().collect::<Vec<_>>(),
            &tight,
            &context,
        ),
        &processes,
        context.work_unit,
    )
}

/// Relative uncertainty of the cost besides the differences between processes, if all processes
/// were disturbed throughout. *Seen*: `rdtsc` at 40 cycles instead of 45.8; both sides.
const SHARED: f64 = 0.1;

/// Widens all intervals for disturbed processes: they include all processes and the shared error,
/// because a common disturbance is not visible in any process. On a dedicated core, no process
/// would have had a larger spread.
fn on_a_shared_core(mut profile: Profile) -> Profile {
    let (Some(cost), Some(spread)) = (&mut profile.cost, &mut profile.spread) else {
        return profile;
    };
    for &(its_cost, its_spread) in &profile.processes {
        cost.low = cost.low.min(its_cost * (1.0 - SHARED));
        cost.high = cost.high.max(its_cost * (1.0 + SHARED));
        spread.low = spread.low.min(its_spread);
    }
    (spread.low, spread.high) = (spread.low.min(1.0), 1.0);
    profile
        .model_alternatives
        .extend([(cost.low, spread.high), (cost.high, spread.low)]);
    profile
}

/// Returns the cost in nanoseconds and the spread of the only process of a trace, given the model
/// of single invocations and the resolution of the timer; `step` is in ticks of the timer, if
/// known. `None` if the process was disturbed.
pub fn one_more(
    trace: &Trace,
    kind: ModelKind,
    step: Option<f64>,
    resolution_ns: f64,
) -> Option<(f64, f64)> {
    let calm = trace
        .runs
        .iter()
        .filter(|run| run.is_calm() && !never_moved(run));
    let shown: Vec<FittedProcess> = calm.map(|run| FittedProcess::new(trace, run)).collect();
    let calls = SingleCalls::new(trace, &shown, MeasuringClock::best(trace, step));
    let estimates =
        calls.costs_and_spreads(kind, CoreFrequency(trace.core_hz), Some(resolution_ns));
    Some((*estimates.costs.first()?, *estimates.spreads.first()?))
}

/// The least number of processes that results are computed from, if there are as many. *Default*:
/// moves no figure; the fewest that show a scatter.
pub const FEWEST: usize = 3;

/// Returns the processes that had a dedicated core during the measurement, or all processes if
/// those are too few.
fn calm(all: Vec<FittedProcess>) -> Vec<FittedProcess> {
    let count = all.iter().filter(|shown| shown.run.is_calm()).count();
    all.into_iter()
        .filter(|shown| count < FEWEST || shown.run.is_calm())
        .collect()
}

/// Returns all intervals, including long observations.
fn groups(trace: &Trace) -> impl Iterator<Item = &Intervals> {
    let runs = trace.runs.iter();
    runs.flat_map(|run| &run.intervals).chain(&trace.slow)
}

fn backward(trace: &Trace) -> Backward {
    let between_reads = Backward::among(groups(trace).flat_map(|group| &group.deltas).copied());
    let readings = trace.runs.iter().map(|run| &run.readings.values);
    readings.fold(between_reads, |so_far, readings| {
        so_far.and(Backward::among(successive(readings)))
    })
}

/// The largest number of calls between two reads of a host: the host calls the empty work and
/// stores the reading. Runtimes need up to 5 times a call. *Seen*.
const APART: f64 = 10.0;
/// The largest time in nanoseconds between two reads of a host besides calls of almost no cost.
/// *Judgement*.
const AROUND_NS: f64 = 50.0;

/// Tests the cost against the intervals of the same clock. Between two reads with nothing between
/// them lies one call, so the shortest such interval is at least as long as a call minus one step.
/// Returns the shortest interval without work, in nanoseconds, if it contradicts the cost, in
/// nanoseconds; then one of the two values is wrong. `step` is the step of the clock, in ticks; if
/// unknown, the smallest difference between two intervals is its upper limit.
fn by_intervals(runs: &[&Run], step: Option<f64>, ns_per_tick: f64, cost: f64) -> Option<f64> {
    let groups = runs.iter().flat_map(|run| &run.intervals);
    let without_work = groups.filter(|group| group.work == 0);
    let mut deltas: Vec<i64> = without_work
        .flat_map(|group| group.deltas.to_vec())
        .collect();
    deltas.sort_unstable();
    deltas.dedup();
    let apart = || {
        let apart = deltas.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
        apart.min().map(|ticks| ticks as f64)
    };
    let shortest = *deltas.first()? as f64;
    let least = (shortest - step.or_else(apart)?) * ns_per_tick;
    (least > APART * cost.max(0.0) + AROUND_NS).then_some(shortest * ns_per_tick)
}

/// A mode with a smaller share is part of the tail. *Default*: moves no figure.
const LEAST_SHARE: f64 = 0.005;

/// Summarises the distribution of single invocations over all processes with median costs `costs`:
/// the modes, the tail, and the deviation between processes. The authors of the metric suggest such
/// a description in addition to the spread (ICPE 2011, section 6).
pub fn distribution(
    shapes: &[Shape],
    view: &MeasuringClock,
    costs: &[f64],
) -> Option<Distribution> {
    let mut each: Vec<DistributionSummary> = shapes.iter().map(Shape::summary).collect();
    let within = midmean(each.iter().map(|summary| summary.deviation))?;
    let tail = mean(each.iter().map(|summary| summary.interruption_share))?;
    for summary in &mut each {
        summary.modes.retain(|mode| mode.1 > LEAST_SHARE);
    }
    // Use the modes of the majority of processes, each at its mean distance from the median.
    let mut counts: Vec<usize> = each.iter().map(|summary| summary.modes.len()).collect();
    counts.sort_unstable();
    let usual = counts[counts.len() / 2];
    let with_medians = each.iter().zip(shapes.iter().map(Shape::median));
    let like: Vec<(&DistributionSummary, f64)> = with_medians
        .filter(|(summary, _)| summary.modes.len() == usual)
        .collect();
    let centre = midmean(costs)?;
    let mode = |number: usize| {
        let modes = || {
            like.iter()
                .map(|(like, median)| (like.modes[number], median))
        };
        let apart = midmean(modes().map(|((place, _), median)| place - median))?;
        Some(Mode {
            ns: (centre + apart * view.ns_per_tick).max(0.0),
            share: midmean(modes().map(|((_, share), _)| share))?.clamp(0.0, 1.0),
        })
    };
    Some(Distribution {
        modes: (0..usual).filter_map(mode).collect(),
        within_ns: within * view.ns_per_tick,
        between_ns: standard_deviation(costs),
        tail_share: tail.clamp(0.0, 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Intervals;

    fn shortest(deltas: [&[i64]; 2], step: Option<f64>, cost: f64) -> Option<f64> {
        let of = |work: u64, deltas: &[i64]| Intervals {
            work,
            deltas: deltas.into(),
        };
        let run = Run {
            intervals: vec![of(0, deltas[0]), of(7, deltas[1])],
            ..Run::default()
        };
        by_intervals(&[&run], step, 0.5, cost)
    }

    #[test]
    fn calls_need_shorter_reads() {
        assert_eq!(
            shortest([&[404, 400, 9_000], &[10]], Some(1.0), 1.0),
            Some(200.0)
        );
        assert_eq!(
            shortest([&[404, 400, 9_000], &[10]], None, 1.0),
            Some(200.0)
        );
        // Cases: within a step of zero; other code between two reads; an interruption; no interval
        // without work.
        for (deltas, step, cost) in [
            ([&[400][..], &[][..]], 400.0, 1.0),
            ([&[400], &[]], 1.0, 20.0),
            ([&[100], &[]], 1.0, 0.0),
            ([&[9_000, 30], &[]], 1.0, 1.0),
            ([&[], &[400]], 1.0, 1.0),
        ] {
            assert_eq!(shortest(deltas, step.into(), cost), None, "{deltas:?}");
        }
        // An unknown step may be as long as the whole interval.
        for deltas in [[&[400, 400][..], &[]], [&[400, 800], &[]]] {
            assert_eq!(shortest(deltas, None, 1.0), None, "{deltas:?}");
        }
        // A trace may contain any values.
        assert_eq!(shortest([&[i64::MIN, i64::MAX], &[]], None, 1.0), None);
    }
}
