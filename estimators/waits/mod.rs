//! Analyses waits: functions that wait for a given time, and timers that wake a thread
//! periodically. A wait ends late; its lateness is its end less the time at which it was due, by the
//! reference.

mod granularity;
mod lateness;
pub mod periods;

use std::collections::BTreeMap;

use crate::model::WaitFigures;
use crate::statistics::quantiles::median_slope;
use crate::statistics::{mean_over_processes, median};
use crate::trace::{Reference, Wait, WaitObservations, WaitTrace};

/// The shortest waits that show how lateness grows with the length, in nanoseconds. In shorter ones
/// its constant part dominates. *Judgement*.
const MIN_SLOPE_LENGTH_NS: u64 = 10_000_000;

/// Computes the results for a sleep primitive.
pub fn figures(trace: &WaitTrace) -> WaitFigures {
    let WaitTrace { reference, runs } = trace;
    let late = |wait: &&Wait| late_ns(wait, reference);
    // The waits of each length, a list for each process.
    let mut lengths = BTreeMap::<u64, Vec<Vec<&Wait>>>::new();
    for (process, run) in runs.iter().enumerate() {
        // Earlier versions also requested waits of 1 ns, the shortest possible.
        let waits = run.lengths.iter().chain(&run.long);
        for wait in waits.filter(|wait| wait.request_ns > 1) {
            let of_length = lengths.entry(wait.request_ns);
            of_length.or_insert_with(|| vec![Vec::new(); runs.len()])[process].push(wait);
        }
    }
    // The error of a reading is a step. If the reference stepped back during waits, it is also the
    // longest such step, which was longer than the wait shows by the lateness of the wait.
    let back_ns = trace.backward_steps().map_or(0.0, |(_, step_ns)| {
        let all = lengths.values().flatten().flatten();
        step_ns + median(all.map(late)).unwrap_or(0.0).max(0.0)
    });
    let error_ns = reference.uncertainty_ns() + back_ns;
    let empty = runs.iter().flat_map(|run| &run.empty);
    let bracket_ns = median(empty.map(|wait| observed_ns(wait, reference))).unwrap_or(0.0);
    let mut rows = Vec::new();
    for (request_ns, processes) in &lengths {
        let late = processes
            .iter()
            .map(|waits| waits.iter().map(late).collect());
        let single_ns = bracket_ns.max(0.0) + reference.rate_uncertainty * *request_ns as f64;
        let row = lateness::lateness(
            *request_ns,
            &late.collect::<Vec<_>>(),
            [error_ns, single_ns],
        );
        // The CPU time of a wait is that of the loop less that of the empty loop.
        let cpu_ns = |wait: &&Wait| Some(wait.cpu_ns? as f64);
        let cpu = |(waits, run): (&Vec<&Wait>, &WaitObservations)| {
            let empty = median(run.empty.iter().filter_map(|wait| cpu_ns(&wait)));
            Some(median(waits.iter().filter_map(cpu_ns))? - empty.unwrap_or(0.0))
        };
        let cpu = mean_over_processes(processes.iter().zip(runs).filter_map(cpu));
        rows.extend(row.map(|row| row.with_cpu_time(cpu)));
    }
    // The line through the median lateness of each length.
    let slope = |process: usize| {
        let point = |(request_ns, processes): (&u64, &Vec<Vec<&Wait>>)| {
            let late = median(processes[process].iter().map(late))?;
            Some([*request_ns as f64, late])
        };
        let points = lengths.range(MIN_SLOPE_LENGTH_NS..).filter_map(point);
        median_slope(&points.collect::<Vec<_>>())
    };
    let longest_ns = lengths.keys().next_back().copied().unwrap_or(1) as f64;
    let rate_error = reference.rate_uncertainty + error_ns / longest_ns;
    let slope = mean_over_processes((0..runs.len()).filter_map(slope));
    let wait_count = |run: &WaitObservations| {
        run.lengths.len() + run.long.len() + run.scans.iter().flatten().count()
    };
    WaitFigures {
        steps: granularity::granularity(runs, reference),
        lateness: rows,
        proportional_ppm: slope.map(|slope| slope.widened_by(rate_error).scaled(1e6)),
        processes: runs.len() as u32,
        waits: runs.iter().map(wait_count).sum::<usize>() as u64,
    }
}

/// Returns the duration of a wait, in nanoseconds.
fn observed_ns(wait: &Wait, reference: &Reference) -> f64 {
    reference.ns(wait.before, wait.after)
}

/// Returns the lateness: duration minus requested length, in nanoseconds.
fn late_ns(wait: &Wait, reference: &Reference) -> f64 {
    observed_ns(wait, reference) - wait.request_ns as f64
}

#[cfg(test)]
mod tests;
