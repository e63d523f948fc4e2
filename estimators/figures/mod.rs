//! Computes the figures of a timer, which is all its results except the Quality, from its trace.

pub mod plot_data;

mod estimates;
mod growth;
mod modes;

use self::estimates::{Estimator, medians, process_figures};
use self::growth::growth_per_call;
use crate::cost::adds::adds;
use crate::cost::singles::{MeasuringClock, successive};
use crate::cost::{Calls, CommonFrequency, Following, never_moved};
pub use crate::model::MIN_PROCESSES;
use crate::model::{AddedTimes, Core, Distribution, Estimate, ProcessFigures, value_of};
use crate::rate;
use crate::rate::order::Backward;
use crate::resolution::agreement::{Process, confirm_by_processes};
use crate::resolution::{
    KnownDurations, Step, StepRule, common_divisor, lattice, precisions, resolve,
};
use crate::statistics::{Regimes, median};
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
    /// The shortest interval that the timer measured between two reads without work, in
    /// nanoseconds, if it contradicts the cost; `None` otherwise.
    pub contradicting_interval_ns: Option<f64>,
    /// The two groups that the costs of the processes form; `None` if they form one.
    pub regimes: Option<Regimes>,
    /// Whether the cost follows the frequency of the core.
    pub following: Following,
    /// The distribution of the durations of single calls.
    pub distribution: Option<Distribution>,
    /// Backward steps in successive readings.
    pub backward: Backward,
}

impl Figures {
    /// Returns the step, in ticks of the timer; `None` if it is unknown or only its limit is known.
    pub fn step(&self) -> Option<f64> {
        value_of(self.resolution.known())
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
        let resolution = self.resolution.known()?.scaled(self.ns_per_tick?);
        Some(resolution.widened_by(resolution.value * self.rate_uncertainty))
    }
}

/// What the processes of a timer observed, unpacked and prepared once for all estimators.
struct Prepared<'a> {
    trace: &'a Trace,
    /// The calls of each process that timed any.
    calls: Vec<Calls<'a>>,
    /// The groups of intervals of each process, and those of the long observations.
    groups: Vec<Vec<Differences>>,
    /// The differences of successive readings of each process.
    readings: Vec<Vec<i64>>,
}

impl<'a> Prepared<'a> {
    fn new(trace: &'a Trace) -> Self {
        let runs = trace.runs.iter();
        let groups = runs.clone().map(|run| run.intervals.iter().collect());
        Self {
            trace,
            calls: Calls::all(trace),
            groups: groups.chain([trace.slow.clone()]).collect(),
            readings: runs.map(|run| successive(&run.readings.values)).collect(),
        }
    }
}

/// Computes the figures of a timer.
pub fn figures(trace: &Trace) -> Figures {
    figures_by(trace, resolution_of)
}

/// Determines the figures of a timer with a roughly known step, which takes a fifth of the time: how much
/// processes differ hardly depends on it.
pub fn rough_figures(trace: &Trace) -> Figures {
    figures_by(trace, rough_step)
}

fn figures_by(trace: &Trace, find_step: impl Fn(&Prepared) -> Step) -> Figures {
    let prepared = Prepared::new(trace);
    let resolution = find_step(&prepared);
    let backward = backward_steps(&prepared);
    let mut calls = prepared.calls;
    let step = value_of(resolution.known());
    let (ns_per_tick, rate_uncertainty) = rate::tick(trace).unzip();
    let reach = resolution.step_or_limit().zip(ns_per_tick);
    let estimator = Estimator {
        trace,
        clock: MeasuringClock::best(trace, step),
        reach_ns: reach.map(|(ticks, ns)| ticks * ns),
    };
    calls.retain(|calls| !never_moved(calls.run));
    for calls in &mut calls {
        calls.measure_by(&estimator.clock, trace.calls_reference());
    }
    let reference_stood_still = calls.is_empty() && !trace.runs.is_empty();
    let has_spread = step.is_some() && ns_per_tick.is_some();
    let all_processes = process_figures(&estimator, &calls, has_spread);
    select_undisturbed(trace, &mut calls);
    let estimates = estimator.estimate(&calls);
    let runs: Vec<&Observations> = calls.iter().map(|calls| calls.run).collect();
    let growth_per_call = growth_per_call(trace);
    let contradicted = estimates
        .cost
        .zip(ns_per_tick.filter(|_| growth_per_call.is_none()))
        .and_then(|(cost, ns)| contradicting_interval_ns(&runs, step, ns, cost.value));
    let by_counter = trace.calls_reference.as_ref();
    let counter_error = by_counter.map_or(0.0, |counter| counter.rate_uncertainty);
    // Either the cost or the contradicting interval is wrong, so the interval of the cost includes both.
    let cost = estimates.cost.map(|cost| {
        cost.covering_alternatives(contradicted)
            .widened_by(cost.value.abs() * counter_error)
    });
    let figures = Figures {
        resolution,
        growth_per_call,
        ns_per_tick,
        rate_uncertainty: rate_uncertainty.unwrap_or(0.0),
        cost,
        amortised: estimates.midmean_of(|cost| cost.amortised),
        adds: adds(trace),
        no_cost_reason: reference_stood_still
            .then_some("batches of many calls took no time by their reference"),
        single_median: estimates.midmean_of(|cost| cost.single_median),
        p90: estimates.midmean_of(|cost| cost.p90),
        p99: estimates.midmean_of(|cost| cost.p99),
        longest: (estimates.processes.iter())
            .map(|process| process.cost.longest)
            .reduce(f64::max),
        processes: (estimates.processes.iter())
            .map(|process| (process.cost.median, process.spread.value))
            .collect(),
        contradicting_interval_ns: contradicted,
        regimes: estimates.regimes,
        following: estimates.following,
        distribution: modes::distribution(&estimates, &estimator.clock),
        all_processes,
        disturbed: (trace.runs.len() - runs.len()) as u32,
        spread: estimates.spread.filter(|_| has_spread),
        backward,
    };
    let calm = runs.iter().filter(|run| run.is_calm()).count();
    let is_shared = |run: &&Observations| run.core(trace.full_width) == Core::Shared;
    if runs.iter().any(is_shared) || (trace.disturbed_runs > 0 && calm < MIN_PROCESSES) {
        widen_for_shared_core(figures)
    } else {
        figures
    }
}

