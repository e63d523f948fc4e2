//! Tests whether all processes have the step that was found in the *pooled* intervals, those of all
//! processes together. Pooled intervals do not reveal that the step changes: a few processes with
//! another step are a minority, and if one step divides the other, all intervals are multiples of
//! the shorter step. Therefore each half of a process is compared with the pooled step, and searched
//! for another one if it does not fit.

use super::lattice::{self, Lattice};
use super::{
    INTERRUPTED_SHARE, MIN_REPEATED_INTERVALS, SIGNIFICANT_ERRORS, Step, StepRule, is_due_to_work,
    steps_differ, upper_limit,
};
use crate::statistics::{median, sorted};
use crate::trace::Differences;

/// The least number of intervals of a half that is tested. *Chance*: all of them are even multiples
/// of the step in only one of 2⁴⁷ halves.
const MIN_INTERVALS: usize = 48;

/// The least share of multiples of the step among the intervals of a half that fits the step.
/// *Default*: moves no figure; one in twenty intervals may have any length, mostly because of
/// interruptions, which come in bursts.
const MIN_MULTIPLE_SHARE: f64 = 0.8;

/// A half with a smaller share of multiples of the step, and without a step of its own, is
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

    /// Returns the non-negative intervals with random work of each half of the measurement, sorted.
    /// Repeated work shows only one or two multiples of any step.
    fn halves(&self) -> Vec<Vec<i64>> {
        let groups = self.0.iter();
        let random = groups.filter(|group| group.deltas.len() < MIN_REPEATED_INTERVALS);
        let deltas = random.flat_map(|group| group.deltas.iter().copied());
        let mut first: Vec<i64> = deltas.filter(|delta| *delta >= 0).collect();
        let second = first.split_off(first.len() / 2);
        let mut halves = vec![first, second];
        halves.retain(|half| half.len() >= MIN_INTERVALS);
        halves.iter_mut().for_each(|half| half.sort_unstable());
        halves
    }
}

/// Returns the step from the pooled intervals, or an upper limit with the reason if a process has
/// another step; `work_unit` is the length of a unit of work in ticks.
pub fn confirm_by_processes(pooled: Step, processes: &[Process], work_unit: f64) -> Step {
    let Step::Resolved { step, rule } = &pooled else {
        return pooled;
    };
    let (value, has_lattice) = (
        step.value,
        matches!(rule, StepRule::Jump | StepRule::Lattice),
    );
    if has_lattice && value < lattice::MIN_STEP_TICKS {
        return pooled;
    }
    let (mut halves, mut others, mut changes, mut agrees) = (Vec::new(), Vec::new(), false, false);
    let mut unexplained = 0;
    for process in processes {
        let (mut fitting, mut differing) = (0, Vec::new());
        for half in process.halves() {
            let share = if has_lattice {
                fitting_share(&half, value)
            } else {
                0.0
            };
            let other = (share < MIN_MULTIPLE_SHARE)
                .then(|| own_step(&half, process, has_lattice, work_unit))
                .flatten();
            match other.filter(|other| steps_differ(*other, value)) {
                Some(other) => differing.push(other),
                None => {
                    fitting += 1;
                    unexplained += usize::from(share < MIN_EXPLAINED_SHARE && other.is_none());
                }
            }
            halves.push(half);
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
    if has_lattice && unexplained > 1 {
        let all: Vec<Differences> = processes.iter().flat_map(|it| it.0.to_vec()).collect();
        let reason = format!("it moves in steps of {value:.1} ticks at times, and not at others");
        return at_most(upper_limit(&all).max(value), reason);
    }
    match has_lattice {
        true => with_differences(pooled, &halves),
        false => pooled,
    }
}

/// Returns the share of intervals longer than half a step that are multiples of the step: 0 if these
/// are multiples of a longer step, 1 if there are too few to tell.
fn fitting_share(half: &[i64], step: f64) -> f64 {
    /// The tested ratios of a longer step to the step. *Computed*: each other ratio is a multiple
    /// of one of these primes, or so large that fewer than two multiples lie within the range of
    /// the work.
    const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];
    let reach = lattice::tolerance(step);
    let moved = half
        .iter()
        .map(|delta| *delta as f64)
        .filter(|delta| *delta >= 0.5 * step);
    let levels = moved.clone().filter_map(|delta| {
        let level = (delta / step).round();
        ((delta - level * step).abs() <= reach).then_some(level as u64)
    });
    let levels: Vec<u64> = levels.collect();
    let most = (1.0 - INTERRUPTED_SHARE) * levels.len() as f64;
    let is_multiple = |prime: &u64| {
        let multiples = levels.iter().filter(|level| level.is_multiple_of(*prime));
        multiples.count() as f64 >= most
    };
    match moved.clone().count() {
        // A clock with long steps seldom moves in a half of a process.
        few if few < MIN_INTERVALS => 1.0,
        _ if levels.len() >= MIN_INTERVALS && PRIMES.iter().any(is_multiple) => 0.0,
        all => levels.len() as f64 / all as f64,
    }
}

/// Returns the step of half a process, in ticks, unless the work may cause it.
fn own_step(half: &[i64], process: &Process, has_lattice: bool, work_unit: f64) -> Option<f64> {
    /// The least length of a step next to a pooled step without a lattice, in units of work: the few
    /// intervals of a half may show the lattice of the work. *Default*: moves no figure.
    const MIN_WORK_UNITS: f64 = 3.0;
    /// The least number of different multiples of the step. *Judgement*: with almost no work, a
    /// read with two possible costs causes three equidistant intervals, the sums of two costs.
    const MIN_LEVELS: usize = 4;
    let step = lattice::of_intervals(half)?.step;
    let is_due_to_work = match has_lattice {
        true => is_due_to_work(process.0, step, work_unit),
        false => step < MIN_WORK_UNITS * work_unit,
    };
    // Interruptions seldom have equal lengths.
    let level = |delta: &i64| (*delta as f64 / step).round();
    let levels = half.chunk_by(|a, b| level(a) == level(b));
    let frequent = levels.filter(|same| same.len() >= (half.len() / 100).max(2));
    (!is_due_to_work && frequent.count() >= MIN_LEVELS).then_some(step)
}

/// Returns the pooled step with an interval that includes the steps of halves of processes that differ
/// significantly from the median.
fn with_differences(pooled: Step, halves: &[Vec<i64>]) -> Step {
    let Step::Resolved { mut step, rule } = pooled else {
        return pooled;
    };
    // Unique readings shorten intervals, more often with little work, so the halves of a process
    // differ without another step.
    let reach = lattice::tolerance(step.value);
    let is_unique = |delta: &i64| *delta > 0 && *delta as f64 <= reach;
    if halves.iter().flatten().any(is_unique) {
        return Step::Resolved { step, rule };
    }
    let fitted = halves.iter().filter_map(|half| {
        let counted = lattice::count_values(half);
        lattice::fit(&[&counted], step.value, Some(reach))
    });
    let fitted: Vec<Lattice> = fitted.collect();
    let middle = median(fitted.iter().map(|half| half.step)).unwrap_or(step.value);
    for half in fitted {
        let difference = half.step - middle;
        if difference.abs() > SIGNIFICANT_ERRORS * half.error {
            step.low = step.low.min(step.value + difference);
            step.high = step.high.max(step.value + difference);
        }
    }
    Step::Resolved { step, rule }
}
