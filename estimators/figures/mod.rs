//! Computes the figures of a timer, which is all its results except the Quality, from its trace.

pub mod plot_data;

mod growth;
mod single_calls;

use self::growth::growth_per_call;
use self::single_calls::{FittedProcess, SingleCalls};
use crate::cost::adds::adds;
use crate::cost::singles::{MeasuringClock, successive};
use crate::cost::{CommonFrequency, Following, never_moved};
use crate::distribution::shape::{CostShape, DistributionSummary, ModelKind};
pub use crate::model::MIN_PROCESSES;
use crate::model::{AddedTimes, Core, Distribution, Estimate, Mode, ProcessFigures};
use crate::rate;
use crate::rate::order::Backward;
use crate::resolution::agreement::{Process, confirm_by_processes};
use crate::resolution::{Step, StepRule, common_divisor, precisions, resolve};
use crate::statistics::{Regimes, mean, midmean, standard_deviation};
use crate::trace::{Differences, Observations, Trace};

/// The results for a timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The resolution: the step of the timer, in its ticks, or what is known about the step.
    pub resolution: Step,
    /// How far each call moves the timer in addition to the time that it takes, in ticks; `None` if
    /// less than this time.
    pub growth_per_call: Option<f64>,
    /// Nanoseconds in a tick of the timer; `None` if unknown.
    pub ns_per_tick: Option<f64>,
    /// Relative uncertainty of `ns_per_tick`.
    pub rate_uncertainty: f64,
    /// Cost of an isolated call: the median over single calls, in nanoseconds.
    pub cost: Option<Estimate>,
    /// Amortised cost of a call, in nanoseconds.
    pub amortised: Option<f64>,
    /// The time by which a read lengthens the code around it.
    pub adds: Option<AddedTimes>,
    /// The reason why there is no cost although calls were timed.
    pub no_cost_reason: Option<&'static str>,
    /// Median of single calls as timed by the reference, in nanoseconds.
    pub single_median: Option<f64>,
    /// 90th percentile of single calls as timed by the reference, in nanoseconds.
    pub p90: Option<f64>,
    /// 99th percentile of single calls as timed by the reference, in nanoseconds.
    pub p99: Option<f64>,
    /// The longest single call, in nanoseconds.
    pub longest: Option<f64>,
    /// Share of single calls within ±1 resolution of the median, over processes.
    pub spread: Option<Estimate>,
    /// The number of processes that cost and spread leave out: the core was shared or changed its
    /// frequency during the measurement, or the reference stood still.
    pub disturbed: u32,
    /// Cost in nanoseconds and spread of each process that was not left out.
    pub processes: Vec<(f64, f64)>,
    /// The figures of all processes, in the order of measurement.
    pub all_processes: Vec<ProcessFigures>,
    /// Pairs of cost in nanoseconds and spread that result if systematic errors, which more
    /// processes do not reduce, are as large as they may be.
    pub alternatives: Vec<(f64, f64)>,
    /// The extreme pairs of cost in nanoseconds and spread that result from other distributions
    /// that explain the samples equally well.
    pub model_alternatives: Vec<(f64, f64)>,
    /// The shortest interval that the timer measured between two reads without work, in
    /// nanoseconds, if it contradicts the cost; `None` otherwise.
    pub contradicting_interval_ns: Option<f64>,
    /// The two groups that the costs of the processes form; `None` if they form one.
    pub regimes: Option<Regimes>,
    /// Whether the cost follows the frequency of the core.
    pub following: Following,
    /// The distribution of the durations of single calls.
    pub distribution: Option<Distribution>,
    /// The kind of distribution fitted to the durations of single calls.
    pub kind: ModelKind,
    /// Backward steps in successive readings.
    pub backward: Backward,
}

impl Figures {
    /// Returns the step, in ticks of the timer; `None` if it is unknown or only its limit is known.
    pub fn step(&self) -> Option<f64> {
        match &self.resolution {
            Step::Resolved { step, .. } => Some(step.value),
            _ => None,
        }
    }

    /// Returns why resolution, cost or spread is unknown; `None` if all are known.
    pub fn unresolved(&self) -> Option<String> {
        Some(match &self.resolution {
            Step::Resolved { .. } if self.ns_per_tick.is_none() => {
                "the length of its tick could not be found".into()
            }
            Step::Resolved { .. } if self.cost.is_none() || self.spread.is_none() => {
                let why = self
                    .no_cost_reason
                    .map_or_else(String::new, |why| format!(": {why}"));
                format!("its invocation cost could not be determined{why}")
            }
            Step::Resolved { .. } => return None,
            Step::AtMost { reason, .. } => format!("no step could be determined: {reason}"),
            Step::Unmoved => "it did not move while it was watched".into(),
        })
    }

