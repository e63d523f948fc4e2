//! Estimates the resolution of a timer: the step in which its readings move (TimerMeter; ICPE 2011
//! section 2).
//!
//! An *interval* is the difference of two readings. Between the two reads runs *work*, a loop whose
//! length is counted in units. With growing work, the interval jumps from one multiple of the step
//! to the next: intervals lie on a *lattice*. A clock that makes its readings *unique* adds one
//! tick to a reading if it did not move since the last read. Three rules search for the step. If
//! two rules contradict each other, or if a clock moves irregularly, no step is reported.

mod constant;
mod jump;
pub mod lattice;
mod likelihood;
mod readings;
mod sample;

pub mod agreement;
pub mod grid;
pub mod precisions;

use std::borrow::Cow;
use std::f64::consts::SQRT_2;

use crate::model::Estimate;
use crate::resolution::jump::{Jump, group_by_work};
use crate::statistics::{Z, median, quantile, sorted};
use crate::trace::Differences;

/// The cost of a read and the length of the work, which explain a part of the intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownDurations {
    /// The distance from the 2nd percentile to the median of the invocations, in ticks of the
    /// timer. The intervals vary by this much without any step.
    pub cost_width: f64,
    /// Step of the reference that measured the invocations, in ticks of the timer; the reference
    /// does not resolve shorter variation.
    pub reference_step: f64,
    /// Median cost of an invocation, in ticks of the timer.
    pub cost: f64,
    /// Length of a unit of work, in ticks of the timer; 0 when unknown.
    pub work_unit: f64,
    /// Whether all readings are multiples of several ticks, which are then the unit of all this.
    pub is_rounded: bool,
}

impl KnownDurations {
    /// Returns the same durations in units of `ticks` ticks.
    pub fn in_units(&self, ticks: f64) -> Self {
        Self {
            cost_width: self.cost_width / ticks,
            reference_step: self.reference_step / ticks,
            cost: self.cost / ticks,
            work_unit: self.work_unit / ticks,
            is_rounded: self.is_rounded || ticks > 1.0,
        }
    }
}

/// The resolution of a timer, in its ticks.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The step is determined.
    Resolved {
        /// The length of the step.
        step: Estimate,
        /// The rule that found it.
        rule: StepRule,
    },
    /// The step could not be determined.
    AtMost {
        /// Upper limit of the step.
        bound: f64,
        /// The reason why the step is unknown.
        reason: Cow<'static, str>,
    },
    /// The timer returned the same value throughout.
    Unmoved,
}

impl Step {
    /// Returns the resolution in ticks, given in units of so many ticks.
    pub fn scaled(self, ticks: f64) -> Self {
        match self {
            Self::Resolved { step, rule } => Self::Resolved {
                step: step.scaled(ticks),
                rule,
            },
            Self::AtMost { bound, reason } => Self::AtMost {
                bound: ticks * bound,
                reason,
            },
            Self::Unmoved => Self::Unmoved,
        }
    }

    /// Returns the step, in ticks; `None` if it is unknown or only its limit is known.
    pub fn known(&self) -> Option<Estimate> {
        match self {
            Self::Resolved { step, .. } => Some(*step),
            _ => None,
        }
    }

    /// Returns the step or its upper limit, in ticks; `None` if the timer never moved.
    pub fn step_or_limit(&self) -> Option<f64> {
        match self {
            Self::Resolved { step, .. } => Some(step.value),
            Self::AtMost { bound, .. } => Some(*bound),
            Self::Unmoved => None,
        }
    }
}

/// The rule that found the step.
#[apply(names)]
pub enum StepRule {
    /// With little work, intervals are zero or one step.
    Jump = "jump",
    /// Differences lie on multiples of the step.
    Lattice = "lattice",
    /// The step is a few units long, and the probabilities of the intervals show it, or the spectrum
    /// of differences of readings.
    Spectrum = "spectrum",
    /// The intervals exclude all steps longer than one tick.
    Unit = "unit",
}

