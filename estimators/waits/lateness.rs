//! Lateness and CPU time of waits of one length, and their increase with the length: the Theil–Sen
//! slope, the median of the slopes of all pairs, over fresh processes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{SHORTEST, finite, late_ns, observed_ns};
use crate::model::{Interval, Lateness, LatenessHistogram};
use crate::statistics::quantiles::{median_over_processes, quantile_over_processes};
use crate::statistics::{mean_over_processes, median, quantile, sorted};
use crate::trace::{Wait, WaitRun, WaitTrace};

/// The least number of waits for a median. *Default*: moves no figure.
const FOR_P50: usize = 5;
/// The least number of waits for a 90th percentile. *Chance*: five lie beyond it.
const FOR_P90: usize = 50;
/// The least number of waits for a 99th percentile. *Default*: moves no figure.
const FOR_P99: usize = 500;
/// The least number of waits for a 99.9th percentile. *Default*: moves no figure.
const FOR_P999: usize = 5_000;

/// Returns a row for each length except those of the floor. Long waits, which ran concurrently with
/// others, are used for lengths without other waits.
pub fn rows(trace: &WaitTrace, hertz: Option<f64>) -> Vec<Lateness> {
    let mut rows = by_length(trace, true, |run| &run.long);
    rows.extend(by_length(trace, false, |run| &run.lengths));
    rows.retain(|request, row| row.with_others || *request > SHORTEST);
    let figures = |(request_ns, row): (u64, LengthRow)| row.figures(request_ns, hertz);
    rows.into_iter().map(figures).collect()
}

/// Groups waits by length.
fn by_length<'a>(
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

/// Waits of one length, a list for each process of the trace.
struct LengthRow<'a> {
    trace: &'a WaitTrace,
    waits: Vec<Vec<&'a Wait>>,
    /// Whether they ran concurrently with others.
    with_others: bool,
}

impl LengthRow<'_> {
    fn figures(&self, request_ns: u64, hertz: Option<f64>) -> Lateness {
        let reference = &self.trace.reference;
        let late = self.each(|wait| Some(late_ns(wait, reference)));
        let all = sorted(late.iter().flatten());
        let count = all.len().max(1) as f64;
        let early = all.partition_point(|late| *late < -self.uncertainty(request_ns));
        let error_ns = median(all.iter().map(|late| late.abs())).unwrap_or(0.0);
        let spread = |middle: f64| {
            let near = |late: &&f64| (**late - middle).abs() <= error_ns;
            all.iter().filter(near).count() as f64 / count
        };
        // If no wait returns early, no quantile is negative, so its interval is limited as well.
        let bounded = |p50: Interval| match early {
            0 => p50.within(p50.value.min(0.0), f64::INFINITY),
            _ => p50,
        };
        // The CPU time of concurrent waits is not representative.
        let cpu_ns = if self.with_others { None } else { self.cpu() };
        Lateness {
            request_ns,
            waits: all.len() as u64,
            with_others: self.with_others,
            p50_ns: median_over_processes(&late)
                .filter(|_| all.len() >= FOR_P50)
                .map(bounded),
            p90_ns: quantile_over_processes(&late, 0.9, FOR_P90, 1.0),
            p99_ns: quantile_over_processes(&late, 0.99, FOR_P99, 1.0),
            p999_ns: quantile_over_processes(&late, 0.999, FOR_P999, 1.0),
            max_ns: all.last().copied().unwrap_or(0.0),
            timers_part_ns: self.timers_part(),
            early: early as f64 / count,
            earliest_ns: all[..early].first().map_or(0.0, |late| -late),
            cpu_cycles: cpu_ns
                .zip(hertz)
                .map(|(cpu, hertz)| cpu.value * hertz * 1e-9),
            cpu_ns,
            error_ns,
            spread: quantile(&all, 0.5).map(spread),
            quality: None,
            histogram: histogram(&all),
        }
    }

    /// The values of `figure` for the waits that have one, a list for each process.
    fn each(&self, figure: impl Fn(&Wait) -> Option<f64>) -> Vec<Vec<f64>> {
        let of_process =
            |waits: &Vec<&Wait>| waits.iter().filter_map(|wait| figure(wait)).collect();
        self.waits.iter().map(of_process).collect()
    }

    /// Uncertainty of the reference for a wait, in nanoseconds: its step, its read cost and its
    /// rate.
    fn uncertainty(&self, request_ns: u64) -> f64 {
        let reference = &self.trace.reference;
        let empty = self.trace.runs.iter().flat_map(|run| &run.empty);
        let bracket = median(empty.map(|wait| observed_ns(wait, reference)));
        let rate = reference.rate_uncertainty * request_ns as f64;
        finite(reference.uncertainty_ns() + bracket.unwrap_or(0.0).max(0.0) + rate).max(0.0)
    }

    /// Median lateness minus the time in which the thread was ready to run but had no CPU. If the
    /// thread spins, this time may have ended long before the deadline.
    fn timers_part(&self) -> Option<Interval> {
        let reference = &self.trace.reference;
        let part = |wait: &Wait| Some(late_ns(wait, reference) - wait.run_delay_ns? as f64);
        self.trace
            .blocks
            .then(|| median_over_processes(&self.each(part)))?
    }

    /// CPU time of a wait minus that of the empty loop, in nanoseconds.
    fn cpu(&self) -> Option<Interval> {
        let cpu_ns = |wait: &Wait| Some(wait.cpu_ns? as f64);
        let empty = |run: &WaitRun| median(run.empty.iter().filter_map(cpu_ns)).unwrap_or(0.0);
        let each = self.each(cpu_ns);
        let each = each.iter().zip(&self.trace.runs);
        // CPU time is not negative; a negative difference is within the uncertainty of the loop.
        mean_over_processes(each.filter_map(|(waits, run)| Some(median(waits)? - empty(run))))
            .map(|cpu| cpu.within(0.0, f64::INFINITY))
    }
}

