//! Finds the lattice of intervals: a counter that moves in equal steps has only intervals that are
//! multiples of its step, except for truncation to whole ticks. The *level* of an interval is its
//! number of steps. Some clocks add a tick to a reading that equals the one before (*unique
//! readings*).

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{EQUAL_STEP_TOLERANCE, INTERRUPTED_SHARE, MIN_STEPS};
use crate::statistics::sorted;

/// The shortest step with a visible lattice, in ticks; the rule `Spectrum` (`likelihood.rs`) finds
/// shorter ones.
/// *Computed*: truncation fills the gaps between the multiples of shorter steps.
pub const MIN_STEP_TICKS: f64 = 4.0;

/// Steps of at least this many ticks are long: a truncated interval cannot be mistaken for one of
/// the neighbouring level. *Judgement*.
pub const MIN_LONG_STEP: f64 = 12.0;

/// A lattice that explains the intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Its step, in ticks.
    pub step: f64,
    /// Standard error of the step, in ticks.
    pub error: f64,
}

/// The largest distance of an interval from a multiple of `step`, in ticks: truncation of two
/// readings, for long steps one tick for unique readings, and a tolerance for steered counters.
pub fn tolerance(step: f64) -> f64 {
    /// The tolerance in ticks for short and for long steps. *Computed*: truncation of two readings
    /// (1 tick) and a margin; for long steps also the tick of unique readings, which would reach the
    /// neighbouring level of a short one.
    const TRUNCATION_TICKS: (f64, f64) = (1.3, 2.2);
    /// The tolerance for steered counters, as a share of the step. *Default*: moves no figure.
    const STEERING_SHARE: f64 = 0.03;
    let truncation: f64 = if step >= MIN_LONG_STEP {
        TRUNCATION_TICKS.1
    } else {
        TRUNCATION_TICKS.0
    };
    truncation.max(STEERING_SHARE * step)
}

impl Lattice {
    /// Returns whether some of the sorted intervals are positive but much shorter than a step: the
    /// counter did not move, but the second reading was made unique.
    pub fn shows_unique_readings(&self, intervals: &[i64]) -> bool {
        intervals
            .iter()
            .find(|interval| **interval > 0)
            .is_some_and(|&interval| interval as f64 <= tolerance(self.step))
    }

    /// Determines the step from differences of successive readings, one series per process. The
    /// first reading within a step was not made unique, so distances between such readings are
    /// multiples of the step. `None` if they are rare, or off the lattice.
    pub fn refine_by_reading_differences(&self, series: &[Vec<i64>]) -> Option<Self> {
        /// The least number of counted steps. *Default*: moves no figure.
        const MIN_COUNTED_STEPS: f64 = 200.0;
        /// The largest number of steps in an interval; longer intervals are interruptions.
        /// *Default*: moves no figure.
        const MAX_INTERVAL_STEPS: f64 = 8.0;
        let (mut length, mut levels, mut on_lattice, mut off_lattice) = (0.0, 0.0, 0.0, 0.0);
        for differences in series {
            // The advance since the last reading that was the first of its step; unknown at the
            // beginning.
            let mut advance = None;
            for &difference in differences {
                if (0..=1).contains(&difference) {
                    advance = advance.map(|moved: f64| moved + difference as f64);
                    continue;
                }
                let moved = advance.map_or(f64::NAN, |moved| moved + difference as f64);
                let level = (moved / self.step).round();
                if level <= MAX_INTERVAL_STEPS {
                    let is_on_lattice =
                        level >= 1.0 && (moved - level * self.step).abs() <= tolerance(self.step);
                    if is_on_lattice {
                        (length, levels, on_lattice) =
                            (length + moved, levels + level, on_lattice + 1.0);
                    } else {
                        off_lattice += 1.0;
                    }
                }
                advance = (difference > 0).then_some(0.0);
            }
        }
        // Truncation, assumed independent for each reading.
        let error = (on_lattice / 6.0 + 1.0_f64).sqrt() / levels;
        let resolved = levels >= MIN_COUNTED_STEPS
            && off_lattice <= INTERRUPTED_SHARE * (on_lattice + off_lattice);
        resolved.then(|| Self {
            step: length / levels,
            error,
        })
    }

