//! Resolution: the step of the underlying counter as seen through the method (TimerMeter; ICPE
//! 2011 section 2).
//!
//! Growing work between two reads makes the interval jump from one multiple of the step to the
//! next. Three rules look for the step; a rule that another contradicts gives no number, and
//! neither does a clock that moves irregularly.

mod jump;
mod lattice;
mod spectrum;

pub mod agreement;
mod fine;

use std::borrow::Cow;

use crate::distribution::cells::core_variance;
use crate::model::Interval;
use crate::resolution::jump::{Jump, by_amount};
use crate::statistics::{Z, quantile, sorted};
use crate::trace::Intervals;

/// What is known besides the intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// Standard deviation of single invocations, in ticks of the timer: how much of the variation
    /// of intervals the cost explains.
    pub cost_deviation: f64,
    /// How far the cheapest invocations lie below the median one, in ticks of the timer.
    pub cost_lower_width: f64,
    /// How far apart the cheapest hundredth and the cheapest tenth of the invocations end, in ticks
    /// of the timer.
    pub cost_edge: f64,
    /// Step of the reference that saw all this, in ticks of the timer: shorter variation it does
    /// not tell.
    pub reference_step: f64,
    /// Median cost of an invocation, in ticks of the timer.
    pub cost: f64,
    /// Length of a unit of work, in ticks of the timer; 0 when unknown.
    pub work_unit: f64,
}

/// What the intervals say about the step, in ticks of the timer.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// The step.
    Resolved {
        /// Its length.
        step: Interval,
        /// The rule that found it.
        rule: Rule,
    },
    /// The step could not be determined.
    AtMost {
        /// It is no longer than this.
        bound: f64,
        /// Why.
        reason: Cow<'static, str>,
    },
    /// The timer showed the same value throughout.
    Unmoved,
}

impl Resolution {
    /// The step, or what it is no longer than, in ticks; `None` where the timer never moved.
    pub fn at_most(&self) -> Option<f64> {
        match self {
            Self::Resolved { step, .. } => Some(step.value),
            Self::AtMost { bound, .. } => Some(*bound),
            Self::Unmoved => None,
        }
    }
}

/// Which rule found the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Intervals jump from zero to one step.
    Jump,
    /// Intervals lie on multiples of the step.
    Lattice,
    /// The intervals repeat with the step, which is a few ticks.
    Spectrum,
    /// Every tick is counted: the step is the unit itself.
    Unit,
}

impl Rule {
    /// The name of the rule in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jump => "jump",
            Self::Lattice => "lattice",
            Self::Spectrum => "spectrum",
            Self::Unit => "unit",
        }
    }
}

/// Steps that differ by no more than this share, or this many ticks, are one step: by so much two
/// rules may differ, and processes, whose interval is wider then. *Default*: moves no figure; more
/// than either rule is off.
const SLIGHT: (f64, f64) = (0.02, 0.3);

/// Intervals of one amount of work, fewer than which were taken with random work.
/// *Definition*: by how plans ask.
const REPEATED: usize = 4;

/// Of intervals with the same work a smaller share that differs was interrupted.
/// *Default*: moves no figure.
const FEW: f64 = 0.02;

/// Fewest steps from which a step longer than one tick is believed.
/// *Default*: moves no figure.
const FEWEST_STEPS: usize = 8;

