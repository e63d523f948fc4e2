//! How much faster than its reference a clock runs, and what that is known to: over one long
//! window, in its parts, and in processes of their own.

use super::windows::{Comparison, comparisons, longest};
use crate::model::Counted;
use crate::statistics::{median, student_quantile};
use crate::trust::Case;

/// Parts of the longest window, whose rates tell how steady it was. More would each be shorter, and
/// tell less of slow changes. *Judgement*.
const PARTS: usize = 8;

/// A rate against the reference, as a share above it, and what the reads leave uncertain: no true
/// figure is farther from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub offset: f64,
    pub uncertainty: f64,
}

/// What is known of the rate of a clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRate {
    /// Over the longest window.
    pub long: Rate,
    /// The usual one of all processes.
    pub usual: f64,
    /// Half of the interval around that: what reads leave uncertain, what parts of the window
    /// differ by, and what processes do.
    pub half: f64,
    /// Other processes that were asked, and between which rates they were; `None` where they show
    /// no difference.
    pub processes: u32,
    pub between: Option<[f64; 2]>,
    /// How many of them are off for certain, by more than a clock is ever corrected.
    pub off: u32,
    /// The one that is farthest off.
    pub farthest: Option<Rate>,
}

/// Between two comparisons; `uncertainty` in nanoseconds is of the steps of both clocks.
pub(super) fn between(first: &Comparison, last: &Comparison, uncertainty: f64) -> Option<Rate> {
    let passed = last.reference - first.reference;
    (passed > 0.0).then(|| Rate {
        offset: (last.timer - first.timer) / passed - 1.0,
        uncertainty: (first.uncertainty + last.uncertainty + uncertainty) / passed,
    })
}

/// Of the longest of these runs, and of the processes that were asked besides.
pub(super) fn known(case: &Case, runs: &[&Vec<Comparison>], uncertainty: f64) -> Option<KnownRate> {
    let run = longest(runs)?;
    let mut long = between(run.first()?, run.last()?, uncertainty)?;
    let scatter = scatter(run, long, uncertainty);
    long.uncertainty += case.trace.reference.rate_uncertainty;
    let others = of_processes(case, uncertainty);
    let middle = |of: fn(&Rate) -> f64| median(others.iter().map(of).collect::<Vec<_>>());
    let (typical, resolved) = (
        middle(|rate| rate.offset),
        middle(|rate| rate.uncertainty).unwrap_or(0.0),
    );
    // The long window is of one process, which may be an outlier.
    let is_outlier = |typical: &f64| (typical - long.offset).abs() > long.uncertainty + resolved;
    let usual = typical.filter(is_outlier).unwrap_or(long.offset);
    let own = long.uncertainty + scatter + resolved;
    let apart = |rate: &&Rate| (rate.offset - usual).abs() > rate.uncertainty + own;
    let proven: Vec<Rate> = others
        .iter()
        .chain([&long])
        .filter(apart)
        .copied()
        .collect();
    let half = proven
        .iter()
        .map(|rate| (rate.offset - usual).abs() + rate.uncertainty)
        .fold(own, f64::max);
    let ends = proven.iter().map(|rate| rate.offset).chain([usual]);
    Some(KnownRate {
        long,
        usual,
        half,
        processes: others.len() as u32,
        between: (!proven.is_empty()).then(|| {
            [
                ends.clone().fold(usual, f64::min),
                ends.fold(usual, f64::max),
            ]
        }),
        off: others
            .iter()
            .filter(|rate| proven_off(rate) > super::SLEW)
            .count() as u32,
        farthest: others
            .into_iter()
            .max_by(|a, b| proven_off(a).total_cmp(&proven_off(b))),
    })
}

/// How far a rate is off for certain.
fn proven_off(rate: &Rate) -> f64 {
    rate.offset.abs() - rate.uncertainty
}

/// Half of the 95 % interval of the rate over a run, by what its parts differ by beyond what their
/// reads leave uncertain: a clock that jumps to and fro, or once, has a rate that is less certain
/// than its ends are.
fn scatter(run: &[Comparison], whole: Rate, uncertainty: f64) -> f64 {
    let count = PARTS.min(run.len() - 1);
    if count < 2 {
        return 0.0;
    }
    // Of several comparisons about the end of a part the tightest one: another may have been
    // interrupted.
    let end = |part: usize| match part {
        0 => run.first(),
        part if part == count => run.last(),
        part => {
            let place = |part: f64| (part * (run.len() - 1) as f64 / count as f64).round() as usize;
            let [from, to] = [place(part as f64 - 0.25), place(part as f64 + 0.25)];
            run[from..=to]
                .iter()
                .min_by(|a, b| a.uncertainty.total_cmp(&b.uncertainty))
        }
    };
    let ends: Vec<&Comparison> = (0..=count).filter_map(end).collect();
    let length = run[run.len() - 1].reference - run[0].reference;
    let squares: f64 = ends
        .windows(2)
        .filter_map(|two| {
            let part = between(two[0], two[1], uncertainty)?;
            let beyond = ((part.offset - whole.offset).abs() - part.uncertainty).max(0.0);
            Some(((two[1].reference - two[0].reference) / length * beyond).powi(2))
        })
        .sum();
    let count = count as f64;
    student_quantile(0.95, count as usize - 1) * (squares * count / (count - 1.0)).sqrt()
}

/// Rates of fresh processes, each from its beginning to its end, where a process may find the rate
/// for itself.
fn of_processes(case: &Case, uncertainty: f64) -> Vec<Rate> {
    if !case.trace.declared || !matches!(case.claimed(), None | Some(Counted::Wall)) {
        return Vec::new();
    }
    let compared = &case.evidence().process_comparisons;
    compared
        .iter()
        .filter_map(|ends| {
            let ends = comparisons(case, ends);
            let mut rate = between(ends.first()?, ends.last()?, uncertainty)?;
            rate.uncertainty += case.trace.reference.rate_uncertainty;
            Some(rate)
        })
        .collect()
}
