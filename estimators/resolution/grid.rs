//! Finds the step of an unknown clock in durations that a program printed: they are multiples of
//! the step, except for their rounding, or differ by multiples, for example if an overhead was
//! subtracted. The [lattice](super::lattice) counts if chance would hardly place so many *levels*
//! (distinct multiples) on it: with few levels, the step is only known to be no longer.

use super::lattice::{self, Lattice, MAX_FREQUENCIES, MIN_STEP_TICKS, Weighted, find_in_windows};
use super::{INTERRUPTED_SHARE, Step, StepRule, common_divisor};
use crate::model::Estimate;
use crate::statistics::{quantile, sorted};
use crate::trace::Differences;

/// The largest distance of a duration from its multiple, in units of its rounding. *Computed*: both
/// readings may be truncated (1 unit), and a margin for the error of the fitted line.
const TOLERANCE: f64 = 1.3;

/// The largest probability that chance places the durations on a grid. *Chance*.
const MAX_CHANCE: f64 = 0.05;

/// Finds the step of durations, which are multiples of `rounding`, in their unit.
pub fn find(durations: &[f64], rounding: f64) -> Step {
    /// The longest durations that are examined, in 95th percentiles: programs round longer ones
    /// more. *Judgement*.
    const MAX_USUAL: f64 = 2.0;
    let whole = durations.iter().map(|it| (it / rounding).round());
    let sizes = sorted(whole.clone().map(f64::abs));
    let usual = quantile(&sizes, 1.0 - INTERRUPTED_SHARE).unwrap_or(0.0);
    if usual == 0.0 {
        return Step::Unmoved;
    }
    let values = sorted(whole.filter(|value| value.abs() <= MAX_USUAL * usual));
    let deltas = values.iter().map(|value| *value as i64).collect();
    let divisor = common_divisor(&[Differences { work: 0, deltas }]) as f64;
    let found = [divisor, 1.0].into_iter().find_map(|unit| {
        let values: Vec<f64> = values.iter().map(|value| value / unit).collect();
        Some(find_grid(&values)?.scaled(unit))
    });
    let gaps = values.windows(2).map(|two| two[1] - two[0]);
    let all: f64 = gaps.clone().sum();
    let distinct = gaps.clone().filter(|gap| *gap > 0.0).count() as i32;
    // Chance makes so many durations without gaps multiples.
    let is_dense = f64::from(distinct) * divisor >= all
        && MAX_CHANCE * divisor.powi(distinct) >= f64::from(distinct + 1);
    // No step is longer than the shortest distance of two durations that rounding does not explain,
    // with what rounding takes off.
    let shortest = gaps.filter(|gap| *gap > 2.0).fold(all.max(2.0), f64::min);
    let (bound, reason) = match all == 0.0 {
        true => (usual, "all durations are equal"),
        false => (
            shortest + 2.0,
            "there are too few different durations, or rounding hides it",
        ),
    };
    let unknown = match is_dense {
        true => resolved(divisor, 1.0 / usual),
        false => Step::AtMost {
            bound,
            reason: reason.into(),
        },
    };
    found.unwrap_or(unknown).scaled(rounding)
}

fn resolved(step: f64, error: f64) -> Step {
    Step::Resolved {
        step: Estimate::around(step, error),
        rule: StepRule::Lattice,
    }
}

/// Finds a grid of sorted values in units of their rounding.
fn find_grid(values: &[f64]) -> Option<Step> {
    // Rare durations show the levels as well as frequent ones.
    let different = values.chunk_by(|a, b| a == b);
    let counted: Vec<(f64, f64)> = different.map(|same| (same[0], 1e3)).collect();
    let found = find_in_windows(&counted, f64::INFINITY, |line| judge(values, line));
    found.or_else(|| find_sparse(&counted, values))
}

/// Finds a grid of few durations that are far from each other: in the pairs that are closest to each other, then
/// in all.
fn find_sparse(counted: &Weighted, values: &[f64]) -> Option<Step> {
    /// The largest number of durations; more have neighbours. *Judgement*.
    const MAX_SPARSE: usize = 200;
    /// The number of pairs that are searched. *Chance*: so many are off a grid.
    const CLOSE_PAIRS: usize = 12;
    /// The least concentration of their phases. *Computed*: rounding leaves 0.81 of steps of four units.
    const CONCENTRATED: f64 = 0.8;
    if counted.len() > MAX_SPARSE {
        return None;
    }
    let mut pairs: Vec<&Weighted> = counted.windows(2).collect();
    pairs.retain(|pair| width(pair) > 2.0 * TOLERANCE);
    pairs.sort_by(|a, b| width(a).total_cmp(&width(b)));
    pairs.truncate(CLOSE_PAIRS);
    let shortest = width(pairs.first()?);
    let range = [MIN_STEP_TICKS, shortest];
    lattice::find(MAX_FREQUENCIES, &pairs, range, CONCENTRATED, |line| {
        judge(values, fit_parts(counted, line, shortest)?)
    })
}

