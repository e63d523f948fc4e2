//! Periodic timers: from wake-ups to rate, jitter and what becomes of expirations that the thread
//! was too busy for. That is told by where a timer goes on after a stall: a burst makes up for all
//! of them, a skip is behind by whole periods, a delay by the stall.

mod grid;

use std::ops::Range;

use self::grid::Ticking;
use crate::model::{MissedPolicy, PeriodFigures};
use crate::statistics::quantiles::{agreed_median, agreed_quantile};
use crate::statistics::{median, over_processes, quantile, sorted};
use crate::trace::{PeriodRun, PeriodTrace};

/// Wake-ups of a process that tell anything.
/// *Default*: moves no figure.
const FEWEST: usize = 8;
/// The last wake-ups of a process: they tell what became of those before them, and what they missed
/// themselves is not counted. *Computed*.
pub const SKIPPED_AT_END: usize = grid::SETTLING;
/// Intervals, or wake-ups, from which a 99th percentile is told.
/// *Chance*: five lie beyond it.
const FOR_P99: usize = 500;

/// What was found out of a periodic timer.
pub fn figures(trace: &PeriodTrace) -> PeriodFigures {
    let ns_per_tick = Some(trace.reference.ns_per_tick)
        .filter(|ns| ns.is_finite() && *ns > 0.0)
        .unwrap_or(1.0);
    let period = trace.period_ns.max(1) as f64;
    let wakeups = |run: &PeriodRun| run.wakeups.len() as u64;
    let reported = |run: &PeriodRun| {
        let counted = run.wakeups.len().saturating_sub(SKIPPED_AT_END);
        let missed = run.wakeups[..counted]
            .iter()
            .map(|(_, count)| count.saturating_sub(1));
        missed.fold(0_u64, u64::saturating_add)
    };
    let total = |of: &dyn Fn(&PeriodRun) -> u64| {
        trace
            .runs
            .iter()
            .fold(0_u64, |sum, run| sum.saturating_add(of(run)))
    };
    let counted = PeriodFigures {
        expirations: total(&|run| {
            run.wakeups
                .iter()
                .fold(0_u64, |sum, &(_, count)| sum.saturating_add(count.max(1)))
        }),
        wakeups: total(&wakeups),
        missed_reported: total(&reported),
        missed: total(&reported),
        stalls: trace
            .runs
            .iter()
            .map(|run| run.stalls.len() as u32)
            .fold(0, u32::saturating_add),
        processes: trace.runs.len() as u32,
        ..PeriodFigures::default()
    };
    let long_enough = trace.runs.iter().filter(|run| run.wakeups.len() >= FEWEST);
    let runs: Vec<Ticking> = long_enough
        .filter_map(|run| Ticking::of(run, period / ns_per_tick))
        .collect();
    if runs.is_empty() {
        return counted;
    }
    let policy = agreed_policy(&runs);
    // A timer that goes on a period after a late wake-up has no grid; nor has one that was never
    // stalled and does not keep to one.
    let grids = match policy {
        Some(MissedPolicy::Delay) => false,
        Some(MissedPolicy::Burst | MissedPolicy::Skip) => true,
        None => keeps_its_grid(&runs),
    };
    let figures: Vec<grid::GridFigures> = runs
        .iter()
        .map(|run| {
            if grids {
                run.on_its_grid()
            } else {
                run.one_after_another()
            }
        })
        .collect();
    let scaled = |of: &dyn Fn(&grid::GridFigures) -> &Vec<f64>| -> Vec<Vec<f64>> {
        figures
            .iter()
            .map(|run| of(run).iter().map(|ticks| ticks * ns_per_tick).collect())
            .collect()
    };
    let (jitter, late) = (scaled(&|run| &run.jitter), scaled(&|run| &run.late));
    let rates: Vec<f64> = figures
        .iter()
        .filter_map(|run| run.period)
        .map(|ticks| 1e6 * (ticks * ns_per_tick / period - 1.0))
        .collect();
    PeriodFigures {
        rate_error_ppm: over_processes(&rates),
        jitter_p50_ns: agreed_median(&jitter),
        // A late wake-up makes two intervals differ.
        jitter_p99_ns: agreed_quantile(&jitter, 0.99, FOR_P99, 2.0),
        lateness_p50_ns: agreed_median(&late),
        lateness_p99_ns: agreed_quantile(&late, 0.99, FOR_P99, 1.0),
        max_ns: late.iter().flatten().copied().reduce(f64::max),
        missed: figures.iter().fold(counted.missed, |sum, run| {
            sum.saturating_add(run.missed_silently)
        }),
        policy,
        ..counted
    }
}

/// How many periods a stall is long.
/// *Definition*: by how stalls are made.
const STALL: f64 = 3.5;
/// Farther than this many periods from what a policy expects, it is another one.
/// *Default*: moves no figure.
const NEAR: f64 = 0.25;
/// How often what keeps its grid seems to have moved by no more than this without a stall, as a
/// share. *Default*: moves no figure.
const SEEMS: f64 = 0.95;
/// How far it may seem to have moved at least, and at most, as a share of what the policies lie
/// apart by. *Default*: moves no figure.
const SIGNIFICANT: [f64; 2] = [0.1, 0.5];
/// The share of stalls that have to agree.
/// *Judgement*.
const AGREED: f64 = 0.6;
/// How many times what single stalls are off by the policies have to lie apart, for the stalls to
/// decide: of this many at least two standard errors of a few stalls. *Computed*.
const APART: f64 = 4.0;
/// Wake-ups on either side of a stall that tell where the grid lies.
/// *Default*: moves no figure.
const NEIGHBOURS: usize = 5;
/// Wake-ups after which a grid is looked for behind a stall, and so how many deviations have come
/// together where each begins with the one before. *Judgement*.
const WALKED: f64 = 10.0;
/// A standard deviation over a median deviation, of a normal law.
/// *Computed*.
const NORMAL: f64 = 1.4826;
/// How often the deviations of two intervals in a row have opposite signs, more than the same ones:
/// on a grid a third, as a late wake-up makes one longer and the next shorter; where each begins
/// with the last one, none. *Default*: moves no figure.
const ON_A_GRID: f64 = 1.0 / 6.0;

