//! Analyses periodic timers: rate, jitter, and the policy for missed expirations. The policy
//! follows from the first wake-ups after a stall: a burst makes up for all expirations, a skip is
//! late by whole periods, a delay by the length of the stall.

mod grid;

use std::ops::Range;

use self::grid::{GridFigures, Ticking};
use crate::model::{MissedPolicy, PeriodFigures};
use crate::statistics::quantiles::{median_over_processes, quantile_over_processes};
use crate::statistics::{mean_over_processes, median, quantile, sorted};
use crate::trace::{PeriodRun, PeriodTrace};

/// The least number of wake-ups of a process. *Default*: moves no figure.
const FEWEST: usize = 8;
/// Wake-ups at the end of a process whose missed expirations are not counted; they are needed to
/// classify the preceding wake-ups. *Computed*.
pub const SKIPPED_AT_END: usize = grid::SETTLING;
/// The least number of intervals, or wake-ups, for a 99th percentile. *Chance*: five lie beyond it.
const FOR_P99: usize = 500;

/// Computes all results for a periodic timer.
pub fn figures(trace: &PeriodTrace) -> PeriodFigures {
    let ns_per_tick = Some(trace.reference.ns_per_tick);
    let ns_per_tick = ns_per_tick
        .filter(|ns| ns.is_finite() && *ns > 0.0)
        .unwrap_or(1.0);
    let period = trace.period_ns.max(1) as f64;
    let mut found = PeriodFigures {
        processes: trace.runs.len() as u32,
        ..PeriodFigures::default()
    };
    for PeriodRun { wakeups, stalls } in &trace.runs {
        let reported = wakeups.len().saturating_sub(SKIPPED_AT_END);
        for (at, (_, count)) in wakeups.iter().enumerate() {
            found.expirations = found.expirations.saturating_add(*(count.max(&1)));
            if at < reported {
                let missed = count.saturating_sub(1);
                found.missed_reported = found.missed_reported.saturating_add(missed);
            }
        }
        found.wakeups += wakeups.len() as u64;
        found.stalls += stalls.len() as u32;
    }
    found.missed = found.missed_reported;
    let long_enough = trace.runs.iter().filter(|run| run.wakeups.len() >= FEWEST);
    let runs = long_enough.filter_map(|run| Ticking::from_run(run, period / ns_per_tick));
    let runs: Vec<Ticking> = runs.collect();
    if runs.is_empty() {
        return found;
    }
    found.policy = agreed_policy(&runs);
    // A timer that starts a new period after a late wake-up has no grid, and neither has a timer
    // without stalls whose wake-ups do not keep to a grid.
    let grids = match found.policy {
        Some(policy) => policy != MissedPolicy::Delay,
        None => keeps_its_grid(&runs),
    };
    let figures: Vec<GridFigures> = runs
        .iter()
        .map(|run| match grids {
            true => run.on_its_grid(),
            false => run.one_after_another(),
        })
        .collect();
    let scaled = |list: fn(&GridFigures) -> &Vec<f64>| -> Vec<Vec<f64>> {
        let ns = |run| list(run).iter().map(|ticks| ticks * ns_per_tick).collect();
        figures.iter().map(ns).collect()
    };
    let (jitter, late) = (scaled(|run| &run.jitter), scaled(|run| &run.late));
    let rate_error = |ticks: f64| 1e6 * (ticks * ns_per_tick / period - 1.0);
    let periods = figures.iter().filter_map(|run| run.period);
    found.rate_error_ppm = mean_over_processes(periods.map(rate_error));
    found.jitter_p50_ns = median_over_processes(&jitter);
    // A late wake-up changes two intervals.
    found.jitter_p99_ns = quantile_over_processes(&jitter, 0.99, FOR_P99, 2.0);
    found.lateness_p50_ns = median_over_processes(&late);
    found.lateness_p99_ns = quantile_over_processes(&late, 0.99, FOR_P99, 1.0);
    found.max_ns = late.iter().flatten().copied().reduce(f64::max);
    for run in &figures {
        found.missed = found.missed.saturating_add(run.missed_silently);
    }
    found
}

/// The length of a stall, in periods. *Definition*: by how stalls are made.
const STALL: f64 = 3.5;
/// The largest deviation from the expectation for a policy, in periods. *Default*: moves no figure.
const NEAR: f64 = 0.25;
/// The quantile of apparent shifts of a fixed grid without a stall that limits the tolerance.
/// *Default*: moves no figure.
const SEEMS: f64 = 0.95;
/// The least and the greatest tolerance for an apparent shift, as a share of the distance between
/// the policies. *Default*: moves no figure.
const SIGNIFICANT: [f64; 2] = [0.1, 0.5];
/// The least share of stalls that must agree. *Judgement*.
const AGREED: f64 = 0.6;
/// The least ratio of the distance between the policies to the error of a single stall at which the
/// stalls decide, so that the distance is at least two standard errors of a few stalls. *Computed*.
const APART: f64 = 4.0;
/// Wake-ups on either side of a stall that determine the grid. *Default*: moves no figure.
const NEIGHBOURS: usize = 5;
/// The number of wake-ups between two determinations of the grid across a stall, over which
/// deviations accumulate if each wake-up starts a new period. *Judgement*.
const WALKED: f64 = 10.0;
/// The ratio of the standard deviation to the median absolute deviation of a normal distribution.
/// *Computed*.
const NORMAL: f64 = 1.4826;
/// The least excess of opposite signs over equal signs in the deviations of two consecutive
/// intervals, as a share. On a grid the excess is 1/3, because a late wake-up lengthens one
/// interval and shortens the next; without a grid it is 0. *Default*: moves no figure.
const ON_A_GRID: f64 = 1.0 / 6.0;

