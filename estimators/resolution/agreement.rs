//! Tests whether all processes have the step that was found in the *pooled* intervals, those of all
//! processes together. Pooled intervals do not reveal that the step changes: a few processes with
//! another step are a minority, and if one step divides the other, all intervals are multiples of
//! the shorter step. Therefore each quarter of a process is compared with the pooled step, and searched
//! for another one if it does not fit.

use super::lattice::{self, Lattice};
use super::{
    INTERRUPTED_SHARE, MIN_REPEATED_INTERVALS, SIGNIFICANT_ERRORS, Step, StepRule, is_due_to_work,
    steps_differ, upper_limit,
};
use crate::model::Estimate;
use crate::statistics::{median, sorted};
use crate::trace::Differences;

/// The parts into which the intervals of a process are divided. *Judgement*: a step that changes during the
/// second half of a process is the only one of the last part.
const PARTS: usize = 4;

/// The least number of intervals of a part that is tested, and of those in which the clock moved. *Chance*: all
/// of these are even multiples of the step in only one of 2¹⁹ parts.
const MIN_INTERVALS: (usize, usize) = (48, 20);

/// The least share of multiples of the step among the intervals of a part that fits the step.
/// *Default*: moves no figure; one in twenty intervals may have any length, mostly because of
/// interruptions, which come in bursts.
const MIN_MULTIPLE_SHARE: f64 = 0.8;

/// A part with a smaller share of multiples of the step, and without a step of its own, is
/// *unexplained*: interruptions are never so frequent. *Judgement*.
const MIN_EXPLAINED_SHARE: f64 = 0.5;

/// The intervals of one process.
#[derive(Clone, Copy, Debug)]
pub struct Process<'a>(&'a [Differences]);

impl<'a> Process<'a> {
    /// The process of these intervals, in the order of measurement.
    pub fn new(intervals: &'a [Differences]) -> Self {
        Self(intervals)
    }

    /// Returns the non-negative intervals with random work of each part of the measurement, sorted.
    /// Repeated work shows only one or two multiples of any step.
    fn parts(&self) -> Vec<Vec<i64>> {
        let groups = self.0.iter();
        let random = groups.filter(|group| group.deltas.len() < MIN_REPEATED_INTERVALS);
        let deltas = random.flat_map(|group| group.deltas.iter().copied());
        let all: Vec<i64> = deltas.filter(|delta| *delta >= 0).collect();
        let count = (all.len() / MIN_INTERVALS.0).min(PARTS);
        if count == 0 {
            return Vec::new();
        }
        let mut parts: Vec<Vec<i64>> = all
            .chunks(all.len().div_ceil(count))
            .map(<[i64]>::to_vec)
            .collect();
        parts.iter_mut().for_each(|part| part.sort_unstable());
        parts
    }
}

/// Returns the step from the pooled intervals, or an upper limit with the reason if a process has
/// another step; `work_unit` is the length of a unit of work in ticks.
pub fn confirm_by_processes(pooled: Step, processes: &[Process], work_unit: f64) -> Step {
    let Step::Resolved { step, rule } = pooled else {
        return pooled;
    };
    let (value, has_lattice) = (
        step.value,
        matches!(rule, StepRule::Jump | StepRule::Lattice),
    );
    if has_lattice && value < lattice::MIN_STEP_TICKS {
        return pooled;
    }
    let (mut parts, mut others, mut changes, mut agrees) = (Vec::new(), Vec::new(), false, false);
    let mut unexplained = 0;
    for process in processes {
        let (mut fitting, mut differing) = (0, Vec::new());
        for part in process.parts() {
            let share = match has_lattice {
                true => fitting_share(&part, value),
                false => Some(0.0),
            };
            parts.push(part);
            let (Some(share), Some(part)) = (share, parts.last()) else {
                continue;
            };
            let other = (share < MIN_MULTIPLE_SHARE)
                .then(|| own_step(part, process, has_lattice, work_unit))
                .flatten();
            match other {
                Some(other) if steps_differ(other, value) => differing.push(other),
                None if has_lattice && share < MIN_MULTIPLE_SHARE => {
                    unexplained += usize::from(share < MIN_EXPLAINED_SHARE);
                }
                _ => fitting += 1,
            }
        }
        agrees |= fitting > 0;
        changes |= match differing[..] {
            [] => false,
            [first, ..] => fitting > 0 || differing.iter().any(|other| steps_differ(*other, first)),
        };
        others.extend(differing);
    }
    if !has_lattice {
        // A cost with two modes may look like a step, but not twice.
        let is_confirmed = |step: &f64| {
            let same = others.iter().filter(|other| !steps_differ(**other, *step));
            same.count() > 1
        };
        others = others.iter().copied().filter(is_confirmed).collect();
    }
    let at_most = |bound, reason: String| Step::AtMost {
        bound,
        reason: reason.into(),
    };
    if !others.is_empty() {
        let steps = sorted(others.iter().chain(agrees.then_some(&value)));
        let (shortest, longest) = (steps[0], steps[steps.len() - 1]);
        let difference = match changes {
            true => "changes while it is watched",
            false => "differs between processes",
        };
        let reason = format!("its step {difference}: {shortest:.1} and {longest:.1} ticks");
        return at_most(longest, reason);
    }
    if unexplained > 1 {
        let all: Vec<Differences> = processes.iter().flat_map(|it| it.0.to_vec()).collect();
        let reason = format!("it moves in steps of {value:.1} ticks at times, and not at others");
        return at_most(upper_limit(&all).max(value), reason);
    }
    match has_lattice {
        true => with_differences(step, rule, &parts),
        false => pooled,
    }
}