/// The policy that most stalls agree on. `None` without stalls, and where they do not agree.
fn agreed_policy(runs: &[Ticking]) -> Option<MissedPolicy> {
    let missed: Vec<bool> = runs.iter().flat_map(tells_of_missed).collect();
    if missed.iter().filter(|missed| **missed).count() as f64 > AGREED * missed.len() as f64 {
        return Some(MissedPolicy::Skip);
    }
    let behind: Vec<(f64, f64)> = runs.iter().flat_map(behind).collect();
    let share = |hold: &dyn Fn(f64) -> bool| {
        behind.iter().filter(|(behind, _)| hold(*behind)).count() as f64
            / behind.len().max(1) as f64
    };
    if share(&|behind| behind.abs() < 2.0 * NEAR) > AGREED {
        return Some(MissedPolicy::Burst);
    }
    // Where deviations add up, or where the stall is a whole number of typical periods, as of a
    // loop that is a seventh slow, the two look alike.
    let stall = median(behind.iter().map(|(_, stall)| *stall))?;
    let fraction = |behind: f64| behind - behind.round();
    let apart = fraction(stall).abs();
    if apart < APART * deviation(runs)? * (WALKED / behind.len() as f64).sqrt() {
        return Some(if keeps_its_grid(runs) {
            MissedPolicy::Skip
        } else {
            MissedPolicy::Delay
        });
    }
    let noise: Vec<f64> = runs
        .iter()
        .flat_map(unstalled)
        .map(|moved| fraction(moved).abs())
        .collect();
    let near = quantile(&sorted(&noise), SEEMS)
        .unwrap_or(apart)
        .max(SIGNIFICANT[0] * apart)
        .min(SIGNIFICANT[1] * apart);
    let skips = share(&|behind| fraction(behind).abs() < near);
    if skips > AGREED {
        return Some(MissedPolicy::Skip);
    }
    (1.0 - skips > AGREED).then_some(MissedPolicy::Delay)
}

/// What intervals deviate by, in typical periods.
fn deviation(runs: &[Ticking]) -> Option<f64> {
    let of = |run: &Ticking| -> Vec<f64> {
        let off = |next: usize| run.interval(next) / run.typical - run.expirations[next];
        run.ordinary().map(|next| off(next).abs()).collect()
    };
    Some(NORMAL * median(runs.iter().flat_map(of))?)
}

/// Whether the wake-up after each stall stands for the points that passed meanwhile.
fn tells_of_missed(run: &Ticking) -> impl Iterator<Item = bool> {
    run.stalls
        .iter()
        .map(|stall| run.expirations[stall + 1] >= STALL.floor())
}

/// The number of each wake-up, whatever it stands for.
fn counted(run: &Ticking) -> Vec<f64> {
    (0..run.at.len()).map(|at| at as f64).collect()
}

/// By how many typical periods wake-ups lie behind after each stall, and how many of these it was
/// long.
fn behind(run: &Ticking) -> Vec<(f64, f64)> {
    let number = counted(run);
    let segments = run.segments();
    let of = |two: &[Range<usize>]| {
        let moved = run.moved(&number, two[0].clone(), two[1].clone(), NEIGHBOURS)?;
        Some((moved / run.typical, STALL * run.asked / run.typical))
    };
    segments.windows(2).filter_map(of).collect()
}

/// By how many typical periods a grid seems to have moved where nothing stalled it.
fn unstalled(run: &Ticking) -> Vec<f64> {
    let number = counted(run);
    let starts = |segment: Range<usize>| {
        (segment.start + NEIGHBOURS..segment.end)
            .step_by(NEIGHBOURS)
            .map(move |at| (at, segment.end))
    };
    let moved = |(at, end)| run.moved(&number, at - NEIGHBOURS..at, at..end, NEIGHBOURS);
    run.segments()
        .into_iter()
        .flat_map(starts)
        .filter_map(moved)
        .map(|moved| moved / run.typical)
        .collect()
}

/// Whether wake-ups keep to a grid: whether a long interval is followed by a short one more often
/// than by another long one.
fn keeps_its_grid(runs: &[Ticking]) -> bool {
    let (mut opposite, mut same) = (0.0, 0.0);
    for run in runs {
        let ordinary: Vec<usize> = run.ordinary().collect();
        for two in ordinary.windows(2).filter(|two| two[1] == two[0] + 1) {
            let [first, second] = [two[0], two[1]]
                .map(|next| run.interval(next) - run.expirations[next] * run.typical);
            if first * second < 0.0 {
                opposite += 1.0;
            } else if first * second > 0.0 {
                same += 1.0;
            }
        }
    }
    // Without any deviation there is none to pass on.
    opposite + same == 0.0 || (opposite - same) / (opposite + same) > ON_A_GRID
}

#[cfg(test)]
mod tests;