    /// Returns the step or its upper limit, in nanoseconds.
    pub fn step_at_most_ns(&self) -> Option<f64> {
        let step_ns = self.resolution.step_or_limit()? * self.ns_per_tick?;
        Some(step_ns).filter(|ns| ns.is_finite())
    }

    /// Returns the step with its interval, in nanoseconds; `None` if it is unknown or only its
    /// limit is known.
    pub fn resolution_ns(&self) -> Option<Estimate> {
        match (&self.resolution, self.ns_per_tick) {
            (Step::Resolved { step, .. }, Some(ns)) => {
                let resolution = step.scaled(ns);
                let rate = resolution.value * self.rate_uncertainty;
                Some(resolution.widened_by(rate))
            }
            _ => None,
        }
    }
}

/// Computes the figures of a timer.
pub fn figures(trace: &Trace) -> Figures {
    let fitted = FittedProcess::all(trace);
    let resolution = resolution_of(trace, &fitted);
    let step = match &resolution {
        Step::Resolved { step, .. } => Some(step.value),
        _ => None,
    };
    let (ns_per_tick, rate_uncertainty) = rate::tick(trace).unzip();
    let resolution_ns = step.zip(ns_per_tick).map(|(step, ns)| step * ns);
    let measured: Vec<FittedProcess> = fitted
        .into_iter()
        .filter(|fitted| !never_moved(fitted.run))
        .collect();
    let reference_stood_still = measured.is_empty() && !trace.runs.is_empty();
    let clock = MeasuringClock::best(trace, step);
    let everything = SingleCalls::new(trace, &measured, clock);
    let fitted = select_undisturbed(trace, measured);
    let single_calls = SingleCalls::new(trace, &fitted, clock);
    let runs: Vec<&Observations> = fitted.iter().map(|fitted| fitted.run).collect();
    let mut estimates = single_calls.estimate(resolution_ns);
    let growth_per_call = growth_per_call(trace);
    let contradicted = midmean(&estimates.processes.costs)
        .zip(ns_per_tick.filter(|_| growth_per_call.is_none()))
        .and_then(|(cost, ns)| contradicting_interval_ns(&runs, step, ns, cost));
    // Either the cost or the interval is wrong, so the interval of the cost includes both.
    let spread = midmean(&estimates.processes.spreads).unwrap_or(f64::NAN);
    estimates
        .model_alternatives
        .extend(contradicted.map(|cost| (cost, spread)));
    let spread = estimates.spread();
    let calm = runs.iter().filter(|run| run.is_calm()).count();
    let is_shared = |run: &&Observations| run.core(trace.full_width) == Core::Shared;
    let used_shared_core =
        runs.iter().any(is_shared) || (trace.disturbed_runs > 0 && calm < MIN_PROCESSES);
    let figures = Figures {
        resolution,
        growth_per_call,
        ns_per_tick,
        rate_uncertainty: rate_uncertainty.unwrap_or(0.0),
        cost: estimates.cost().map(|cost| match &trace.calls_reference {
            Some(counter) => cost.widened_by(cost.value.abs() * counter.rate_uncertainty),
            None => cost,
        }),
        amortised: estimates.midmean_of(|cost| cost.amortised),
        adds: adds(trace),
        no_cost_reason: reference_stood_still
            .then_some("batches of many calls took no time by their reference"),
        single_median: estimates.midmean_of(|cost| cost.single_median),
        p90: estimates.midmean_of(|cost| cost.p90),
        p99: estimates.midmean_of(|cost| cost.p99),
        longest: (estimates.processes.details.iter())
            .map(|cost| cost.longest)
            .reduce(f64::max),
        processes: (estimates.processes.costs.iter().copied())
            .zip(estimates.processes.spreads.iter().copied())
            .collect(),
        contradicting_interval_ns: contradicted,
        regimes: estimates.regimes,
        following: estimates.following,
        alternatives: estimates.alternatives,
        model_alternatives: estimates.model_alternatives,
        distribution: distribution(
            &single_calls.shapes(single_calls.model.kind),
            &single_calls.clock,
            &estimates.processes.costs,
        ),
        all_processes: everything.process_figures(single_calls.model.kind, resolution_ns),
        kind: single_calls.model.kind,
        disturbed: (trace.runs.len() - runs.len()) as u32,
        spread,
        backward: backward_steps(trace),
    };
    if used_shared_core {
        widen_for_shared_core(figures)
    } else {
        figures
    }
}

