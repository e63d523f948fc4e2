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

use super::constant;
use super::lattice::MIN_STEP_TICKS;
use super::readings::{MAX_STEP, MIN_INTERVAL_STEP, ReadingSpectrum};
use super::sample::{
    EvidenceTable, MIN_EVIDENCE_SHARE, PARTS, VaryingIntervals, is_repeated, points_of,
};
use super::{
    INTERRUPTED_SHARE, KnownDurations, Step, StepRule, WORK_UNIT_TOLERANCE,
    cost_explains_variation, one_tick, upper_limit,
};
use crate::model::Estimate;
use crate::statistics::hypotheses::critical_value;
use crate::statistics::{mean, quantile, sorted, variance};
use crate::trace::Differences;

/// The longest step that the interval of a step of one unit may include. *Judgement*: the step is
/// unknown if its interval is wider.
const MAX_UNIT_STEP: f64 = 1.6;

/// The least evidence for a step, in nats. *Chance*: one case in a thousand.
const MIN_EVIDENCE: f64 = 6.9;

/// The probability that chance makes any step significant against one unit. *Chance*.
const MAX_FALSE_STEPS: f64 = 0.01;

/// The least significance of a step against another, in standard errors. *Chance*: one case in 800.
const MIN_RIVAL_SIGNIFICANCE: f64 = 3.3;

/// The least evidence for a step that may be as significant as that with the most, as a share of the
/// evidence for that. *Judgement*.
const MIN_RIVAL_EVIDENCE: f64 = 0.5;

/// The largest ratio of two steps that one interval includes; otherwise they are named. *Judgement*.
const MAX_JOINED_RATIO: f64 = 1.1;

/// The reason if steps of one unit and steps of a few units explain the intervals equally well.
const AMBIGUOUS_STEP: &str = "its intervals fit steps of one tick as well as steps of a few";

/// Determines a step of up to a few units.
pub fn resolve(
    groups: &[Differences],
    reading_differences: &[Vec<i64>],
    context: &KnownDurations,
) -> Step {
    let at_most = |bound: f64, reason: &'static str| Step::AtMost {
        bound,
        reason: reason.into(),
    };
    let sample = VaryingIntervals::of(groups, reading_differences);
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
    if !context.is_rounded
        && let Some(longest) = constant::longest_step(groups)
    {
        return one_tick(longest);
    }
    if bound > MAX_UNIT_STEP && !cost_explains_variation(reading_differences, context) {
        return at_most(
            upper_limit(groups),
            "its intervals vary more than its cost explains and fit no step",
        );
    }
    // Intervals exclude steps of hardly more than a unit less than readings do.
    let by_intervals = scan
        .map_or(MAX_STEP, |scan| scan.longest_possible())
        .min(bound);
    let by_readings = match readings {
        Some(readings) if sample.is_none() || by_intervals <= MIN_INTERVAL_STEP => {
            readings.longest_possible(by_intervals)
        }
        _ => by_intervals,
    };
    if by_readings > MAX_UNIT_STEP {
        let longest = if sample.is_some() {
            0.0
        } else {
            upper_limit(groups)
        };
        return at_most(by_readings.max(longest), AMBIGUOUS_STEP);
    }
    one_tick(by_readings)
}

/// Returns a step, whose interval includes the steps that have the same frequencies, if they are near:
/// whole numbers do not distinguish a frequency from one minus this frequency.
fn resolved(step: Estimate) -> Step {
    let mirrored = |step: f64| step / (step - 1.0);
    let ratio = mirrored(step.value) / step.value;
    let is_near = ratio.max(1.0 / ratio) < MAX_JOINED_RATIO;
    let also = [step.low, step.value, step.high].map(mirrored);
    Step::Resolved {
        step: step.widened(also.into_iter().filter(|_| is_near)),
        rule: StepRule::Spectrum,
    }
}

/// Returns the longest step, in units, at which intervals with the same work vary as little as they
/// do: those of a counter vary by *s*²/6 on average over its phases. `None` if the work is too short
/// for all phases.
fn longest_by_variance(groups: &[Differences]) -> Option<f64> {
    /// The largest ratio of the variance to that of the intervals that are left when the longest
    /// deviations are left out. *Judgement*: interruptions are seldom so frequent.
    const MAX_TRIMMED_RATIO: f64 = 1.3;
    /// The least number of intervals in a part. *Judgement*.
    const MIN_PART: usize = 4;
    let (mut squares, mut values) = (Vec::new(), Vec::new());
    // Each process begins with repeated reads without work.
    for process in groups.chunk_by(|_, next| next.work > 0 || !is_repeated(next)) {
        let mut points: Vec<(f64, f64)> = process
            .iter()
            .filter(|group| !is_repeated(group))
            .flat_map(points_of)
            .collect();
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
    // A lattice shows longer steps.
    if values.last()? - values.first()? < MIN_STEP_TICKS + 1.0 {
        return None;
    }
    let sizes = sorted(squares.iter().map(|(square, _)| *square));
    let limit = quantile(&sizes, 1.0 - INTERRUPTED_SHARE)?;
    let mut parts = vec![Vec::new(); PARTS];
    for (square, part) in squares.into_iter().filter(|(square, _)| *square <= limit) {
        parts[part.min(PARTS - 1)].push(square);
    }
    let means: Vec<f64> = parts
        .iter()
        .filter(|part| part.len() >= MIN_PART)
        .filter_map(mean)
        .collect();
    if means.len() < PARTS / 2 {
        return None;
    }
    let error = (variance(&means)? / means.len() as f64).sqrt();
    let highest = mean(&means)? + 2.0 * error;
    Some((6.0 * MAX_TRIMMED_RATIO * highest).sqrt())
}

/// Returns whether intervals that grow in units of work may repeat with this step.
fn matches_work_unit(step: f64, work_unit: f64) -> bool {
    let frequency = 1.0 / step;
    // Integer intervals do not distinguish these frequencies.
    [frequency, 1.0 - frequency, 1.0 + frequency, 2.0 - frequency]
        .into_iter()
        .any(|frequency| {
            let turns = frequency * work_unit;
            turns.round() >= 1.0 && (turns - turns.round()).abs() < WORK_UNIT_TOLERANCE
        })
}

/// The change of the longest interval, in steps, from one step of a [`Scan`] to the next. *Numerical*.
const STRIDE: f64 = 0.2;

/// The evidence for all steps from [`MAX_STEP`] down to [`MIN_INTERVAL_STEP`].
struct Scan<'a> {
    sample: &'a VaryingIntervals,
    readings: Option<&'a ReadingSpectrum>,
    /// The steps with their evidence.
    found: Vec<(f64, f64)>,
    /// Distance between two steps, in turns per unit.
    stride: f64,
}

