//! Finds the step of counters that move in every tick or every few ticks, from the spectrum of
//! their intervals.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{
    Context, INTERRUPTED_SHARE, MIN_REPEATED_INTERVALS, Resolution, Rule, SIGNIFICANT_ERRORS,
    WORK_UNIT_TOLERANCE, cost_explains_variation, intervals_with_random_work, one_tick,
    resolution_from_lattice, steps_differ, upper_limit,
};
use crate::resolution::spectrum::{FoundLine, MIN_STEP_TICKS, PHASE_SAMPLING_ERROR, Spectrum};
use crate::trace::Intervals;

/// Determines the step of a counter that shows neither a lattice nor jumps from zero. The result is
/// at least the greatest common divisor of all intervals, because it is unknown whether a step of
/// this length or the durations of work and reads cause the divisor.
pub fn resolve(
    groups: &[Intervals],
    reading_differences: &[Vec<i64>],
    context: &Context,
) -> Resolution {
    let common = common_divisor(groups) as f64;
    match resolve_by_spectrum(groups, reading_differences, context) {
        Resolution::Resolved { step, .. } if step.high < common && steps_differ(step.high, common) => Resolution::AtMost {
            bound: common,
            reason: format!("all its intervals are multiples of {common} ticks, which a step makes, or what work and reads take").into(),
        },
        Resolution::AtMost { bound, reason } => Resolution::AtMost { bound: bound.max(common), reason },
        found => found,
    }
}

/// The greatest common divisor of all intervals, in ticks; 0 if none moved.
pub fn common_divisor<'a>(groups: impl IntoIterator<Item = &'a Intervals>) -> u64 {
    let deltas = groups.into_iter().flat_map(|group| &group.deltas);
    deltas.fold(0, |mut common, delta| {
        let mut rest = delta.unsigned_abs();
        while rest != 0 {
            (common, rest) = (rest, common % rest);
        }
        common
    })
}

/// Determines the step from the spectrum of the intervals with random work.
fn resolve_by_spectrum(
    groups: &[Intervals],
    reading_differences: &[Vec<i64>],
    context: &Context,
) -> Resolution {
    /// A line of at least this height is common to most processes; a lower one may be due to the work
    /// of one process. *Computed*: a line that only one process in three shows has at most a third
    /// of the full height.
    const MIN_COMMON_HEIGHT: f64 = 0.4;
    let at_most = |bound: f64, reason: &'static str| Resolution::AtMost {
        bound,
        reason: Cow::Borrowed(reason),
    };
    let random = intervals_with_random_work(groups);
    let spectrum = Spectrum::from_intervals(&random);
    let is_due_to_work = |frequency, step| {
        matches_work_unit(frequency, context.work_unit) && !jumps_exclude_work(groups, step)
    };
    // Units of work whose duration varies between processes cause low lines at any frequency.
    let may_be_due_to_work = |frequency, step, height| {
        (height < MIN_COMMON_HEIGHT && !jumps_exclude_work(groups, step))
            || is_due_to_work(frequency, step)
    };
    match spectrum.as_ref().map_or(FoundLine::Nothing, |spectrum| {
        spectrum.find_step(may_be_due_to_work)
    }) {
        FoundLine::Step(found) if repeats_throughout(groups, found.step) => {
            return resolution_from_lattice(found, Rule::Spectrum);
        }
        FoundLine::Ambiguous(step) => {
            return at_most(step, "its intervals fit two different steps equally well");
        }
        FoundLine::Step(_) | FoundLine::Nothing => {}
    }
    if !cost_explains_variation(reading_differences, context) {
        return at_most(
            upper_limit(groups),
            "its intervals vary more than its cost explains and fit no step",
        );
    }
    let Some(spectrum) = spectrum else {
        return at_most(upper_limit(groups), AMBIGUOUS_STEP);
    };
    let is_work_frequency = |frequency| matches_work_unit(frequency, context.work_unit);
    if let Some(longest) = spectrum
        .unexplained_step(MIN_COMMON_HEIGHT, is_work_frequency)
        .filter(|_| !spectrum.is_narrow())
    {
        return at_most(longest, "its intervals repeat regularly, but fit no step");
    }
    match spectrum.longest_possible_step(is_due_to_work) {
        // A multiple of a tick is never reported as one tick.
        longest
            if longest
                < if spectrum.is_narrow() {
                    2.0
                } else {
                    MIN_STEP_TICKS
                } =>
        {
            one_tick(longest)
        }
        longest => at_most(longest, AMBIGUOUS_STEP),
    }
}

