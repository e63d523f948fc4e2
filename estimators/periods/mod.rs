//! Analyses periodic timers: their rate, their jitter, and the expirations that they missed.

mod grid;

pub use self::grid::SETTLING_WAKEUPS;
use self::grid::{SeriesFigures, WakeupSeries};
use crate::model::{Interval, PeriodFigures};
use crate::statistics::mean_over_processes;
use crate::statistics::quantiles::{
    consistent_quantiles, median_over_processes, quantile_over_processes,
};
use crate::trace::PeriodTrace;

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
    for wakeups in trace.runs.iter().map(|run| &run.wakeups) {
        let reported = wakeups.len().saturating_sub(SETTLING_WAKEUPS);
        for (at, (_, count)) in wakeups.iter().enumerate() {
            found.expirations = found.expirations.saturating_add(*(count.max(&1)));
            if at < reported {
                let missed = count.saturating_sub(1);
                found.missed_reported = found.missed_reported.saturating_add(missed);
            }
        }
        found.wakeups += wakeups.len() as u64;
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
    let has_grid = catches_up || keeps_to_grid(&runs);
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

/// The smallest excess at which wake-ups keep to a grid: the share of pairs of consecutive
/// intervals whose deviations have opposite signs, minus the share of those with equal signs. On a
/// grid the excess is 1/3, because a late wake-up lengthens one interval and shortens the next;
/// without a grid it is 0. *Default*: moves no figure.
const MIN_SIGN_EXCESS: f64 = 1.0 / 6.0;

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