/// Determines the resolution of the timer without its other results.
pub fn resolution(trace: &Trace) -> Step {
    resolution_of(trace, &FittedProcess::all(trace))
}

/// The least distance of a fractional step from whole numbers of units. *Judgement*.
const MIN_FRACTION: f64 = 0.02;

fn resolution_of(trace: &Trace, fitted: &[FittedProcess]) -> Step {
    let readings = trace.runs.first().map(|run| &run.readings.values);
    let two_precisions = || precisions::find_two(readings?);
    let hidden = match growth_per_call(trace) {
        Some(ticks) => Some((f64::INFINITY, format!("its value grows with each call by {ticks:.0} ticks"))),
        None => two_precisions().map(|(unit, share)| {
            let percent = 100.0 * share;
            let reason = format!("it has two precisions: {percent:.0} % of its readings are whole multiples of {unit} ticks");
            (unit as f64, reason)
        }),
    };
    if let Some((bound, reason)) = hidden {
        let reason = reason.into();
        return Step::AtMost { bound, reason };
    }
    let context =
        SingleCalls::new(trace, fitted, MeasuringClock::by_reference(trace)).resolution_context();
    let differences = |run: &Observations| successive(&run.readings.values);
    let reading_differences: Vec<Vec<i64>> = trace.runs.iter().map(differences).collect();
    let all: Vec<Differences> = groups(trace).cloned().collect();
    let found = resolve(&all, &reading_differences, &context);
    let confirmed = |found: Step, unit: i64| {
        let runs = trace.runs.iter().map(|run| &run.intervals);
        let in_units =
            |groups: &Vec<Differences>| groups.iter().map(|group| group.in_units(unit)).collect();
        let processes: Vec<Vec<Differences>> = runs.chain([&trace.slow]).map(in_units).collect();
        let processes: Vec<Process> = processes
            .iter()
            .map(|groups| Process::new(groups))
            .collect();
        confirm_by_processes(found, &processes, context.work_unit / unit as f64)
    };
    // The unit of all readings is a lattice, of which some processes may show only multiples.
    let unit = common_divisor(&all);
    let one_unit = Step::Resolved {
        step: Estimate::exact(unit as f64),
        rule: StepRule::Lattice,
    };
    let is_fraction = matches!(&found, Step::Resolved { step, .. } if {
        let units = step.value / unit as f64;
        (units - units.round()).abs() > MIN_FRACTION
    });
    if unit > 1
        && !is_fraction
        && let differing @ Step::AtMost { .. } = confirmed(one_unit, 1)
    {
        return differing;
    }
    confirmed(found.scaled(1.0 / unit as f64), unit).scaled(unit as f64)
}

/// The relative uncertainty of the cost, in addition to the differences between processes, if
/// processes that were disturbed throughout are used. *Seen*: `rdtsc` at 40 cycles instead of 45.8;
/// both sides.
const SHARED_CORE_ERROR: f64 = 0.1;

/// Widens the intervals of cost and spread for a timer with too few undisturbed processes. The
/// intervals then include the values of each process and an error of [`SHARED_CORE_ERROR`], because
/// differences between processes do not show a disturbance that all have in common. The upper end
/// of the spread becomes 1, because the spread may have been that large without the disturbance.
fn widen_for_shared_core(mut figures: Figures) -> Figures {
    let (Some(cost), Some(spread)) = (&mut figures.cost, &mut figures.spread) else {
        return figures;
    };
    for &(process_cost, process_spread) in &figures.processes {
        cost.low = cost.low.min(process_cost * (1.0 - SHARED_CORE_ERROR));
        cost.high = cost.high.max(process_cost * (1.0 + SHARED_CORE_ERROR));
        spread.low = spread.low.min(process_spread);
    }
    (spread.low, spread.high) = (spread.low.min(1.0), 1.0);
    figures
        .model_alternatives
        .extend([(cost.low, spread.high), (cost.high, spread.low)]);
    figures
}

/// Returns the cost, in nanoseconds, and the spread of the only process of a trace. `kind` is the
/// kind of distribution of its single calls; `step` is the step of the timer in ticks, if known,
/// and `resolution_ns` the step or its upper limit. `None` if the process was disturbed, or has too
/// few calls.
pub fn estimate_process(
    trace: &Trace,
    kind: ModelKind,
    step: Option<f64>,
    resolution_ns: f64,
) -> Option<(f64, f64)> {
    let runs = trace
        .runs
        .iter()
        .filter(|run| run.is_calm() && !never_moved(run));
    let fitted: Vec<FittedProcess> = runs.map(|run| FittedProcess::new(trace, run)).collect();
    let single_calls = SingleCalls::new(trace, &fitted, MeasuringClock::best(trace, step));
    let core_frequency = CommonFrequency(trace.core_hz);
    let estimates = single_calls.estimate_processes(kind, core_frequency, Some(resolution_ns));
    Some((*estimates.costs.first()?, *estimates.spreads.first()?))
}