    /// Determines the step from sorted intervals with random work by a regression through zero, because all
    /// intervals are multiples of the step. An interval may be too short because its first reading
    /// was made unique; the standard error includes this.
    pub fn refit(self, intervals: &[i64]) -> Self {
        let (mut product, mut shortfall, mut square) = (0.0, 0.0, 0.0);
        for (value, count) in count_values(intervals) {
            let level = (value / self.step).round();
            let difference = value - level * self.step;
            if level > 0.0 && difference.abs() <= tolerance(self.step) {
                product += count * level * value;
                if difference < -0.5 {
                    shortfall -= count * level * difference;
                }
                square += count * level * level;
            }
        }
        if square == 0.0 {
            return self;
        }
        Self {
            step: product / square,
            error: self.error.max(shortfall / square),
        }
    }
}

/// Returns the coarsest lattice of at least four ticks that includes at least 95 % of the
/// intervals; `intervals` are sorted and not negative.
pub fn find(intervals: &[i64]) -> Option<Lattice> {
    let counted = count_values(intervals);
    sorted(candidate_steps(&counted))
        .into_iter()
        .rev()
        .find_map(|candidate| refine_candidate(&counted, candidate))
}

/// Returns the distinct values of the sorted intervals with their counts, without the longest
/// intervals, which may be outliers.
fn count_values(intervals: &[i64]) -> Vec<(f64, f64)> {
    let outliers = (INTERRUPTED_SHARE * intervals.len() as f64) as usize;
    intervals[..intervals.len() - outliers]
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0] as f64, same.len() as f64))
        .collect()
}

/// Returns candidate steps: frequent differences between neighbouring values, put into bins by their
/// logarithm, each as wide as steps that count as equal.
fn candidate_steps(counted: &[(f64, f64)]) -> Vec<f64> {
    /// The largest number of higher values that a value is compared with. *Default*: moves no
    /// figure.
    const MAX_NEIGHBOURS: usize = 10;
    /// The largest number of candidates. *Default*: moves no figure.
    const MAX_CANDIDATES: usize = 28;
    let bin = |length: f64| (length.ln() / EQUAL_STEP_TOLERANCE.0.ln_1p()).round() as i64;
    let mut bins = BTreeMap::<i64, (f64, f64)>::new();
    for (index, &(low, low_count)) in counted.iter().enumerate() {
        for &(high, high_count) in counted[index + 1..].iter().take(MAX_NEIGHBOURS) {
            let length = high - low;
            if length >= MIN_STEP_TICKS - 1.0 {
                let weight = (1.0 + low_count.min(high_count)).log2();
                let entry = bins.entry(bin(length)).or_default();
                entry.0 += weight;
                entry.1 += weight * length;
            }
        }
    }
    let mut weighted: Vec<(f64, f64)> = bins
        .into_values()
        .map(|(weight, sum)| (weight, sum / weight))
        .collect();
    weighted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    weighted
        .into_iter()
        .take(MAX_CANDIDATES)
        .map(|(_, length)| length)
        .collect()
}

