//! Analyses sleep primitives (functions that wait for a given time): computes their granularity,
//! lateness and cost from single waits.

mod granularity;
mod lateness;

use crate::model::{Interval, WaitFigures};
use crate::statistics::quantiles::median_over_processes;
use crate::statistics::{mean, mean_over_processes, median, quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun, WaitTrace};

/// The shortest positive request, in nanoseconds. The median duration of such waits is the *floor*:
/// the shortest possible wait. *Definition*.
const MIN_REQUEST_NS: u64 = 1;
/// The smallest distance between the quartiles of durations, in steps of the reference, at which
/// their median is read from them. If they vary by less, the median of the readings is a whole
/// number of steps, and their mean is closer to the truth. *Judgement*.
const MIN_RESOLVED_STEPS: f64 = 2.0;

/// Computes the results for a sleep primitive.
pub fn figures(trace: &WaitTrace) -> WaitFigures {
    // A reading of a reference that steps back may be wrong by such a step, which was longer by the
    // lateness of the wait during which it stepped.
    let widened = trace.backward_steps().map(|(_, step_ns)| {
        let mut widened = trace.clone();
        let late = trace.runs.iter().flat_map(|run| &run.lengths);
        let late_ns = median(late.map(|wait| late_ns(wait, &trace.reference))).unwrap_or(0.0);
        let uncertainty_ns = trace.reference.uncertainty_ns() + step_ns + late_ns.max(0.0);
        widened.reference.step_at_most = Some(uncertainty_ns / trace.reference.ns_per_tick);
        widened
    });
    let trace = widened.as_ref().unwrap_or(trace);
    let runs = || trace.runs.iter();
    let shortest = |run: &WaitRun| {
        run.lengths
            .iter()
            .filter(|wait| wait.request_ns == MIN_REQUEST_NS)
            .map(|wait| observed_ns(wait, &trace.reference))
            .collect()
    };
    let shortest: Vec<Vec<f64>> = runs().map(shortest).collect();
    let floor_ns = timed_median(&shortest, &trace.reference);
    let wait_count =
        |run: &WaitRun| run.lengths.len() + run.long.len() + run.scans.iter().flatten().count();
    WaitFigures {
        steps: granularity::granularity(&trace.runs, &trace.reference),
        floor_ns: floor_ns.map(|floor| floor.within(0.0, f64::INFINITY)),
        lateness: lateness::lateness_by_length(trace),
        proportional_ppm: lateness::lateness_slope(trace).map(|slope| slope.scaled(1e6)),
        cpu_slope: lateness::cpu_slope(trace),
        processes: trace.runs.len() as u32,
        waits: runs().map(wait_count).sum::<usize>() as u64,
    }
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

/// Returns the median of durations or latenesses that the reference timed, in nanoseconds. A reading
/// shows the last step of the reference, so that each value is wrong by up to a step in either
/// direction; the interval contains that error. If the steps hide how the values vary, the result is
/// their mean without outliers: the errors of readings at random phases of a step cancel in it.
fn timed_median(processes: &[Vec<f64>], reference: &Reference) -> Option<Interval> {
    let step = zero_if_not_finite(reference.uncertainty_ns()).max(0.0);
    let found = median_over_processes(processes)?;
    if !hides_variation(&sorted(processes.iter().flatten()), step) {
        return Some(with_step(found, step));
    }
    let middle = found.value;
    let near_middle = |value: &f64| value.clamp(middle - step, middle + step);
    let means: Vec<f64> = processes
        .iter()
        .filter_map(|values| mean(values.iter().map(near_middle)))
        .collect();
    let interval = mean_over_processes(&means).filter(|_| found.is_bounded());
    // The value is the plain mean, because it averages the errors of all readings.
    let value = mean(&means)?;
    let found = interval.unwrap_or(Interval::unbounded(value));
    Some(with_step(Interval { value, ..found }, step))
}

/// Returns whether these sorted values vary so little that the steps of the reference hide how.
fn hides_variation(sorted: &[f64], step_ns: f64) -> bool {
    let [low, high] = [0.25, 0.75].map(|share| quantile(sorted, share).unwrap_or(0.0));
    high - low < MIN_RESOLVED_STEPS * step_ns
}

/// Returns the interval widened by a step of the reference in either direction.
fn with_step(found: Interval, step_ns: f64) -> Interval {
    Interval {
        low: found.low - step_ns,
        high: found.high + step_ns,
        ..found
    }
}

#[cfg(test)]
mod tests;