/// Returns the share of intervals longer than half a step that are multiples of the step: 0 if these
/// vary and are multiples of a longer step. `None` if the clock moved too seldom.
fn fitting_share(part: &[i64], step: f64) -> Option<f64> {
    /// The tested ratios of a longer step to the step. *Computed*: each other ratio is a multiple
    /// of one of these primes, or so large that fewer than two multiples lie within the range of
    /// the work.
    const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];
    let reach = lattice::tolerance(step);
    let moved = part
        .iter()
        .map(|delta| *delta as f64)
        .filter(|delta| *delta >= 0.5 * step);
    let levels = moved.clone().filter_map(|delta| {
        let level = (delta / step).round();
        ((delta - level * step).abs() <= reach).then_some(level as u64)
    });
    let levels: Vec<u64> = levels.collect();
    let most = (1.0 - INTERRUPTED_SHARE) * levels.len() as f64;
    // One level alone is a multiple of many.
    let usual = levels.get(levels.len() / 2);
    let same = levels.iter().filter(|level| Some(*level) == usual);
    let varies = (same.count() as f64) < most;
    let is_multiple = |prime: &u64| {
        let multiples = levels.iter().filter(|level| level.is_multiple_of(*prime));
        multiples.count() as f64 >= most
    };
    let count = moved.count();
    let share = match varies && PRIMES.iter().any(is_multiple) {
        true => 0.0,
        false => levels.len() as f64 / count as f64,
    };
    (count >= MIN_INTERVALS.1).then_some(share)
}

/// Returns the step of a part of a process, in ticks, unless the work may cause it.
fn own_step(part: &[i64], process: &Process, has_lattice: bool, work_unit: f64) -> Option<f64> {
    /// The least length of a step next to a pooled step without a lattice, in units of work: the few
    /// intervals of a part may show the lattice of the work. *Default*: moves no figure.
    const MIN_WORK_UNITS: f64 = 3.0;
    /// The least number of different multiples of the step. *Judgement*: with almost no work, a
    /// read with two possible costs causes three equidistant intervals, the sums of two costs.
    const MIN_LEVELS: usize = 4;
    let step = lattice::of_intervals(part)?.step;
    let is_due_to_work = match has_lattice {
        true => is_due_to_work(process.0, step, work_unit),
        false => step < MIN_WORK_UNITS * work_unit,
    };
    // Interruptions seldom have equal lengths.
    let level = |delta: &i64| (*delta as f64 / step).round();
    let levels = part.chunk_by(|a, b| level(a) == level(b));
    let frequent = levels.filter(|same| same.len() >= (part.len() / 100).max(2));
    (!is_due_to_work && frequent.count() >= MIN_LEVELS).then_some(step)
}

/// Returns the pooled step with an interval that includes the steps of parts of processes that differ
/// significantly from the median.
fn with_differences(mut step: Estimate, rule: StepRule, parts: &[Vec<i64>]) -> Step {
    // Unique readings shorten intervals, more often with little work, so the parts of a process
    // differ without another step.
    let reach = lattice::tolerance(step.value);
    let is_unique = |delta: &i64| *delta > 0 && *delta as f64 <= reach;
    if parts.iter().flatten().any(is_unique) {
        return Step::Resolved { step, rule };
    }
    let fitted = parts.iter().filter_map(|part| {
        let counted = lattice::count_values(part);
        lattice::fit(&[&counted], step.value, Some(reach))
    });
    let fitted: Vec<Lattice> = fitted.collect();
    let middle = median(fitted.iter().map(|part| part.step)).unwrap_or(step.value);
    for part in fitted {
        let difference = part.step - middle;
        if difference.abs() > SIGNIFICANT_ERRORS * part.error {
            step.low = step.low.min(step.value + difference);
            step.high = step.high.max(step.value + difference);
        }
    }
    Step::Resolved { step, rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_shows_no_longer_step() {
        let part = |levels: [i64; 3], rare: i64| -> Vec<i64> {
            let usual = (0..60).map(|at| 1_000 * levels[at % 3] / 3);
            sorted_integers(std::iter::once(1_000 * rare / 3).chain(usual))
        };
        let share = |part: &[i64]| fitting_share(part, 1_000.0 / 3.0);
        // Nine steps, nearly always: they may be three steps of three.
        assert_eq!(share(&part([9; 3], 8)), Some(1.0));
        assert_eq!(share(&part([7, 8, 9], 8)), Some(1.0));
        assert_eq!(share(&part([6, 9, 12], 8)), Some(0.0));
        assert_eq!(share(&part([9; 3], 8)[..19]), None);
    }

    fn sorted_integers(values: impl Iterator<Item = i64>) -> Vec<i64> {
        let mut values: Vec<i64> = values.collect();
        values.sort_unstable();
        values
    }
}