/// Refines a candidate step. `None` unless the intervals lie on its lattice.
fn refine_candidate(counted: &[(f64, f64)], candidate: f64) -> Option<Lattice> {
    /// The largest distance between zero and the nearest level of the lattice, in steps; not tested
    /// if the distance is known less precisely. *Default*: moves no figure.
    const MAX_ORIGIN_DISTANCE: f64 = 0.1;
    let anchor = counted.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let start = refine_near(counted, anchor, candidate)?;
    let line = fit_all_levels(
        counted,
        FittedLine::near(anchor, start),
        anchor,
        3.2 * start,
    )?;
    let step = line.step;
    if step < MIN_STEP_TICKS {
        return None;
    }
    // The intervals of a counter are multiples of its step, so its lattice includes zero.
    let anchor_level = line.at_anchor / step;
    let is_origin_uncertain = 3.0 * line.error * anchor_level.abs() > MAX_ORIGIN_DISTANCE * step;
    let origin_distance = line.at_anchor - anchor_level.round() * step;
    if !is_origin_uncertain
        && origin_distance.abs() > (0.5 * tolerance(step)).max(MAX_ORIGIN_DISTANCE * step)
    {
        return None;
    }
    let (mut on_lattice, mut all) = (0.0, 0.0);
    let mut levels = BTreeMap::<i64, f64>::new();
    let (mut product, mut square, mut squared_values) = (0.0, 0.0, 0.0);
    // `count_values` left out the longest intervals, so only the shorter intervals of the last
    // level remain, which would bias the step.
    let last_level = counted
        .last()
        .map_or(f64::INFINITY, |(value, _)| (value / step).round());
    for &(value, count) in counted {
        let base = if is_origin_uncertain {
            line.at_anchor
        } else {
            0.0
        };
        let level = ((value - base) / step).round();
        all += count;
        if (value - base - level * step).abs() <= tolerance(step) {
            on_lattice += count;
            *levels.entry(level as i64).or_default() += count;
            if level < last_level {
                product += count * level * value;
                square += count * level * level;
                squared_values += count * value * value;
            }
        }
    }
    let through_zero = if is_origin_uncertain || square == 0.0 {
        step
    } else {
        product / square
    };
    // The residual variance of the regression through zero, in squared ticks; truncation of two
    // readings causes at least 1/6.
    let residual = ((squared_values - through_zero * product) / on_lattice.max(1.0)).max(1.0 / 6.0);
    let error = if square > 0.0 {
        (residual / square).sqrt()
    } else {
        line.error
    };
    (on_lattice >= (1.0 - INTERRUPTED_SHARE) * all
        && has_adjacent_levels(&levels, step)
        && through_zero >= MIN_STEP_TICKS)
        .then_some(Lattice {
            step: through_zero,
            error: if is_origin_uncertain {
                line.error
            } else {
                error
            },
        })
}

/// Returns whether enough pairs of neighbouring levels hold intervals; otherwise a multiple of the
/// step would explain the intervals too. Few pairs suffice, because [`find`] tries coarser lattices
/// first.
fn has_adjacent_levels(levels: &BTreeMap<i64, f64>, step: f64) -> bool {
    /// The least number of intervals in a level that counts; fewer may be interruptions. *Default*:
    /// moves no figure.
    const MIN_LEVEL_COUNT: f64 = 2.0;
    /// The least number of pairs of neighbouring levels. *Default*: moves no figure.
    const MIN_ADJACENT_PAIRS: usize = 2;
    /// The least share of neighbouring levels among all pairs of successive levels. *Default*:
    /// moves no figure.
    const MIN_ADJACENT_SHARE: f64 = 0.2;
    let all: f64 = levels.values().sum();
    let levels_with = |least: f64| -> Vec<i64> {
        levels
            .iter()
            .filter(|(_, count)| **count >= least)
            .map(|(level, _)| *level)
            .collect()
    };
    let count_adjacent = |levels: &[i64]| {
        levels
            .windows(2)
            .filter(|pair| pair[1] == pair[0] + 1)
            .count()
    };
    // Two neighbouring levels are sufficient if the step is long compared with truncation.
    if step >= MIN_LONG_STEP && count_adjacent(&levels_with(INTERRUPTED_SHARE * all)) > 0 {
        return true;
    }
    let frequent = levels_with(MIN_LEVEL_COUNT);
    let adjacent = count_adjacent(&frequent);
    adjacent >= MIN_ADJACENT_PAIRS
        && adjacent as f64 >= MIN_ADJACENT_SHARE * (frequent.len() - 1) as f64
}

