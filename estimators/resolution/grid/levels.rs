//! The levels of a grid: which durations are on them, and whether chance or a coarser grid explains
//! them.

use std::collections::HashMap;

use crate::resolution::common_divisor;
use crate::trace::Intervals;

/// The largest distance of the mean of a level from its multiple, in standard errors. *Chance*: one in
/// 2 000.
pub const MAX_ERRORS: f64 = 3.5;

/// The least number of durations of a level that shows whether they differ by rounding. *Judgement*.
const MIN_LEVEL_COUNT: f64 = 8.0;

/// The number of levels, even if no two are neighbours, that a multiple of the step would not
/// explain. *Chance*: all are even multiples in one case of 256.
const MIN_SPARSE_LEVELS: usize = 8;

/// The least number of durations of a level whose neighbours should hold some, too. *Chance*: both
/// are empty in one case of 3 000.
const MIN_FULL_LEVEL: f64 = 4.0;

/// A level that holds durations.
pub struct Level {
    pub number: f64,
    pub mean: f64,
    pub count: f64,
    /// Whether its durations differ by their rounding.
    pub is_varied: bool,
}

impl Level {
    /// The level of zero, which is known exactly.
    pub fn zero(number: f64) -> Self {
        let (mean, count, is_varied) = (0.0, f64::INFINITY, true);
        Self {
            number,
            mean,
            count,
            is_varied,
        }
    }
}

/// The levels that hold durations.
pub struct Levels {
    pub levels: Vec<Level>,
    /// The number of distinct durations off them.
    pub off: f64,
}

/// A line fitted to the means of levels.
pub struct LevelLine {
    pub step: f64,
    pub at_zero: f64,
    /// Standard error of the step.
    pub error: f64,
    pub weight: f64,
    pub centre: f64,
}

impl LevelLine {
    /// The standard error at a level.
    pub fn error_at(&self, number: f64) -> f64 {
        (1.0 / self.weight + ((number - self.centre) * self.error).powi(2)).sqrt()
    }
}

impl Levels {
    /// The largest error of the mean of a level that does not shrink with more durations: none if
    /// truncation of two readings makes durations of half of the levels differ.
    pub fn systematic(&self) -> f64 {
        let frequent = || {
            self.levels
                .iter()
                .filter(|level| level.count >= MIN_LEVEL_COUNT)
        };
        let varied = frequent().filter(|level| level.is_varied).count();
        match varied > 0 && 2 * varied >= frequent().count() {
            true => 0.02,
            false => 1.0,
        }
    }

    /// The variance of the mean of a level.
    pub fn variance(&self, level: &Level) -> f64 {
        match level.count.is_finite() {
            true => self.systematic().powi(2) / 3.0 + 0.25 / level.count,
            false => 1e-9,
        }
    }

    /// Removes the levels that are too far from a line.
    pub fn reject(&mut self, line: &LevelLine) {
        let is_near = |level: &Level| {
            let off = level.mean - line.at_zero - level.number * line.step;
            off.abs() <= MAX_ERRORS * self.variance(level).sqrt()
        };
        let near: Vec<bool> = self.levels.iter().map(is_near).collect();
        let mut kept = near.iter();
        self.levels.retain(|_| *kept.next().unwrap_or(&false));
        self.off += near.iter().filter(|near| !**near).count() as f64;
    }

    /// Fits a line to the levels and to points that are known exactly.
    pub fn regress(&self, known: &[Level]) -> LevelLine {
        let levels = || self.levels.iter().chain(known);
        let weighted = || levels().map(|level| (1.0 / self.variance(level), level));
        let weight: f64 = weighted().map(|(weight, _)| weight).sum();
        let centre = weighted()
            .map(|(weight, level)| weight * level.number)
            .sum::<f64>()
            / weight;
        let mean = weighted()
            .map(|(weight, level)| weight * level.mean)
            .sum::<f64>()
            / weight;
        let square: f64 = weighted()
            .map(|(weight, level)| weight * (level.number - centre).powi(2))
            .sum();
        let product: f64 = weighted()
            .map(|(weight, level)| weight * (level.number - centre) * (level.mean - mean))
            .sum();
        let step = product / square;
        LevelLine {
            step,
            at_zero: mean - step * centre,
            error: square.recip().sqrt(),
            weight,
            centre,
        }
    }

