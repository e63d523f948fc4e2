//! The profile of a timer: all figures, from its trace.

use crate::analysis::Estimate;
use crate::analysis::cost::{Cost, cost, floor};
use crate::analysis::order::Backward;
use crate::analysis::resolution::{Context, Resolution, resolve};
use crate::analysis::spread::{Singles, View, successive};
use crate::analysis::statistics::{median, over_processes};
use crate::trace::{Intervals, Trace};

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
    let tight: Vec<Vec<i64>> = trace.runs.iter().map(|run| successive(&run.readings)).collect();
    let resolution = resolve(&groups(trace), &tight, &context(trace));
    let step = match &resolution {
        Resolution::Resolved { step, .. } => Some(step.value),
        _ => None,
    };
    let accuracy_ns = step.zip(trace.ns_per_tick).map(|(step, ns)| step * ns);
    let mut costs: Vec<(Cost, Option<f64>)> = Vec::new();
    let view = View::of(trace, step);
    let floor = floor(&trace.runs);
    for run in &trace.runs {
        let Some(singles) = Singles::of(run, &trace.reference, &view) else { continue };
        let Some(cost) = cost(run, &trace.reference, &singles, floor) else { continue };
        costs.push((cost, accuracy_ns.map(|accuracy| singles.spread(accuracy))));
    }
    let disturbed = leave_out_disturbed(&mut costs);
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

/// Keeps the calm processes and returns how many were not: interference only ever adds, so a process whose cost lies
/// clearly above that of three others measured the neighbours of the timer and not the timer.
fn leave_out_disturbed(costs: &mut Vec<(Cost, Option<f64>)>) -> u32 {
    /// Fewest processes that are kept.
    const FEWEST: usize = 3;
    /// How much fresh processes differ where nothing disturbs them.
    const LUCK: f64 = 0.06;
    costs.sort_by(|a, b| a.0.median.total_cmp(&b.0.median));
    let before = costs.len();
    if let Some(third) = costs.get(FEWEST - 1).map(|(cost, _)| cost.median) {
        let limit = third + (LUCK * third).max(0.6);
        costs.retain(|(cost, _)| cost.median <= limit);
    }
    (before - costs.len()) as u32
}

/// All intervals, those of long observations included.
fn groups(trace: &Trace) -> Vec<Intervals> {
    trace.runs.iter().flat_map(|run| &run.intervals).chain(&trace.slow).cloned().collect()
}

fn context(trace: &Trace) -> Context {
    let Some(ns) = trace.ns_per_tick else { return Context::default() };
    let view = View::of(trace, None);
    let floor = floor(&trace.runs);
    let costs: Vec<Cost> = trace
        .runs
        .iter()
        .filter_map(|run| cost(run, &trace.reference, &Singles::of(run, &trace.reference, &view)?, floor))
        .collect();
    let of = |figure: fn(&Cost) -> f64| median(&costs.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0);
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
    let readings = trace.runs.iter().map(|run| &run.readings);
    readings.fold(between_reads, |so_far, readings| so_far.and(Backward::among(successive(readings))))
}