/// Finds the step from intervals with growing and random work, and from the differences of
/// successive readings of each process (`tight`), which hold no work at all.
pub fn resolve(groups: &[Intervals], tight: &[Vec<i64>], context: &Context) -> Resolution {
    let forward: Vec<Intervals> = groups
        .iter()
        .map(|group| Intervals {
            work: group.work,
            deltas: group
                .deltas
                .iter()
                .copied()
                .filter(|&delta| delta >= 0)
                .collect(),
        })
        .collect();
    let mut all: Vec<i64> = forward
        .iter()
        .flat_map(|group| &group.deltas)
        .copied()
        .collect();
    all.sort_unstable();
    if all.iter().all(|&delta| delta == 0) {
        return Resolution::Unmoved;
    }
    let at_most = |reason: &'static str| Resolution::AtMost {
        bound: bound(&forward),
        reason: reason.into(),
    };
    // Clocks that make readings unique never show zero, but one tick.
    let unique = !all.contains(&0);
    let lattice =
        lattice::find(&all).filter(|found| !follows_work(&forward, found.step, context.work_unit));
    // Of the same work again and again many a first reading was made unique: its interval is a tick
    // too short.
    let lattice = lattice.map(|found| match found.shows_unique_readings(&all) {
        true => found
            .resolved_from(tight)
            .unwrap_or_else(|| found.refitted(&random(&forward))),
        false => found,
    });
    match (
        Jump::from_groups(&forward, i64::from(unique), lattice),
        lattice,
    ) {
        (Jump::Unit { longest }, _) => unit(longest),
        (Jump::Uneven { longest }, _) => Resolution::AtMost {
            bound: longest,
            reason: "its steps are of different lengths".into(),
        },
        (Jump::Step(jump, _), Some(found)) if !unique && differ(jump.value, found.step) => {
            at_most("two ways to find the step disagree")
        }
        (_, Some(found)) => resolved(found, Rule::Lattice),
        (Jump::Step(..), None)
            if all.len() < groups.iter().map(|group| group.deltas.len()).sum() =>
        {
            at_most("it steps backwards, which hides its step")
        }
        (Jump::Step(step, count), None) => {
            // With only zero and one step seen, other steps may still be hidden.
            if count < FEWEST_STEPS {
                at_most("too few steps were seen")
            } else {
                Resolution::Resolved {
                    step,
                    rule: Rule::Jump,
                }
            }
        }
        (Jump::None, None) => {
            if !counts_finely(&forward, context) {
                return at_most(
                    "it stands still for longer than its cost, and its steps fit no length",
                );
            }
            fine::resolve(&forward, tight, context)
        }
    }
}

/// Whether these are two steps.
fn differ(step: f64, other: f64) -> bool {
    (step - other).abs() > (SLIGHT.0 * other).max(SLIGHT.1)
}

/// One tick, unless it is a step up to the `longest` that is not excluded.
fn unit(longest: f64) -> Resolution {
    let step = Interval {
        value: 1.0,
        low: 1.0,
        high: longest.max(1.0),
    };
    Resolution::Resolved {
        step,
        rule: Rule::Unit,
    }
}

fn resolved(found: lattice::Lattice, rule: Rule) -> Resolution {
    let half = Z * found.error;
    let step = Interval {
        value: found.step,
        low: found.step - half,
        high: found.step + half,
    };
    Resolution::Resolved { step, rule }
}

/// The most of sorted intervals that lie within less than this many ticks of each other.
pub fn densest(intervals: &[i64], width: i64) -> &[i64] {
    let (mut best, mut end) = (0..0, 0);
    for (start, first) in intervals.iter().enumerate() {
        let near = |last: &i64| i128::from(*last) - i128::from(*first) < i128::from(width);
        while intervals.get(end).is_some_and(near) {
            end += 1;
        }
        if end - start > best.len() {
            best = start..end;
        }
    }
    &intervals[best]
}

/// Intervals with random work only, sorted: the same work again and again shows just one place of a
/// lattice.
fn random(groups: &[Intervals]) -> Vec<i64> {
    let groups = groups.iter().filter(|group| group.deltas.len() < REPEATED);
    let mut random: Vec<i64> = groups.flat_map(|group| &group.deltas).copied().collect();
    random.sort_unstable();
    random
}

/// An upper bound: intervals with the least work that moved at all crossed at least one step.
fn bound(groups: &[Intervals]) -> f64 {
    /// This many of them tell it.
    /// *Default*: moves no figure.
    const ENOUGH: usize = 20;
    /// Longer ones were interrupted.
    /// *Default*: moves no figure.
    const NEARLY_ALL: f64 = 0.95;
    let mut moved: Vec<f64> = Vec::new();
    for deltas in by_amount(groups).into_values() {
        moved.extend(
            deltas
                .into_iter()
                .filter(|&delta| delta > 0)
                .map(|delta| delta as f64),
        );
        if moved.len() >= ENOUGH {
            break;
        }
    }
    quantile(&sorted(&moved), NEARLY_ALL).unwrap_or(f64::INFINITY)
}

