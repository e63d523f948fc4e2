//! The profile of a timer: all figures, from its trace.

use crate::analysis::Estimate;
use crate::analysis::cost::{Cost, cost, floor};
use crate::analysis::order::Backward;
use crate::analysis::pace::{Pace, follows_core};
use crate::analysis::resolution::agreement::{Process, agreed};
use crate::analysis::resolution::{Context, Resolution, resolve};
use crate::analysis::spread::{Singles, View, successive};
use crate::analysis::statistics::{median, over_processes};
use crate::trace::{Intervals, Run, Trace};

/// What a trace says about its timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The step, in ticks of the timer.
    pub resolution: Resolution,
    /// Nanoseconds in a tick.
    pub ns_per_tick: Option<f64>,
    /// Median invocation cost in nanoseconds, over processes.
    pub cost: Option<Estimate>,
    /// Median of single invocations as the reference shows them, in nanoseconds.
    pub single_median: Option<f64>,
    /// Their 99th percentile, in nanoseconds.
    pub p99: Option<f64>,
    /// Share of single invocations within ±1 accuracy of the median, over processes.
    pub spread: Option<Estimate>,
    /// Processes that were left out because something disturbed them throughout.
    pub disturbed: u32,
    /// Cost in nanoseconds and spread, one pair a process that counts.
    pub processes: Vec<(f64, f64)>,
    /// Steps backwards in successive readings.
    pub backward: Backward,
}

impl Profile {
    /// The resolved step, in ticks of the timer.
    #[must_use]
    pub fn step(&self) -> Option<f64> {
        match &self.resolution {
            Resolution::Resolved { step, .. } => Some(step.value),
            _ => None,
        }
    }

    /// The step in nanoseconds, or what it can be at most.
    #[must_use]
    pub fn step_at_most_ns(&self) -> Option<f64> {
        let ticks = match &self.resolution {
            Resolution::Resolved { step, .. } => step.value,
            Resolution::AtMost { bound, .. } => *bound,
            Resolution::Unmoved => return None,
        };
        Some(ticks * self.ns_per_tick?)
    }

    /// The resolved step in nanoseconds.
    #[must_use]
    pub fn accuracy_ns(&self) -> Option<Estimate> {
        match (&self.resolution, self.ns_per_tick) {
            (Resolution::Resolved { step, .. }, Some(ns)) => Some(step.scaled(ns)),
            _ => None,
        }
    }
}

/// Computes the profile.
#[must_use]
pub fn profile(trace: &Trace) -> Profile {
    let tight: Vec<Vec<i64>> = trace.runs.iter().map(|run| successive(&run.readings.values)).collect();
    let by_reference = singles(trace, &View::by_reference(trace));
    let context = context(trace, &by_reference);
    let processes: Vec<Process> = Process::all(trace).collect();
    let resolution = agreed(resolve(&groups(trace), &tight, &context), &processes, context.work_unit);
    let step = match &resolution {
        Resolution::Resolved { step, .. } => Some(step.value),
        _ => None,
    };
    let accuracy_ns = step.zip(trace.ns_per_tick).map(|(step, ns)| step * ns);
    let singles = View::by_readings(trace, step).map_or(by_reference, |view| singles(trace, &view));
    let mut costs = invocations(trace, &calm(singles), accuracy_ns);
    leave_out_disturbed(&mut costs);
    let disturbed = (trace.runs.len() - costs.len()) as u32;
    let column = |figure: fn(&Cost) -> f64| costs.iter().map(|(cost, _)| figure(cost)).collect::<Vec<_>>();
    let spreads: Vec<f64> = costs.iter().filter_map(|(_, spread)| *spread).collect();
    Profile {
        resolution,
        ns_per_tick: trace.ns_per_tick,
        cost: over_processes(&column(|cost| cost.median)),
        single_median: median(&column(|cost| cost.single_median)),
        p99: median(&column(|cost| cost.p99)),
        spread: over_processes(&spreads),
        processes: column(|cost| cost.median).into_iter().zip(spreads).collect(),
        disturbed,
        backward: backward(trace),
    }
}

