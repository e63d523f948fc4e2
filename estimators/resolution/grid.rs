//! Finds the step of an unknown clock in durations that a program printed: they are multiples of
//! the step, except for their rounding. Nothing is known of the work or of the cost of reads, and
//! all durations may lie off zero by the same amount, for example a subtracted overhead.
//!
//! A *grid* of step *s* is tried where the durations, as angles of turns of *s*, point in the same
//! direction, the longest steps first. It counts if chance would hardly place so many *levels*
//! (distinct multiples) on a grid: with few levels, the step is only known to be no longer.

mod levels;

use self::levels::{Level, Levels, MAX_ERRORS, coarse_multiple, is_coarsest};
use super::lattice::{FittedLine, MIN_STEP_TICKS, fit_all_levels};
use super::{INTERRUPTED_SHARE, Resolution, StepRule, common_divisor};
use crate::model::Interval;
use crate::statistics::phasors::Sweep;
use crate::statistics::{Z, sorted};
use crate::trace::Intervals;

/// The largest probability that chance places the durations on a grid. *Chance*.
const MAX_CHANCE: f64 = 0.05;

/// The largest distance of a duration from its multiple, in units of its rounding. *Computed*: both
/// readings may be truncated (1 unit), and a margin for the error of the fitted line.
pub const TOLERANCE: f64 = 1.3;

/// The largest uncertainty of the level of zero, in steps, at which it is known. *Judgement*.
const MAX_UNCERTAINTY: f64 = 0.25;

/// The longest durations that are examined, in 95th percentiles. *Judgement*.
const MAX_USUAL: f64 = 2.0;

/// The number of grids that are tried until the longest durations are a multiple more. *Judgement*.
const TRIALS: f64 = 2.0;

/// The least share of durations on a grid. *Judgement*: as of intervals.
const LEAST_SHARE: f64 = 1.0 - INTERRUPTED_SHARE;

/// What durations show of the clock that measured them; times are in the unit of the durations.
#[derive(Clone, Debug, PartialEq)]
pub struct DurationGrid {
    /// The step, or its limit with the reason.
    pub resolution: Resolution,
    /// The share of durations that are multiples of the step.
    pub share: Interval,
    /// A multiple of the step, of which a clock of two precisions shows multiples for a share of
    /// the durations.
    pub coarse: Option<(Interval, Interval)>,
    /// The distance from zero to the nearest multiple; `None` if it is unknown.
    pub offset: Option<f64>,
}

/// Distinct durations in units of their rounding, with their numbers, in ascending order.
struct Counted(Vec<(f64, f64)>);

/// The rounding of durations that were computed with floating-point numbers, if they form narrow
/// groups: the longest distance within a group.
pub fn noise(durations: &[f64]) -> Option<f64> {
    /// The least ratio of the shortest distance between groups to this. *Judgement*.
    const MIN_RATIO: f64 = 8.0;
    let values = sorted(durations);
    let gaps = values.windows(2).map(|two| two[1] - two[0]);
    let gaps = sorted(gaps.filter(|gap| *gap > 0.0).collect::<Vec<_>>());
    let ratio = |two: &&[f64]| two[1] / two[0];
    let widest = gaps
        .windows(2)
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    (ratio(&widest) >= MIN_RATIO).then_some(widest[0])
}

/// Finds the grid of durations with their numbers, which are multiples of `rounding`.
pub fn find(durations: &[(f64, f64)], rounding: f64) -> DurationGrid {
    let (counted, divisor) = Counted::of(durations, rounding);
    let unit = rounding * divisor;
    let at_most = |bound: f64, reason: &'static str| DurationGrid {
        resolution: Resolution::AtMost {
            bound: bound * unit,
            reason: reason.into(),
        },
        share: Interval::unbounded(f64::NAN),
        coarse: None,
        offset: None,
    };
    match counted.0[..] {
        [] | [(0.0, _)] => {
            return DurationGrid {
                resolution: Resolution::Unmoved,
                ..at_most(0.0, "")
            };
        }
        [(only, _)] => return at_most(only.abs(), "all durations are equal"),
        _ => {}
    }
    let bound = counted.shortest_distance(1.0 / divisor);
    match counted.search() {
        Some(lattice) if lattice.is_certain() => lattice.scaled(unit, &counted),
        // Its step may be a part of the step of the clock, and is no bound.
        Some(_) => at_most(bound, "there are too few different durations"),
        None if divisor > 1.0 && counted.is_multiple_of(divisor) => DurationGrid {
            resolution: resolved(Interval::around(unit, rounding / counted.farthest())),
            share: Interval::exact(1.0).with_counting_error(counted.count()),
            coarse: None,
            offset: Some(0.0),
        },
        None => at_most(
            bound,
            match divisor > 1.0 {
                true => "there are too few different durations",
                false => "they differ by as little as their rounding",
            },
        ),
    }
}

