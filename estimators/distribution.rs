//! Locates the median of durations that a clock shows in steps, and counts the durations around it.
//!
//! A *level* is a multiple of the clock's step. At a random phase, a duration of `x` steps shows as
//! one of the two levels around `x`, as the nearer one more often, so that the mean of the levels is
//! the mean duration, however coarse the clock is. The *near* levels are those next to the level of
//! the median: their mean is the median of a duration that is constant or scatters evenly. Durations
//! that differ within a step look like a constant one, so the variance that the steps hide bounds the
//! distance of the median from that mean.

use crate::model::Estimate;
use crate::statistics::{Z, mean, quantile, sorted, variance};

/// The largest distance of a near level from the level of the median, in steps. *Computed*: a
/// constant duration shows at two neighbouring levels.
pub const NEAR_STEPS: f64 = 1.5;
/// The share of durations that are certainly no interruptions. *Judgement*: 2 % may be interrupted.
const UNINTERRUPTED_SHARE: f64 = 0.98;
/// The distance from that quantile beyond which durations are interruptions: this multiple of the
/// distance between the median and the quantile, plus this number of levels. *Judgement*: halved or
/// doubled, it moves one timer at most.
const INTERRUPTION_DISTANCE: (f64, f64) = (2.0, 3.0);
/// The distance of the median from the mean, in standard deviations, that hidden variation allows.
/// *Judgement*: 1 bounds all distributions, and few reach it.
const MEDIAN_DISTANCE: f64 = 0.9;
/// How far the median is expected below the mean of near durations, in standard deviations.
/// *Judgement*: costs have a lower limit, so that they are skewed; 0 for a normal distribution, 0.31
/// for an exponential one.
const EXPECTED_SKEW: f64 = 0.2;

/// Durations counted by level.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The level of each duration, in ascending order.
    sorted: Vec<f64>,
    /// The number of durations without rare interruptions, which lie so far above the others that
    /// what is timed cannot be their cause.
    uninterrupted: usize,
    /// The near levels.
    pub near: Near,
}

/// The near levels, in steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    /// The level of the median.
    centre: f64,
    /// The mean level.
    pub mean: f64,
    /// The variance of the levels.
    pub variance: f64,
    /// The standard error of the variance.
    pub variance_error: f64,
    /// The share of all durations.
    pub share: f64,
    /// The share of all durations that lies above less the share that lies below.
    above_less_below: f64,
    /// The part of the share by which the near levels stand out from those around them: 0 for a
    /// smooth distribution over many levels.
    distinct: f64,
}

impl Near {
    fn contains(&self, level: f64) -> bool {
        (level - self.centre).abs() <= NEAR_STEPS
    }
}

/// The variance of the levels of a constant duration, in squared steps.
pub fn variance_of_constant(steps: f64) -> f64 {
    let fraction = steps - steps.floor();
    fraction * (1.0 - fraction)
}

impl Levels {
    /// Counts durations in ticks of a clock that moves in steps of `step` ticks. `None` without
    /// durations.
    pub fn new(durations: impl IntoIterator<Item = i64>, step: f64) -> Option<Self> {
        let sorted = sorted(
            durations
                .into_iter()
                .map(|ticks| (ticks as f64 / step).round()),
        );
        let centre = *sorted.get(sorted.len().saturating_sub(1) / 2)?;
        let high = quantile(&sorted, UNINTERRUPTED_SHARE)?;
        let limit = high + INTERRUPTION_DISTANCE.0 * (high - centre) + INTERRUPTION_DISTANCE.1;
        let mut levels = Self {
            uninterrupted: sorted.partition_point(|&level| level <= limit),
            sorted,
            near: Near::default(),
        };
        levels.near = levels.near_levels(centre, NEAR_STEPS)?;
        Some(levels)
    }

    /// Describes the levels within `reach` steps of `centre`. `None` if there are none.
    fn near_levels(&self, centre: f64, reach: f64) -> Option<Near> {
        let count = self.sorted.len() as f64;
        let (first, last) = (self.below(centre - reach), self.up_to(centre + reach));
        let near = &self.sorted[first..last];
        let (variance, share) = (variance(near)?, near.len() as f64 / count);
        let (low, high) = (centre - 2.0 * reach, centre + 2.0 * reach);
        let around = (self.up_to(high) - self.below(low)) as f64 / count - share;
        Some(Near {
            centre,
            mean: mean(near)?,
            variance,
            variance_error: (2.0 / near.len() as f64).sqrt() * variance,
            share,
            above_less_below: (count - (first + last) as f64) / count,
            distinct: (1.0 - around / share).max(0.0),
        })
    }