/// The largest relative difference, and the largest difference in ticks, between steps that count
/// as equal; the larger limit applies. The interval of the step includes the equal steps of all
/// processes. *Default*: moves no figure; more than the error of either rule.
const EQUAL_STEP_TOLERANCE: (f64, f64) = (0.02, 0.3);

/// The least number of intervals with the same amount of work in a group of repeated work; smaller
/// groups have random work. *Definition*: plans repeat work at least this often.
const MIN_REPEATED_INTERVALS: usize = 4;

/// The share of intervals, or of differences between intervals with the same work, that may have any
/// length, because of interruptions. *Judgement*: interruptions come in bursts, and are seldom as
/// frequent.
const INTERRUPTED_SHARE: f64 = 0.05;

/// The least number of intervals in a pool: the intervals with similar amounts of work.
/// *Judgement*: halved or doubled, it changes only the widths of intervals.
const MIN_POOL_INTERVALS: usize = 16;

/// The largest relative difference between a step and the length of units of work that may cause
/// it. *Default*: moves no figure.
const WORK_UNIT_TOLERANCE: f64 = 0.03;

/// Differences of more standard errors than this are significant. *Chance*: exceeded in one case of
/// 16 000, because many differences are compared, whose distribution is not exactly normal.
const SIGNIFICANT_ERRORS: f64 = 4.0;

/// The reason if jumps from zero have different lengths.
pub const UNEVEN_STEPS: &str = "its steps are of different lengths";

/// The least number of steps from which a step longer than one tick is accepted, of intervals for a
/// line through them, and of sums for their variance. *Default*: moves no figure.
const MIN_STEPS: usize = 8;

/// Determines the step from intervals with growing and random work, and from the differences of
/// successive readings of each process (`reading_differences`), which contain no work. The rules
/// count in the largest unit that all intervals are multiples of: a counter of 24 MHz in multiples
/// of 10 ns has steps of 4.17 units.
pub fn resolve(
    groups: &[Differences],
    reading_differences: &[Vec<i64>],
    context: &KnownDurations,
) -> Step {
    let unit = common_divisor(groups);
    let groups: Vec<Differences> = groups.iter().map(|group| group.in_units(unit)).collect();
    let in_units = |deltas: &Vec<i64>| deltas.iter().map(|delta| delta / unit).collect();
    let differences: Vec<Vec<i64>> = reading_differences.iter().map(in_units).collect();
    let context = context.in_units(unit as f64);
    resolve_in_units(&groups, &differences, &context).scaled(unit as f64)
}

/// The greatest common divisor of all intervals, in ticks; 1 if none moved.
pub fn common_divisor<'a>(groups: impl IntoIterator<Item = &'a Differences>) -> i64 {
    let common = groups
        .into_iter()
        .flat_map(|group| &group.deltas)
        .fold(0, |mut common, delta| {
            let mut rest = delta.unsigned_abs();
            while rest != 0 {
                (common, rest) = (rest, common % rest);
            }
            common
        });
    i64::try_from(common).unwrap_or(1).max(1)
}

