//! Finds lattices: values that are a whole number of steps from each other, except for rounding or
//! noise. Steps are searched for from long to short ones by the *concentration* of the phases of the
//! values, and fitted by a line. The *level* of a value is its number of steps.

use std::collections::BTreeMap;

use super::{INTERRUPTED_SHARE, MIN_STEPS};
use crate::statistics::phasors::{Complex, Sweep};
use crate::statistics::{quantile, sorted};

/// The shortest step with a visible lattice, in ticks; the rule `Spectrum` (`likelihood.rs`) finds
/// shorter ones.
/// *Computed*: truncation fills the gaps between the multiples of shorter steps.
pub const MIN_STEP_TICKS: f64 = 4.0;

/// Steps of at least this many ticks are long: a truncated interval cannot be mistaken for one of
/// the neighbouring level. *Judgement*.
pub const MIN_LONG_STEP: f64 = 12.0;

/// Values in ascending order, with their weights.
pub type Weighted = [(f64, f64)];

/// A lattice that explains values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Its step, in the unit of the values.
    pub step: f64,
    /// Standard error of the step.
    pub error: f64,
    /// A point of the lattice in the middle of the first list of values.
    pub at: f64,
    /// The weight of the values that lie on it.
    pub weight: f64,
    /// The distance from the 5th percentile to the median of the distances from it.
    pub width: f64,
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

/// Returns how equal the phases of the values of each list are: 1 if they are identical, about 0 if
/// they are evenly distributed. What random phases contribute is subtracted.
pub fn concentration(lists: &[&Weighted], step: f64) -> f64 {
    let sums = lists.iter().map(|values| phase(values, step));
    concentration_of(by_chance(lists), sums)
}

/// Returns the sum of the squared lengths that random phases contribute, and by how much that of equal
/// phases is larger.
fn by_chance(lists: &[&Weighted]) -> [f64; 2] {
    let power = |values: &&Weighted, power| -> f64 {
        values.iter().map(|(_, weight)| weight.powi(power)).sum()
    };
    let random: f64 = lists.iter().map(|values| power(values, 2)).sum();
    let equal: f64 = lists.iter().map(|values| power(values, 1).powi(2)).sum();
    [random, (equal - random).max(f64::MIN_POSITIVE)]
}

fn concentration_of([random, pairs]: [f64; 2], sums: impl Iterator<Item = Complex>) -> f64 {
    let squares: f64 = sums.map(Complex::square).sum();
    ((squares - random) / pairs).max(0.0).sqrt()
}

fn phase(values: &Weighted, step: f64) -> Complex {
    Complex::sum(values.iter().map(|(value, weight)| (value / step, *weight)))
}

/// Returns what `accept` makes of the longest lattice from `shortest` to `longest` that it accepts, and
/// at which the concentration of the phases is at least `least`, among at most `most` frequencies.
pub fn find<'a, T>(
    most: f64,
    lists: &[&'a Weighted],
    [shortest, longest]: [f64; 2],
    least: f64,
    mut accept: impl FnMut(Lattice) -> Option<T>,
) -> Option<T> {
    /// The share of the height of a peak from which fitted lines lead to its top. *Numerical*.
    const NEAR_TOP: f64 = 0.9;
    let range = |values: &&Weighted| Some(values.last()?.0 - values.first()?.0);
    let span = lists.iter().filter_map(range).fold(0.0, f64::max);
    if !(longest > shortest && shortest > 0.0 && longest.is_finite() && span > 0.0) {
        return None;
    }
    let (first, stride) = (1.0 / longest, 1.0 / (OVERSAMPLING * span));
    let count = ((1.0 / shortest - first) / stride + 1.0).min(most);
    let sweep = |values: &&'a Weighted| Sweep::new(values, first, stride);
    let mut sweeps: Vec<Sweep> = lists.iter().map(sweep).collect();
    let chance = by_chance(lists);
    (0..count as usize).find_map(|at| {
        let height = concentration_of(chance, sweeps.iter_mut().flat_map(Sweep::next));
        if height < NEAR_TOP * least {
            return None;
        }
        let step = 1.0 / (first + at as f64 * stride);
        let near = fit(lists, step, None)?;
        let twice = (0..2).try_fold(near, |found, _| fit(lists, found.step, None))?;
        let is_high = concentration(lists, twice.step) >= least;
        is_high.then(|| accept(twice))?
    })
}

/// The number of tested frequencies (1/step) in the width of a peak of the concentration.
/// *Numerical*.
const OVERSAMPLING: f64 = 8.0;

/// The usual largest number of tested frequencies. *Numerical*.
pub const MAX_FREQUENCIES: f64 = 2e4;

/// The longest values in which all steps of at least `shortest` are tested.
pub fn longest_span(shortest: f64) -> f64 {
    MAX_FREQUENCIES / OVERSAMPLING * shortest
}

