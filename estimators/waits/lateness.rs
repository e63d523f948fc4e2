//! Computes the lateness and the CPU time of waits of each length, and how much both increase with
//! the length: the Theil–Sen slope, which is the median of the slopes of all pairs of waits.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{MIN_REQUEST_NS, late_ns, observed_ns, timed_median, with_step, zero_if_not_finite};
use crate::model::{Interval, Lateness};
use crate::statistics::quantiles::{consistent_quantiles, quantile_over_processes};
use crate::statistics::{mean_over_processes, median, sorted};
use crate::trace::{Wait, WaitRun, WaitTrace};

/// Returns the lateness at each requested length, except at 0 and 1 ns. Long waits, which ran while
/// other sleep primitives waited, are used only for lengths that have no other waits.
pub fn lateness_by_length(trace: &WaitTrace) -> Vec<Lateness> {
    let mut rows = group_by_length(trace, true, |run| &run.long);
    rows.extend(group_by_length(trace, false, |run| &run.lengths));
    rows.retain(|request, row| row.with_others || *request > MIN_REQUEST_NS);
    let lateness = |(request_ns, row): (u64, LengthRow)| row.lateness(request_ns);
    rows.into_iter().map(lateness).collect()
}

/// Groups the waits that `list` selects by requested length. `with_others` tells whether other
/// sleep primitives waited at the same time.
fn group_by_length<'a>(
    trace: &'a WaitTrace,
    with_others: bool,
    list: impl Fn(&'a WaitRun) -> &'a Vec<Wait>,
) -> BTreeMap<u64, LengthRow<'a>> {
    let mut rows = BTreeMap::<u64, LengthRow>::new();
    for (index, run) in trace.runs.iter().enumerate() {
        for wait in list(run) {
            let row = rows.entry(wait.request_ns).or_insert_with(|| LengthRow {
                trace,
                waits: vec![Vec::new(); trace.runs.len()],
                with_others,
            });
            row.waits[index].push(wait);
        }
    }
    rows
}

/// The waits of one requested length.
struct LengthRow<'a> {
    trace: &'a WaitTrace,
    /// A list of waits for each process of the trace.
    waits: Vec<Vec<&'a Wait>>,
    /// Whether other sleep primitives waited at the same time.
    with_others: bool,
}

impl LengthRow<'_> {
    fn lateness(&self, request_ns: u64) -> Lateness {
        let reference = &self.trace.reference;
        let late = self.values_by_process(|wait| Some(late_ns(wait, reference)));
        let all = sorted(late.iter().flatten());
        let count = all.len().max(1) as f64;
        let uncertainty_ns = self.uncertainty(request_ns);
        let early = all.partition_point(|late| *late < -uncertainty_ns);
        let step = zero_if_not_finite(reference.uncertainty_ns()).max(0.0);
        // Negative latenesses within the uncertainty are no evidence that waits were early.
        let lowest = if early == 0 { 0.0 } else { f64::NEG_INFINITY };
        let evident = |found: Interval| {
            found
                .unless_chance(uncertainty_ns)
                .within(lowest, f64::INFINITY)
        };
        let p50_ns = timed_median(&late, reference).map(evident);
        let tail = |probability: f64| {
            let found = quantile_over_processes(&late, probability, 1.0);
            found.map(|found| evident(with_step(found, step)))
        };
        let max_ns = all
            .last()
            .map_or(0.0, |max| evident(Interval::exact(*max)).value);
        let [p50_ns, p99_ns] = consistent_quantiles([p50_ns, tail(0.99)], max_ns);
        // The CPU time of waits that ran concurrently with others is not representative.
        let cpu_ns = if self.with_others {
            None
        } else {
            self.cpu_ns()
        };
        Lateness {
            request_ns,
            waits: all.len() as u64,
            with_others: self.with_others,
            p50_ns,
            p99_ns,
            max_ns,
            uncertainty_ns,
            early: early as f64 / count,
            earliest_ns: all[..early].first().map_or(0.0, |late| -late),
            cpu_ns,
        }
    }

    /// Returns a list for each process with the values of its waits; waits without a value are left
    /// out.
    fn values_by_process(&self, value: impl Fn(&Wait) -> Option<f64>) -> Vec<Vec<f64>> {
        let of_process = |waits: &Vec<&Wait>| waits.iter().filter_map(|wait| value(wait)).collect();
        self.waits.iter().map(of_process).collect()
    }

    /// Returns the largest error of an observed length, in nanoseconds, due to the step, the read
    /// cost and the rate of the reference.
    fn uncertainty(&self, request_ns: u64) -> f64 {
        let reference = &self.trace.reference;
        let empty = self.trace.runs.iter().flat_map(|run| &run.empty);
        let bracket = median(empty.map(|wait| observed_ns(wait, reference)));
        let rate = reference.rate_uncertainty * request_ns as f64;
        zero_if_not_finite(reference.uncertainty_ns() + bracket.unwrap_or(0.0).max(0.0) + rate)
            .max(0.0)
    }

    /// Returns the CPU time of a wait minus that of the empty loop, in nanoseconds.
    fn cpu_ns(&self) -> Option<Interval> {
        let cpu_ns = |wait: &Wait| Some(wait.cpu_ns? as f64);
        let empty = |run: &WaitRun| median(run.empty.iter().filter_map(cpu_ns)).unwrap_or(0.0);
        let by_process = self.values_by_process(cpu_ns);
        let by_process = by_process.iter().zip(&self.trace.runs);
        // The CPU time of a wait is not negative; a negative difference is measurement noise.
        mean_over_processes(by_process.filter_map(|(waits, run)| Some(median(waits)? - empty(run))))
            .map(|cpu| cpu.within(0.0, f64::INFINITY))
    }
}

