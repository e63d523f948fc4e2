//! Finds the step of an unknown clock in durations that a program printed: they are multiples of
//! the step, except for their rounding, or differ by multiples, for example if an overhead was
//! subtracted. The [lattice](super::lattice) counts if chance would hardly place so many *levels*
//! (distinct multiples) on it: with few levels, the step is only known to be no longer.

use std::collections::BTreeSet;

use super::lattice::{self, FittedLine, MIN_STEP_TICKS, fit_all_levels};
use super::{INTERRUPTED_SHARE, Resolution, StepRule, common_divisor};
use crate::model::Interval;
use crate::statistics::phasors::Sweep;
use crate::statistics::{quantile, sorted};
use crate::trace::Intervals;

/// The largest distance of a duration from its multiple, in units of its rounding. *Computed*: both
/// readings may be truncated (1 unit), and a margin for the error of the fitted line.
const TOLERANCE: f64 = 1.3;

/// The largest probability that chance places the durations on a grid. *Chance*.
const MAX_CHANCE: f64 = 0.05;

/// What durations show of the clock that measured them; times are in the unit of the durations.
#[derive(Clone, Debug, PartialEq)]
pub struct DurationGrid {
    /// The step, or its limit with the reason.
    pub resolution: Resolution,
    /// The share of durations that are multiples of the step.
    pub share: f64,
    /// The distance from zero to the nearest multiple; `None` if it is unknown.
    pub offset: Option<f64>,
}

/// Finds the grid of durations, which are multiples of `rounding`.
pub fn find(durations: &[f64], rounding: f64) -> DurationGrid {
    /// The longest durations that are examined, in 95th percentiles: programs round longer ones
    /// more. *Judgement*.
    const MAX_USUAL: f64 = 2.0;
    let whole = || {
        durations
            .iter()
            .map(|duration| (duration / rounding).round())
    };
    let usual = quantile(&sorted(whole().map(f64::abs)), 1.0 - INTERRUPTED_SHARE).unwrap_or(0.0);
    let values = sorted(whole().filter(|value| value.abs() <= MAX_USUAL * usual));
    let farthest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let unknown = |bound: f64, reason: &'static str| DurationGrid {
        resolution: Resolution::AtMost {
            bound: bound * rounding,
            reason: reason.into(),
        },
        share: 0.0,
        offset: None,
    };
    if farthest == 0.0 {
        return DurationGrid {
            resolution: Resolution::Unmoved,
            ..unknown(0.0, "")
        };
    }
    let deltas = values.iter().map(|value| *value as i64).collect();
    let divisor = common_divisor(&[Intervals { work: 0, deltas }]) as f64;
    for unit in [divisor, 1.0] {
        let values: Vec<f64> = values.iter().map(|value| value / unit).collect();
        if let Some(found) = fit(&values) {
            let unit = rounding * unit;
            return DurationGrid {
                resolution: found.resolution.scaled(unit),
                offset: found.offset.map(|offset| offset * unit),
                ..found
            };
        }
    }
    let distinct = values.chunk_by(|a, b| a == b).count() as f64;
    let all = values[values.len() - 1] - values[0];
    let is_chance = (distinct - 1.0) * divisor.ln() - distinct.ln() < -MAX_CHANCE.ln();
    if !is_chance && distinct > all / divisor {
        return DurationGrid {
            resolution: Resolution::Resolved {
                step: Interval::around(divisor, 1.0 / farthest).scaled(rounding),
                rule: StepRule::Lattice,
            },
            share: 1.0,
            offset: Some(0.0),
        };
    }
    // No step is longer than the shortest distance of two durations that rounding does not explain,
    // with what rounding takes off.
    let gaps = values.windows(2).map(|two| two[1] - two[0]);
    let shortest = gaps.filter(|gap| *gap > 2.0).fold(f64::INFINITY, f64::min);
    match all == 0.0 {
        true => unknown(farthest, "all durations are equal"),
        false => unknown(
            shortest.min(all.max(2.0)) + 2.0,
            "there are too few different durations, or they differ by as little as their rounding",
        ),
    }
}

/// Fits a grid to sorted values in units of their rounding.
fn fit(values: &[f64]) -> Option<DurationGrid> {
    /// The largest number of angles that are computed. *Numerical*.
    const MAX_ANGLES: f64 = 1e8;
    /// The numbers of durations that may show a grid although no two are neighbours. *Judgement*:
    /// fewer are all even multiples in one case of 128, more have neighbours.
    const SPARSE: std::ops::Range<usize> = 8..200;
    let equal = values.chunk_by(|a, b| a == b);
    let anchor = equal.clone().max_by_key(|same| same.len())?[0];
    let near = [0.0, anchor].into_iter().find_map(|zero| {
        let distances = sorted(values.iter().map(|value| (value - zero).abs()));
        lattice::find(&distances.iter().map(|it| *it as i64).collect::<Vec<_>>())
    });
    // Rare durations show the levels as well as frequent ones.
    let distinct: Vec<(f64, f64)> = equal.map(|same| (same[0], 1e3)).collect();
    let of = |line, window| fit_line(values, fit_all_levels(&distinct, line, anchor, window)?);
    if let Some(near) = near {
        return of(FittedLine::near(anchor, near.step), 3.2 * near.step);
    }
    // No two durations are neighbours: the longest step of which all are multiples.
    if !SPARSE.contains(&values.len()) {
        return None;
    }
    let turned: Vec<(f64, f64)> = distinct.iter().map(|it| (it.0 - anchor, 1.0)).collect();
    let all = turned.len() as f64;
    let width = distinct.last()?.0 - distinct.first()?.0;
    let (first, stride) = (0.5 / width, 0.125 / width);
    let most = (MAX_ANGLES / all).min((1.0 / MIN_STEP_TICKS - first) / stride);
    let sums = Sweep::new(&turned, first, stride).take(most as usize);
    let high = sums
        .enumerate()
        .filter(|(_, sum)| sum.length() >= 0.8 * all);
    let mut lines = high.map(|(at, sum)| {
        let step = 1.0 / (first + at as f64 * stride);
        FittedLine::near(anchor + sum.turns() * step, step)
    });
    lines.find_map(|line| of(line, width))
}