/// The reason if steps of one tick and steps of a few ticks explain the intervals equally well.
const AMBIGUOUS_STEP: &str = "its intervals do not tell steps of one tick from those of a few";

/// Returns whether the intervals repeat with this step in all parts of the measurement. The
/// duration of a unit of work may differ between processes; a step does not.
fn repeats_throughout(groups: &[Intervals], step: f64) -> bool {
    /// The number of parts of the intervals, in the order of measurement. *Judgement*.
    const PART_COUNT: usize = 4;
    let random = groups
        .iter()
        .filter(|group| group.deltas.len() < MIN_REPEATED_INTERVALS);
    let cosines: Vec<f64> = random
        .flat_map(|group| {
            group
                .deltas
                .iter()
                .map(|&delta| (TAU * (delta as f64 / step).fract()).cos())
        })
        .collect();
    let part_len = cosines.len() / PART_COUNT;
    let heights: Vec<f64> = cosines
        .chunks_exact(part_len.max(1))
        .map(|part| part.iter().sum::<f64>() / part.len() as f64)
        .collect();
    let (lowest, highest) = heights.iter().fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(lowest, highest), &height| (lowest.min(height), highest.max(height)),
    );
    highest - lowest
        <= SIGNIFICANT_ERRORS * (0.5 / part_len.max(1) as f64).sqrt() + PHASE_SAMPLING_ERROR
}

/// Returns whether intervals that grow in units of work can cause a line of this frequency.
fn matches_work_unit(frequency: f64, work_unit: f64) -> bool {
    // Integer intervals do not distinguish these four frequencies.
    [frequency, 1.0 - frequency, 1.0 + frequency, 2.0 - frequency]
        .into_iter()
        .any(|frequency| {
            let turns = frequency * work_unit;
            turns.round() >= 1.0 && (turns - turns.round()).abs() < WORK_UNIT_TOLERANCE
        })
}

/// Returns whether intervals with a fixed amount of work jump by one step, or by so many different
/// lengths that the work cannot cause a line.
fn jumps_exclude_work(groups: &[Intervals], step: f64) -> bool {
    /// The least number of different lengths of jumps. *Computed*: a call or a loop that is
    /// sometimes slower causes jumps of one length, and two such calls cause four lengths.
    const MIN_JUMP_LENGTHS: f64 = 12.0;
    let (mut pairs, mut single, mut moved) = (0.0, 0.0, 0.0);
    let mut lengths = BTreeMap::<u64, f64>::new();
    for group in groups {
        for pair in group.deltas.windows(2) {
            let jump = (pair[1] - pair[0]).unsigned_abs();
            pairs += 1.0;
            // Truncation alone causes jumps of one tick.
            if jump > 1 {
                moved += 1.0;
                single += f64::from(u8::from((jump as f64 - step).abs() < 1.0));
                *lengths.entry(jump).or_default() += 1.0;
            }
        }
    }
    // The effective number of equally frequent lengths.
    let effective_lengths = moved * moved
        / lengths
            .values()
            .map(|count| count * count)
            .sum::<f64>()
            .max(1.0);
    single > INTERRUPTED_SHARE * pairs
        || (moved > 0.5 * pairs && effective_lengths >= MIN_JUMP_LENGTHS)
}