/// The lengths of waits that the slope of lateness is computed from, in nanoseconds. In shorter
/// waits the constant part of lateness dominates.
const SLOPE_LENGTHS_NS: RangeInclusive<u64> = 10_000_000..=1_000_000_000;
/// The shortest length of waits that the slope of CPU time is computed from, in nanoseconds.
/// *Judgement*: hybrid timers, which sleep first and spin at the end, spin for a shorter time.
const MIN_CPU_SLOPE_NS: u64 = 100_000;
/// The largest number of waits of a process that a slope is computed from; the number of
/// pairs grows with its square. *Numerical*.
const MAX_POINTS: usize = 400;
/// The smallest ratio of the longest wait of a process to the longest wait of all processes at
/// which the slope of the process is used. *Judgement*.
const MIN_LONGEST_RATIO: f64 = 0.5;

/// Returns the slope of lateness over length: the share of its length by which a wait is late.
pub fn lateness_slope(trace: &WaitTrace) -> Option<Interval> {
    // If there are long waits, the waits of chosen lengths are not used, because they were made in
    // other processes, whose lateness may have another constant part.
    let any_long = trace.runs.iter().any(|run| !run.long.is_empty());
    let is_used = |wait: &&Wait| SLOPE_LENGTHS_NS.contains(&wait.request_ns);
    let points = |run: &WaitRun| {
        let scans = run
            .scans
            .iter()
            .filter(|scan| scan.iter().all(|wait| is_used(&wait)));
        let lengths = if any_long { &run.long } else { &run.lengths };
        let waits = lengths.iter().chain(scans.flatten()).filter(is_used);
        let point = |wait: &Wait| (wait.request_ns as f64, late_ns(wait, &trace.reference));
        waits.map(point).collect::<Vec<(f64, f64)>>()
    };
    // The steps of the reference may lengthen the longest waits and shorten the others.
    let longest = trace.runs.iter().flat_map(points).map(|point| point.0);
    let step = trace.reference.uncertainty_ns() / longest.fold(f64::MIN_POSITIVE, f64::max);
    let step = zero_if_not_finite(step).max(0.0);
    let error = step + trace.reference.rate_uncertainty;
    slope(trace, points).map(|slope| with_step(slope, error))
}

/// Returns the slope of CPU time over length: the share of its length for which a wait uses a CPU.
pub fn cpu_slope(trace: &WaitTrace) -> Option<Interval> {
    slope(trace, |run| {
        run.lengths
            .iter()
            .chain(run.scans.iter().flatten())
            .chain(&run.long)
            .filter(|wait| wait.request_ns >= MIN_CPU_SLOPE_NS)
            .filter_map(|wait| Some((wait.request_ns as f64, wait.cpu_ns? as f64)))
            .collect()
    })
}

/// Returns the mean of the slopes of the processes; `points` gives the points of a process, as
/// pairs of length and lateness or CPU time.
fn slope(trace: &WaitTrace, points: impl Fn(&WaitRun) -> Vec<(f64, f64)>) -> Option<Interval> {
    let runs: Vec<Vec<(f64, f64)>> = trace.runs.iter().map(points).collect();
    let longest = |points: &Vec<(f64, f64)>| points.iter().map(|point| point.0).fold(0.0, f64::max);
    let shortest_range = MIN_LONGEST_RATIO * runs.iter().map(longest).fold(0.0, f64::max);
    let used = runs
        .iter()
        .filter(|points| longest(points) >= shortest_range);
    mean_over_processes(used.filter_map(|points| theil_sen(points)))
}

/// Returns the median of the slopes of all pairs of points. `None` if no two points differ in
/// length.
fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let sampled: Vec<&(f64, f64)> = points
        .iter()
        .step_by(points.len().div_ceil(MAX_POINTS).max(1))
        .collect();
    let pairs = sampled
        .iter()
        .enumerate()
        .flat_map(|(at, from)| sampled[..at].iter().map(move |to| (from, to)));
    median(
        pairs
            .filter(|(from, to)| from.0 != to.0)
            .map(|(from, to)| (from.1 - to.1) / (from.0 - to.0)),
    )
}