/// Whether a lattice is that of the work and not of the counter: its step is the length of a unit
/// of work, and with the amount of work held fixed the intervals do not jump by it.
fn follows_work(groups: &[Intervals], step: f64, work_unit: f64) -> bool {
    /// Units of work that may make up the step.
    /// *Default*: moves no figure.
    const MOST_UNITS: f64 = 2.0;
    /// How far the step may be off them, as a share.
    /// *Default*: moves no figure.
    const NEAR: f64 = 0.03;
    /// How far a difference of two intervals may be off the step and still be one, as a share.
    /// *Default*: moves no figure.
    const A_STEP: f64 = 0.3;
    if work_unit <= 0.0 {
        return false;
    }
    let ratio = step / work_unit;
    let multiple = ratio.round().max(1.0);
    if multiple > MOST_UNITS || (ratio / multiple - 1.0).abs() > NEAR {
        return false;
    }
    let (mut jumps, mut pairs) = (0, 0);
    for group in groups {
        for pair in group.deltas.windows(2) {
            pairs += 1;
            jumps += usize::from(((pair[1] - pair[0]).abs() as f64 / step - 1.0).abs() < A_STEP);
        }
    }
    pairs == 0 || (jumps as f64) < FEW * pairs as f64
}

/// Whether the timer moves nearly as finely as its ticks: it does not show zero where the read
/// alone takes ticks, and it keeps up with the work, which a clock that merely makes its readings
/// unique does not.
fn counts_finely(groups: &[Intervals], context: &Context) -> bool {
    /// A read that takes this many ticks cannot show zero if the timer moves in every tick or two.
    /// *Default*: moves no figure.
    const LONG_COST: f64 = 6.0;
    /// But a reading may be wrong now and then.
    /// *Default*: moves no figure.
    const SELDOM: f64 = 0.005;
    /// The share of what work and reads take that it has to show. What work takes is known by
    /// another timer, roughly. *Default*: moves no figure.
    const KEEPS_UP: f64 = 0.3;
    let deltas = || groups.iter().flat_map(|group| &group.deltas);
    let all = deltas().count() as f64;
    let zeros = deltas().filter(|&&delta| delta == 0).count() as f64;
    let stood_still = context.cost >= LONG_COST && zeros > SELDOM * all;
    let work: f64 = groups
        .iter()
        .map(|group| group.work as f64 * group.deltas.len() as f64)
        .sum();
    let ticks: f64 = deltas().map(|&delta| delta as f64).sum();
    !stood_still && ticks >= KEEPS_UP * (work * context.work_unit + all * context.cost)
}

/// Whether successive readings vary no more than truncation and the cost of the read explain,
/// around the middle and towards the cheapest reads.
fn cost_explains(tight: &[Vec<i64>], context: &Context) -> bool {
    /// How many times what single invocations show may be seen: of the deviation, of the width from
    /// the cheapest fiftieth to the middle, and of that from the cheapest hundredth to the cheapest
    /// tenth. Two reads vary more than one (by √2, if nothing is shared). *Judgement*.
    const TIMES: [f64; 3] = [1.5, 1.2, 1.3];
    /// What truncation adds, in ticks, to a deviation at most, and to a width.
    /// *Default*: moves no figure.
    const TRUNCATION: [f64; 2] = [1.0, 2.0];
    /// The part of a step of the reference that its view of the cost leaves open.
    /// *Default*: moves no figure.
    const OPEN: f64 = 0.25;
    let typical = |figures: Vec<f64>| quantile(&sorted(&figures), 0.5);
    let deviation = typical(
        tight
            .iter()
            .filter_map(|deltas| Some(core_variance(deltas, 1.0)?.sqrt()))
            .collect(),
    );
    let between = |low: f64, high: f64| {
        let width = |deltas: &Vec<i64>| {
            let sorted = sorted(deltas.iter().map(|&delta| delta as f64));
            Some(quantile(&sorted, high)? - quantile(&sorted, low)?)
        };
        typical(tight.iter().filter_map(width).collect())
    };
    let explained = |seen: Option<f64>, by: f64, truncation: f64| {
        seen.is_some_and(|seen| seen <= truncation + by + OPEN * context.reference_step)
    };
    explained(deviation, TIMES[0] * context.cost_deviation, TRUNCATION[0])
        && explained(
            between(0.02, 0.5),
            TIMES[1] * context.cost_lower_width,
            TRUNCATION[1],
        )
        && explained(
            between(0.01, 0.1),
            TIMES[2] * context.cost_edge,
            TRUNCATION[1],
        )
}

#[cfg(test)]
mod tests;