impl<'a> Scan<'a> {
    fn of(sample: &'a VaryingIntervals, readings: Option<&'a ReadingSpectrum>) -> Self {
        /// The largest number of computed probabilities; beyond it, intervals are left out.
        /// *Numerical*.
        const MAX_PROBABILITIES: f64 = 4e6;
        /// The least ratio of a step to the step of the table that holds its evidence. *Numerical*.
        const MIN_TABLE_RATIO: f64 = 0.999;
        let stride = STRIDE / sample.longest();
        let count = ((1.0 / MIN_INTERVAL_STEP - 1.0 / MAX_STEP) / stride).ceil() as usize;
        let excess = (count * sample.counted.len()) as f64 / MAX_PROBABILITIES;
        let kept = sample
            .counted
            .iter()
            .step_by(excess.ceil().max(1.0) as usize);
        let part: Vec<(f64, f64)> = kept.copied().collect();
        let steps = (0..=count).map(|at| 1.0 / (1.0 / MAX_STEP + at as f64 * stride));
        let mut table = EvidenceTable::of(MAX_STEP);
        let found = steps.map(|step| {
            if step < MIN_TABLE_RATIO * table.step {
                table = EvidenceTable::of(step);
            }
            (step, table.evidence_of(&part, step))
        });
        let found = found.collect();
        Self {
            sample,
            readings,
            found,
            stride,
        }
    }

    /// Returns the step with the most evidence, if there is enough of it, or the two steps that have
    /// about equal evidence.
    fn find(&self, is_possible: impl Fn(f64) -> bool) -> Option<Step> {
        let highest = self.found.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let best = self.sample.interval_near(highest.0).value;
        let mut step = self.sample.step_near(best);
        let evidence = self.sample.evidence(best);
        // Steps are independent if the longest interval is half a step longer or shorter.
        let tried = match self.is_supported(best) {
            true => 1.0,
            false => self.found.len() as f64 * STRIDE * 2.0,
        };
        let least = critical_value(2.0 * MAX_FALSE_STEPS / tried, (PARTS - 1) as f64);
        if evidence < MIN_EVIDENCE.max(MIN_EVIDENCE_SHARE * self.sample.expected(best))
            || self.sample.significance(best, None) < least
            || !is_possible(best)
        {
            return None;
        }
        let rivals = self.found.iter().filter(|found| {
            found.1 > MIN_RIVAL_EVIDENCE * highest.1
                && is_possible(found.0)
                && self.sample.significance(best, Some(found.0)) < MIN_RIVAL_SIGNIFICANCE
        });
        for rival in rivals.map(|rival| self.sample.interval_near(rival.0)) {
            let (short, long) = (best.min(rival.value), best.max(rival.value));
            if long > MAX_JOINED_RATIO * short {
                let reason =
                    format!("its step is either {short:.3} or {long:.3} units of its readings");
                return Some(Step::AtMost {
                    bound: long,
                    reason: reason.into(),
                });
            }
            step = step.widened([rival.low, rival.high]);
        }
        Some(resolved(step))
    }

    /// Returns whether the differences of readings show a step.
    fn is_supported(&self, step: f64) -> bool {
        let supports = |readings: &ReadingSpectrum| readings.supports(step, self.stride);
        self.readings.is_some_and(supports)
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
            let least = match self.is_supported(step) {
                true => 0.0,
                false => MIN_SHARE * self.sample.expected(step),
            };
            let excludes = |readings: &ReadingSpectrum| readings.excludes(step, self.stride);
            self.sample.evidence(step) > least - ERROR && !self.readings.is_some_and(excludes)
        };
        // The evidence of all intervals is computed only for steps that a part of them allows.
        self.found
            .iter()
            .filter(|found| found.1 > -ERROR)
            .map(|found| found.0)
            .find(is_possible)
            .unwrap_or(MIN_INTERVAL_STEP)
    }
}