/// Fits a line to the distances of the values from the lattice, whose slope corrects the step; each
/// list has its own phase. Values beyond `reach` are left out. If it is unknown, outliers
/// from values that are truncated to integers are left out.
pub fn fit(lists: &[&Weighted], step: f64, reach: Option<f64>) -> Option<Lattice> {
    /// The largest distance of a value from the lattice, in widths of these distances, from their 5th
    /// percentile to their median. *Chance*: 3.3 deviations of normal noise.
    const MAX_DISTANCE: f64 = 2.0;
    /// The least variance of the levels that determines a step. *Judgement*: halved or doubled, it
    /// changes only the widths of intervals.
    const MIN_LEVEL_VARIANCE: f64 = 0.05;
    let (mut points, mut middles) = (Vec::new(), Vec::new());
    for values in lists {
        let phase = phase(values, step).turns();
        let all: f64 = values.iter().map(|(_, weight)| weight).sum();
        let middle = values
            .iter()
            .map(|(value, weight)| value * weight)
            .sum::<f64>()
            / all;
        middles.push(((middle / step - phase).round() + phase) * step);
        points.extend(values.iter().map(|(value, weight)| {
            let steps = value / step - phase;
            (value - middle, (steps - steps.round()) * step, *weight)
        }));
    }
    let offs = sorted(points.iter().map(|(_, off, _)| *off));
    let width = quantile(&offs, 0.5)? - quantile(&offs, 0.05)?;
    // Truncated values may lie at two distances, a unit apart.
    let most = reach.unwrap_or(MAX_DISTANCE * width.max(1.0) + 1e-5 * step);
    points.retain(|(_, off, _)| off.abs() <= most);
    let sum = |term: fn(f64, f64) -> f64| {
        let terms = points.iter().map(|(x, y, weight)| weight * term(*x, *y));
        terms.sum::<f64>()
    };
    let (square, product, weight) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, _| 1.0));
    let degrees = weight - lists.len() as f64 - 2.0;
    let slope = product / square;
    // Truncation of two readings causes a variance of 1/6, if they are independent.
    let least = if reach.is_some() { 1.0 / 12.0 } else { 0.0 };
    let variance = ((sum(|_, y| y * y) - slope * product) / degrees).max(least);
    let found = Lattice {
        step: step * (1.0 + slope),
        error: step * (variance / square).sqrt(),
        at: *middles.first()?,
        weight,
        width,
    };
    let is_determined = degrees > 0.0 && square >= MIN_LEVEL_VARIANCE * weight * step * step;
    (is_determined && found.error.is_finite() && found.step > 0.0).then_some(found)
}

/// Returns what `accept` makes of the longest lattice of truncated values that it accepts. Long
/// steps are searched for in all values, short ones where the values are densest: in windows that are at most
/// `widened` times as wide as usual, because values that are sparse take long.
pub fn find_in_windows<T>(
    counted: &Weighted,
    widened: f64,
    mut accept: impl FnMut(Lattice) -> Option<T>,
) -> Option<T> {
    /// The width of a window in steps, and the least number of values in it. *Numerical*.
    const WINDOW: (f64, usize) = (64.0, 24);
    /// The largest number of values that are tested. *Numerical*.
    const MAX_VALUES: usize = 256;
    /// The least concentration. *Computed*: truncation to ticks leaves 0.81 of steps of four ticks.
    const CONCENTRATED: f64 = 0.6;
    let mut longest = counted.last()?.0 - counted.first()?.0;
    while longest >= MIN_STEP_TICKS {
        let shortest = (longest / 2.0).max(MIN_STEP_TICKS - 0.2);
        let window = densest(counted, WINDOW.0 * longest, WINDOW.1);
        if window.last()?.0 - window.first()?.0 > widened * WINDOW.0 * longest {
            return None;
        }
        let every = window.len().div_ceil(MAX_VALUES);
        let tested = window.iter().step_by(every);
        let tested: Vec<(f64, f64)> = tested
            .map(|(value, count)| (*value, (1.0 + count).log2()))
            .collect();
        let found = find(
            MAX_FREQUENCIES,
            &[&tested],
            [shortest, longest],
            CONCENTRATED,
            |near| accept(fit_all_levels(counted, near, WINDOW.0 * longest / 2.0)?),
        );
        if found.is_some() {
            return found;
        }
        longest /= 2.0;
    }
    None
}

/// Returns the part of the values of this width that holds most of them, or the narrowest part that
/// holds `least`.
pub(super) fn densest(counted: &Weighted, width: f64, least: usize) -> &Weighted {
    let (mut best, mut end) = (0..0, 0);
    for (start, first) in counted.iter().enumerate() {
        while counted
            .get(end)
            .is_some_and(|last| last.0 - first.0 <= width)
        {
            end += 1;
        }
        if end - start > best.len() {
            best = start..end;
        }
    }
    if best.len() < least.min(counted.len()) {
        return densest(counted, 2.0 * width, least);
    }
    &counted[best]
}