/// Returns the policy that most stalls agree on. `None` without stalls, or if they disagree.
fn agreed_policy(runs: &[Ticking]) -> Option<MissedPolicy> {
    // The wake-up after a stall may report the expirations during the stall.
    let tells_of_missed = |run: &Ticking| -> Vec<bool> {
        let after = run.stalls.iter().map(|stall| run.expirations[stall + 1]);
        after.map(|count| count >= STALL.floor()).collect()
    };
    let missed: Vec<bool> = runs.iter().flat_map(tells_of_missed).collect();
    if missed.iter().filter(|missed| **missed).count() as f64 > AGREED * missed.len() as f64 {
        return Some(MissedPolicy::Skip);
    }
    let behind: Vec<(f64, f64)> = runs.iter().flat_map(behind).collect();
    let share = |hold: &dyn Fn(f64) -> bool| {
        let held = behind.iter().filter(|(behind, _)| hold(*behind));
        held.count() as f64 / behind.len().max(1) as f64
    };
    if share(&|behind| behind.abs() < 2.0 * NEAR) > AGREED {
        return Some(MissedPolicy::Burst);
    }
    // If deviations accumulate, or if the stall is an integer number of typical periods (for
    // example with periods 1/6 too long), the two policies are indistinguishable.
    let fraction = |behind: f64| behind - behind.round();
    let apart = fraction(median(behind.iter().map(|(_, stall)| stall))?).abs();
    if apart < APART * deviation(runs)? * (WALKED / behind.len() as f64).sqrt() {
        return Some(match keeps_its_grid(runs) {
            true => MissedPolicy::Skip,
            false => MissedPolicy::Delay,
        });
    }
    let noise = runs.iter().flat_map(unstalled);
    let noise = sorted(noise.map(|moved| fraction(moved).abs()));
    let near = quantile(&noise, SEEMS)
        .unwrap_or(apart)
        .max(SIGNIFICANT[0] * apart)
        .min(SIGNIFICANT[1] * apart);
    let skips = share(&|behind| fraction(behind).abs() < near);
    if skips > AGREED {
        return Some(MissedPolicy::Skip);
    }
    (1.0 - skips > AGREED).then_some(MissedPolicy::Delay)
}

/// The standard deviation of intervals, in typical periods.
fn deviation(runs: &[Ticking]) -> Option<f64> {
    let off = |run: &Ticking| -> Vec<f64> {
        let ordinary = run.ordinary();
        ordinary
            .map(|next| (run.off(next) / run.typical).abs())
            .collect()
    };
    Some(NORMAL * median(runs.iter().flat_map(off))?)
}

/// The delay of the wake-ups after each stall, and the length of the stall, in typical periods.
fn behind(run: &Ticking) -> Vec<(f64, f64)> {
    let stall = STALL * run.asked / run.typical;
    let segments = run.segments();
    let moved = |two: &[Range<usize>]| Some((run.shift(two[0].clone(), two[1].clone())?, stall));
    segments.windows(2).filter_map(moved).collect()
}

/// The apparent shifts of the grid without a stall, in typical periods.
fn unstalled(run: &Ticking) -> Vec<f64> {
    let moved = |segment: Range<usize>| {
        let places = (segment.start + NEIGHBOURS..segment.end).step_by(NEIGHBOURS);
        places.filter_map(move |at| run.shift(at - NEIGHBOURS..at, at..segment.end))
    };
    run.segments().into_iter().flat_map(moved).collect()
}

impl Ticking {
    /// The delay of the wake-ups after a gap in typical periods, whatever number of expirations
    /// they report.
    fn shift(&self, before: Range<usize>, after: Range<usize>) -> Option<f64> {
        let number: Vec<f64> = (0..self.at.len()).map(|at| at as f64).collect();
        let moved = self.moved(&number, before, after, NEIGHBOURS)?;
        Some(moved / self.typical)
    }
}

/// Returns whether wake-ups keep to a grid: a long interval is more often followed by a short one
/// than by another long one.
fn keeps_its_grid(runs: &[Ticking]) -> bool {
    let (mut opposite, mut same) = (0.0, 0.0);
    for run in runs {
        let ordinary: Vec<usize> = run.ordinary().collect();
        for two in ordinary.windows(2).filter(|two| two[1] == two[0] + 1) {
            let product = run.off(two[0]) * run.off(two[1]);
            opposite += f64::from(product < 0.0);
            same += f64::from(product > 0.0);
        }
    }
    // Without any deviation, no deviation accumulates.
    opposite + same == 0.0 || (opposite - same) / (opposite + same) > ON_A_GRID
}

#[cfg(test)]
mod tests;