/// Determines the step in units that all intervals are multiples of.
fn resolve_in_units(
    groups: &[Differences],
    reading_differences: &[Vec<i64>],
    context: &KnownDurations,
) -> Step {
    let mut non_negative = groups.to_vec();
    for group in &mut non_negative {
        group.deltas.retain(|delta| *delta >= 0);
    }
    let mut all: Vec<i64> = non_negative
        .iter()
        .flat_map(|group| &group.deltas)
        .copied()
        .collect();
    all.sort_unstable();
    if all.iter().all(|&delta| delta == 0) {
        return Step::Unmoved;
    }
    let at_most = |reason: &'static str| Step::AtMost {
        bound: upper_limit(&non_negative),
        reason: reason.into(),
    };
    // The unit of few intervals may be a multiple of that of others.
    let moved = all.iter().filter(|&&delta| delta > 0).count();
    if context.is_rounded && moved < MIN_STEPS {
        return at_most("too few steps were seen");
    }
    // Clocks that make readings unique never return equal values, but values one tick apart.
    let makes_readings_unique = !context.is_rounded && !all.contains(&0);
    let lattice = lattice::of_intervals(&all)
        .filter(|found| !is_due_to_work(&non_negative, found.step, context.work_unit))
        // With repeated work, the first reading of many intervals was made unique; such an interval is
        // one tick too short.
        .map(|found| match found.shows_unique_readings(&all) {
            true => found
                .refine_by_reading_differences(reading_differences)
                .unwrap_or_else(|| found.refit(&intervals_with_random_work(&non_negative))),
            false => found,
        });
    match (
        Jump::from_groups(
            &non_negative,
            i64::from(makes_readings_unique),
            lattice,
            reading_differences,
        ),
        lattice,
    ) {
        (Jump::Unit { longest }, _) => one_tick(longest),
        (Jump::Uneven { longest }, _) => Step::AtMost {
            bound: longest,
            reason: UNEVEN_STEPS.into(),
        },
        (Jump::Step(jump, _), Some(found))
            if !makes_readings_unique && steps_differ(jump.value, found.step) =>
        {
            at_most("two ways to find the step disagree")
        }
        (_, Some(found)) => Step::Resolved {
            step: Estimate::around(found.step, Z * found.error),
            rule: StepRule::Lattice,
        },
        (Jump::Step(..), None)
            if all.len() < groups.iter().map(|group| group.deltas.len()).sum() =>
        {
            at_most("it steps backwards, which hides its step")
        }
        (Jump::Step(step, count), None) => {
            // From few jumps, it is unknown whether all steps have the same length.
            if count < MIN_STEPS {
                at_most("too few steps were seen")
            } else {
                Step::Resolved {
                    step,
                    rule: StepRule::Jump,
                }
            }
        }
        (Jump::None, None) => {
            if !moves_every_tick(&non_negative, context) {
                return at_most(
                    "it stands still for longer than its cost, and its steps fit no length",
                );
            }
            likelihood::resolve(&non_negative, reading_differences, context)
        }
    }
}

/// Returns whether two steps, in ticks, differ by more than the tolerance.
fn steps_differ(step: f64, other: f64) -> bool {
    (step - other).abs() > (EQUAL_STEP_TOLERANCE.0 * other).max(EQUAL_STEP_TOLERANCE.1)
}

/// Returns a step of one tick. Its interval ends at `longest`, the longest step, in ticks, that the
/// measured intervals do not exclude.
fn one_tick(longest: f64) -> Step {
    let step = Estimate {
        value: 1.0,
        low: 1.0,
        high: longest.max(1.0),
    };
    Step::Resolved {
        step,
        rule: StepRule::Unit,
    }
}

/// Returns the intervals with random work, sorted. Differences with repeated work are left out,
/// because they show only one or two multiples of a step.
fn intervals_with_random_work(groups: &[Differences]) -> Vec<i64> {
    let groups = groups
        .iter()
        .filter(|group| group.deltas.len() < MIN_REPEATED_INTERVALS);
    let mut random: Vec<i64> = groups.flat_map(|group| &group.deltas).copied().collect();
    random.sort_unstable();
    random
}

/// Returns an upper limit of the step, in ticks: a positive interval is at least one step long, and
/// the intervals with the least work are the shortest.
fn upper_limit(groups: &[Differences]) -> f64 {
    let mut moved: Vec<f64> = Vec::new();
    for deltas in group_by_work(groups).into_values() {
        moved.extend(
            deltas
                .into_iter()
                .filter(|&delta| delta > 0)
                .map(|delta| delta as f64),
        );
        if moved.len() >= MIN_POOL_INTERVALS {
            break;
        }
    }
    quantile(&sorted(&moved), 1.0 - INTERRUPTED_SHARE).unwrap_or(f64::INFINITY)
}

