//! Finds steps of up to a few units from the probabilities of intervals. The unit is the largest
//! number of ticks that all intervals are multiples of. A counter whose step is *s* units returns
//! ⌊*ns*⌋ after *n* steps; if *s* is not a whole number, all intervals may occur, but not equally
//! often.
//!
//! If the phases of both readings are random, an interval of *d* units is *T* = *s* · Σ max(0, 1 −
//! |*d* − *ns*|) times as probable as for a counter that shows every unit, summed over the whole
//! numbers *n*. The durations of reads and work need not be known, only vary by several steps. The
//! logarithm of the product over all intervals is the *evidence* for *s* against one unit. For steps
//! of hardly more than a unit there is little of it, and the differences of readings help (see
//! `readings`).

use std::collections::BTreeMap;

use super::readings::{MAX_STEP, MIN_INTERVAL_STEP, ReadingSpectrum};
use super::{
    Context, INTERRUPTED_SHARE, MIN_REPEATED_INTERVALS, Resolution, Rule, WORK_UNIT_TOLERANCE,
    cost_explains_variation, densest_window, one_tick, upper_limit,
};
use crate::model::Interval;
use crate::statistics::{Z, mean, quantile, sorted, variance};
use crate::trace::Intervals;

/// The longest step that the interval of a step of one unit may include. *Judgement*: the step is
/// unknown if its interval is wider.
const MAX_UNIT_STEP: f64 = 1.6;

/// The least evidence for a step, in nats. *Chance*: one case in a thousand.
const MIN_EVIDENCE: f64 = 6.9;

/// The least evidence for a step, as a share of what its intervals hold on average. *Judgement*:
/// durations that do not vary evenly reduce it to about half.
const MIN_EVIDENCE_SHARE: f64 = 0.3;

/// The least significance of a step against one unit, in standard errors. *Chance*: hundreds of
/// thousands of steps are tried.
const MIN_SIGNIFICANCE: f64 = 5.0;

/// The same if the differences of readings show this step. *Chance*: one step in 160.
const MIN_SUPPORTED_SIGNIFICANCE: f64 = 2.5;

/// The least significance of a step against another. *Chance*: one case in 2000.
const MIN_RIVAL_SIGNIFICANCE: f64 = 3.3;

/// The largest ratio of two steps that one interval includes; otherwise they are named. *Judgement*.
const MAX_JOINED_RATIO: f64 = 1.1;

/// The number of parts that a set of intervals is divided into. *Judgement*.
const PARTS: usize = 16;

/// The reason if steps of one unit and steps of a few units explain the intervals equally well.
const AMBIGUOUS_STEP: &str = "its intervals do not tell steps of one tick from those of a few";

/// Determines a step of up to a few units.
pub fn resolve(
    groups: &[Intervals],
    reading_differences: &[Vec<i64>],
    context: &Context,
) -> Resolution {
    let at_most = |bound: f64, reason: &'static str| Resolution::AtMost {
        bound,
        reason: reason.into(),
    };
    let sample = Sample::of(groups, reading_differences);
    let readings = ReadingSpectrum::of(reading_differences);
    let longest_by_variance = longest_by_variance(groups);
    let bound = longest_by_variance.unwrap_or(f64::INFINITY);
    let is_possible = |step: f64| step < bound && !matches_work_unit(step, context.work_unit);
    let scan = sample
        .as_ref()
        .map(|sample| Scan::of(sample, readings.as_ref()));
    if let Some(found) = scan.as_ref().and_then(|scan| scan.find(is_possible)) {
        return found;
    }
    if bound > MAX_UNIT_STEP && !cost_explains_variation(reading_differences, context) {
        return at_most(
            upper_limit(groups),
            "its intervals vary more than its cost explains and fit no step",
        );
    }
    if sample.is_none() && longest_by_variance.is_none() {
        return at_most(upper_limit(groups), AMBIGUOUS_STEP);
    }
    let has_evidence = |step: f64| {
        step < MIN_INTERVAL_STEP || sample.as_ref().is_none_or(|sample| sample.fits(step))
    };
    let shown =
        |readings: &ReadingSpectrum| readings.find(|step| step < bound && has_evidence(step));
    if let Some(step) = readings.as_ref().and_then(shown) {
        return resolved(step);
    }
    let longest = scan
        .map_or(MAX_STEP, |scan| scan.longest_possible())
        .min(bound);
    if longest > MAX_UNIT_STEP {
        return at_most(longest, AMBIGUOUS_STEP);
    }
    one_tick(match readings {
        Some(readings) if longest <= MIN_INTERVAL_STEP => readings.longest_possible().min(longest),
        _ => longest,
    })
}

