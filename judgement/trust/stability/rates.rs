//! Computes how much faster than its reference a clock runs, with the uncertainty: over one long
//! window, in parts of that window, and in separate processes.

use super::windows::{longest_run, to_readings};
use crate::model::{Counted, MAX_SLEW};
use crate::rate::line::Reading;
use crate::statistics::{median, student_quantile};
use crate::trust::Case;

/// The number of parts of the longest window whose rates are compared. More parts would be shorter
/// and would show less of slow changes of the rate. *Judgement*.
const WINDOW_PARTS: usize = 8;

/// The shortest step of a clock that the timer interrupt moves, in nanoseconds.
/// *Definition*: the shortest interval of that interrupt on Windows, 0.5 ms, less 1 ‰ for its rate.
const SHORTEST_TICK_NS: f64 = 0.4995e6;

/// The longest step of a clock that the timer interrupt moves, in nanoseconds.
/// *Definition*: the longest interval of that interrupt on Windows, 15.625 ms, and 1 ‰ for its rate.
pub(super) const LONGEST_TICK_NS: f64 = 15.64e6;

/// The number of comparisons at either end of a window that give the rate of a clock that the timer
/// interrupt moves. All pairs are tried, so the effort grows with the third power. *Numerical*.
const COMPARISONS_AT_END: usize = 32;

/// The number of comparisons beyond the fewest that a possible rate leaves unexplained.
/// *Judgement*: an early or late update at one end, which the best rate would explain.
const MORE_UNEXPLAINED: usize = 1;

/// The share of comparisons that the best rate may leave unexplained; if it leaves more, the clock
/// does not run at one rate. *Judgement*.
const MAX_UNEXPLAINED_SHARE: f64 = 0.25;

/// The error of a time that may be due to floating point, in nanoseconds. *Numerical*.
const ROUNDING_NS: f64 = 1.0;

/// The share by which a clock runs faster than its reference (negative if slower), and the largest
/// error of that share from the reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockRate {
    pub offset: f64,
    pub uncertainty: f64,
}

/// The rate of a clock from all windows and processes. All rates are the shares by which the clock
/// is faster than its reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRate {
    /// The rate over the longest window.
    pub longest_window: ClockRate,
    /// The typical rate: that of the longest window, or the median of the processes if it differs.
    pub typical: f64,
    /// Half the width of the interval around `typical`. It includes the uncertainty of the reads,
    /// the scatter between parts of the window, and the differences between processes.
    pub half_width: f64,
    /// The number of fresh processes, besides the one that was watched for longest.
    pub processes: u32,
    /// The lowest and the highest rate of all processes; `None` if they do not differ.
    pub range: Option<[f64; 2]>,
    /// The number of fresh processes whose rate is certainly wrong by more than a clock is slewed.
    pub proven_off: u32,
    /// The rate of the process whose rate is certainly wrong by most.
    pub farthest: Option<ClockRate>,
}

/// Returns the rate between two comparisons; `uncertainty`, in nanoseconds, is that of the steps of
/// both clocks. `None` unless the reference advanced.
fn rate_between(first: &Reading, last: &Reading, uncertainty: f64) -> Option<ClockRate> {
    let slope = first.slope_to(last, uncertainty)?;
    Some(ClockRate {
        offset: slope.rate - 1.0,
        uncertainty: slope.uncertainty,
    })
}