/// Returns the processes that the figures rest on: those that had their core to themselves, if there
/// are at least [`MIN_PROCESSES`] of them, otherwise all, because the rest are a mixture of states.
fn select_undisturbed<'a>(trace: &Trace, all: Vec<FittedProcess<'a>>) -> Vec<FittedProcess<'a>> {
    let is_undisturbed = |fitted: &FittedProcess| trace.is_undisturbed(fitted.run);
    let has_enough = all.iter().filter(|fitted| is_undisturbed(fitted)).count() >= MIN_PROCESSES;
    all.into_iter()
        .filter(|fitted| !has_enough || is_undisturbed(fitted))
        .collect()
}

/// Returns all groups of intervals, including those of the long observations.
fn groups(trace: &Trace) -> impl Iterator<Item = &Differences> {
    trace
        .runs
        .iter()
        .flat_map(|run| &run.intervals)
        .chain(&trace.slow)
}

/// Counts the backward steps in intervals and in successive readings.
fn backward_steps(trace: &Trace) -> Backward {
    let between_reads = Backward::among(groups(trace).flat_map(|group| &group.deltas).copied());
    let readings = trace.runs.iter().map(|run| &run.readings.values);
    readings.fold(between_reads, |so_far, readings| {
        so_far.and(Backward::among(successive(readings)))
    })
}

/// The largest plausible interval between two reads without work, in multiples of the cost of a
/// read: between the reads the host calls a function that does nothing and stores the reading.
/// *Seen*: runtimes need up to five times the cost of a read.
const MAX_CALLS_BETWEEN_READS: f64 = 10.0;
/// The time in nanoseconds that is added to this interval, for reads that cost almost nothing.
/// *Judgement*.
const MAX_OVERHEAD_NS: f64 = 50.0;

/// Compares the cost of a read, in nanoseconds, with the intervals that the timer itself measured
/// between two reads without work, which contain one read each. Returns the shortest of these
/// intervals, in nanoseconds, if it exceeds the cost by so much that the interval or the cost must
/// be wrong.
///
/// `step` is the step of the timer, in ticks; if it is unknown, the smallest difference between two
/// intervals is used as its upper limit.
fn contradicting_interval_ns(
    runs: &[&Observations],
    step: Option<f64>,
    ns_per_tick: f64,
    cost: f64,
) -> Option<f64> {
    let mut deltas: Vec<i64> = runs
        .iter()
        .flat_map(|run| &run.intervals)
        .filter(|group| group.work == 0)
        .flat_map(|group| group.deltas.to_vec())
        .collect();
    deltas.sort_unstable();
    deltas.dedup();
    let smallest_difference = || {
        deltas
            .windows(2)
            .map(|pair| pair[1].abs_diff(pair[0]))
            .min()
            .map(|ticks| ticks as f64)
    };
    let shortest = *deltas.first()? as f64;
    let least = (shortest - step.or_else(smallest_difference)?) * ns_per_tick;
    (least > MAX_CALLS_BETWEEN_READS * cost.max(0.0) + MAX_OVERHEAD_NS)
        .then_some(shortest * ns_per_tick)
}

/// The smallest share of calls in a peak (mode) of the distribution; a smaller peak counts as part
/// of the tail. *Default*: moves no figure.
const MIN_MODE_SHARE: f64 = 0.005;