/// Returns a step, whose interval includes the step that has the same frequency, if that is near:
/// whole numbers do not distinguish a frequency from one minus this frequency.
fn resolved(step: Interval) -> Resolution {
    let mirrored = step.value / (step.value - 1.0);
    let is_near = (mirrored / step.value).max(step.value / mirrored) < MAX_JOINED_RATIO;
    Resolution::Resolved {
        step: step.widened(is_near.then_some(mirrored)),
        rule: Rule::Spectrum,
    }
}

/// Returns the longest step, in units, at which intervals with the same work vary as little as they
/// do: those of a counter vary by *s*²/6 on average over its phases. `None` if the work is too short
/// for all phases.
fn longest_by_variance(groups: &[Intervals]) -> Option<f64> {
    /// The largest ratio of the variance to that of the intervals that are left when the longest
    /// deviations are left out. *Judgement*: interruptions are seldom so frequent.
    const MAX_TRIMMED_RATIO: f64 = 1.3;
    /// The least number of intervals in a part. *Judgement*.
    const MIN_PART: usize = 4;
    let (mut squares, mut values) = (Vec::new(), Vec::new());
    // Each process begins with repeated reads without work.
    for process in groups.chunk_by(|_, next| next.work > 0 || !is_repeated(next)) {
        let random = process.iter().filter(|group| !is_repeated(group));
        let mut points: Vec<(f64, f64)> = random.flat_map(points_of).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let most = points.last().map_or(0.0, |point| point.0);
        for three in points.windows(3) {
            let [before, point, after] = [three[0], three[1], three[2]];
            let length = after.0 - before.0;
            let share = if length > 0.0 {
                (point.0 - before.0) / length
            } else {
                0.5
            };
            let deviation = point.1 - (1.0 - share) * before.1 - share * after.1;
            let terms = 1.0 + share.powi(2) + (1.0 - share).powi(2);
            let part = (point.0 / (most + 1.0) * PARTS as f64) as usize;
            squares.push((deviation.powi(2) / terms, part));
        }
        values.extend(
            points
                .first()
                .into_iter()
                .chain(points.last())
                .map(|point| point.1),
        );
    }
    let values = sorted(&values);
    if values.last()? - values.first()? < MAX_STEP + 1.0 {
        return None;
    }
    let sizes = sorted(squares.iter().map(|(square, _)| *square));
    let limit = quantile(&sizes, 1.0 - INTERRUPTED_SHARE)?;
    let mut parts = vec![Vec::new(); PARTS];
    for (square, part) in squares.into_iter().filter(|(square, _)| *square <= limit) {
        parts[part.min(PARTS - 1)].push(square);
    }
    let filled = parts.iter().filter(|part| part.len() >= MIN_PART);
    let means: Vec<f64> = filled.filter_map(mean).collect();
    if means.len() < PARTS / 2 {
        return None;
    }
    let error = (variance(&means)? / means.len() as f64).sqrt();
    let highest = mean(&means)? + 2.0 * error;
    Some((6.0 * MAX_TRIMMED_RATIO * highest).sqrt())
}

fn is_repeated(group: &Intervals) -> bool {
    group.deltas.len() >= MIN_REPEATED_INTERVALS
}

/// Returns the intervals of a group with their amount of work.
fn points_of(group: &Intervals) -> impl Iterator<Item = (f64, f64)> {
    let work = group.work as f64;
    group.deltas.iter().map(move |&delta| (work, delta as f64))
}