/// Returns the rate from the longest of these runs and from the fresh processes. `uncertainty`, in
/// nanoseconds, is that of the steps of both clocks. `None` if no run has two comparisons.
pub(super) fn known_rate(
    case: &Case,
    runs: &[&Vec<Reading>],
    uncertainty: f64,
) -> Option<KnownRate> {
    let run = longest_run(runs)?;
    let (mut longest_window, scatter) = match rate_of_ticking_clock(run, uncertainty) {
        Some(rate) => (rate, 0.0),
        None => {
            let rate = rate_between(run.first()?, run.last()?, uncertainty)?;
            (rate, scatter(run, rate, uncertainty))
        }
    };
    longest_window.uncertainty += case.trace.reference.rate_uncertainty;
    let others = process_rates(case, uncertainty);
    let median_of =
        |part: fn(&ClockRate) -> f64| median(others.iter().map(part).collect::<Vec<_>>());
    let (median_offset, median_uncertainty) = (
        median_of(|rate| rate.offset),
        median_of(|rate| rate.uncertainty).unwrap_or(0.0),
    );
    // The longest window is from one process, which may be an outlier.
    let differs = |median_offset: &f64| {
        (median_offset - longest_window.offset).abs()
            > longest_window.uncertainty + median_uncertainty
    };
    let typical = median_offset
        .filter(differs)
        .unwrap_or(longest_window.offset);
    let min_half_width = longest_window.uncertainty + scatter + median_uncertainty;
    let is_outside =
        |rate: &&ClockRate| (rate.offset - typical).abs() > rate.uncertainty + min_half_width;
    let differing: Vec<ClockRate> = others
        .iter()
        .chain([&longest_window])
        .filter(is_outside)
        .copied()
        .collect();
    let half_width = differing
        .iter()
        .map(|rate| (rate.offset - typical).abs() + rate.uncertainty)
        .fold(min_half_width, f64::max);
    let ends = differing.iter().map(|rate| rate.offset).chain([typical]);
    Some(KnownRate {
        longest_window,
        typical,
        half_width,
        processes: others.len() as u32,
        range: (!differing.is_empty()).then(|| {
            [
                ends.clone().fold(typical, f64::min),
                ends.fold(typical, f64::max),
            ]
        }),
        proven_off: others
            .iter()
            .filter(|rate| certain_offset(rate) > MAX_SLEW)
            .count() as u32,
        farthest: others
            .into_iter()
            .max_by(|a, b| certain_offset(a).total_cmp(&certain_offset(b))),
    })
}

/// Returns the rate over a run of a clock that the timer interrupt moves; `None` for other clocks,
/// for few comparisons, and if the clock does not run at one rate.
///
/// The reading of such a clock lags by up to one step and its usual delay. A late interrupt makes it
/// lag by several steps; the clock then catches up, perhaps by a step more than usual. A comparison
/// at an end of the run may be such a case. Possible are therefore all rates at which one delay
/// explains all comparisons but a few, and rates beyond them by one step over the run: where the
/// interrupt was late throughout one end of a run, no comparison shows it. Of 240 runs of a guest 5
/// had a coarse clock whose possible rates left out 0 by less than that.
fn rate_of_ticking_clock(run: &[Reading], uncertainty: f64) -> Option<ClockRate> {
    if !(SHORTEST_TICK_NS..=LONGEST_TICK_NS).contains(&uncertainty) {
        return None;
    }
    let head = run.len().min(COMPARISONS_AT_END);
    let tail = head.max(run.len().saturating_sub(COMPARISONS_AT_END));
    let ends = [&run[..head], &run[tail..]].concat();
    // At the lowest and the highest possible rate, two comparisons are only just explained.
    let limits = ends.iter().enumerate().flat_map(|(at, first)| {
        ends[at + 1..]
            .iter()
            .map(move |last| (first, last))
            .filter_map(|(first, last)| rate_between(first, last, uncertainty))
    });
    let tried: Vec<(f64, usize)> = limits
        .flat_map(|rate| [-1.0, 1.0].map(|sign| rate.offset + sign * rate.uncertainty))
        .map(|offset| (offset, count_unexplained(&ends, offset, uncertainty)))
        .collect();
    let fewest = tried.iter().map(|tried| tried.1).min()?;
    let most = fewest + MORE_UNEXPLAINED;
    // At least three comparisons are explained; two would not show that one of them is wrong.
    if fewest as f64 > MAX_UNEXPLAINED_SHARE * ends.len() as f64 || most + 3 > ends.len() {
        return None;
    }
    let possible = || {
        tried
            .iter()
            .filter(|tried| tried.1 <= most)
            .map(|tried| tried.0)
    };
    let [low, high] = [
        possible().min_by(f64::total_cmp)?,
        possible().max_by(f64::total_cmp)?,
    ];
    Some(ClockRate {
        offset: f64::midpoint(low, high),
        uncertainty: (high - low) / 2.0 + uncertainty / (run.last()?.time - run[0].time),
    })
}

