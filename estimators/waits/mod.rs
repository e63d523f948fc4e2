//! Analyses sleep primitives (functions that wait for a given time): computes their granularity,
//! lateness and cost from single waits.

mod lateness;
mod lattice;
mod steps;

use crate::model::{Granularity, Steps, WaitFigures};
use crate::statistics::quantiles::median_over_processes;
use crate::statistics::{mean_over_processes, median};
use crate::trace::{Reference, Wait, WaitRun, WaitTrace};

/// The shortest positive request, in nanoseconds. The median duration of such waits is the *floor*:
/// the shortest possible wait. *Definition*.
const MIN_REQUEST_NS: u64 = 1;
/// The largest number of points of the staircase, the plot of observed over requested lengths.
/// *Default*: moves no figure.
const MAX_STAIRCASE_POINTS: usize = 400;

/// Computes the results for a sleep primitive, except its Quality. `hertz`, the core frequency,
/// converts CPU time to cycles.
pub fn figures(trace: &WaitTrace, hertz: Option<f64>) -> WaitFigures {
    let hertz = hertz.filter(|hertz| hertz.is_finite() && *hertz > 0.0);
    let runs = || trace.runs.iter();
    let median_length = |request: u64| {
        let by_process = runs().map(|run| {
            let waits = run.lengths.iter().filter(|wait| wait.request_ns == request);
            waits
                .map(|wait| observed_ns(wait, &trace.reference))
                .collect()
        });
        median_over_processes(&by_process.collect::<Vec<Vec<f64>>>())
    };
    let arm_cancel_ns = |run: &WaitRun| {
        let ns = |&arm: &i64| zero_if_not_finite(arm as f64 * trace.reference.ns_per_tick);
        median(run.arms.iter().map(ns))
    };
    let wait_count =
        |run: &WaitRun| run.lengths.len() + run.long.len() + run.scans.iter().flatten().count();
    WaitFigures {
        steps: steps::granularity_by_scale(&trace.runs, &trace.reference),
        floor_ns: median_length(MIN_REQUEST_NS),
        zero_ns: median_length(0),
        lateness: lateness::lateness_by_length(trace, hertz),
        proportional_ppm: lateness::lateness_slope(trace).map(|slope| slope.scaled(1e6)),
        cpu_slope: lateness::cpu_slope(trace),
        arm_cancel_ns: mean_over_processes(runs().filter_map(arm_cancel_ns)),
        staircase: staircase(trace),
        processes: trace.runs.len() as u32,
        waits: runs().map(wait_count).sum::<usize>() as u64,
    }
}

/// Returns the step of the grid of absolute time on which the wake-ups of one process lie, in
/// nanoseconds: that of the shortest waits for which there is one. `None` if there is no grid.
pub fn grid_ns(run: &WaitRun, reference: &Reference) -> Option<f64> {
    let scales = steps::granularity_by_scale(std::slice::from_ref(run), reference);
    let mut grids = scales.iter().filter_map(|steps| steps.grid?.step());
    grids.next().map(|step| step.value)
}

/// Returns the longest step of the rounding of requests or of a grid of wake-ups, in nanoseconds.
/// `None` if no step was found.
pub fn longest_step_ns(runs: &[WaitRun], reference: &Reference) -> Option<f64> {
    let scales = steps::granularity_by_scale(runs, reference);
    let known = scales
        .iter()
        .flat_map(Steps::known)
        .filter_map(Granularity::step);
    known.map(|step| step.value).max_by(f64::total_cmp)
}

/// Returns the duration of a wait, in nanoseconds; 0 if the rate of the reference is unknown.
fn observed_ns(wait: &Wait, reference: &Reference) -> f64 {
    zero_if_not_finite(reference.ns(wait.before, wait.after))
}

/// Returns the lateness: duration minus requested length, in nanoseconds.
fn late_ns(wait: &Wait, reference: &Reference) -> f64 {
    observed_ns(wait, reference) - wait.request_ns as f64
}

/// Replaces NaN and infinity, which result from a reference of unknown rate, by 0.
fn zero_if_not_finite(ns: f64) -> f64 {
    if ns.is_finite() { ns } else { 0.0 }
}

/// Returns points of requested and observed length, in nanoseconds: about the same number from each
/// scan, at equal distances in the order of execution.
fn staircase(trace: &WaitTrace) -> Vec<[f64; 2]> {
    let scans = trace.runs.iter().flat_map(|run| &run.scans);
    let scans: Vec<&Vec<Wait>> = scans.filter(|scan| !scan.is_empty()).collect();
    let points_per_scan = (MAX_STAIRCASE_POINTS / scans.len().max(1)).max(1);
    let point = |wait: &Wait| [wait.request_ns as f64, observed_ns(wait, &trace.reference)];
    let stride = |scan: &&Vec<Wait>| scan.len().div_ceil(points_per_scan);
    let used_scans = scans.iter().take(MAX_STAIRCASE_POINTS);
    used_scans
        .flat_map(|scan| scan.iter().step_by(stride(scan)))
        .map(point)
        .collect()
}

#[cfg(test)]
mod tests;
