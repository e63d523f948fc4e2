//! Checks that all processes show the step that their intervals show together: another process may
//! have another clock, or the clock may change while it is measured. Each half of a process is
//! searched for a step of its own.

use super::lattice::{self, Lattice};
use super::{
    MIN_REPEATED_INTERVALS, Resolution, SIGNIFICANT_ERRORS, is_due_to_work, steps_differ,
    upper_limit,
};
use crate::statistics::{median, sorted};
use crate::trace::Intervals;

/// The least number of intervals of a step or more in a half. *Chance*: all of them are even
/// multiples of the step in only one of 2⁴⁷ halves.
const MIN_HALF_INTERVALS: usize = 48;

/// The least share of multiples of the step among the intervals of a half that fits the step. Other
/// halves may have a shorter step. *Default*: moves no figure; one in twenty intervals may have any
/// length, mostly because of interruptions, which come in bursts.
const MIN_MULTIPLE_SHARE: f64 = 0.8;

/// A half with a smaller share of multiples of the step and no step of its own is *unexplained*:
/// interruptions are never so frequent. *Judgement*.
const MIN_EXPLAINED_SHARE: f64 = 0.5;

/// The least number of unexplained halves that is not attributed to chance. *Default*: moves no
/// figure.
const MIN_UNEXPLAINED_HALVES: usize = 4;

/// The least number of halves that have a step of their own. *Judgement*: a cost with two modes may
/// look like a step in one of them.
const MIN_DIFFERING_HALVES: usize = 2;

/// Returns the resolution from the pooled intervals, or an upper limit with the reason if a process
/// has another step. `processes` are the intervals of each process in the order of measurement;
/// `work_unit` is the length of a unit of work in ticks.
pub fn confirm_by_processes(
    pooled: Resolution,
    processes: &[Vec<Intervals>],
    work_unit: f64,
) -> Resolution {
    let Resolution::Resolved { step, .. } = &pooled else {
        return pooled;
    };
    let value = step.value;
    let halves: Vec<Vec<Half>> = processes
        .iter()
        .map(|process| Half::of_process(process, value, work_unit))
        .collect();
    let all: Vec<f64> = halves
        .iter()
        .flatten()
        .filter_map(Half::other_step)
        .collect();
    let is_confirmed = |step: &f64| {
        let same = all.iter().filter(|other| !steps_differ(**other, *step));
        same.count() >= MIN_DIFFERING_HALVES
    };
    let mut steps = sorted(all.iter().filter(|step| is_confirmed(step)));
    let at_most = |bound, reason: String| Resolution::AtMost {
        bound,
        reason: reason.into(),
    };
    let count_of =
        |kind: fn(&Half) -> bool| halves.iter().flatten().filter(|half| kind(half)).count();
    if steps.is_empty() {
        if count_of(Half::is_unexplained) < MIN_UNEXPLAINED_HALVES {
            return with_differences(pooled, halves.iter().flatten());
        }
        let reason = format!("it moves in steps of {value:.1} ticks at times, and not at others");
        return at_most(upper_limit(&processes.concat()).max(value), reason);
    }
    if count_of(Half::fits) > 0 {
        steps.push(value);
        steps.sort_by(f64::total_cmp);
    }
    let changes = |halves: &Vec<Half>| match &halves[..] {
        [first, second] => match [first, second].map(Half::other_step) {
            [Some(first), Some(second)] => steps_differ(first, second),
            [one, other] => one.or(other).is_some_and(|step| is_confirmed(&step)),
        },
        _ => false,
    };
    let difference = match halves.iter().any(changes) {
        true => "changes while it is watched",
        false => "differs between processes",
    };
    let (shortest, longest) = (steps[0], steps[steps.len() - 1]);
    let reason = format!("its step {difference}: {shortest:.1} and {longest:.1} ticks");
    at_most(longest, reason)
}

/// A half of the measurement of a process, compared with the pooled step.
struct Half {
    /// The pooled step, in ticks.
    pooled: f64,
    /// The share of multiples of the pooled step among the intervals.
    multiples: f64,
    /// The lattice of the intervals, if there is one.
    found: Option<Lattice>,
    /// Whether the clock makes its readings unique, which shortens intervals: more often with little
    /// work, so that halves differ without another step.
    has_unique_readings: bool,
}