/// Returns whether intervals that grow in units of work may repeat with this step.
fn matches_work_unit(step: f64, work_unit: f64) -> bool {
    let frequency = 1.0 / step;
    // Integer intervals do not distinguish these frequencies.
    let mut equal = [frequency, 1.0 - frequency, 1.0 + frequency, 2.0 - frequency].into_iter();
    equal.any(|frequency| {
        let turns = frequency * work_unit;
        turns.round() >= 1.0 && (turns - turns.round()).abs() < WORK_UNIT_TOLERANCE
    })
}

/// Intervals whose durations vary by several steps.
struct Sample {
    /// The distinct intervals with their weights, in ascending order.
    counted: Vec<(f64, f64)>,
    /// The intervals with their weights, by amount of work.
    parts: Vec<Vec<(f64, f64)>>,
    /// The intervals with their weights, in the order of measurement.
    ordered: Vec<(f64, f64)>,
}

impl Sample {
    /// Takes intervals with random work, and the differences of successive readings of processes in
    /// which these vary enough. `None` if all together vary too little, or are too long.
    fn of(groups: &[Intervals], reading_differences: &[Vec<i64>]) -> Option<Self> {
        /// The longest intervals, in units. *Numerical*.
        const MAX_INTERVAL: f64 = 30_000.0;
        let random = groups.iter().filter(|group| !is_repeated(group));
        let mut points: Vec<(f64, f64)> = random.flat_map(points_of).collect();
        let varied = reading_differences.iter().filter(|differences| {
            let mut differences = (*differences).clone();
            differences.sort_unstable();
            let counts = differences
                .chunk_by(|a, b| a == b)
                .map(|same| same.len() as f64);
            effective_number(counts) >= MIN_DISTINCT
        });
        for differences in varied {
            let numbered = differences.iter().enumerate();
            points.extend(numbered.map(|(at, &difference)| (at as f64, difference as f64)));
        }
        points.retain(|point| point.1 >= 0.0);
        let mut points = with_weights(points);
        let mut all: Vec<i64> = points.iter().map(|point| point.1 as i64).collect();
        all.sort_unstable();
        let window = fullest_window(&all);
        let (first, last) = (*window.first()? as f64, *window.last()? as f64);
        points.retain(|(_, interval, _)| (first..=last).contains(interval));
        let mut parts = vec![Vec::new(); PARTS];
        for &(work, interval, weight) in &points {
            parts[(work % PARTS as f64) as usize].push((interval, weight));
        }
        let ordered = points.iter().map(|point| (point.1, point.2)).collect();
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        let equal = points.chunk_by(|a, b| a.1 == b.1);
        let counted = equal.map(|same| (same[0].1, same.iter().map(|point| point.2).sum()));
        let counted: Vec<(f64, f64)> = counted.collect();
        let effective = effective_number(counted.iter().map(|(_, weight)| *weight));
        (effective >= MIN_DISTINCT && last <= MAX_INTERVAL).then_some(Self {
            counted,
            parts,
            ordered,
        })
    }

    /// Returns the evidence for a step, in nats.
    fn evidence(&self, step: f64) -> f64 {
        let table = Table::of(step);
        let evidence = |&(value, weight): &(f64, f64)| weight * table.evidence(value / step);
        self.counted.iter().map(evidence).sum()
    }

    /// Returns the evidence that the intervals of a counter with this step hold on average.
    fn expected(&self, step: f64) -> f64 {
        Table::of(step).mean() * self.counted.iter().map(|(_, weight)| weight).sum::<f64>()
    }

    /// Returns whether a step near this one has enough evidence.
    fn fits(&self, step: f64) -> bool {
        let step = self.interval_near(step).value;
        self.evidence(step) > MIN_EVIDENCE_SHARE * self.expected(step)
    }

    /// Returns the evidence for a step against another step, or one unit, in standard errors of its
    /// sum over the parts. Intervals with equal work are not independent.
    fn significance(&self, step: f64, other: Option<f64>) -> f64 {
        let (table, other) = (
            Table::of(step),
            other.map(|other| (Table::of(other), other)),
        );
        let evidence = |&(value, weight): &(f64, f64)| {
            let of_other = other
                .as_ref()
                .map(|(table, other)| table.evidence(value / other));
            weight * (table.evidence(value / step) - of_other.unwrap_or(0.0))
        };
        let sums = self
            .parts
            .iter()
            .map(|part| part.iter().map(evidence).sum());
        let sums: Vec<f64> = sums.collect();
        let error = (variance(&sums).unwrap_or(f64::INFINITY) * PARTS as f64).sqrt();
        sums.iter().sum::<f64>() / error.max(f64::MIN_POSITIVE)
    }

