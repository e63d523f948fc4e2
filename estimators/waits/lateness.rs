//! How late waits of one length were, what they took of the CPU, and what grows with the length:
//! Theil and Sen's slope, the median of the slopes of all pairs, over fresh processes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{SHORTEST, late_ns, observed_ns};
use crate::model::{Interval, Lateness, LatenessHistogram};
use crate::statistics::quantiles::{agreed_median, agreed_quantile};
use crate::statistics::{median, over_processes};
use crate::trace::{Wait, WaitRun, WaitTrace};

/// Waits from which a median is told.
/// *Default*: moves no figure.
const FOR_P50: usize = 5;
/// Waits from which a 90th percentile is told.
/// *Chance*: five lie beyond it.
const FOR_P90: usize = 50;
/// Waits from which a 99th percentile is told.
/// *Default*: moves no figure.
const FOR_P99: usize = 500;
/// Waits from which a 99.9th percentile is told.
/// *Default*: moves no figure.
const FOR_P999: usize = 5_000;

/// A row for each length but those that tell the floor. Long waits, which were made beside others,
/// tell what nothing else does.
pub fn rows(trace: &WaitTrace, hertz: Option<f64>) -> Vec<Lateness> {
    let lengths = by_length(trace, |run| &run.lengths);
    let mut all = by_length(trace, |run| &run.long);
    all.retain(|request, _| !lengths.contains_key(request));
    let beside = all
        .into_iter()
        .map(|(request, waits)| (request, waits, true));
    let alone = lengths
        .into_iter()
        .filter(|(request, _)| *request > SHORTEST);
    let mut rows: Vec<(u64, Vec<Vec<&Wait>>, bool)> = alone
        .map(|(request, waits)| (request, waits, false))
        .chain(beside)
        .collect();
    rows.sort_by_key(|(request, ..)| *request);
    rows.iter()
        .map(|(request, waits, beside)| {
            LengthRow {
                trace,
                waits,
                beside: *beside,
            }
            .figures(*request, hertz)
        })
        .collect()
}

/// Waits of each length, a list for each process.
fn by_length<'a>(
    trace: &'a WaitTrace,
    of: impl Fn(&'a WaitRun) -> &'a Vec<Wait>,
) -> BTreeMap<u64, Vec<Vec<&'a Wait>>> {
    let mut lengths = BTreeMap::<u64, Vec<Vec<&Wait>>>::new();
    for (index, run) in trace.runs.iter().enumerate() {
        for wait in of(run) {
            let processes = lengths
                .entry(wait.request_ns)
                .or_insert_with(|| vec![Vec::new(); trace.runs.len()]);
            processes[index].push(wait);
        }
    }
    lengths
}

/// Where no wait returns early no quantile lies below zero: an interval that few waits leave wide
/// does not, either.
fn not_early(known: Interval) -> Interval {
    known.adjust_ends(|low| low.max(known.value.min(0.0)), |high| high)
}

/// Waits of one length, a list for each process of the trace.
struct LengthRow<'a> {
    trace: &'a WaitTrace,
    waits: &'a [Vec<&'a Wait>],
    /// Whether they were made beside others.
    beside: bool,
}

