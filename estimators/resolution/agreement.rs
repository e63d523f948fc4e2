//! Tests whether all processes have the step that was found in the *pooled* intervals, those of all
//! processes together. Pooled intervals do not reveal that the step changes: a few processes with
//! another step are a minority, and if one step divides the other, all intervals are multiples of
//! the shorter step.
//!
//! A *portion* is a number of consecutive intervals of one process. For speed, each portion is only
//! tested for multiples of the pooled step; the portions of a process that do not fit are then
//! searched for another step.

use std::collections::BTreeMap;

use super::{
    INTERRUPTED_SHARE, MIN_REPEATED_INTERVALS, SIGNIFICANT_ERRORS, Step, StepRule, is_due_to_work,
    steps_differ, upper_limit,
};
use crate::resolution::lattice;
use crate::statistics::{median, sorted};
use crate::trace::Differences;

/// The number of positive intervals in a portion. *Chance*: all of them are even multiples of the
/// step in only one of 2⁴⁷ portions, and a process has several portions.
const PORTION_INTERVALS: usize = 48;

/// The least share of multiples of the step among the intervals of a portion that fits the step.
/// *Default*: moves no figure; one in twenty intervals may have any length, mostly because of
/// interruptions, which come in bursts.
const MIN_MULTIPLE_SHARE: f64 = 0.8;

/// A portion with a smaller share of multiples of the step is *unexplained*: interruptions are
/// never so frequent. *Judgement*.
const MIN_EXPLAINED_SHARE: f64 = 0.5;

/// The least number of unexplained portions that is not attributed to chance. *Default*: moves no
/// figure.
const MIN_UNEXPLAINED_PORTIONS: usize = 4;

/// The intervals of one process.
#[derive(Clone, Copy, Debug)]
pub struct Process<'a>(&'a [Differences]);

impl<'a> Process<'a> {
    /// The process of these intervals, in the order of measurement.
    pub fn new(intervals: &'a [Differences]) -> Self {
        Self(intervals)
    }

    /// Returns the non-negative intervals with random work, in the order of measurement. Repeated
    /// work shows only one or two multiples of any step.
    fn random_intervals(&self) -> Vec<i64> {
        self.0
            .iter()
            .filter(|group| group.deltas.len() < MIN_REPEATED_INTERVALS)
            .flat_map(|group| group.deltas.iter().copied())
            .filter(|&delta| delta >= 0)
            .collect()
    }
}

/// Returns the resolution from the pooled intervals, or an upper limit with the reason if a process
/// has another step; `work_unit` is the length of a unit of work in ticks.
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
    let portions: Vec<ProcessPortions> = processes
        .iter()
        .map(|process| match has_lattice {
            true => ProcessPortions::by_lattice(process, value),
            false => ProcessPortions::by_halves(process),
        })
        .collect();
    let mut process_steps: Vec<Vec<f64>> = portions
        .iter()
        .map(|portions| portions.find_steps(work_unit))
        .collect();
    let with_steps = portions.iter().zip(&process_steps);
    let unexplained: usize = with_steps
        .filter(|(_, process_steps)| process_steps.is_empty())
        .map(|(portions, _)| portions.unexplained)
        .sum();
    let mut similar: Vec<f64> = process_steps.concat();
    similar.retain(|step| !steps_differ(*step, value));
    for steps in &mut process_steps {
        steps.retain(|step| steps_differ(*step, value));
    }
    if !has_lattice {
        drop_unconfirmed_steps(&mut process_steps);
    }
    let at_most = |bound, reason: String| Step::AtMost {
        bound,
        reason: reason.into(),
    };
    if process_steps.iter().all(Vec::is_empty) {
        if !has_lattice {
            return pooled;
        }
        if unexplained < MIN_UNEXPLAINED_PORTIONS {
            return with_process_differences(pooled, processes, &similar);
        }
        let all: Vec<Differences> = processes
            .iter()
            .flat_map(|process| process.0.to_vec())
            .collect();
        let reason = format!("it moves in steps of {value:.1} ticks at times, and not at others");
        return at_most(upper_limit(&all).max(value), reason);
    }
    let any_agrees = portions.iter().any(|portions| portions.agreeing > 0);
    let steps = sorted(
        process_steps
            .iter()
            .flatten()
            .chain(any_agrees.then_some(&value)),
    );
    let (shortest, longest) = (steps[0], steps[steps.len() - 1]);
    let mut with_steps = portions.iter().zip(&process_steps);
    let difference =
        match with_steps.any(|(portions, process_steps)| portions.has_two_steps(process_steps)) {
            true => "changes while it is watched",
            false => "differs between processes",
        };
    at_most(
        longest,
        format!("its step {difference}: {shortest:.1} and {longest:.1} ticks"),
    )
}

