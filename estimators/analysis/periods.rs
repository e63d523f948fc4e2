//! Periodic timers: from wake-ups to rate, jitter and what becomes of missed expirations.

mod grid;
mod policy;

use self::grid::Ticking;
use super::quantiles::{agreed, agreed_median, agreed_quantile};
use crate::model::{MissedPolicy, PeriodFigures};
use crate::trace::{PeriodRun, PeriodTrace};

/// Wake-ups of a process that tell anything.
/// *Default*: moves no figure.
const FEWEST: usize = 8;
/// The last wake-ups of a process: they tell what became of those before them, and what they missed themselves is not counted.
/// *Computed*.
pub const UNTOLD: usize = grid::SETTLING;
/// Intervals, or wake-ups, from which a 99th percentile is told.
/// *Chance*: five lie beyond it.
const FOR_P99: usize = 500;

/// What was found out of a periodic timer.
#[must_use]
pub fn figures(trace: &PeriodTrace) -> PeriodFigures {
    let ns_per_tick =
        Some(trace.reference.ns_per_tick).filter(|ns| ns.is_finite() && *ns > 0.0).unwrap_or(1.0);
    let period = trace.period_ns.max(1) as f64;
    let wakeups = |run: &PeriodRun| run.wakeups.len() as u64;
    let reported = |run: &PeriodRun| {
        let told = run.wakeups.len().saturating_sub(UNTOLD);
        let missed = run.wakeups[..told].iter().map(|(_, count)| count.saturating_sub(1));
        missed.fold(0_u64, u64::saturating_add)
    };
    let total = |of: &dyn Fn(&PeriodRun) -> u64| {
        trace.runs.iter().fold(0_u64, |sum, run| sum.saturating_add(of(run)))
    };
    let counted = PeriodFigures {
        expirations: total(&|run| {
            run.wakeups.iter().fold(0_u64, |sum, &(_, count)| sum.saturating_add(count.max(1)))
        }),
        wakeups: total(&wakeups),
        missed_reported: total(&reported),
        missed: total(&reported),
        stalls: trace.runs.iter().map(|run| run.stalls.len() as u32).fold(0, u32::saturating_add),
        processes: trace.runs.len() as u32,
        ..PeriodFigures::default()
    };
    let long_enough = trace.runs.iter().filter(|run| run.wakeups.len() >= FEWEST);
    let runs: Vec<Ticking> = long_enough.filter_map(|run| Ticking::of(run, period / ns_per_tick)).collect();
    if runs.is_empty() {
        return counted;
    }
    let policy = policy::agreed_policy(&runs);
    // A timer that goes on a period after a late wake-up has no grid; nor has one that was never stalled and does not keep to one.
    let grids = match policy {
        Some(MissedPolicy::Delay) => false,
        Some(MissedPolicy::Burst | MissedPolicy::Skip) => true,
        None => policy::keeps_its_grid(&runs),
    };
    let told: Vec<grid::Told> =
        runs.iter().map(|run| if grids { run.on_its_grid() } else { run.one_after_another() }).collect();
    let scaled = |of: &dyn Fn(&grid::Told) -> &Vec<f64>| -> Vec<Vec<f64>> {
        told.iter().map(|run| of(run).iter().map(|ticks| ticks * ns_per_tick).collect()).collect()
    };
    let (jitter, late) = (scaled(&|run| &run.jitter), scaled(&|run| &run.late));
    let rates: Vec<f64> = told
        .iter()
        .filter_map(|run| run.period)
        .map(|ticks| 1e6 * (ticks * ns_per_tick / period - 1.0))
        .collect();
    PeriodFigures {
        rate_error_ppm: agreed(&rates),
        jitter_p50_ns: agreed_median(&jitter),
        // A late wake-up makes two intervals differ.
        jitter_p99_ns: agreed_quantile(&jitter, 0.99, FOR_P99, 2.0),
        lateness_p50_ns: agreed_median(&late),
        lateness_p99_ns: agreed_quantile(&late, 0.99, FOR_P99, 1.0),
        max_ns: late.iter().flatten().copied().reduce(f64::max),
        missed: told.iter().fold(counted.missed, |sum, run| sum.saturating_add(run.missed_silently)),
        policy,
        ..counted
    }
}

#[cfg(test)]
mod tests;