/// Judges the grid of a line.
fn fit_line(values: &[f64], line: FittedLine) -> Option<DurationGrid> {
    /// The largest uncertainty of the level of zero, in steps, at which it is known. *Judgement*.
    const MAX_UNCERTAINTY: f64 = 0.25;
    /// The least number of levels off zero with gaps between them, or with several if zero is
    /// unknown. *Judgement*: fewer lie on many grids.
    const MIN_LEVELS: usize = 6;
    let FittedLine {
        mut step,
        at_anchor,
        ..
    } = line;
    let level = |value: &f64| ((value - at_anchor) / step).round();
    let is_on = |value: &&f64| (*value - at_anchor - level(value) * step).abs() <= TOLERANCE;
    let on: Vec<f64> = values.iter().filter(is_on).copied().collect();
    let levels: BTreeSet<i64> = on.iter().map(|value| level(value) as i64).collect();
    let span = (levels.last()? - levels.first()?) as f64;
    // Both ends may be off by their rounding.
    let mut error = 2.0 / span;
    let zero = -at_anchor / step;
    let uncertainty = (1.0 + error * zero.abs()) / step;
    let off = zero.round() - zero;
    let mut chance = (levels.len() as f64 - 2.0) * (2.0 * TOLERANCE / step).min(1.0).ln();
    chance += (2.0 * span).ln();
    let mut offset = Some(off * step).filter(|_| uncertainty < MAX_UNCERTAINTY);
    if offset.is_some() && off.abs() <= uncertainty {
        offset = Some(0.0);
        chance += (2.0 * uncertainty).ln();
        let numbers = || on.iter().map(|value| level(value) - zero.round());
        let product: f64 = numbers()
            .zip(&on)
            .map(|(number, value)| number * value)
            .sum();
        let farthest = numbers().map(f64::abs).fold(0.0, f64::max);
        (step, error) = (
            product / numbers().map(|it| it * it).sum::<f64>(),
            1.0 / farthest,
        );
    }
    let gaps = span + 1.0 - levels.len() as f64;
    let is_dense = levels.len() >= MIN_LEVELS || gaps <= f64::from(u8::from(offset.is_none()));
    let share = on.len() as f64 / values.len() as f64;
    let is_certain = chance <= MAX_CHANCE.ln() && share >= 1.0 - INTERRUPTED_SHARE;
    (is_certain && (offset == Some(0.0) || is_dense)).then(|| DurationGrid {
        resolution: Resolution::Resolved {
            step: Interval::around(step, error),
            rule: StepRule::Lattice,
        },
        share,
        offset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations of these numbers of steps, between readings that are truncated to units.
    fn truncated(steps: impl Iterator<Item = i64>, step: f64) -> Vec<f64> {
        let reading = |steps: i64| (steps as f64 * step).floor();
        let start = |at: usize| 1_000 + 7 * at as i64;
        let durations = steps.enumerate();
        let durations =
            durations.map(|(at, steps)| reading(start(at) + steps) - reading(start(at)));
        durations.collect()
    }

    fn step(durations: &[f64]) -> Option<Interval> {
        match find(durations, 1.0).resolution {
            Resolution::Resolved { step, .. } => Some(step),
            _ => None,
        }
    }

    #[test]
    fn finds_step_between_units() {
        let near = (0..400).map(|at| 20 + at * at % 7);
        let found = step(&truncated(near, 125.0 / 3.0)).expect("it is found");
        assert!(
            found.contains(125.0 / 3.0) && found.half_width() < 0.6,
            "{found:?}"
        );
        // The number of steps between distant groups is not known.
        let groups = (0..600).map(|at| 2_400 * (1 + at % 5) + at * at % 7 % 3);
        let found = step(&truncated(groups, 125.0 / 3.0));
        assert!(found.is_none_or(|found| found.contains(125.0 / 3.0)));
    }

    #[test]
    fn few_durations_and_work_show_no_step() {
        for [short, long] in [[1_000.0, 1_041.0], [2_000.0, 3_500.0]] {
            let durations = [[short, long]; 500].concat();
            assert_eq!(step(&durations), None);
            let limit = find(&durations, 1.0).resolution.step_or_limit();
            assert!(limit >= Some(long - short), "{limit:?}");
        }
        let durations: Vec<_> = (0..500).map(|at| f64::from(at * at % 997)).collect();
        assert_eq!(step(&durations), None);
        assert_eq!(step(&[5.0; 9]), None);
        assert_eq!(find(&[0.0; 9], 1.0).resolution, Resolution::Unmoved);
    }
}