/// Returns whether the lattice with this step is due to the work and not to the counter: its step
/// is the length of one or two units of work, and intervals with a fixed amount of work do not jump
/// by this step.
fn is_due_to_work(groups: &[Differences], step: f64, work_unit: f64) -> bool {
    /// The largest number of units of work in the step. *Default*: moves no figure.
    const MAX_WORK_UNITS: f64 = 2.0;
    if work_unit <= 0.0 {
        return false;
    }
    let ratio = step / work_unit;
    let multiple = ratio.round().max(1.0);
    if multiple > MAX_WORK_UNITS || (ratio / multiple - 1.0).abs() > WORK_UNIT_TOLERANCE {
        return false;
    }
    let (mut jumps, mut pairs) = (0, 0);
    for group in groups {
        for pair in group.deltas.windows(2) {
            pairs += 1;
            jumps += usize::from(((pair[1] - pair[0]).abs() as f64 / step).round() == 1.0);
        }
    }
    pairs == 0 || (jumps as f64) < INTERRUPTED_SHARE * pairs as f64
}

/// Returns whether the timer moves in nearly every tick: almost no interval is zero if a read takes
/// several ticks, and the intervals grow with the work. The intervals of a clock that merely makes
/// its readings unique do not grow with the work.
fn moves_every_tick(groups: &[Differences], context: &KnownDurations) -> bool {
    /// The least cost of a read, in ticks, at which a timer that moves every tick or two cannot
    /// show zero. *Default*: moves no figure.
    const MIN_COST_TICKS: f64 = 6.0;
    /// The largest share of zero intervals that is attributed to wrong readings. *Default*: moves
    /// no figure.
    const MAX_ZERO_SHARE: f64 = 0.005;
    /// The least share of the duration of work and reads that the timer has to show. The duration
    /// of the work is known roughly, from another timer. *Default*: moves no figure.
    const MIN_SHOWN_SHARE: f64 = 0.3;
    let deltas = || groups.iter().flat_map(|group| &group.deltas);
    let all = deltas().count() as f64;
    let zeros = deltas().filter(|&&delta| delta == 0).count() as f64;
    let stood_still = context.cost >= MIN_COST_TICKS && zeros > MAX_ZERO_SHARE * all;
    let work: f64 = groups
        .iter()
        .map(|group| group.work as f64 * group.deltas.len() as f64)
        .sum();
    let ticks: f64 = deltas().map(|&delta| delta as f64).sum();
    !stood_still && ticks >= MIN_SHOWN_SHARE * (work * context.work_unit + all * context.cost)
}

/// Returns whether truncation and the cost of the read explain how far the shortest differences of
/// successive readings are from their median.
fn cost_explains_variation(reading_differences: &[Vec<i64>], context: &KnownDurations) -> bool {
    /// The largest contribution of truncation to the distance between two percentiles, in ticks.
    /// *Default*: moves no figure.
    const MAX_TRUNCATION_TICKS: f64 = 2.0;
    /// The uncertainty of the cost due to the step of the reference, in steps. *Default*: moves no
    /// figure.
    const REFERENCE_ERROR_STEPS: f64 = 0.25;
    let width = |differences: &Vec<i64>| {
        let sorted = sorted(differences.iter().map(|&difference| difference as f64));
        Some(quantile(&sorted, 0.5)? - quantile(&sorted, 0.02)?)
    };
    // Two independent reads vary more than one by √2.
    let most = MAX_TRUNCATION_TICKS
        + SQRT_2 * context.cost_width
        + REFERENCE_ERROR_STEPS * context.reference_step;
    median(reading_differences.iter().filter_map(width)).is_some_and(|width| width <= most)
}

#[cfg(test)]
mod tests;