/// Fits a lattice in windows around a point that double in size, so that no level is miscounted.
/// `None` if the values of a window do not lie on a lattice.
fn fit_all_levels(counted: &Weighted, mut line: Lattice, mut window: f64) -> Option<Lattice> {
    let anchor = line.at;
    let [below, above] = [counted.first()?.0, counted.last()?.0];
    loop {
        let first = counted.partition_point(|(value, _)| *value < anchor - window);
        let last = counted.partition_point(|(value, _)| *value <= anchor + window);
        line = fit(
            &[&counted[first..last]],
            line.step,
            Some(tolerance(line.step)),
        )?;
        if line.weight < MIN_STEPS as f64 {
            return None;
        }
        if anchor - window <= below && above <= anchor + window {
            return Some(line);
        }
        window *= 2.0;
    }
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
            ..*self
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
            ..self
        }
    }
}

/// Returns the coarsest lattice of at least four ticks that includes zero and at least 95 % of the
/// intervals; `intervals` are sorted and not negative.
pub fn of_intervals(intervals: &[i64]) -> Option<Lattice> {
    /// The most by which windows are widened. *Judgement*: clocks that move have intervals that are dense.
    const MAX_WIDENED: f64 = 8.0;
    let counted = count_values(intervals);
    find_in_windows(&counted, MAX_WIDENED, |line| line.through_zero(&counted))
}

/// Returns the distinct values of the sorted intervals with their counts, without the longest
/// intervals, which may be outliers.
pub fn count_values(intervals: &[i64]) -> Vec<(f64, f64)> {
    let outliers = (INTERRUPTED_SHARE * intervals.len() as f64) as usize;
    intervals[..intervals.len() - outliers]
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0] as f64, same.len() as f64))
        .collect()
}

impl Lattice {
    /// Returns the lattice with the step of a line through zero, unless its distance from zero is
    /// uncertain. `None` if it does not include zero, or 95 % of the intervals.
    fn through_zero(self, counted: &Weighted) -> Option<Self> {
        /// The largest distance between zero and the nearest level of the lattice, in steps; not tested
        /// if the distance is known less precisely. *Default*: moves no figure.
        const MAX_ORIGIN_DISTANCE: f64 = 0.1;
        let step = self.step;
        let at_level = self.at / step;
        let is_origin_uncertain = 3.0 * self.error * at_level.abs() > MAX_ORIGIN_DISTANCE * step;
        let distance = (self.at - at_level.round() * step).abs();
        if step < MIN_STEP_TICKS
            || !is_origin_uncertain
                && distance > (0.5 * tolerance(step)).max(MAX_ORIGIN_DISTANCE * step)
        {
            return None;
        }
        let base = if is_origin_uncertain { self.at } else { 0.0 };
        // `count_values` left out the longest intervals, so only the shorter intervals of the last
        // level remain, which would bias the step.
        let last_level = (counted.last()?.0 / step).round();
        let (mut on_lattice, mut product, mut square, mut squares) = (0.0, 0.0, 0.0, 0.0);
        let mut levels = BTreeMap::<i64, f64>::new();
        for &(value, count) in counted {
            let level = ((value - base) / step).round();
            if (value - base - level * step).abs() <= tolerance(step) {
                on_lattice += count;
                *levels.entry(level as i64).or_default() += count;
                if level < last_level {
                    product += count * level * value;
                    square += count * level * level;
                    squares += count * value * value;
                }
            }
        }
        let mut found = self;
        if !is_origin_uncertain && square > 0.0 {
            found.step = product / square;
            // Truncation of two readings causes a variance of at least 1/6.
            let residual = ((squares - found.step * product) / on_lattice).max(1.0 / 6.0);
            found.error = (residual / square).sqrt();
        }
        let all: f64 = counted.iter().map(|(_, count)| count).sum();
        let holds = on_lattice.min(self.weight) >= (1.0 - INTERRUPTED_SHARE) * all;
        (holds && has_adjacent_levels(&levels, step) && found.step >= MIN_STEP_TICKS)
            .then_some(found)
    }
}

/// Returns whether enough pairs of neighbouring levels hold intervals; otherwise a multiple of the
/// step would explain the intervals too. Few pairs suffice, because longer steps are tested first.
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
        let levels = levels.iter().filter(|(_, count)| **count >= least);
        levels.map(|(level, _)| *level).collect()
    };
    let count_adjacent = |levels: &[i64]| {
        let pairs = levels.windows(2);
        pairs.filter(|pair| pair[1] == pair[0] + 1).count()
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