    /// Returns whether most stretches of the measurement hold evidence for a step. A step neither
    /// changes nor differs between processes.
    fn repeats(&self, step: f64) -> bool {
        /// The evidence that a stretch holds on average, in nats. *Chance*: one in a thousand holds
        /// none.
        const STRETCH: f64 = 10.0;
        /// The least share of stretches that hold evidence. *Judgement*: interruptions come in bursts.
        const MIN_SHARE: f64 = 0.8;
        let table = Table::of(step);
        let mean = table.mean();
        let (mut weights, mut evidence, mut stretches, mut positive) = (0.0, 0.0, 0.0, 0.0);
        for &(value, weight) in &self.ordered {
            weights += weight;
            evidence += weight * table.evidence(value / step);
            if weights * mean >= STRETCH {
                stretches += 1.0;
                positive += f64::from(u8::from(evidence > 0.0));
                (weights, evidence) = (0.0, 0.0);
            }
        }
        positive >= MIN_SHARE * stretches
    }

    /// The longest interval, in units.
    fn longest(&self) -> f64 {
        self.counted.last().map_or(1.0, |(value, _)| value.max(1.0))
    }

    /// Returns the most probable step near this one with its 95 % interval: that of a regression
    /// through zero over the number of steps in each interval, because the durations of reads and
    /// work do not bias it.
    fn step_near(&self, step: f64) -> Interval {
        let probable = self.interval_near(step);
        let (mut product, mut square, mut squares) = (0.0, 0.0, 0.0);
        for &(value, _) in &self.ordered {
            let steps = (value / probable.value).round();
            product += steps * value;
            square += steps * steps;
            squares += value * value;
        }
        let slope = product / square;
        // Truncation of two readings causes a variance of 1/6.
        let residual = ((squares - slope * product) / self.ordered.len() as f64).max(1.0 / 6.0);
        let half = Z * (residual / square).sqrt();
        let ends = [slope - half, slope + half];
        let fitted = Interval::exact(slope).widened(ends);
        // Of shorter steps, intervals may be counted as one step too many or too few.
        match probable.value < 2.0 || !fitted.value.is_finite() {
            true => probable.widened(ends.into_iter().filter(|end| end.is_finite())),
            false => fitted,
        }
    }

    /// Returns the most probable step near this one. The interval holds the steps that are nearly as
    /// probable.
    fn interval_near(&self, step: f64) -> Interval {
        /// The difference of evidence at the ends of an interval, in nats. *Judgement*: 2 for
        /// independent intervals.
        const REACH: f64 = 3.0;
        /// The number of tested steps on each side. *Numerical*.
        const TESTED: i32 = 120;
        /// The change of the longest interval, in steps, from one of them to the next. *Numerical*.
        const FINE_STRIDE: f64 = 0.004;
        let tested = (-TESTED..=TESTED).map(|at| {
            let step = 1.0 / (1.0 / step + f64::from(at) * FINE_STRIDE / self.longest());
            (step, self.evidence(step))
        });
        let tested: Vec<(f64, f64)> = tested.collect();
        let best = tested.iter().fold(
            tested[0],
            |best, found| {
                if found.1 > best.1 { *found } else { best }
            },
        );
        let probable = tested.iter().filter(|found| found.1 >= best.1 - REACH);
        Interval::exact(best.0).widened(probable.map(|found| found.0))
    }
}

/// The least effective number of distinct intervals. *Judgement*: two of the longest steps.
const MIN_DISTINCT: f64 = 10.0;