fn histogram(late: &[f64]) -> LatenessHistogram {
    let mut histogram = LatenessHistogram::default();
    for late in late {
        let bin = LatenessHistogram::bin(*late);
        *histogram.bins.entry(bin).or_default() += 1;
    }
    histogram
}

/// The range of lengths for the proportional error, in nanoseconds: below it, constant lateness
/// dominates.
const SLOPE_REQUESTS: RangeInclusive<u64> = 10_000_000..=1_000_000_000;
/// The shortest length for the slope of CPU time, in nanoseconds. *Judgement*: what a hybrid timer
/// computes at the end is shorter.
const CPU_FROM: u64 = 100_000;
/// The largest number of points of a process; the number of pairs is quadratic in it. *Default*:
/// moves no figure.
const MOST: usize = 400;
/// The least ratio of the longest wait of a process to the longest wait of all for the process to
/// be used. *Judgement*.
const REACHES: f64 = 0.5;

/// The slope of lateness over length, a share.
pub fn proportional(trace: &WaitTrace) -> Option<Interval> {
    // Long waits are made in separate processes, whose lateness may have another constant part.
    let any_long = trace.runs.iter().any(|run| !run.long.is_empty());
    let counts = |wait: &&Wait| SLOPE_REQUESTS.contains(&wait.request_ns);
    slope(trace, |run| {
        let scans = run.scans.iter();
        let scans = scans.filter(|scan| scan.iter().all(|wait| counts(&wait)));
        let lengths = if any_long { &run.long } else { &run.lengths };
        let waits = lengths.iter().chain(scans.flatten()).filter(counts);
        let point = |wait: &Wait| (wait.request_ns as f64, late_ns(wait, &trace.reference));
        waits.map(point).collect()
    })
}

/// The slope of CPU time over length, a share.
pub fn cpu(trace: &WaitTrace) -> Option<Interval> {
    slope(trace, |run| {
        let waits = run.lengths.iter().chain(run.scans.iter().flatten());
        let long = waits
            .chain(&run.long)
            .filter(|wait| wait.request_ns >= CPU_FROM);
        long.filter_map(|wait| Some((wait.request_ns as f64, wait.cpu_ns? as f64)))
            .collect()
    })
}

/// Combines the slopes of the processes.
fn slope(trace: &WaitTrace, points: impl Fn(&WaitRun) -> Vec<(f64, f64)>) -> Option<Interval> {
    let runs: Vec<Vec<(f64, f64)>> = trace.runs.iter().map(points).collect();
    let longest = |points: &Vec<(f64, f64)>| points.iter().map(|point| point.0).fold(0.0, f64::max);
    let reach = REACHES * runs.iter().map(longest).fold(0.0, f64::max);
    let far = runs.iter().filter(|points| longest(points) >= reach);
    mean_over_processes(far.filter_map(|points| theil_sen(points)))
}

/// The median of the slopes of all pairs of points. `None` if all points have the same abscissa.
fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let few: Vec<&(f64, f64)> = points
        .iter()
        .step_by(points.len().div_ceil(MOST).max(1))
        .collect();
    let pairs = few
        .iter()
        .enumerate()
        .flat_map(|(at, from)| few[..at].iter().map(move |to| (from, to)));
    median(
        pairs
            .filter(|(from, to)| from.0 != to.0)
            .map(|(from, to)| (from.1 - to.1) / (from.0 - to.0)),
    )
}
