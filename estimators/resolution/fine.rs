//! Finds the step of counters that move in every tick or every few ticks, from the spectrum of
//! their intervals.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{
    Context, FEW, REPEATED, Resolution, Rule, bound, cost_explains, random, resolved, unit,
};
use crate::resolution::spectrum::{FoundLine, Spectrum};
use crate::trace::Intervals;

/// Determines the step of a counter that shows neither a lattice nor jumps from zero. The greatest
/// common divisor of all intervals is a lower limit of the result: on a machine on which work and
/// reads take integer multiples of a step, nothing else is known.
pub fn resolve(groups: &[Intervals], tight: &[Vec<i64>], context: &Context) -> Resolution {
    /// The uncertainty of a step from the spectrum, in ticks. *Judgement*: steps of a few ticks are
    /// told to a hundredth and better.
    const AS_WELL: f64 = 0.05;
    let common = common_measure(groups) as f64;
    match by_spectrum(groups, tight, context) {
        Resolution::Resolved { step, .. } if step.high + AS_WELL < common => Resolution::AtMost {
            bound: common,
            reason: format!("all its intervals are multiples of {common} ticks, which a step makes, or what work and reads take").into(),
        },
        Resolution::AtMost { bound, reason } => Resolution::AtMost { bound: bound.max(common), reason },
        found => found,
    }
}

/// The greatest common divisor of all intervals, in ticks; 0 if none moved.
fn common_measure(groups: &[Intervals]) -> u64 {
    let deltas = groups.iter().flat_map(|group| &group.deltas);
    deltas.fold(0, |mut common, delta| {
        let mut rest = delta.unsigned_abs();
        while rest != 0 {
            (common, rest) = (rest, common % rest);
        }
        common
    })
}

fn by_spectrum(groups: &[Intervals], tight: &[Vec<i64>], context: &Context) -> Resolution {
    /// The longest possible step, in ticks, that may be reported as one tick, in general and if all
    /// intervals lie within a few ticks. *Judgement*: a multiple is never told as one.
    const ONE: (f64, f64) = (1.5, 2.0);
    /// A lower line may be due to the work of one process, whatever its frequency. *Judgement*.
    const TALL: f64 = 0.5;
    /// A line of this height cannot be due to one process in three, so the step is repeated in all
    /// processes. *Computed*: one process of three makes a third of a line.
    const UNEXPLAINED: f64 = 0.4;
    let at_most = |bound: f64, reason: &'static str| Resolution::AtMost {
        bound,
        reason: Cow::Borrowed(reason),
    };
    let random = random(groups);
    let spectrum = Spectrum::from_intervals(&random);
    let of_work =
        |frequency, step| is_of_work(frequency, context.work_unit) && !jumps(groups, step);
    // Units of work whose duration varies between processes cause low lines at any frequency.
    let repeats = |frequency, step, height| {
        (height < TALL && !jumps(groups, step)) || of_work(frequency, step)
    };
    match spectrum
        .as_ref()
        .map_or(FoundLine::Nothing, |spectrum| spectrum.step(repeats))
    {
        FoundLine::Step(found) if lasts(groups, found.step) => {
            return resolved(found, Rule::Spectrum);
        }
        FoundLine::Unclear(step) => {
            return at_most(step, "its intervals repeat as those of two steps would");
        }
        FoundLine::Step(_) | FoundLine::Nothing => {}
    }
    if !cost_explains(tight, context) {
        return at_most(
            bound(groups),
            "its intervals vary more than its cost explains and fit no step",
        );
    }
    let Some(spectrum) = spectrum else {
        return at_most(bound(groups), FEW_INTERVALS);
    };
    let work = |frequency| is_of_work(frequency, context.work_unit);
    if let Some(longest) = spectrum
        .unexplained(UNEXPLAINED, work)
        .filter(|_| !spectrum.is_narrow())
    {
        return at_most(
            longest,
            "its intervals repeat, though as those of no step would",
        );
    }
    match spectrum.longest(of_work) {
        longest if longest < if spectrum.is_narrow() { ONE.1 } else { ONE.0 } => unit(longest),
        longest => at_most(longest, FEW_INTERVALS),
    }
}

const FEW_INTERVALS: &str = "its intervals do not tell steps of one tick from those of a few";

/// Returns whether intervals repeat with this step throughout: the duration of a unit of work may
/// differ between processes, a step does not.
fn lasts(groups: &[Intervals], step: f64) -> bool {
    /// The number of parts of the intervals, in the order of measurement. *Judgement*.
    const PARTS: usize = 4;
    /// The largest difference between parts, in standard deviations of chance, and the additional
    /// error of lines. *Chance*: and as `UNEVEN`.
    const APART: (f64, f64) = (4.0, 0.04);
    let random = groups.iter().filter(|group| group.deltas.len() < REPEATED);
    let turns: Vec<f64> = random
        .flat_map(|group| {
            group
                .deltas
                .iter()
                .map(|&delta| (TAU * (delta as f64 / step).fract()).cos())
        })
        .collect();
    let part = turns.len() / PARTS;
    let heights: Vec<f64> = turns
        .chunks_exact(part.max(1))
        .map(|part| part.iter().sum::<f64>() / part.len() as f64)
        .collect();
    let (least, most) = heights.iter().fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), &height| (least.min(height), most.max(height)),
    );
    most - least <= APART.0 * (0.5 / part.max(1) as f64).sqrt() + APART.1
}

/// Returns whether durations in integer units of work cause a line of this frequency.
fn is_of_work(frequency: f64, work_unit: f64) -> bool {
    /// The largest deviation of a unit of work from an integer number of turns. *Judgement*.
    const NEAR: f64 = 0.03;
    /// The lowest frequency of a line, in turns per unit. *Judgement*.
    const LEAST: f64 = 0.5;
    // Integer intervals do not distinguish these four frequencies.
    [frequency, 1.0 - frequency, 1.0 + frequency, 2.0 - frequency]
        .into_iter()
        .any(|frequency| {
            let turns = frequency * work_unit;
            turns > LEAST && (turns - turns.round()).abs() < NEAR
        })
}

/// Returns whether intervals with a fixed amount of work jump by one step, or by so many different
/// lengths that the work cannot cause a line.
fn jumps(groups: &[Intervals], step: f64) -> bool {
    /// The least number of different lengths: a call or a loop that sometimes takes one length
    /// longer causes jumps of this length, and two such calls cause four different lengths.
    /// *Computed*.
    const MANY: f64 = 12.0;
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
    let different = moved * moved
        / lengths
            .values()
            .map(|count| count * count)
            .sum::<f64>()
            .max(1.0);
    single > FEW * pairs || (moved > 0.5 * pairs && different >= MANY)
}