fn resolved(step: Interval) -> Resolution {
    Resolution::Resolved {
        step,
        rule: StepRule::Lattice,
    }
}

/// A grid that was fitted to durations, in units of their rounding.
struct Fitted {
    step: f64,
    /// The distance of the multiples from multiples of a grid through zero; `None` if unknown.
    offset: Option<f64>,
    /// Half of the interval of the step.
    error: f64,
    /// The share of durations on the grid, less those that are there by chance.
    share: f64,
    /// The natural logarithm of the probability that chance places the durations on a grid.
    chance: f64,
    /// Whether multiples of the step would not explain the durations as well.
    is_coarsest: bool,
    /// A multiple in steps of which a share of the durations are multiples.
    coarse: Option<(f64, f64)>,
}

impl Fitted {
    /// The most probable of several grids, with an interval that holds the steps of all that explain
    /// as many durations.
    fn any_of(mut fits: Vec<Self>) -> Option<Self> {
        /// The largest difference of the shares. *Judgement*.
        const MAX_DIFFERENCE: f64 = 0.01;
        let most = fits.iter().map(|fit| fit.share).fold(0.0, f64::max);
        fits.retain(|fit| fit.share >= most - MAX_DIFFERENCE);
        let best = fits.iter().min_by(|a, b| a.chance.total_cmp(&b.chance))?;
        let ends = fits
            .iter()
            .map(|fit| (fit.step - best.step).abs() + fit.error);
        let error = ends.fold(0.0, f64::max);
        Some(Self { error, ..*best })
    }

    fn is_certain(&self) -> bool {
        self.is_coarsest && self.chance <= MAX_CHANCE.ln()
    }

    fn scaled(&self, unit: f64, counted: &Counted) -> DurationGrid {
        let counted_share = |share: f64| {
            Interval::exact(share)
                .with_counting_error(counted.count())
                .within(0.0, 1.0)
        };
        let step = Interval::around(self.step, self.error).scaled(unit);
        DurationGrid {
            resolution: resolved(step),
            share: counted_share(self.share),
            coarse: self
                .coarse
                .map(|(multiple, share)| (step.scaled(multiple), counted_share(share))),
            offset: self.offset.map(|offset| offset * unit),
        }
    }
}

impl Counted {
    /// The durations in the largest unit that all are multiples of, and this unit in `rounding`.
    fn of(durations: &[(f64, f64)], rounding: f64) -> (Self, f64) {
        let whole = durations
            .iter()
            .map(|(value, count)| ((value / rounding).round(), *count));
        let mut sorted: Vec<(f64, f64)> = whole.filter(|(_, count)| *count > 0.0).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        // Programs round longer durations more.
        let mut magnitudes: Vec<(f64, f64)> = sorted
            .iter()
            .map(|(value, count)| (value.abs(), *count))
            .collect();
        magnitudes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut rest = (1.0 - INTERRUPTED_SHARE) * sorted.iter().map(|it| it.1).sum::<f64>();
        let usual = magnitudes.iter().find(|(_, count)| {
            rest -= count;
            rest <= 0.0
        });
        let usual = usual.map_or(0.0, |(value, _)| *value);
        if usual > 0.0 {
            sorted.retain(|(value, _)| value.abs() <= MAX_USUAL * usual);
        }
        let deltas = sorted.iter().map(|(value, _)| *value as i64).collect();
        let divisor = common_divisor(&[Intervals { work: 0, deltas }]) as f64;
        let equal = sorted.chunk_by(|a, b| a.0 == b.0);
        let counted = equal.map(|same| {
            let count = same.iter().map(|(_, count)| count).sum();
            (same[0].0 / divisor, count)
        });
        (Self(counted.collect()), divisor)
    }

    /// The largest distance of a duration from zero.
    fn farthest(&self) -> f64 {
        self.0[0].0.abs().max(self.0[self.0.len() - 1].0.abs())
    }

    fn count(&self) -> f64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The shortest distance of two durations that rounding does not explain, with what rounding
    /// takes off: no step is longer.
    fn shortest_distance(&self, rounding: f64) -> f64 {
        let gaps = self.0.windows(2).map(|two| two[1].0 - two[0].0);
        let all = self.0[self.0.len() - 1].0 - self.0[0].0;
        let most = all.max(2.0 * rounding);
        gaps.filter(|gap| *gap > 2.0 * rounding)
            .fold(most, f64::min)
            + 2.0 * rounding
    }

