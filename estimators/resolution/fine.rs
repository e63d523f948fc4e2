//! Counters that move in every tick or in every few: what the spectrum of their intervals says.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{
    Context, FEW, REPEATED, Resolution, Rule, bound, cost_explains, random, resolved, unit,
};
use crate::resolution::spectrum::{FoundLine, Spectrum};
use crate::trace::Intervals;

/// The step of a counter that shows neither a lattice nor jumps from zero. What all intervals are
/// multiples of is no longer than a step may be: of a machine on which work and reads take whole
/// multiples of a step, nothing else is known.
pub fn resolve(groups: &[Intervals], tight: &[Vec<i64>], context: &Context) -> Resolution {
    /// A step is told as well as that, in ticks.
    /// *Judgement*: steps of a few ticks are told to a hundredth and better.
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

/// The largest number of ticks that all intervals are multiples of; 0 where none moved.
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
    /// The longest step that one tick may be told for, and where all intervals lie within a few
    /// ticks. *Judgement*: a multiple is never told as one.
    const ONE: (f64, f64) = (1.5, 2.0);
    /// A line that is not as tall may be that of the work of one process, whatever its frequency.
    /// *Judgement*.
    const TALL: f64 = 0.5;
    /// Nor does one process in three make one of this height, so that something else repeats.
    /// *Computed*: one process of three makes a third of a line.
    const UNEXPLAINED: f64 = 0.4;
    let at_most = |bound: f64, reason: &'static str| Resolution::AtMost {
        bound,
        reason: Cow::Borrowed(reason),
    };
    let random = random(groups);
    let spectrum = Spectrum::from_intervals(&random);
    let of_work =
        |frequency, step| is_of_work(frequency, context.work_unit) && !jumps(groups, step);
    // Units of work that take another time in each process make lines anywhere, but small ones.
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

/// Whether intervals repeat with this step all the time: units of work may take another time in
/// each process, steps do not.
fn lasts(groups: &[Intervals], step: f64) -> bool {
    /// Parts that intervals are looked at in, in the order in which they were taken.
    /// *Judgement*.
    const PARTS: usize = 4;
    /// Deviations of chance that the parts may lie apart, and what lines are off by besides.
    /// *Chance*: and as `UNEVEN`.
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

/// Whether durations that grow in whole units of work would make a line of this frequency
/// themselves.
fn is_of_work(frequency: f64, work_unit: f64) -> bool {
    /// Where a unit of work is a whole number of turns, to within this.
    /// *Judgement*.
    const NEAR: f64 = 0.03;
    /// Less is no line.
    /// *Judgement*.
    const LEAST: f64 = 0.5;
    // Whole ticks cannot tell these four frequencies apart.
    [frequency, 1.0 - frequency, 1.0 + frequency, 2.0 - frequency]
        .into_iter()
        .any(|frequency| {
            let turns = frequency * work_unit;
            turns > LEAST && (turns - turns.round()).abs() < NEAR
        })
}

/// Whether intervals jump by one step while the amount of work is held fixed, or by too many
/// different lengths for any line of the work to be left.
fn jumps(groups: &[Intervals], step: f64) -> bool {
    /// Different lengths that are many: a call or a loop that now and then takes longer by one
    /// length makes jumps of that length, and two of them of four. *Computed*.
    const MANY: f64 = 12.0;
    let (mut pairs, mut single, mut moved) = (0.0, 0.0, 0.0);
    let mut lengths = BTreeMap::<u64, f64>::new();
    for group in groups {
        for pair in group.deltas.windows(2) {
            let jump = (pair[1] - pair[0]).unsigned_abs();
            pairs += 1.0;
            // Truncation alone makes jumps of a tick.
            if jump > 1 {
                moved += 1.0;
                single += f64::from(u8::from((jump as f64 - step).abs() < 1.0));
                *lengths.entry(jump).or_default() += 1.0;
            }
        }
    }
    // As many as there would be if all were equally common.
    let different = moved * moved
        / lengths
            .values()
            .map(|count| count * count)
            .sum::<f64>()
            .max(1.0);
    single > FEW * pairs || (moved > 0.5 * pairs && different >= MANY)
}