impl Half {
    /// Returns both halves, in the order of measurement, without those that are too short. Intervals
    /// with repeated work are left out, because they show only one or two multiples of any step.
    fn of_process(process: &[Intervals], pooled: f64, work_unit: f64) -> Vec<Self> {
        let random = process
            .iter()
            .filter(|group| group.deltas.len() < MIN_REPEATED_INTERVALS)
            .flat_map(|group| group.deltas.iter().copied())
            .filter(|&delta| delta >= 0);
        let random: Vec<i64> = random.collect();
        let (first, second) = random.split_at(random.len() / 2);
        let half = |intervals: &[i64]| {
            let mut intervals = intervals.to_vec();
            intervals.sort_unstable();
            let level = |delta: &&i64| (**delta as f64 / pooled).round();
            let moved = intervals.iter().filter(|delta| level(delta) >= 1.0);
            let is_multiple = |delta: &&i64| {
                (**delta as f64 - level(delta) * pooled).abs() <= lattice::tolerance(pooled)
            };
            let (count, multiples) = (moved.clone().count(), moved.filter(is_multiple).count());
            let found = lattice::find(&intervals).filter(|found| {
                has_levels(&intervals, found.step)
                    && !is_due_to_work(process, found.step, work_unit)
            });
            (count >= MIN_HALF_INTERVALS).then(|| Self {
                pooled,
                multiples: multiples as f64 / count as f64,
                found,
                has_unique_readings: found
                    .is_some_and(|found| found.shows_unique_readings(&intervals)),
            })
        };
        [first, second].into_iter().filter_map(half).collect()
    }

    /// Returns the step, in ticks, if it differs from the pooled one. A shorter step explains more
    /// intervals by chance.
    fn other_step(&self) -> Option<f64> {
        let step = self.found?.step;
        let is_explained = step < self.pooled && self.multiples >= MIN_MULTIPLE_SHARE;
        (steps_differ(step, self.pooled) && !is_explained).then_some(step)
    }

    fn fits(&self) -> bool {
        self.multiples >= MIN_MULTIPLE_SHARE && self.other_step().is_none()
    }

    fn is_unexplained(&self) -> bool {
        self.multiples < MIN_EXPLAINED_SHARE && self.found.is_none()
    }
}

/// Returns whether there are intervals at enough different multiples of the step. A multiple counts
/// if at least two of the sorted intervals and 1 % of all are near it; interruptions seldom have
/// equal lengths.
fn has_levels(intervals: &[i64], step: f64) -> bool {
    /// The least number of multiples. *Judgement*: with almost no work, a read with two possible
    /// costs causes three equidistant intervals, the sums of two costs.
    const MIN_LEVELS: usize = 4;
    let level = |delta: &i64| (*delta as f64 / step).round();
    let levels = intervals.chunk_by(|a, b| level(a) == level(b));
    let frequent = levels.filter(|same| same.len() >= (intervals.len() / 100).max(2));
    frequent.count() >= MIN_LEVELS
}

/// Returns the pooled step with a wider interval: it includes the steps of halves that differ
/// significantly from their median.
fn with_differences<'a>(pooled: Resolution, halves: impl Iterator<Item = &'a Half>) -> Resolution {
    let Resolution::Resolved { mut step, rule } = pooled else {
        return pooled;
    };
    let found = halves.filter_map(|half| half.found.filter(|_| !half.has_unique_readings));
    let found: Vec<Lattice> = found
        .filter(|found| !steps_differ(found.step, step.value))
        .collect();
    let middle = median(found.iter().map(|found| found.step)).unwrap_or(step.value);
    for half in found {
        let difference = half.step - middle;
        if difference.abs() > SIGNIFICANT_ERRORS * half.error {
            step.low = step.low.min(step.value + difference);
            step.high = step.high.max(step.value + difference);
        }
    }
    Resolution::Resolved { step, rule }
}