    /// Whether chance, or a multiple, would hardly make all durations multiples of `divisor`.
    fn is_multiple_of(&self, divisor: f64) -> bool {
        let levels = self.0.iter().map(|(value, count)| (*value as i64, *count));
        let levels: Vec<(i64, f64)> = levels.collect();
        let others = levels.len() as f64 - 1.0;
        -others * divisor.ln() - others.ln() <= MAX_CHANCE.ln() && is_coarsest(&levels)
    }

    /// The longest step of at least four units whose grid holds nearly all durations.
    fn search(&self) -> Option<Fitted> {
        /// The largest number of distinct durations that are searched. *Numerical*.
        const MAX_SEARCHED: usize = 200;
        /// The largest number of angles that are computed. *Numerical*.
        const MAX_ANGLES: f64 = 1e8;
        /// The number of frequencies in which the angles of the longest durations gain a turn.
        /// *Numerical*.
        const FREQUENCIES_PER_TURN: f64 = 8.0;
        /// The shortest step that is tried after one was found, as a share of it. *Judgement*: the
        /// number of steps between distant groups of durations follows from steps within a group, of
        /// which a few units are known to a tenth.
        const SHORTEST: f64 = 0.9;
        let searched = (0.9 * self.0.len() as f64).ceil() as usize;
        let width_of = |run: &&[(f64, f64)]| run[run.len() - 1].0 - run[0].0;
        let run = self
            .0
            .windows(searched.clamp(2, MAX_SEARCHED))
            .min_by(|a, b| width_of(a).total_cmp(&width_of(b)))?;
        let anchor = run.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let width = width_of(&run);
        let weighted: Vec<(f64, f64)> = run
            .iter()
            .map(|(value, count)| (value - anchor, count.sqrt()))
            .collect();
        let all: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let stride = 1.0 / (FREQUENCIES_PER_TURN * width);
        let first = 0.5 / width;
        let most = (MAX_ANGLES / run.len() as f64).min((1.0 / MIN_STEP_TICKS - first) / stride);
        let mut sums = [(0.0, 0.0); 3];
        let mut fits: Vec<Fitted> = Vec::new();
        let frequencies = Sweep::new(&weighted, first, stride).take(most.max(0.0) as usize + 2);
        for (at, sum) in frequencies.enumerate() {
            sums = [sums[1], sums[2], (sum.length() / all, sum.turns())];
            let [before, (height, turns), after] = sums;
            if at < 2 || height < before.0.max(after.0).max(0.5 * LEAST_SHARE) {
                continue;
            }
            let step = 1.0 / (first + (at - 1) as f64 * stride);
            if fits
                .first()
                .is_some_and(|longest| step < SHORTEST * longest.step)
            {
                break;
            }
            let line = FittedLine::near(anchor + turns * step, step);
            fits.extend(self.fit(line, anchor, width));
        }
        Fitted::any_of(fits)
    }

    /// Fits a line that holds near the anchor to all durations, and judges the levels on its grid.
    fn fit(&self, line: FittedLine, anchor: f64, width: f64) -> Option<Fitted> {
        // Rare durations show the levels as well as frequent ones.
        let distinct: Vec<(f64, f64)> = self.0.iter().map(|(value, _)| (*value, 1e3)).collect();
        let line = fit_all_levels(&distinct, line, anchor, width)?;
        let mut levels = self.levels(&line)?;
        levels.reject(&levels.regress(&[]));
        let most = self.0.iter().map(|(_, count)| *count).fold(0.0, f64::max);
        // Any grid holds the most frequent duration.
        let on = levels.levels.iter().map(|level| level.count).sum::<f64>();
        let rest = (on - most) / (self.count() - most);
        let share = on / self.count();
        if share < LEAST_SHARE || rest < 0.5 * LEAST_SHARE || levels.levels.len() < 2 {
            return None;
        }
        let fitted = levels.regress(&[]);
        let origin = -fitted.at_zero / fitted.step;
        let uncertainty = MAX_ERRORS * fitted.error_at(origin) / fitted.step;
        let (mut step, mut error, mut offset) = (fitted.step, fitted.error, None);
        let mut chance = levels.chance(fitted.step) + (TRIALS * width / step).max(1.0).ln();
        let numbers = levels.numbers(None);
        let span = numbers[numbers.len() - 1].0 as f64;
        let mut systematic = 2.0 * levels.systematic() / span;
        if uncertainty < MAX_UNCERTAINTY {
            let off = (origin - origin.round()) * step;
            offset = Some(-off);
            if off.abs() <= uncertainty * step {
                let zero = Level::zero(origin.round());
                let through_zero = levels.regress(&[zero]);
                (step, error, offset) = (through_zero.step, through_zero.error, Some(0.0));
                systematic = levels.systematic() / self.farthest() * step;
                chance += (2.0 * uncertainty + 1.0 / step).min(1.0).ln();
            }
        }
        let zero = offset.filter(|it| *it == 0.0).map(|_| origin.round());
        let numbers = levels.numbers(zero);
        Some(Fitted {
            step,
            offset,
            error: Z * error + systematic,
            share,
            chance,
            is_coarsest: is_coarsest(&numbers),
            coarse: zero.and_then(|_| coarse_multiple(&numbers)),
        })
    }