    /// The number of durations below a level.
    fn below(&self, level: f64) -> usize {
        self.sorted.partition_point(|&other| other < level)
    }

    /// The number of durations up to a level.
    fn up_to(&self, level: f64) -> usize {
        self.sorted.partition_point(|&other| other <= level)
    }

    /// The levels with the share of durations of each, in ascending order.
    pub fn shares(&self) -> impl Iterator<Item = (f64, f64)> {
        let count = self.sorted.len() as f64;
        let same = self.sorted.chunk_by(|a, b| a == b);
        same.map(move |same| (same[0], same.len() as f64 / count))
    }

    /// All durations except rare interruptions, in steps.
    pub fn uninterrupted(&self) -> &[f64] {
        &self.sorted[..self.uninterrupted]
    }

    /// The mean of all durations except rare interruptions, in steps.
    pub fn mean(&self) -> f64 {
        mean(self.uninterrupted()).unwrap_or(0.0)
    }

    /// The variance of all levels except rare interruptions, in squared steps.
    pub fn variance(&self) -> f64 {
        variance(self.uninterrupted()).unwrap_or(0.0)
    }

    /// The number of durations.
    pub fn count(&self) -> f64 {
        self.sorted.len() as f64
    }

    /// The share of rare interruptions.
    pub fn interruption_share(&self) -> f64 {
        1.0 - self.uninterrupted as f64 / self.sorted.len() as f64
    }

    /// The longest duration, in steps.
    pub fn longest(&self) -> f64 {
        self.sorted.last().copied().unwrap_or(0.0)
    }

    /// The duration, in steps, that this share of the durations does not exceed. The durations of a
    /// level are spread evenly over a step around it.
    pub fn quantile(&self, probability: f64) -> f64 {
        let rank = probability * self.sorted.len() as f64;
        let level = self.sorted[(rank as usize).min(self.sorted.len() - 1)];
        let (first, last) = (self.below(level) as f64, self.up_to(level) as f64);
        level - 0.5 + (rank - first) / (last - first)
    }
}

/// Durations with what is known of the variation that the steps of the clock hide.
#[derive(Clone, Debug)]
pub struct Located {
    /// The durations.
    pub levels: Levels,
    /// The variance that the near durations certainly have, in squared steps.
    scatter: f64,
    /// The greatest variance that they may have.
    most: f64,
    /// The median, in steps.
    pub median: f64,
    /// How far the true median may lie from it, in steps.
    pub error: f64,
    /// The ends between which chance leaves it open, in steps: it is one of two durations far apart if about half
    /// of all are each.
    pub ends: [f64; 2],
}

impl Located {
    /// Locates the median. `by_reads` is the variance that the reads of the clock add; `in_batches`
    /// are the least and the greatest variance of a duration that batches show
    /// ([`variance_in_batches`]), in squared steps.
    pub fn new(levels: Levels, by_reads: f64, in_batches: Option<[f64; 2]>) -> Self {
        let near = levels.near;
        let excess = near.variance - variance_of_constant(near.mean) - by_reads;
        let chance = 2.0 * near.variance_error;
        let scatter = (excess - chance).max(0.0);
        let [least, most] = in_batches.unwrap_or([0.0, excess + chance]);
        let most = most.min(near.variance).max(scatter);
        let least = least.min(near.variance).max(scatter);
        // Where durations scatter evenly, the median lies where as many are above as below.
        let beside = (near.above_less_below / (2.0 * near.share)).clamp(-0.5, 0.5);
        let skewed = EXPECTED_SKEW * near.distinct * least.sqrt();
        let median = near.mean + beside * (12.0 * scatter).sqrt() - skewed;
        let chance = Z * 0.5 / levels.count().sqrt();
        let end = |rank: f64| match levels.quantile(rank) {
            level if near.contains(level.round()) => median,
            level => median + near.distinct * (level - median),
        };
        Self {
            ends: [end(0.5 - chance), end(0.5 + chance)],
            median,
            error: MEDIAN_DISTANCE * near.distinct * most.sqrt(),
            scatter,
            most,
            levels,
        }
    }