/// The way in which a portion differs from the pooled step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PortionKind {
    /// Too few intervals are multiples of the step.
    OffLattice,
    /// Nearly all intervals are multiples of a longer step: of this number of pooled steps.
    Multiples(u64),
    /// The first or the second half of a process, used if the pooled step has no lattice to compare
    /// portions with.
    Half(u8),
}

/// The portions of one process, compared with the pooled step.
struct ProcessPortions<'a> {
    process: Process<'a>,
    /// The intervals of the portions that do not fit, by the kind of difference.
    differing: BTreeMap<PortionKind, Vec<i64>>,
    /// The number of portions that fit the pooled step.
    agreeing: usize,
    /// The number of unexplained portions.
    unexplained: usize,
}

impl<'a> ProcessPortions<'a> {
    /// Compares all portions of the process with the multiples of `step`.
    fn by_lattice(process: &Process<'a>, step: f64) -> Self {
        let mut portions = Self {
            process: *process,
            differing: BTreeMap::new(),
            agreeing: 0,
            unexplained: 0,
        };
        let random = process.random_intervals();
        let mut rest = random.as_slice();
        while let Some(portion) = first_portion(rest, step) {
            let (kind, share) = classify_portion(portion, step);
            portions.unexplained += usize::from(share < MIN_EXPLAINED_SHARE);
            match kind {
                Some(kind) => portions.differing.entry(kind).or_default().extend(portion),
                None => portions.agreeing += 1,
            }
            rest = &rest[portion.len()..];
        }
        portions
    }

    /// Takes a portion from the beginning of each half of the process, and does not compare it with
    /// the pooled step. One portion counts as agreeing.
    fn by_halves(process: &Process<'a>) -> Self {
        let random = process.random_intervals();
        let (first, second) = random.split_at(random.len() / 2);
        let long_enough = [(1, first), (2, second)]
            .into_iter()
            .filter(|(_, half)| half.len() >= PORTION_INTERVALS);
        let kept = |(number, half): (u8, &[i64])| {
            (
                PortionKind::Half(number),
                half[..PORTION_INTERVALS].to_vec(),
            )
        };
        Self {
            process: *process,
            differing: long_enough.map(kept).collect(),
            agreeing: 1,
            unexplained: 0,
        }
    }

    /// Returns the steps of the differing portions, in ticks; `work_unit` is the length of a unit
    /// of work in ticks. Lattices that the work may cause are left out.
    fn find_steps(&self, work_unit: f64) -> Vec<f64> {
        /// The least length of a step that was found in a half, in units of work: the few intervals
        /// of a half may show the lattice of the work. *Default*: moves no figure.
        const MIN_WORK_UNITS: f64 = 3.0;
        /// The least number of different multiples of the step. *Judgement*: with almost no work, a
        /// read with two possible costs causes three equidistant intervals, the sums of two costs.
        const MIN_LEVELS: usize = 4;
        self.differing
            .iter()
            .filter_map(|(kind, intervals)| {
                let mut sorted = intervals.clone();
                sorted.sort_unstable();
                let step = lattice::find(&sorted)?.step;
                let due_to_work = match kind {
                    PortionKind::Half(_) => step < MIN_WORK_UNITS * work_unit,
                    _ => is_due_to_work(self.process.0, step, work_unit),
                };
                (!due_to_work && count_levels(&sorted, step) >= MIN_LEVELS).then_some(step)
            })
            .collect()
    }

    /// Returns whether the step changed within the process; `process_steps` are the steps of its
    /// differing portions.
    fn has_two_steps(&self, process_steps: &[f64]) -> bool {
        let others = process_steps
            .iter()
            .any(|step| steps_differ(*step, process_steps[0]));
        others || (!process_steps.is_empty() && self.agreeing > self.differing.len())
    }
}

/// Counts the different multiples of the step among the sorted intervals. A multiple counts if at
/// least two intervals and 1 % of all intervals are near it; interruptions seldom have equal
/// lengths.
fn count_levels(intervals: &[i64], step: f64) -> usize {
    let level = |delta: &i64| (*delta as f64 / step).round();
    let min_count = (intervals.len() / 100).max(2);
    intervals
        .chunk_by(|a, b| level(a) == level(b))
        .filter(|same| same.len() >= min_count)
        .count()
}

/// Removes each step that was found in only one half of one process, because a cost with two modes
/// may look like a step.
fn drop_unconfirmed_steps(process_steps: &mut [Vec<f64>]) {
    let all: Vec<f64> = process_steps.iter().flatten().copied().collect();
    let is_confirmed = |step: &f64| {
        all.iter()
            .filter(|other| !steps_differ(**other, *step))
            .count()
            > 1
    };
    process_steps
        .iter_mut()
        .for_each(|steps| steps.retain(is_confirmed));
}