/// Returns how many comparisons no single delay explains, if the clock is faster than its reference
/// by the share `offset`.
fn count_unexplained(run: &[Reading], offset: f64, uncertainty: f64) -> usize {
    let mut bounds: Vec<(f64, bool)> = (run.iter())
        .flat_map(|c| {
            let lead = (c.clock - c.time) - offset * c.time;
            let highest = lead + uncertainty + c.error + ROUNDING_NS;
            [(lead - c.error, true), (highest, false)]
        })
        .collect();
    bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut explained = 0_usize;
    let counts = bounds.iter().map(|(_, begins)| {
        explained = if *begins {
            explained + 1
        } else {
            explained.saturating_sub(1)
        };
        explained
    });
    run.len() - counts.max().unwrap_or(0)
}

/// Returns the smallest amount, as a share, by which a rate is certainly wrong; negative if it may
/// be right.
fn certain_offset(rate: &ClockRate) -> f64 {
    rate.offset.abs() - rate.uncertainty
}

/// Returns half the width of the 95 % interval of the rate over a run, from the differences between
/// the rates of its parts that the uncertainty of their reads does not explain. The rate of a clock
/// that jumps, once or to and fro, is less certain than the first and the last comparison alone
/// suggest.
fn scatter(run: &[Reading], whole_run: ClockRate, uncertainty: f64) -> f64 {
    let count = WINDOW_PARTS.min(run.len() - 1);
    if count < 2 {
        return 0.0;
    }
    // The comparison with the smallest uncertainty near the end of a part is used, because others
    // may have been interrupted.
    let end = |part: usize| match part {
        0 => run.first(),
        part if part == count => run.last(),
        part => {
            let index = |part: f64| (part * (run.len() - 1) as f64 / count as f64).round() as usize;
            let [from, to] = [index(part as f64 - 0.25), index(part as f64 + 0.25)];
            run[from..=to]
                .iter()
                .min_by(|a, b| a.error.total_cmp(&b.error))
        }
    };
    let ends: Vec<&Reading> = (0..=count).filter_map(end).collect();
    let length = run[run.len() - 1].time - run[0].time;
    let squares: f64 = ends
        .windows(2)
        .filter_map(|two| {
            let part = rate_between(two[0], two[1], uncertainty)?;
            let unexplained = ((part.offset - whole_run.offset).abs() - part.uncertainty).max(0.0);
            Some(((two[1].time - two[0].time) / length * unexplained).powi(2))
        })
        .sum();
    let count = count as f64;
    student_quantile(0.95, count as usize - 1) * (squares * count / (count - 1.0)).sqrt()
}

/// Returns the rates of the fresh processes, each from its beginning to its end. Empty for clocks
/// whose rate a process cannot determine: raw counters and CPU time.
fn process_rates(case: &Case, uncertainty: f64) -> Vec<ClockRate> {
    if !case.trace.declared || !matches!(case.claimed(), None | Some(Counted::Wall)) {
        return Vec::new();
    }
    case.evidence()
        .process_comparisons
        .iter()
        .filter_map(|ends| {
            let ends = to_readings(case, ends);
            let mut rate = rate_between(ends.first()?, ends.last()?, uncertainty)?;
            rate.uncertainty += case.trace.reference.rate_uncertainty;
            Some(rate)
        })
        .collect()
}