    /// The share of durations within `reach` steps of the median, with the ends that the steps leave
    /// open.
    pub fn share_within(&self, reach: f64) -> Estimate {
        let (near, far) = (self.near_within(reach), self.far_within(reach));
        let share = Estimate {
            value: near.value + far.value,
            low: near.low + far.low,
            high: near.high + far.high,
        };
        share.within(1.0 / self.levels.count(), 1.0)
    }

    /// The share of a level that lies within reach: its durations are spread over a step around it.
    fn part_within(&self, level: f64, reach: f64) -> f64 {
        (reach - (level - self.median).abs() + 0.5).clamp(0.0, 1.0)
    }

    /// The share of all durations that are near and within reach. Near durations that stand out
    /// scatter evenly over as much as they certainly vary, or else in any way with the variance that
    /// they may have (Chebyshev's inequality).
    fn near_within(&self, reach: f64) -> Estimate {
        let near = self.levels.near;
        let half = (3.0 * self.scatter).sqrt().max(1e-6);
        let beside = self.median - near.mean;
        let [above, below] = [beside, -beside].map(|beside| (reach + beside).clamp(-half, half));
        let even = near.share * (above + below) / (2.0 * half);
        let smooth: f64 = (self.levels.shares())
            .filter(|(level, _)| near.contains(*level))
            .map(|(level, share)| share * self.part_within(level, reach))
            .sum();
        let value = near.distinct * even + (1.0 - near.distinct) * smooth;
        let open = near.share * near.distinct / 2.0;
        let outside = self.most / (reach - self.error).max(1e-9).powi(2);
        let certain = near.share * (1.0 - outside);
        Estimate {
            value,
            low: (value - open).max(certain).min(value),
            high: (value + open).min(near.share).max(value),
        }
    }

    /// The share of all durations that are not near and within reach.
    fn far_within(&self, reach: f64) -> Estimate {
        let near = self.levels.near;
        let far = || {
            self.levels
                .shares()
                .filter(|(level, _)| !near.contains(*level))
        };
        let share_at = |edge: f64, range: std::ops::Range<f64>| -> f64 {
            far()
                .filter(|(level, _)| range.contains(&(level - edge)))
                .map(|(_, share)| share)
                .sum()
        };
        let mut value: f64 = far()
            .map(|(level, share)| share * self.part_within(level, reach))
            .sum();
        let mut open = 0.0;
        for side in [-1.0, 1.0] {
            let edge = self.median + side * reach;
            let [below, above] =
                [-NEAR_STEPS..0.0, 0.0..NEAR_STEPS].map(|range| share_at(edge, range));
            let around = share_at(edge, -2.0 * NEAR_STEPS..2.0 * NEAR_STEPS) - below - above;
            // Steps make a distribution wider: levels around the end hold a share of those that are
            // more frequent on one of its sides.
            let bend = -side * (above - below) * BEND;
            value += bend;
            // Durations that stand out at an end may be on either of its sides.
            open += bend.abs() + (below + above - around).max(0.0) / 2.0;
        }
        Estimate {
            value,
            low: value - open,
            high: value + open,
        }
    }
}

/// Half of the variance that steps, and levels that are spread over a step, add to durations, over
/// the square of the width over which a slope is measured, in steps. *Computed*: 1/6 and 1/12; the
/// second term of a Taylor series.
const BEND: f64 = 0.125 / (NEAR_STEPS * NEAR_STEPS);

/// The least and the greatest variance of a call, in squared steps, that batches of so many calls
/// show: variances add up, and steps add a quarter at most. `None` if most batches lie elsewhere.
pub fn variance_in_batches(levels: &Levels, calls: f64) -> Option<[f64; 2]> {
    let near = levels.near_levels(levels.near.centre, NEAR_STEPS + calls.sqrt())?;
    let chance = 2.0 * near.variance_error;
    let ends = [near.variance - chance - 0.25, near.variance + chance];
    (calls > 1.0 && near.share > 0.5).then(|| ends.map(|end| end / calls))
}