/// Returns the shortest beginning of the intervals that contains [`PORTION_INTERVALS`] intervals of
/// at least half a step. `None` if there are fewer.
fn first_portion(intervals: &[i64], step: f64) -> Option<&[i64]> {
    let mut moved = intervals
        .iter()
        .enumerate()
        .filter(|(_, delta)| **delta as f64 >= 0.5 * step);
    let (last, _) = moved.nth(PORTION_INTERVALS - 1)?;
    Some(&intervals[..=last])
}

/// Returns the kind of difference between a portion and the step (`None` if the portion fits), and
/// the share of multiples of the step in the portion.
fn classify_portion(portion: &[i64], step: f64) -> (Option<PortionKind>, f64) {
    /// The tested ratios of a longer step to the step. *Computed*: each other ratio is a multiple
    /// of one of these primes, or so large that fewer than two multiples lie within the range of
    /// the work.
    const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];
    let reach = lattice::tolerance(step);
    let (mut multiples, mut longer_multiples) = (0.0, [0.0; PRIMES.len()]);
    for delta in portion.iter().map(|&delta| delta as f64) {
        let level = (delta / step).round();
        if level >= 1.0 && (delta - level * step).abs() <= reach {
            multiples += 1.0;
            for (count, prime) in longer_multiples.iter_mut().zip(PRIMES) {
                *count += f64::from(u8::from((level as u64).is_multiple_of(prime)));
            }
        }
    }
    let share = multiples / PORTION_INTERVALS as f64;
    let mut factors = PRIMES.into_iter().zip(longer_multiples);
    let kind = match factors.find(|(_, count)| *count >= (1.0 - INTERRUPTED_SHARE) * multiples) {
        _ if share < MIN_MULTIPLE_SHARE => Some(PortionKind::OffLattice),
        longer => longer.map(|(prime, _)| PortionKind::Multiples(prime)),
    };
    (kind, share)
}

/// Returns the pooled step with a wider interval: it includes the `similar` steps that were found
/// in portions, and the steps of halves of processes that differ significantly from the median.
fn with_process_differences(pooled: Step, processes: &[Process], similar: &[f64]) -> Step {
    let Step::Resolved { mut step, rule } = pooled else {
        return pooled;
    };
    step.low = similar.iter().copied().fold(step.low, f64::min);
    step.high = similar.iter().copied().fold(step.high, f64::max);
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for random in processes.iter().map(Process::random_intervals) {
        // Unique readings shorten intervals, more often with little work, so the halves of a
        // process differ without another step.
        if random
            .iter()
            .any(|&delta| delta > 0 && (delta as f64) <= lattice::tolerance(step.value))
        {
            return Step::Resolved { step, rule };
        }
        let (first, second) = random.split_at(random.len() / 2);
        steps.extend(
            [first, second]
                .into_iter()
                .filter_map(|half| fit_step(half, step.value)),
        );
    }
    let median_step = median(steps.iter().map(|(step, _)| *step)).unwrap_or(step.value);
    for (half_step, error) in steps {
        let difference = half_step - median_step;
        if difference.abs() > SIGNIFICANT_ERRORS * error {
            step.low = step.low.min(step.value + difference);
            step.high = step.high.max(step.value + difference);
        }
    }
    Step::Resolved { step, rule }
}

/// Returns the step and its standard error, in ticks, by linear regression: the slope of the
/// intervals over their number of steps. `None` if fewer than [`PORTION_INTERVALS`] intervals are
/// multiples of `step`.
fn fit_step(intervals: &[i64], step: f64) -> Option<(f64, f64)> {
    let reach = lattice::tolerance(step);
    let multiples: Vec<(f64, f64)> = intervals
        .iter()
        .filter_map(|&delta| {
            let level = (delta as f64 / step).round();
            let off = delta as f64 - level * step;
            (level >= 1.0 && off.abs() <= reach).then_some((level, off))
        })
        .collect();
    if multiples.len() < PORTION_INTERVALS {
        return None;
    }
    let sum_over = |part: &dyn Fn(&(f64, f64)) -> f64| multiples.iter().map(part).sum::<f64>();
    let count = multiples.len() as f64;
    let (level, off) = (
        sum_over(&|point| point.0) / count,
        sum_over(&|point| point.1) / count,
    );
    let square = sum_over(&|point| (point.0 - level).powi(2));
    let slope = sum_over(&|point| (point.0 - level) * (point.1 - off)) / square;
    let residual = sum_over(&|point| (point.1 - off - slope * (point.0 - level)).powi(2)) / count;
    slope
        .is_finite()
        .then(|| (step + slope, (residual / square).sqrt()))
}