/// Fits a lattice that is known from pairs of this width in parts that double in size. `None` if
/// steps may be miscounted.
fn fit_parts(counted: &Weighted, mut line: Lattice, mut before: f64) -> Option<Lattice> {
    let mut size = 1;
    while size < counted.len() {
        size *= 2;
        let parts: Vec<&Weighted> = counted.chunks(size).collect();
        let longest = parts.iter().map(|part| width(part)).fold(0.0, f64::max);
        // Both ends of a part may be off by their rounding.
        if 4.0 * longest >= before * line.step {
            return None;
        }
        line = lattice::fit(&parts, line.step, Some(TOLERANCE))?;
        before = longest;
    }
    Some(line)
}

fn width(values: &Weighted) -> f64 {
    values[values.len() - 1].0 - values[0].0
}

/// Returns the step of a lattice that chance does not explain.
fn judge(values: &[f64], line: Lattice) -> Option<Step> {
    /// The largest uncertainty of the level of zero, in steps, at which it is known. *Judgement*.
    const MAX_UNCERTAINTY: f64 = 0.25;
    /// The least number of levels off zero with gaps between them, or with several if zero is
    /// unknown. *Judgement*: fewer lie on many grids.
    const MIN_LEVELS: f64 = 6.0;
    let (step, start) = (line.step, line.at);
    let placed = values
        .iter()
        .map(|value| [((value - start) / step).round(), *value]);
    let is_on = |[level, value]: &[f64; 2]| (value - start - level * step).abs() <= TOLERANCE;
    let on: Vec<[f64; 2]> = placed.filter(is_on).collect();
    let [first, last] = [on.first()?[0], on.last()?[0]];
    let levels = on.chunk_by(|a, b| a[0] == b[0]).count() as f64;
    let span = last - first;
    // Both ends may be off by their rounding.
    let error = 2.0 / span;
    let zero = -start / step;
    let origin = zero.round();
    let uncertainty = (1.0 + error * zero.abs()) / step;
    let is_known = uncertainty < MAX_UNCERTAINTY;
    let is_zero = is_known && (origin - zero).abs() <= uncertainty;
    let trials = 2.0 * span * if is_zero { 2.0 * uncertainty } else { 1.0 };
    let chance = trials.ln() + (levels - 2.0) * (2.0 * TOLERANCE / step).min(1.0).ln();
    let is_dense = levels >= MIN_LEVELS || span + 1.0 - levels <= f64::from(u8::from(!is_known));
    let is_certain = chance <= MAX_CHANCE.ln()
        && is_coarsest(&on)
        && on.len() as f64 >= (1.0 - INTERRUPTED_SHARE) * values.len() as f64;
    if !is_certain || !is_zero && !is_dense {
        return None;
    }
    if !is_zero {
        return Some(resolved(step, error));
    }
    let numbers = || on.iter().map(|[level, value]| (level - origin, value));
    let product: f64 = numbers().map(|(number, value)| number * value).sum();
    let square: f64 = numbers().map(|(number, _)| number * number).sum();
    let farthest = (first - origin).abs().max((last - origin).abs());
    Some(resolved(product / square, 1.0 / farthest))
}

/// Returns whether durations, each after its level and in ascending order, show the steps of one clock: work ends
/// at any phase of it, so a level with several durations has a neighbour with some. A part of the steps of two
/// clocks explains their durations, too, but leaves such levels alone.
fn is_coarsest(on: &[[f64; 2]]) -> bool {
    /// The least number of durations of a level that should have a neighbour. *Chance*: both are empty in one case
    /// of 3 000.
    const MIN_FULL_LEVEL: usize = 4;
    /// The least number of levels if none is full. *Chance*: all are even in one case of 256.
    const MIN_SPARSE_LEVELS: usize = 8;
    let levels: Vec<&[[f64; 2]]> = on.chunk_by(|a, b| a[0] == b[0]).collect();
    let full: Vec<usize> = (0..levels.len())
        .filter(|at| levels[*at].len() >= MIN_FULL_LEVEL)
        .collect();
    let is_near = |at: usize, other: usize| {
        let other = levels.get(other);
        other.is_some_and(|other| (other[0][0] - levels[at][0][0]).abs() == 1.0)
    };
    let near = full
        .iter()
        .filter(|at| is_near(**at, **at + 1) || is_near(**at, at.wrapping_sub(1)));
    match full.len() {
        0 => levels.len() >= MIN_SPARSE_LEVELS,
        all => 2 * near.count() >= all,
    }
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

    fn step(durations: &[f64]) -> Option<Estimate> {
        match find(durations, 1.0) {
            Step::Resolved { step, .. } => Some(step),
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
        assert!(
            found.is_none_or(|found| found.contains(125.0 / 3.0)),
            "{found:?}"
        );
    }

    #[test]
    fn few_durations_and_work_show_no_step() {
        for [short, long] in [[1_000.0, 1_041.0], [2_000.0, 3_500.0]] {
            let durations = [[short, long]; 500].concat();
            assert_eq!(step(&durations), None);
            let limit = find(&durations, 1.0).step_or_limit();
            assert!(limit >= Some(long - short), "{limit:?}");
        }
        let durations: Vec<_> = (0..500).map(|at| f64::from(at * at % 997)).collect();
        assert_eq!(step(&durations), None);
        assert_eq!(step(&[5.0; 9]), None);
        assert_eq!(find(&[0.0; 9], 1.0), Step::Unmoved);
    }
}