/// Determines the resolution of the timer without its other results.
pub fn resolution(trace: &Trace) -> Step {
    resolution_of(&Prepared::new(trace))
}

/// Returns how the cost of a call varies, in ticks of the timer. The search for the resolution of the
/// timer needs it, because the intervals that it examines vary by the same amount.
fn known_durations(Prepared { trace, calls, .. }: &Prepared) -> KnownDurations {
    let Some(ns) = trace.ns_per_tick else {
        return KnownDurations::default();
    };
    let reference = trace.calls_reference();
    let reference_step = reference.step * reference.ns_per_tick / ns;
    // The step of the reference alone makes a constant duration appear up to a step wide.
    let widths = calls.iter().map(|calls| {
        let levels = &calls.singles.levels;
        (levels.quantile(0.5) - levels.quantile(0.02) - 1.0).max(0.0)
    });
    let estimator = Estimator {
        trace,
        clock: MeasuringClock::by_reference(trace),
        reach_ns: None,
    };
    let processes = estimator.processes(calls, CommonFrequency(trace.core_hz));
    KnownDurations {
        cost_width: median(widths).unwrap_or(0.0) * reference_step,
        reference_step,
        cost: median(medians(&processes)).unwrap_or(0.0) / ns,
        work_unit: reference.ns_per_work / ns,
        is_rounded: false,
    }
}

/// Returns the step of the lattice of all intervals, or else their unit.
fn rough_step(prepared: &Prepared) -> Step {
    let groups = prepared.groups.iter().flatten();
    let mut all: Vec<i64> = groups
        .clone()
        .flat_map(|group| &group.deltas)
        .copied()
        .collect();
    all.retain(|&delta| delta >= 0);
    all.sort_unstable();
    let unit = common_divisor(groups) as f64;
    Step::Resolved {
        step: Estimate::exact(lattice::of_intervals(&all).map_or(unit, |found| found.step)),
        rule: StepRule::Lattice,
    }
}

/// The least distance of a fractional step from whole numbers of units. *Judgement*.
const MIN_FRACTION: f64 = 0.02;

fn resolution_of(prepared: &Prepared) -> Step {
    let trace = prepared.trace;
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
    let context = known_durations(prepared);
    let all = prepared.groups.concat();
    let found = resolve(&all, &prepared.readings, &context);
    let confirmed = |found: Step, unit: i64| {
        let in_units =
            |groups: &Vec<Differences>| groups.iter().map(|group| group.in_units(unit)).collect();
        let processes: Vec<Vec<Differences>> = prepared.groups.iter().map(in_units).collect();
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
    let is_fraction = found.known().is_some_and(|step| {
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
}

/// Returns the cost, in nanoseconds, and the spread of the only process of a trace. `step` is the
/// step of the timer in ticks, if known, and `reach_ns` the step or its upper limit. `None` if the
/// process was disturbed, or has too few calls.
pub fn estimate_process(trace: &Trace, step: Option<f64>, reach_ns: f64) -> Option<(f64, f64)> {
    let estimator = Estimator {
        trace,
        clock: MeasuringClock::best(trace, step),
        reach_ns: Some(reach_ns),
    };
    let mut calls = Calls::all(trace);
    calls.retain(|calls| calls.run.is_calm() && !never_moved(calls.run));
    for calls in &mut calls {
        calls.measure_by(&estimator.clock, trace.calls_reference());
    }
    let processes = estimator.processes(&calls, CommonFrequency(trace.core_hz));
    let process = processes.first()?;
    Some((process.cost.median, process.spread.value))
}

/// Keeps the processes that the figures rest on: those that had their core to themselves, if there
/// are at least [`MIN_PROCESSES`] of them, otherwise all, because the rest are a mixture of states.
fn select_undisturbed(trace: &Trace, calls: &mut Vec<Calls>) {
    let is_undisturbed = |calls: &Calls| trace.is_undisturbed(calls.run);
    if calls.iter().filter(|calls| is_undisturbed(calls)).count() >= MIN_PROCESSES {
        calls.retain(is_undisturbed);
    }
}

/// Counts the backward steps in intervals and in successive readings.
fn backward_steps(prepared: &Prepared) -> Backward {
    let intervals = prepared.groups.iter().flatten();
    let intervals = intervals.flat_map(|group| &group.deltas);
    Backward::among(intervals.chain(prepared.readings.iter().flatten()).copied())
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
        .flat_map(|run| run.intervals.iter())
        .filter(|group| group.work == 0)
        .flat_map(|group| group.deltas)
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

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::trace::Differences;

    /// Compares a cost with intervals without work and with 7 units of work, in ticks of 0.5 ns.
    fn contradicting(deltas: [&[i64]; 2], step: Option<f64>, cost: f64) -> Option<f64> {
        let intervals = |work: u64, deltas: &[i64]| Differences {
            work,
            deltas: deltas.into(),
        };
        let run = Observations {
            intervals: [intervals(0, deltas[0]), intervals(7, deltas[1])]
                .into_iter()
                .collect(),
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
        Trace {
            declared: true,
            ns_per_tick: Some(1.0),
            slow: intervals,
            ..Trace::default()
        }
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