    /// The levels of a line with their durations. `None` if the line is too flat.
    fn levels(&self, line: &FittedLine) -> Option<Levels> {
        /// The largest distance from a level, in steps. *Computed*: rounding to a quarter of them.
        const MAX_PART: f64 = 0.33;
        let step = line.step;
        if step.is_nan() || step < MIN_STEP_TICKS {
            return None;
        }
        let tolerance = TOLERANCE.min(MAX_PART * step);
        let mut levels: Vec<Level> = Vec::new();
        let mut off = 0.0;
        for &(value, count) in &self.0 {
            let number = ((value - line.at_anchor) / step).round();
            if (value - line.at_anchor - number * step).abs() > tolerance {
                off += 1.0;
                continue;
            }
            match levels.last_mut().filter(|last| last.number == number) {
                Some(last) => {
                    last.mean += (value - last.mean) * count / (last.count + count);
                    (last.count, last.is_varied) = (last.count + count, true);
                }
                None => levels.push(Level {
                    number,
                    mean: value,
                    count,
                    is_varied: false,
                }),
            }
        }
        Some(Levels { off, levels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations of these numbers of steps, between readings that are truncated to units.
    fn truncated(steps: impl Iterator<Item = i64>, step: f64) -> Vec<(f64, f64)> {
        let reading = |steps: i64| (steps as f64 * step).floor();
        let start = |at: usize| 1_000 + 7 * at as i64;
        let durations = steps.enumerate();
        let durations =
            durations.map(|(at, steps)| (reading(start(at) + steps) - reading(start(at)), 1.0));
        durations.collect()
    }

    fn step(durations: &[(f64, f64)]) -> Option<Interval> {
        match find(durations, 1.0).resolution {
            Resolution::Resolved { step, .. } => Some(step),
            _ => None,
        }
    }

    #[test]
    fn finds_step_between_units() {
        let durations = truncated((0..400).map(|at| 20 + at * at % 7), 125.0 / 3.0);
        let found = step(&durations).expect("it is found");
        assert!(
            found.contains(125.0 / 3.0) && found.half_width() < 0.1,
            "{found:?}"
        );
    }

    /// The number of steps between distant groups is not known: several steps explain the durations.
    #[test]
    fn step_of_distant_groups_is_uncertain() {
        for (levels, reach) in [(3, 0.5), (8, 0.25)] {
            let steps = (0..600).map(|at| 2_400 * (1 + at % 5) + at * at % 7 % levels);
            let found = step(&truncated(steps, 125.0 / 3.0)).expect("it is found");
            assert!(
                found.contains(125.0 / 3.0) && found.half_width() < reach,
                "{found:?}"
            );
        }
    }

    #[test]
    fn coarser_grid_of_some_durations() {
        let steps = |share: i64| {
            (0..2_000_i64).map(move |at| {
                let steps = 2_000 + at * at % 1_009;
                if at % 10 < share {
                    steps / 24 * 24
                } else {
                    steps
                }
            })
        };
        let durations = truncated(steps(4), 125.0 / 3.0);
        let (coarse, share) = find(&durations, 1.0).coarse.expect("it is found");
        assert!(
            coarse.contains(1_000.0) && (share.value - 0.4).abs() < 0.05,
            "{coarse:?} {share:?}"
        );
        assert_eq!(find(&truncated(steps(0), 125.0 / 3.0), 1.0).coarse, None);
    }

    #[test]
    fn two_durations_show_no_step() {
        for values in [[1_000.0, 1_041.0], [2_000.0, 3_500.0]] {
            let durations = values.map(|value| (value, 500.0));
            assert_eq!(step(&durations), None);
            let limit = find(&durations, 1.0).resolution.step_or_limit();
            assert!(limit >= Some(values[1] - values[0]), "{limit:?}");
        }
    }

    #[test]
    fn work_without_clock_has_no_grid() {
        let durations: Vec<_> = (0..500).map(|at| (f64::from(at * at % 997), 1.0)).collect();
        assert_eq!(step(&durations), None);
        assert_eq!(step(&[(5.0, 9.0)]), None);
        assert_eq!(find(&[(0.0, 9.0)], 1.0).resolution, Resolution::Unmoved);
    }
}