    /// The natural logarithm of the probability that chance places the durations so near to levels;
    /// two levels determine any grid.
    pub fn chance(&self, step: f64) -> f64 {
        let near = |level: &Level| {
            (2.0 * MAX_ERRORS * self.variance(level).sqrt() / step)
                .min(1.0)
                .ln()
        };
        let mut near: Vec<f64> = self.levels.iter().map(near).collect();
        near.sort_unstable_by(f64::total_cmp);
        let checked: f64 = near.iter().skip(2).sum();
        let on = (near.len() - 2) as f64;
        if self.off == 0.0 || on == 0.0 {
            return checked;
        }
        // Chernoff's bound of a binomial distribution.
        let (share, by_chance) = (on / (on + self.off), (checked / on).exp());
        if share <= by_chance {
            return 0.0;
        }
        let odds = (1.0 - share) * ((1.0 - share) / (1.0 - by_chance)).ln();
        -(on + self.off) * (share * (share / by_chance).ln() + odds)
    }

    /// The levels with their numbers of durations, counted from the level of zero if it is known.
    pub fn numbers(&self, origin: Option<f64>) -> Vec<(i64, f64)> {
        let origin = origin.unwrap_or(self.levels[0].number);
        let number = |level: &Level| ((level.number - origin) as i64, level.count);
        self.levels.iter().map(number).collect()
    }
}

/// The largest multiple of the step of which many more durations are multiples than work at any
/// phase leaves, with the share of these durations.
pub fn coarse_multiple(levels: &[(i64, f64)]) -> Option<(f64, f64)> {
    /// The least share of these durations. *Judgement*.
    const MIN_SHARE: f64 = 0.2;
    /// The least share of the largest one that a larger multiple must have. *Chance*: that of twice
    /// the multiple has half of it.
    const MIN_SAME: f64 = 0.8;
    /// The largest number of remainders that are computed. *Numerical*.
    const MAX_REMAINDERS: i64 = 10_000_000;
    let all: f64 = levels.iter().map(|level| level.1).sum();
    let span = levels.last()?.0 - levels[0].0;
    let largest = (MAX_REMAINDERS / levels.len() as i64).min(span / MIN_SPARSE_LEVELS as i64);
    let excess = |multiple: i64| {
        let on = levels.iter().filter(|level| level.0 % multiple == 0);
        let by_chance = 1.0 / multiple as f64;
        (on.map(|level| level.1).sum::<f64>() / all - by_chance) / (1.0 - by_chance)
    };
    let found: Vec<(i64, f64)> = (2..=largest).map(|at| (at, excess(at))).collect();
    let most = found.iter().map(|it| it.1).fold(MIN_SHARE, f64::max);
    let &(multiple, share) = found.iter().rfind(|it| it.1 >= MIN_SAME * most)?;
    // Groups of durations have a common remainder, too, but not one alone.
    let mut others: HashMap<i64, f64> = HashMap::new();
    for level in levels.iter().filter(|level| level.0 % multiple != 0) {
        *others.entry(level.0.rem_euclid(multiple)).or_default() += level.1;
    }
    let is_alone = others.values().all(|count| *count < 0.5 * share * all);
    (share >= MIN_SHARE && is_alone).then_some((multiple as f64, share))
}

/// Returns whether no multiple of the step explains the levels, which are given with their numbers of
/// durations: those with several durations have neighbours, because work ends at any phase.
pub fn is_coarsest(levels: &[(i64, f64)]) -> bool {
    let deltas = levels.iter().map(|level| level.0).collect();
    if common_divisor(&[Intervals { work: 0, deltas }]) > 1 {
        return false;
    }
    let is_next = |a: Option<&(i64, f64)>, b: i64| a.is_some_and(|a| a.0.abs_diff(b) == 1);
    let (mut full, mut with_neighbours) = (0, 0);
    for (at, &(number, count)) in levels.iter().enumerate() {
        if count >= MIN_FULL_LEVEL {
            let before = at.checked_sub(1).and_then(|at| levels.get(at));
            full += 1;
            with_neighbours +=
                usize::from(is_next(before, number) || is_next(levels.get(at + 1), number));
        }
    }
    match full {
        0 => levels.len() >= MIN_SPARSE_LEVELS,
        full => 2 * with_neighbours >= full,
    }
}
