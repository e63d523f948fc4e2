//! What grows with the length of a wait: Theil and Sen's slope, the median of the slopes of all pairs, over fresh processes.

use std::ops::RangeInclusive;

use super::late_ns;
use crate::analysis::quantiles::agreed;
use crate::analysis::statistics::median;
use crate::model::Figure;
use crate::trace::{Wait, WaitRun, WaitTrace};

/// Lengths that tell the proportional error, in nanoseconds: below, what does not grow outweighs it.
const TELLING: RangeInclusive<u64> = 10_000_000..=1_000_000_000;
/// Shortest length that tells how CPU time grows, in nanoseconds.
/// *Judgement*: what a hybrid timer computes at the end is shorter.
const CPU_FROM: u64 = 100_000;
/// Points of a process, at most: pairs are the square of it.
/// *Default*: moves no figure.
const MOST: usize = 400;
/// A process tells the slope if its longest wait is at least this share of the longest of all.
/// *Judgement*.
const REACHES: f64 = 0.5;

/// Lateness over length, a share.
pub(super) fn proportional(trace: &WaitTrace) -> Option<Figure> {
    // Long waits are made in processes of their own, which may be late by something else throughout.
    let any_long = trace.runs.iter().any(|run| !run.long.is_empty());
    let tells = |wait: &&Wait| TELLING.contains(&wait.request_ns);
    let of = |run: &WaitRun| -> Vec<(f64, f64)> {
        let scans = run.scans.iter().filter(|scan| scan.iter().all(|wait| tells(&wait)));
        let lengths = if any_long { &run.long } else { &run.lengths };
        let waits = lengths.iter().chain(scans.flatten()).filter(tells);
        waits.map(|wait| (wait.request_ns as f64, late_ns(wait, &trace.reference))).collect()
    };
    over_runs(trace, of)
}

/// CPU time over length, a share.
pub(super) fn cpu(trace: &WaitTrace) -> Option<Figure> {
    let of = |run: &WaitRun| -> Vec<(f64, f64)> {
        let waits = run.lengths.iter().chain(run.scans.iter().flatten()).chain(&run.long);
        let told = waits.filter(|wait| wait.request_ns >= CPU_FROM);
        told.filter_map(|wait| Some((wait.request_ns as f64, wait.cpu_ns? as f64))).collect()
    };
    over_runs(trace, of)
}

fn over_runs(trace: &WaitTrace, of: impl Fn(&WaitRun) -> Vec<(f64, f64)>) -> Option<Figure> {
    let runs: Vec<Vec<(f64, f64)>> = trace.runs.iter().map(of).collect();
    let longest = |points: &[(f64, f64)]| points.iter().map(|point| point.0).fold(0.0, f64::max);
    let reach = REACHES * runs.iter().map(|points| longest(points)).fold(0.0, f64::max);
    let telling = runs.iter().filter(|points| longest(points) >= reach);
    agreed(&telling.filter_map(|points| theil_sen(points)).collect::<Vec<_>>())
}

/// The median of the slopes of all pairs of points. `None` where all have the same abscissa.
fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let few: Vec<(f64, f64)> = points.iter().step_by(points.len().div_ceil(MOST).max(1)).copied().collect();
    let pairs = few.iter().enumerate().flat_map(|(at, from)| few[..at].iter().map(move |to| (from, to)));
    let slopes: Vec<f64> = pairs
        .filter(|(from, to)| from.0 != to.0)
        .map(|(from, to)| (from.1 - to.1) / (from.0 - to.0))
        .collect();
    median(&slopes)
}
