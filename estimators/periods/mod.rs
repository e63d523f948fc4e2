//! Analyses periodic timers: their rate, their jitter, and their policy for expirations that the
//! program missed.
//!
//! The program that waits for the timer sometimes does not wait for some periods, on purpose, which
//! is a *stall*. The first wake-ups after a stall show the policy. With the policy *burst*,
//! wake-ups in quick succession make up for all missed expirations, and later ones are on time.
//! With *skip*, later wake-ups are late by whole periods; with *delay*, by the length of the stall.

mod grid;

use std::ops::Range;

pub use self::grid::SETTLING_WAKEUPS;
use self::grid::{SeriesFigures, WakeupSeries};
use crate::model::{Interval, MissedPolicy, PeriodFigures};
use crate::statistics::quantiles::{
    consistent_quantiles, median_over_processes, quantile_over_processes,
};
use crate::statistics::{DEVIATION_PER_MEDIAN, mean_over_processes, median};
use crate::trace::{PeriodRun, PeriodTrace};

/// Computes all results for a periodic timer.
pub fn figures(trace: &PeriodTrace) -> PeriodFigures {
    let ns_per_tick = Some(trace.reference.ns_per_tick)
        .filter(|ns| ns.is_finite() && *ns > 0.0)
        .unwrap_or(1.0);
    let period = trace.period_ns.max(1) as f64;
    let mut found = PeriodFigures {
        processes: trace.runs.len() as u32,
        ..PeriodFigures::default()
    };
    for PeriodRun { wakeups, stalls } in &trace.runs {
        let reported = wakeups.len().saturating_sub(SETTLING_WAKEUPS);
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
    let runs: Vec<WakeupSeries> = trace
        .runs
        .iter()
        .filter_map(|run| WakeupSeries::from_run(run, period / ns_per_tick))
        .collect();
    if runs.is_empty() {
        return found;
    }
    let catches_up = catches_up(&runs);
    found.policy = find_policy(&runs, catches_up);
    // A timer with the policy *delay* has no grid. If the policy is unknown, the intervals between
    // wake-ups show whether there is a grid.
    let has_grid = match found.policy {
        Some(policy) => policy != MissedPolicy::Delay,
        None => keeps_to_grid(&runs),
    };
    let figures: Vec<SeriesFigures> = runs
        .iter()
        .map(|run| match has_grid {
            true => run.compute_on_grid(catches_up),
            false => run.compute_without_grid(),
        })
        .collect();
    let in_nanoseconds = |list: fn(&SeriesFigures) -> &Vec<f64>| -> Vec<Vec<f64>> {
        let ns = |run| list(run).iter().map(|ticks| ticks * ns_per_tick).collect();
        figures.iter().map(ns).collect()
    };
    let (jitter, late) = (
        in_nanoseconds(|run| &run.jitter),
        in_nanoseconds(|run| &run.late),
    );
    let rate_error = |ticks: f64| 1e6 * (ticks * ns_per_tick / period - 1.0);
    let periods = figures.iter().filter_map(|run| run.period);
    found.rate_error_ppm = mean_over_processes(periods.map(rate_error));
    found.jitter_p50_ns = median_over_processes(&jitter);
    // A late wake-up changes two intervals.
    found.jitter_p99_ns = quantile_over_processes(&jitter, 0.99, 2.0);
    let error_ns = trace.reference.uncertainty_ns();
    let evident = |late: Interval| late.unless_chance(error_ns);
    let max = late.iter().flatten().copied().reduce(f64::max);
    found.max_ns = max.map(|max| evident(Interval::exact(max)).value);
    let quantiles = [
        median_over_processes(&late),
        quantile_over_processes(&late, 0.99, 1.0),
    ];
    [found.lateness_p50_ns, found.lateness_p99_ns] = consistent_quantiles(
        quantiles.map(|late| late.map(evident)),
        found.max_ns.unwrap_or(0.0),
    );
    for run in &figures {
        found.missed = found.missed.saturating_add(run.unreported_missed);
        found.lost = found.lost.saturating_add(run.lost);
    }
    found
}

/// The length of a stall, in requested periods. *Definition*: the campaign makes stalls of this
/// length.
const STALL_PERIODS: f64 = 3.5;
/// The share of stalls above which those that agree decide the policy. *Judgement*.
const MIN_AGREEING_SHARE: f64 = 0.6;
/// The smallest ratio of the difference between the delays that the policies *skip* and *delay*
/// cause to the error of a measured delay at which the delays decide between these policies.
/// *Computed*: the difference is then at least two standard errors of a few stalls.
const MIN_SEPARATION: f64 = 4.0;
/// The smallest excess at which wake-ups keep to a grid: the share of pairs of consecutive
/// intervals whose deviations have opposite signs, minus the share of those with equal signs. On a
/// grid the excess is 1/3, because a late wake-up lengthens one interval and shortens the next;
/// without a grid it is 0. *Default*: moves no figure.
const MIN_SIGN_EXCESS: f64 = 1.0 / 6.0;

/// Returns the policy that most stalls agree on, or that the timer shows without them if it
/// `catches_up`. `None` if there are no stalls, if too few agree, or if they are too short.
fn find_policy(runs: &[WakeupSeries], catches_up: bool) -> Option<MissedPolicy> {
    // A timer that skips may report the skipped expirations with the first wake-up after the stall.
    let reports_missed = |run: &WakeupSeries| -> Vec<bool> {
        run.stalls
            .iter()
            .map(|stall| run.expirations[stall + 1] >= STALL_PERIODS.floor())
            .collect()
    };
    let reports: Vec<bool> = runs.iter().flat_map(reports_missed).collect();
    let reporting = reports.iter().filter(|report| **report).count();
    if reporting as f64 > MIN_AGREEING_SHARE * reports.len() as f64 {
        return Some(MissedPolicy::Skip);
    }
    if catches_up {
        return Some(MissedPolicy::Burst);
    }
    let stalls: Vec<(f64, f64)> = runs.iter().flat_map(delays_after_stalls).collect();
    let share_of_stalls = |condition: &dyn Fn(f64) -> bool| {
        stalls.iter().filter(|(delay, _)| condition(*delay)).count() as f64
            / stalls.len().max(1) as f64
    };
    let stall = median(stalls.iter().map(|(_, stall)| stall))?;
    // After a stall that is shorter than a period, the next wake-up may be on time in any case.
    if stall < 1.0 {
        return None;
    }
    if share_of_stalls(&|delay| delay.round() == 0.0) > MIN_AGREEING_SHARE {
        return Some(MissedPolicy::Burst);
    }
    // With *skip*, wake-ups after a stall are late by whole periods; with *delay*, by the length of
    // the stall. These policies cannot be distinguished by the delays if the stall is nearly an
    // integer number of typical periods (for example, if periods are 1/6 too long), or if the error
    // of a delay is large: the deviations of the intervals between the compared wake-ups add up if
    // each wake-up starts a new period.
    let fraction = |periods: f64| periods - periods.round();
    let separation = fraction(stall).abs();
    let accumulated = (2.0 * SETTLING_WAKEUPS as f64 / stalls.len() as f64).sqrt();
    if separation < MIN_SEPARATION * interval_deviation(runs)? * accumulated {
        return Some(match keeps_to_grid(runs) {
            true => MissedPolicy::Skip,
            false => MissedPolicy::Delay,
        });
    }
    let skips = share_of_stalls(&|delay| fraction(delay).abs() < separation / 2.0);
    if skips > MIN_AGREEING_SHARE {
        return Some(MissedPolicy::Skip);
    }
    (1.0 - skips > MIN_AGREEING_SHARE).then_some(MissedPolicy::Delay)
}

/// Returns the standard deviation of the intervals that no stall affected, in typical periods.
/// `None` if there are no such intervals.
fn interval_deviation(runs: &[WakeupSeries]) -> Option<f64> {
    let deviations = |run: &WakeupSeries| -> Vec<f64> {
        run.undisturbed()
            .map(|next| (run.deviation(next) / run.typical_period).abs())
            .collect()
    };
    Some(DEVIATION_PER_MEDIAN * median(runs.iter().flat_map(deviations))?)
}

/// Returns, for each stall, the delay of the wake-ups after it and the length of the stall, in
/// typical periods. Stalls without wake-ups to compare are left out.
fn delays_after_stalls(run: &WakeupSeries) -> Vec<(f64, f64)> {
    let stall = STALL_PERIODS * run.requested_period / run.typical_period;
    // Each wake-up counts as one period, however many expirations it reports.
    let number: Vec<f64> = (0..run.wakeup_times.len()).map(|at| at as f64).collect();
    let segments = run.segments();
    let delay = |neighbours: &[Range<usize>]| {
        let [before, after] = [0, 1].map(|side| neighbours[side].clone());
        let shift = run.grid_shift(&number, before, after, SETTLING_WAKEUPS)?;
        Some((shift / run.typical_period, stall))
    };
    segments.windows(2).filter_map(delay).collect()
}

/// The share of wake-ups in bursts above which they are no errors of the clock. *Judgement*.
const MAX_BURST_SHARE: f64 = 0.01;

/// Returns whether the timer makes up for wake-ups that load delayed, not a stall.
fn catches_up(runs: &[WakeupSeries]) -> bool {
    let (mut bursts, mut all) = (0, 0);
    for run in runs {
        let undisturbed: Vec<usize> = run.undisturbed().collect();
        bursts += undisturbed.iter().filter(|at| run.is_burst(**at)).count();
        all += undisturbed.len();
    }
    bursts as f64 > MAX_BURST_SHARE * all as f64
}

/// Returns whether wake-ups keep to a grid: a long interval is then followed by a short one more
/// often than by another long one.
fn keeps_to_grid(runs: &[WakeupSeries]) -> bool {
    let (mut opposite, mut same) = (0.0, 0.0);
    for run in runs {
        let undisturbed: Vec<usize> = run.undisturbed().collect();
        for pair in undisturbed.windows(2).filter(|pair| pair[1] == pair[0] + 1) {
            let product = run.deviation(pair[0]) * run.deviation(pair[1]);
            opposite += f64::from(product < 0.0);
            same += f64::from(product > 0.0);
        }
    }
    // If no interval deviates, the wake-ups are on a grid.
    opposite + same == 0.0 || (opposite - same) / (opposite + same) > MIN_SIGN_EXCESS
}

#[cfg(test)]
mod tests;