/// Describes the distribution of single calls over all processes: its peaks (modes), its tail, and
/// the deviations within and between processes. `costs` are the costs of the processes, in
/// nanoseconds. `None` without processes. The authors of the Quality suggest such a description in
/// addition to the spread (ICPE 2011, section 6).
fn distribution(
    shapes: &[CostShape],
    clock: &MeasuringClock,
    costs: &[f64],
) -> Option<Distribution> {
    let mut described: Vec<DistributionSummary> = shapes.iter().map(CostShape::summary).collect();
    let within = midmean(described.iter().map(|process| process.deviation))?;
    let tail = mean(described.iter().map(|process| process.interruption_share))?;
    for process in &mut described {
        process.modes.retain(|mode| mode.1 > MIN_MODE_SHARE);
    }
    // The modes come from the processes with the median number of modes. Each mode is at its mean
    // distance from the median of the process.
    let mut counts: Vec<usize> = described
        .iter()
        .map(|process| process.modes.len())
        .collect();
    counts.sort_unstable();
    let mode_count = counts[counts.len() / 2];
    let typical: Vec<(&DistributionSummary, f64)> = described
        .iter()
        .zip(shapes.iter().map(CostShape::median))
        .filter(|(process, _)| process.modes.len() == mode_count)
        .collect();
    let centre = midmean(costs)?;
    let mode = |number: usize| {
        let modes = || {
            typical
                .iter()
                .map(|(process, median)| (process.modes[number], median))
        };
        let from_median = midmean(modes().map(|((position, _), median)| position - median))?;
        Some(Mode {
            ns: (centre + from_median * clock.ns_per_tick).max(0.0),
            share: midmean(modes().map(|((_, share), _)| share))?.clamp(0.0, 1.0),
        })
    };
    Some(Distribution {
        modes: (0..mode_count).filter_map(mode).collect(),
        within_ns: within * clock.ns_per_tick,
        between_ns: standard_deviation(costs),
        process_ns: Vec::new(),
        process_cycles: Vec::new(),
        tail_share: tail.clamp(0.0, 1.0),
    })
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::trace::{Differences, StoredTrace};

    /// Compares a cost with intervals without work and with 7 units of work, in ticks of 0.5 ns.
    fn contradicting(deltas: [&[i64]; 2], step: Option<f64>, cost: f64) -> Option<f64> {
        let intervals = |work: u64, deltas: &[i64]| Differences {
            work,
            deltas: deltas.into(),
        };
        let run = Observations {
            intervals: vec![intervals(0, deltas[0]), intervals(7, deltas[1])],
            ..Observations::default()
        };
        contradicting_interval_ns(&[&run], step, 0.5, cost)
    }

    #[test]
    fn long_intervals_contradict_the_cost() {
        assert_eq!(
            contradicting([&[404, 400, 9_000], &[10]], Some(1.0), 1.0),
            Some(200.0)
        );
        assert_eq!(
            contradicting([&[404, 400, 9_000], &[10]], None, 1.0),
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
            assert_eq!(contradicting(deltas, step.into(), cost), None, "{deltas:?}");
        }
        // An unknown step may be as long as the whole interval.
        for deltas in [[&[400, 400][..], &[]], [&[400, 800], &[]]] {
            assert_eq!(contradicting(deltas, None, 1.0), None, "{deltas:?}");
        }
        // A trace may contain any values.
        assert_eq!(contradicting([&[i64::MIN, i64::MAX], &[]], None, 1.0), None);
    }

    /// Differences of a clock in nanoseconds whose counter has this step and whose readings are
    /// multiples of ten. A read takes `cost` ns or up to `noise` ns more, a unit of work 1.7 ns.
    fn rounded_to_ten(step: f64, cost: f64, noise: f64) -> Trace {
        let mut random = StdRng::seed_from_u64(7);
        let shown = |time: f64| ((time / step).floor() * step / 10.0).floor() as i64 * 10;
        let mut interval = |work: u64, repeat: usize| Differences {
            work,
            deltas: (0..repeat)
                .map(|_| {
                    let begin = random.random_range(1e6..2e6);
                    let read = cost + noise * random.random::<f64>().powi(2);
                    shown(begin + read + 1.7 * work as f64) - shown(begin)
                })
                .collect(),
        };
        let mut intervals = vec![interval(0, 400), interval(20, 40)];
        intervals.extend((0..900).map(|at| interval(at * 7 % 31, 1)));
        StoredTrace {
            declared: true,
            ns_per_tick: Some(1.0),
            slow: intervals,
            ..StoredTrace::default()
        }
        .open()
    }

    #[test]
    fn rounding_is_no_step() {
        for step in [1e3 / 24.0, 170.0] {
            match resolution(&rounded_to_ten(step, 33.0, 0.0)) {
                Step::Resolved { step: found, .. } => {
                    assert!((found.value / step - 1.0).abs() < 1e-2, "{step}: {found:?}");
                }
                other => panic!("{step}: {other:?}"),
            }
        }
        // Steps of one unit do not show in work of few units; without the cost of a read, noise hides
        // the others.
        for (step, cost, noise) in [(20.0, 33.0, 0.0), (10.0, 130.0, 90.0), (29.1, 130.0, 90.0)] {
            let noisy = resolution(&rounded_to_ten(step, cost, noise));
            assert!(
                matches!(&noisy, Step::AtMost { bound, .. } if *bound >= step),
                "{step}: {noisy:?}"
            );
        }
    }
}