/// Adds weights, so that no bin of similar intervals holds more than a small part of all weights.
/// Reads without work, or with little, take the same time so often that their intervals show this
/// time and not the step.
fn with_weights(points: Vec<(f64, f64)>) -> Vec<(f64, f64, f64)> {
    /// The width of a bin, in units. *Judgement*: two of the longest steps.
    const BIN_WIDTH: f64 = 12.0;
    /// The number of bins that hold at least as much as the fullest one. *Judgement*.
    const MIN_BINS: f64 = 3.0;
    let bin_of = |interval: f64| (interval / BIN_WIDTH) as i64;
    let mut counts = BTreeMap::<i64, f64>::new();
    for point in &points {
        *counts.entry(bin_of(point.1)).or_default() += 1.0;
    }
    let is_even =
        |most: &f64| counts.values().map(|count| count.min(*most)).sum::<f64>() >= MIN_BINS * most;
    let mosts = sorted(counts.values().copied());
    let even = mosts.iter().rev().find(|most| is_even(most));
    let most = even.or(mosts.first()).copied().unwrap_or(0.0);
    let weight = |interval| (most / counts[&bin_of(interval)]).min(1.0);
    let weighted = points
        .into_iter()
        .map(|point| (point.0, point.1, weight(point.1)));
    weighted.collect()
}

/// Returns the number of values that would vary as much if all were equally frequent.
fn effective_number(counts: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = counts.fold((0.0, 0.0), |(sum, squares), count| {
        (sum + count, squares + count * count)
    });
    sum * sum / f64::max(squares, f64::MIN_POSITIVE)
}

/// The evidence for all steps from [`MAX_STEP`] down to [`MIN_INTERVAL_STEP`].
struct Scan<'a> {
    sample: &'a Sample,
    readings: Option<&'a ReadingSpectrum>,
    /// The steps with their evidence.
    found: Vec<(f64, f64)>,
    /// Distance between two steps, in turns per unit.
    stride: f64,
}

impl<'a> Scan<'a> {
    fn of(sample: &'a Sample, readings: Option<&'a ReadingSpectrum>) -> Self {
        /// The change of the longest interval, in steps, from one step to the next. *Numerical*.
        const STRIDE: f64 = 0.1;
        /// The largest number of computed probabilities; beyond it, intervals are left out.
        /// *Numerical*.
        const MAX_PROBABILITIES: f64 = 1e7;
        let stride = STRIDE / sample.longest();
        let count = ((1.0 / MIN_INTERVAL_STEP - 1.0 / MAX_STEP) / stride).ceil() as usize;
        let excess = (count * sample.counted.len()) as f64 / MAX_PROBABILITIES;
        let kept = sample
            .counted
            .iter()
            .step_by(excess.ceil().max(1.0) as usize);
        let part = Sample {
            counted: kept.copied().collect(),
            parts: Vec::new(),
            ordered: Vec::new(),
        };
        let steps = (0..=count).map(|at| 1.0 / (1.0 / MAX_STEP + at as f64 * stride));
        let found = steps.map(|step| (step, part.evidence(step))).collect();
        Self {
            sample,
            readings,
            found,
            stride,
        }
    }

    /// Returns the step with the most evidence, if there is enough of it, or the two steps that have
    /// about equal evidence.
    fn find(&self, is_possible: impl Fn(f64) -> bool) -> Option<Resolution> {
        let highest = self.found.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let best = self.sample.interval_near(highest.0).value;
        let mut step = self.sample.step_near(best);
        let evidence = self.sample.evidence(best);
        let supports = |readings: &ReadingSpectrum| readings.supports(best, self.stride);
        let least = match self.readings.is_some_and(supports) {
            true => MIN_SUPPORTED_SIGNIFICANCE,
            false => MIN_SIGNIFICANCE,
        };
        if evidence < MIN_EVIDENCE.max(MIN_EVIDENCE_SHARE * self.sample.expected(best))
            || self.sample.significance(best, None) < least
            || !self.sample.repeats(best)
            || !is_possible(best)
        {
            return None;
        }
        for rival in self.peaks().into_iter().filter(|&peak| is_possible(peak)) {
            let rival = self.sample.interval_near(rival);
            let (short, long) = (best.min(rival.value), best.max(rival.value));
            if self.sample.significance(best, Some(rival.value)) >= MIN_RIVAL_SIGNIFICANCE {
                continue;
            }
            if long > MAX_JOINED_RATIO * short {
                let reason =
                    format!("its step is either {short:.3} or {long:.3} units of its readings");
                return Some(Resolution::AtMost {
                    bound: long,
                    reason: reason.into(),
                });
            }
            step = step.widened([rival.low, rival.high]);
        }
        Some(resolved(step))
    }

