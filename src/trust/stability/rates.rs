//! Computes how much faster than its reference a clock runs, with the uncertainty: over one long
//! window, in parts of that window, and in separate processes.

use super::windows::{Comparison, comparisons, longest};
use crate::model::Counted;
use crate::statistics::{median, student_quantile};
use crate::trust::Case;

/// Parts of the longest window, whose rates show how steady the clock was. More parts would be
/// shorter, and show less of slow changes. *Judgement*.
const PARTS: usize = 8;

/// A rate relative to the reference, as a share above it, and the largest error from the reads, as
/// a share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub offset: f64,
    pub uncertainty: f64,
}

/// The rate of a clock from all windows and processes, as shares above the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRate {
    /// The rate over the longest window.
    pub long: Rate,
    /// The typical rate of all processes.
    pub usual: f64,
    /// Half of the interval around `usual`: the uncertainty of the reads, the scatter between parts
    /// of the window, and the differences between processes.
    pub half: f64,
    /// The number of other processes, and the range of their rates; `None` if they show no
    /// difference.
    pub processes: u32,
    pub between: Option<[f64; 2]>,
    /// Processes whose rate is certainly off by more than a clock is ever corrected.
    pub off: u32,
    /// The rate that is certainly farthest off.
    pub farthest: Option<Rate>,
}

/// Returns the rate between two comparisons; `uncertainty`, in nanoseconds, is that of the steps of
/// both clocks.
pub(super) fn between(first: &Comparison, last: &Comparison, uncertainty: f64) -> Option<Rate> {
    let passed = last.reference - first.reference;
    (passed > 0.0).then(|| Rate {
        offset: (last.timer - first.timer) / passed - 1.0,
        uncertainty: (first.uncertainty + last.uncertainty + uncertainty) / passed,
    })
}

/// Returns the rate from the longest of these runs and from the separate processes.
pub(super) fn known(case: &Case, runs: &[&Vec<Comparison>], uncertainty: f64) -> Option<KnownRate> {
    let run = longest(runs)?;
    let mut long = between(run.first()?, run.last()?, uncertainty)?;
    let scatter = scatter(run, long, uncertainty);
    long.uncertainty += case.trace.reference.rate_uncertainty;
    let others = process_rates(case, uncertainty);
    let middle = |value: fn(&Rate) -> f64| median(others.iter().map(value).collect::<Vec<_>>());
    let (typical, resolved) = (
        middle(|rate| rate.offset),
        middle(|rate| rate.uncertainty).unwrap_or(0.0),
    );
    // The long window is from one process, which may be an outlier.
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
            .filter(|rate| proven_off(rate) > super::MAX_SLEW)
            .count() as u32,
        farthest: others
            .into_iter()
            .max_by(|a, b| proven_off(a).total_cmp(&proven_off(b))),
    })
}

/// Returns the certain part of the offset of a rate.
fn proven_off(rate: &Rate) -> f64 {
    rate.offset.abs() - rate.uncertainty
}

/// Returns half of the 95 % interval of the rate over a run, from the differences between its parts
/// beyond the uncertainty of their reads: the rate of a clock that jumps to and fro, or once, is
/// less certain than its endpoints are.
fn scatter(run: &[Comparison], whole: Rate, uncertainty: f64) -> f64 {
    let count = PARTS.min(run.len() - 1);
    if count < 2 {
        return 0.0;
    }
    // The tightest comparison near the end of a part is used, because others may have been
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

/// Returns the rates of fresh processes, each from its beginning to its end, if a process may
/// determine the rate itself.
fn process_rates(case: &Case, uncertainty: f64) -> Vec<Rate> {
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