/// Each process with what it saw of single invocations.
fn singles<'a>(trace: &'a Trace, view: &View) -> Vec<(&'a Run, Singles)> {
    trace.runs.iter().filter_map(|run| Some((run, Singles::of(run, &trace.reference, view)?))).collect()
}

/// Cost and spread of each process, at the frequency of the campaign or, where they do not follow the core, as measured.
fn invocations(
    trace: &Trace,
    processes: &[(&Run, Singles)],
    accuracy_ns: Option<f64>,
) -> Vec<(Cost, Option<f64>)> {
    let at = |pace: Pace| -> Vec<(Cost, Option<f64>)> {
        let floor = floor(&trace.runs, pace);
        let of = |(run, singles): &(&Run, Singles)| {
            let singles = singles.at(pace);
            let cost = cost(run, &trace.reference, &singles, floor, pace)?;
            Some((cost, accuracy_ns.map(|accuracy| singles.spread(accuracy))))
        };
        processes.iter().filter_map(of).collect()
    };
    let medians =
        |costs: &[(Cost, Option<f64>)]| costs.iter().map(|(cost, _)| cost.median).collect::<Vec<_>>();
    let paced = at(Pace(trace.core_hz));
    if trace.core_hz.is_none() {
        return paced;
    }
    let measured = at(Pace(None));
    if follows_core(&medians(&paced), &medians(&measured)) { paced } else { measured }
}

/// Fewest processes that figures are taken from, where there are as many.
pub const FEWEST: usize = 3;

/// The processes that had a core of their own while they measured; all of them where those are too few.
fn calm(processes: Vec<(&Run, Singles)>) -> Vec<(&Run, Singles)> {
    let count = processes.iter().filter(|(run, _)| run.is_calm()).count();
    processes.into_iter().filter(|(run, _)| count < FEWEST || run.is_calm()).collect()
}

/// Keeps the calm processes: interference only ever adds, so a process whose cost lies clearly above that of three others
/// measured the neighbours of the timer and not the timer.
fn leave_out_disturbed(costs: &mut Vec<(Cost, Option<f64>)>) {
    /// How much fresh processes differ where nothing disturbs them.
    const LUCK: f64 = 0.06;
    costs.sort_by(|a, b| a.0.median.total_cmp(&b.0.median));
    if let Some(third) = costs.get(FEWEST - 1).map(|(cost, _)| cost.median) {
        let limit = third + (LUCK * third).max(0.6);
        costs.retain(|(cost, _)| cost.median <= limit);
    }
}

/// All intervals, those of long observations included.
fn groups(trace: &Trace) -> Vec<Intervals> {
    trace.runs.iter().flat_map(|run| &run.intervals).chain(&trace.slow).cloned().collect()
}

/// Of all processes, calm or not: intervals vary as the costs of all of them do.
fn context(trace: &Trace, processes: &[(&Run, Singles)]) -> Context {
    let Some(ns) = trace.ns_per_tick else { return Context::default() };
    let costs = invocations(trace, processes, None);
    let of = |figure: fn(&Cost) -> f64| {
        median(&costs.iter().map(|(cost, _)| figure(cost)).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    Context {
        cost_deviation: of(|cost| cost.deviation) / ns,
        cost_lower_width: of(|cost| cost.lower_width) / ns,
        cost_edge: of(|cost| cost.edge) / ns,
        reference_step: trace.reference.step * trace.reference.ns_per_tick / ns,
        cost: of(|cost| cost.median) / ns,
        work_unit: trace.reference.ns_per_work / ns,
    }
}

fn backward(trace: &Trace) -> Backward {
    let intervals = trace.runs.iter().flat_map(|run| &run.intervals).chain(&trace.slow);
    let between_reads = Backward::among(intervals.flat_map(|group| &group.deltas).copied());
    let readings = trace.runs.iter().map(|run| &run.readings.values);
    readings.fold(between_reads, |so_far, readings| so_far.and(Backward::among(successive(readings))))
}
