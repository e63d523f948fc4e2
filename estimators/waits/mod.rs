//! Analyses sleep primitives: from single waits to granularity, lateness and cost.

mod lateness;
mod lattice;
mod steps;

use crate::model::{Granularity, Steps, WaitFigures};
use crate::statistics::quantiles::median_over_processes;
use crate::statistics::{mean_over_processes, median};
use crate::trace::{Reference, Wait, WaitRun, WaitTrace};

/// The shortest positive request, in nanoseconds; its duration is the floor. *Definition*.
const SHORTEST: u64 = 1;
/// The largest number of points of the staircase. *Default*: moves no figure.
const POINTS: usize = 400;

/// Computes the results for a sleep primitive, except Formula (1). `hertz` converts CPU time to
/// cycles.
pub fn figures(trace: &WaitTrace, hertz: Option<f64>) -> WaitFigures {
    let hertz = hertz.filter(|hertz| hertz.is_finite() && *hertz > 0.0);
    let runs = || trace.runs.iter();
    let observed = |request: u64| {
        let each = runs().map(|run| {
            let waits = run.lengths.iter().filter(|wait| wait.request_ns == request);
            waits
                .map(|wait| observed_ns(wait, &trace.reference))
                .collect()
        });
        median_over_processes(&each.collect::<Vec<Vec<f64>>>())
    };
    let arms = |run: &WaitRun| {
        let ns = |&arm: &i64| finite(arm as f64 * trace.reference.ns_per_tick);
        median(run.arms.iter().map(ns))
    };
    let all =
        |run: &WaitRun| run.lengths.len() + run.long.len() + run.scans.iter().flatten().count();
    WaitFigures {
        steps: steps::steps(&trace.runs, &trace.reference),
        floor_ns: observed(SHORTEST),
        zero_ns: observed(0),
        lateness: lateness::rows(trace, hertz),
        proportional_ppm: lateness::proportional(trace).map(|slope| slope.scaled(1e6)),
        cpu_slope: lateness::cpu(trace),
        arm_cancel_ns: mean_over_processes(runs().filter_map(arms)),
        staircase: staircase(trace),
        processes: trace.runs.len() as u32,
        waits: runs().map(all).sum::<usize>() as u64,
    }
}

/// Returns the grid of absolute time of one process, in nanoseconds, if there is one.
pub fn grid_ns(run: &WaitRun, reference: &Reference) -> Option<f64> {
    let scales = steps::steps(std::slice::from_ref(run), reference);
    let mut grids = scales.iter().filter_map(|steps| steps.grid?.step());
    grids.next().map(|step| step.value)
}

/// Returns the longest step of rounding or of a grid, in nanoseconds, if there is one.
pub fn longest_step_ns(runs: &[WaitRun], reference: &Reference) -> Option<f64> {
    let scales = steps::steps(runs, reference);
    let known = scales
        .iter()
        .flat_map(Steps::known)
        .filter_map(Granularity::step);
    known.map(|step| step.value).max_by(f64::total_cmp)
}

/// The duration of a wait, in nanoseconds. The subtraction wraps, because counters may wrap.
fn observed_ns(wait: &Wait, reference: &Reference) -> f64 {
    finite(reference.ns(wait.before, wait.after))
}

/// The lateness: duration minus requested length, in nanoseconds.
fn late_ns(wait: &Wait, reference: &Reference) -> f64 {
    observed_ns(wait, reference) - wait.request_ns as f64
}

/// Returns 0 if the reference has no rate.
fn finite(ns: f64) -> f64 {
    if ns.is_finite() { ns } else { 0.0 }
}

/// Points (requested, observed): the same number from each scan, evenly distributed.
fn staircase(trace: &WaitTrace) -> Vec<[f64; 2]> {
    let scans = trace.runs.iter().flat_map(|run| &run.scans);
    let scans: Vec<&Vec<Wait>> = scans.filter(|scan| !scan.is_empty()).collect();
    let most = (POINTS / scans.len().max(1)).max(1);
    let point = |wait: &Wait| [wait.request_ns as f64, observed_ns(wait, &trace.reference)];
    let few = |scan: &&Vec<Wait>| scan.len().div_ceil(most);
    let kept = scans.iter().take(POINTS);
    kept.flat_map(|scan| scan.iter().step_by(few(scan)))
        .map(point)
        .collect()
}

#[cfg(test)]
mod tests;