/// Returns the step near `candidate` with the largest periodogram (the sum of the cosines of the
/// phases) of the intervals near the anchor; `None` if it is not positive.
fn refine_near(counted: &[(f64, f64)], anchor: f64, candidate: f64) -> Option<f64> {
    let is_near = |(value, _): &&(f64, f64)| (value - anchor).abs() <= 4.5 * candidate;
    let near: Vec<&(f64, f64)> = counted.iter().filter(is_near).collect();
    let reach = 1.5_f64.max(0.04 * candidate);
    let (mut best, mut highest) = (None, 0.0);
    for index in -12..=12_i32 {
        let step = candidate + reach * f64::from(index) / 12.0;
        let cosine = |(value, count): &&(f64, f64)| count * (TAU * (value - anchor) / step).cos();
        let score: f64 = near.iter().map(cosine).sum();
        if score > highest {
            (best, highest) = (Some(step), score);
        }
    }
    best
}

/// A straight line fitted to intervals over their level, which is counted from the anchor, the most
/// frequent interval.
pub struct FittedLine {
    /// The slope, in ticks per level.
    pub step: f64,
    /// The fitted interval at level 0, in ticks.
    pub at_anchor: f64,
    /// Standard error of `step`, in ticks.
    pub error: f64,
}

impl FittedLine {
    /// A line through the anchor before it is fitted.
    pub fn near(at_anchor: f64, step: f64) -> Self {
        Self {
            step,
            at_anchor,
            error: 0.0,
        }
    }
}

/// Fits `value = at_anchor + level · step` in windows around the anchor that double in size, so that
/// no level is miscounted, beginning with a line that holds within `window` ticks. `None` if the
/// intervals of a window do not lie on a lattice.
pub fn fit_all_levels(
    counted: &[(f64, f64)],
    mut line: FittedLine,
    anchor: f64,
    mut window: f64,
) -> Option<FittedLine> {
    let farthest = counted
        .iter()
        .map(|(value, _)| (value - anchor).abs())
        .fold(0.0, f64::max);
    loop {
        line = fit_window(counted, anchor, window, &line)?;
        if window >= farthest {
            return Some(line);
        }
        window *= 2.0;
    }
}

/// Fits a weighted least-squares line to the intervals within `window` ticks of the anchor that lie
/// on the lattice of the line `before`.
fn fit_window(
    counted: &[(f64, f64)],
    anchor: f64,
    window: f64,
    before: &FittedLine,
) -> Option<FittedLine> {
    /// The least variance of the levels that determines a slope. *Judgement*: halved or doubled, it
    /// changes only the widths of intervals.
    const MIN_LEVEL_VARIANCE: f64 = 0.05;
    let reach = tolerance(before.step);
    let mut on_lattice = 0.0;
    let mut sums = [0.0; 5];
    for &(value, count) in counted
        .iter()
        .filter(|(value, _)| (value - anchor).abs() <= window)
    {
        let level = ((value - before.at_anchor) / before.step).round();
        if (value - before.at_anchor - level * before.step).abs() <= reach {
            on_lattice += count;
            sums[0] += count * level;
            sums[1] += count * value;
            sums[2] += count * level * level;
            sums[3] += count * level * value;
            sums[4] += count * value * value;
        }
    }
    if on_lattice < MIN_STEPS as f64 {
        return None;
    }
    let [level, value, level_level, level_value, value_value] = sums.map(|sum| sum / on_lattice);
    let spread = level_level - level * level;
    if spread < MIN_LEVEL_VARIANCE {
        return None;
    }
    let step = (level_value - level * value) / spread;
    let residual = (value_value - value * value - step * step * spread).max(1.0 / 12.0);
    Some(FittedLine {
        step,
        at_anchor: value - step * level,
        error: (residual / (on_lattice * spread)).sqrt(),
    })
}