    /// Returns the steps with more evidence than their neighbours, at most a few, those with the most
    /// first.
    fn peaks(&self) -> Vec<f64> {
        /// The largest number of steps. *Numerical*.
        const MAX_PEAKS: usize = 8;
        let is_peak = |three: &&[(f64, f64)]| {
            three[1].1 > 0.0 && three[1].1 >= three[0].1 && three[1].1 >= three[2].1
        };
        let peaks = self.found.windows(3).filter(is_peak);
        let mut peaks: Vec<(f64, f64)> = peaks.map(|three| three[1]).collect();
        peaks.sort_by(|a, b| b.1.total_cmp(&a.1));
        peaks.iter().take(MAX_PEAKS).map(|peak| peak.0).collect()
    }

    /// Returns the longest step that neither the intervals nor the readings exclude; the shortest
    /// tested step if they exclude all.
    fn longest_possible(&self) -> f64 {
        /// The least evidence for a step that is possible, as a share of what its intervals hold on
        /// average. *Judgement*: durations that do not vary evenly reduce it to about half.
        const MIN_SHARE: f64 = 0.2;
        /// The error of the evidence, in nats. *Chance*: 5 %.
        const ERROR: f64 = 3.0;
        let is_possible = |&step: &f64| {
            let least = MIN_SHARE * self.sample.expected(step) - ERROR;
            let excludes = |readings: &ReadingSpectrum| readings.excludes(step, self.stride);
            self.sample.evidence(step) > least && !self.readings.is_some_and(excludes)
        };
        // The evidence of all intervals is computed only for steps that a part of them allows.
        let allowed = self.found.iter().filter(|found| found.1 > -ERROR);
        let mut steps = allowed.map(|found| found.0);
        steps.find(is_possible).unwrap_or(MIN_INTERVAL_STEP)
    }
}

/// The evidence of an interval by its distance from a multiple of the step.
struct Table([f64; Self::LEN]);

impl Table {
    /// *Numerical*.
    const LEN: usize = 65;

    fn of(step: f64) -> Self {
        Self(std::array::from_fn(|at| {
            let off = at as f64 * 0.5 / (Self::LEN - 1) as f64;
            let near = (1.0 - step * off).max(0.0) + (1.0 - step * (1.0 - off)).max(0.0);
            (step * near * (1.0 - INTERRUPTED_SHARE) + INTERRUPTED_SHARE).ln()
        }))
    }

    /// The evidence of an interval of so many steps.
    fn evidence(&self, steps: f64) -> f64 {
        let part = steps - (steps as i64) as f64;
        let off = part.min(1.0 - part);
        self.0[(off * 2.0 * (Self::LEN - 1) as f64 + 0.5) as usize]
    }

    /// The mean evidence of intervals with random phases.
    fn mean(&self) -> f64 {
        let weighted = self.0.iter().map(|evidence| {
            let probability = (evidence.exp() - INTERRUPTED_SHARE) / (1.0 - INTERRUPTED_SHARE);
            probability * evidence
        });
        weighted.sum::<f64>() / Self::LEN as f64
    }
}

/// Returns the narrowest window of the sorted intervals that holds enough of them.
fn fullest_window(intervals: &[i64]) -> &[i64] {
    /// The number of intervals that is enough. *Numerical*.
    const MIN_WINDOW_INTERVALS: usize = 2_000;
    /// The narrowest and the widest window, in ticks. *Numerical*.
    const WINDOW_TICKS: (i64, i64) = (512, 2_048);
    let mut width = WINDOW_TICKS.0;
    loop {
        let window = densest_window(intervals, width);
        if window.len() >= MIN_WINDOW_INTERVALS
            || window.len() == intervals.len()
            || width >= WINDOW_TICKS.1
        {
            return window;
        }
        width *= 2;
    }
}