impl LengthRow<'_> {
    fn figures(&self, request_ns: u64, hertz: Option<f64>) -> Lateness {
        let reference = &self.trace.reference;
        let late = self.each(|wait| Some(late_ns(wait, reference)));
        let all = late.concat();
        let early: Vec<f64> = all
            .iter()
            .copied()
            .filter(|late| *late < -self.uncertainty(request_ns))
            .collect();
        // What a wait costs beside others is not what it costs.
        let cpu_ns = if self.beside { None } else { self.cpu() };
        let error_ns =
            median(&all.iter().map(|late| late.abs()).collect::<Vec<_>>()).unwrap_or(0.0);
        Lateness {
            request_ns,
            waits: all.len() as u64,
            beside_others: self.beside,
            p50_ns: agreed_median(&late)
                .filter(|_| all.len() >= FOR_P50)
                .map(|p50| {
                    if early.is_empty() {
                        not_early(p50)
                    } else {
                        p50
                    }
                }),
            p90_ns: agreed_quantile(&late, 0.9, FOR_P90, 1.0),
            p99_ns: agreed_quantile(&late, 0.99, FOR_P99, 1.0),
            p999_ns: agreed_quantile(&late, 0.999, FOR_P999, 1.0),
            max_ns: all.iter().copied().reduce(f64::max).unwrap_or(0.0),
            timers_part_ns: self.timers_part(),
            early: early.len() as f64 / all.len().max(1) as f64,
            earliest_ns: -early.iter().copied().fold(0.0, f64::min),
            cpu_cycles: cpu_ns
                .zip(hertz)
                .map(|(cpu, hertz)| cpu.value * hertz * 1e-9),
            cpu_ns,
            error_ns,
            spread: self.spread(error_ns),
            quality: None,
            histogram: histogram(&all),
        }
    }

    /// Something of each wait that has it, a list for each process.
    fn each(&self, of: impl Fn(&Wait) -> Option<f64>) -> Vec<Vec<f64>> {
        self.waits
            .iter()
            .map(|waits| waits.iter().filter_map(|wait| of(wait)).collect())
            .collect()
    }

    /// What the clock that saw it can be off by, in nanoseconds: its step, what reading it takes,
    /// its rate.
    fn uncertainty(&self, request_ns: u64) -> f64 {
        let reference = &self.trace.reference;
        let brackets: Vec<f64> = self
            .trace
            .runs
            .iter()
            .flat_map(|run| &run.empty)
            .map(|wait| observed_ns(wait, reference))
            .collect();
        let sum = reference.uncertainty_ns()
            + median(&brackets).unwrap_or(0.0).max(0.0)
            + reference.rate_uncertainty * request_ns as f64;
        if sum.is_finite() { sum.max(0.0) } else { 0.0 }
    }

    /// Median lateness less the time that the thread was ready to run and had no CPU. Where it
    /// spins that time may be long over before the deadline.
    fn timers_part(&self) -> Option<Interval> {
        let reference = &self.trace.reference;
        let part = |wait: &Wait| Some(late_ns(wait, reference) - wait.run_delay_ns? as f64);
        self.trace.blocks.then(|| agreed_median(&self.each(part)))?
    }

    /// CPU time of a wait less that of the loop that waits for nothing, in nanoseconds.
    fn cpu(&self) -> Option<Interval> {
        let cpu = |waits: &mut dyn Iterator<Item = &Wait>| {
            median(
                &waits
                    .filter_map(|wait| wait.cpu_ns)
                    .map(|ns| ns as f64)
                    .collect::<Vec<_>>(),
            )
        };
        let each = self
            .waits
            .iter()
            .zip(&self.trace.runs)
            .filter_map(|(waits, run)| {
                Some(cpu(&mut waits.iter().copied())? - cpu(&mut run.empty.iter()).unwrap_or(0.0))
            });
        // None takes less than nothing: what the loop takes is known no better than that.
        over_processes(&each.collect::<Vec<_>>()).map(|cpu| cpu.within(0.0, f64::INFINITY))
    }

    /// Share of waits within ±1 resolution of the median observed length.
    fn spread(&self, error_ns: f64) -> Option<f64> {
        let late = self
            .each(|wait| Some(late_ns(wait, &self.trace.reference)))
            .concat();
        let middle = median(&late)?;
        let within = late
            .iter()
            .filter(|late| (**late - middle).abs() <= error_ns)
            .count();
        Some(within as f64 / late.len() as f64)
    }
}

fn histogram(late: &[f64]) -> LatenessHistogram {
    let mut histogram = LatenessHistogram::default();
    for late in late {
        *histogram
            .bins
            .entry(LatenessHistogram::bin(*late))
            .or_default() += 1;
    }
    histogram
}

/// Lengths that tell the proportional error, in nanoseconds: below, what does not grow outweighs
/// it.
const SLOPE_REQUESTS: RangeInclusive<u64> = 10_000_000..=1_000_000_000;
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
pub fn proportional(trace: &WaitTrace) -> Option<Interval> {
    // Long waits are made in processes of their own, which may be late by something else
    // throughout.
    let any_long = trace.runs.iter().any(|run| !run.long.is_empty());
    let tells = |wait: &&Wait| SLOPE_REQUESTS.contains(&wait.request_ns);
    let of = |run: &WaitRun| -> Vec<(f64, f64)> {
        let scans = run
            .scans
            .iter()
            .filter(|scan| scan.iter().all(|wait| tells(&wait)));
        let lengths = if any_long { &run.long } else { &run.lengths };
        let waits = lengths.iter().chain(scans.flatten()).filter(tells);
        waits
            .map(|wait| (wait.request_ns as f64, late_ns(wait, &trace.reference)))
            .collect()
    };
    over_runs(trace, of)
}

/// CPU time over length, a share.
pub fn cpu(trace: &WaitTrace) -> Option<Interval> {
    let of = |run: &WaitRun| -> Vec<(f64, f64)> {
        let waits = run
            .lengths
            .iter()
            .chain(run.scans.iter().flatten())
            .chain(&run.long);
        let long = waits.filter(|wait| wait.request_ns >= CPU_FROM);
        long.filter_map(|wait| Some((wait.request_ns as f64, wait.cpu_ns? as f64)))
            .collect()
    };
    over_runs(trace, of)
}

fn over_runs(trace: &WaitTrace, of: impl Fn(&WaitRun) -> Vec<(f64, f64)>) -> Option<Interval> {
    let runs: Vec<Vec<(f64, f64)>> = trace.runs.iter().map(of).collect();
    let longest = |points: &[(f64, f64)]| points.iter().map(|point| point.0).fold(0.0, f64::max);
    let reach = REACHES
        * runs
            .iter()
            .map(|points| longest(points))
            .fold(0.0, f64::max);
    let telling = runs.iter().filter(|points| longest(points) >= reach);
    over_processes(
        &telling
            .filter_map(|points| theil_sen(points))
            .collect::<Vec<_>>(),
    )
}

/// The median of the slopes of all pairs of points. `None` where all have the same abscissa.
fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let few: Vec<(f64, f64)> = points
        .iter()
        .step_by(points.len().div_ceil(MOST).max(1))
        .copied()
        .collect();
    let pairs = few
        .iter()
        .enumerate()
        .flat_map(|(at, from)| few[..at].iter().map(move |to| (from, to)));
    let slopes: Vec<f64> = pairs
        .filter(|(from, to)| from.0 != to.0)
        .map(|(from, to)| (from.1 - to.1) / (from.0 - to.0))
        .collect();
    median(&slopes)
}
