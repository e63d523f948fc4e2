//! Estimates the granularity of waits, of which there are two kinds. If a timer rounds requests,
//! the observed lengths of waits are multiples of a step, a lattice. If wake-ups happen only at
//! certain points of absolute time, they lie on a grid. In both cases lateness is uniformly
//! distributed over a step, so that the width of its distribution shows about how long the step is.
//! The lattice or grid must then be found near this length.
//!
//! Lateness may grow with the length of a wait, as on a loaded machine, which stretches the lattice
//! of observed lengths. Observed lengths alone do not distinguish that from a longer step, but
//! requests do: the distance between two requests at which the rounded length increases is a
//! multiple of the true step.
//!
//! Waits are grouped by scales of length, because a timer may round longer waits more coarsely.

use std::iter;

use super::lattice::{
    IGNORED_END_SHARE, Lattice, MIN_CONCENTRATION, concentration, find_largest_step, fit_lattice,
    largest_range, longest_testable_range, multiples, range_without_ends, residuals,
};
use super::{late_ns, observed_ns, zero_if_not_finite};
use crate::model::{Granularity, Interval, Steps};
use crate::statistics::{median, quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun};

/// The largest ratio of the longest requests of two scans of one scale. *Judgement*.
const MAX_SCALE_RATIO: f64 = 2.0;
/// The smallest ratio of the steps of two scales at which the longer scale has a longer step.
/// *Default*: moves no figure.
const MIN_STEP_GROWTH: f64 = 1.5;
/// The largest relative difference between steps of two scales that count as equal. *Default*:
/// moves no figure.
const MAX_EQUAL_DIFFERENCE: f64 = 0.01;
/// The smallest number of waits of a scale that a step is determined from. *Judgement*.
const MIN_WAITS: usize = 16;
/// The smallest number of waits of a scale that an upper limit of the step is determined from.
/// *Default*: moves no figure.
const MIN_WAITS_FOR_LIMIT: usize = 30;
/// The share of waits, those with the largest lateness, that is left out, because outliers hide a
/// lattice.
/// *Seen*.
const LATEST_SHARE: f64 = 0.15;
/// The largest ratio of a step to the width of lateness, which is the distance from its 5th
/// percentile to its median. Lateness that is uniformly distributed over a step has a width of 0.45
/// steps. *Computed*.
const MAX_STEP_WIDTHS: f64 = 4.0;
/// The number of standard errors that are added to the width of lateness for an upper limit of the
/// step. The relative standard error of the width of `n` uniformly distributed values is 1/√n.
/// *Default*: moves no figure.
const LIMIT_STANDARD_ERRORS: f64 = 2.0;
/// The smallest ratio of a step to the width of lateness, which noise and outliers increase.
/// *Computed*.
const MIN_STEP_WIDTHS: f64 = 1.0;
/// The smallest step of waits that is sought, in steps of the reference, because readings of the
/// reference lie on a lattice too. *Default*: moves no figure.
const MIN_REFERENCE_STEPS: f64 = 4.0;
/// The largest concentration of phases that count as uniformly distributed (see `lattice.rs`).
/// *Judgement*.
const MAX_UNIFORM_CONCENTRATION: f64 = 0.5;
/// The smallest ratio between the misfits of the two kinds of granularity (1 minus the
/// concentration) at which the better fit is chosen. It decides if waits did not begin at uniformly
/// distributed phases, so that both kinds may appear. *Default*: moves no figure.
const MIN_MISFIT_RATIO: f64 = 3.0;
/// The number of consecutive wake-ups that a grid is first fitted to; it doubles while the fit is
/// good.
/// *Chance*.
const FIRST_CHUNK_WAKEUPS: usize = 4;
/// The smallest ratio of a step to the accumulated error over a chunk of wake-ups (the error of the
/// step times the number of steps in the chunk) at which the steps can be counted. *Chance*.
const MIN_COUNTING_RATIO: f64 = 3.0;
/// The largest share by which a wait can seem too short because the clock is slewed (adjtimex(2)).
/// *Definition*.
const MAX_SLEW: f64 = 500e-6;
/// The share of intervals between wake-ups, the shortest ones, that is used; the longest lie
/// between two scans. *Judgement*.
const USED_INTERVAL_SHARE: f64 = 0.9;

/// Returns the granularity at each scale of lengths, from short to long.
pub fn granularity_by_scale(runs: &[WaitRun], reference: &Reference) -> Vec<Steps> {
    let scans = runs
        .iter()
        .flat_map(|run| &run.scans)
        .map(Vec::as_slice)
        .filter(|scan| !scan.is_empty());
    let mut scales: Vec<(u64, Vec<&[Wait]>)> = Vec::new();
    for scan in scans {
        let ends = |scan: &[Wait]| {
            let requests = scan.iter().map(|wait| wait.request_ns);
            (
                requests.clone().min().unwrap_or(0),
                requests.max().unwrap_or(0),
            )
        };
        let (from, to) = ends(scan);
        let same_scale = |(up_to, scans): &&mut (u64, Vec<&[Wait]>)| {
            let ratio = (*up_to).max(to) as f64 / (*up_to).min(to).max(1) as f64;
            ratio <= MAX_SCALE_RATIO && (from > to / 2) == (ends(scans[0]).0 > *up_to / 2)
        };
        match scales.iter_mut().find(same_scale) {
            Some((up_to, scans)) => {
                *up_to = to.max(*up_to);
                scans.push(scan);
            }
            None => scales.push((to, vec![scan])),
        }
    }
    scales.sort_by_key(|(up_to, _)| *up_to);
    let several_processes = runs.len() > 1;
    let all = scales.into_iter().map(|(up_to_ns, scans)| {
        Scale::new(&scans, reference).granularity(up_to_ns, several_processes)
    });
    let mut all: Vec<Steps> = all.collect();
    remove_contradictions(&mut all, |steps| &mut steps.rounding);
    remove_contradictions(&mut all, |steps| &mut steps.grid);
    all
}

/// Removes the steps that contradict the most precisely known step: a longer scale must have an
/// equal or a longer step. A contradicting step comes from a scale with too few waits; it is a
/// fraction of the true step, or chance.
fn remove_contradictions(scales: &mut [Steps], kind: fn(&mut Steps) -> &mut Option<Granularity>) {
    let step = |steps: &mut Steps| match kind(steps) {
        Some(Granularity::Step(step)) => {
            let (low, high) = step.ends()?;
            Some((step.value, high - low))
        }
        _ => None,
    };
    let all: Vec<Option<(f64, f64)>> = scales.iter_mut().map(step).collect();
    let relative_width = |(value, width): &(f64, f64)| width / value;
    let known = all
        .iter()
        .enumerate()
        .filter_map(|(at, step)| Some((at, (*step)?)));
    let Some((best, (value, width))) =
        known.min_by(|(_, a), (_, b)| relative_width(a).total_cmp(&relative_width(b)))
    else {
        return;
    };
    for (at, step) in all.iter().enumerate() {
        let contradicts = |(other, other_width): (f64, f64)| {
            let growth = if at > best {
                other / value
            } else {
                value / other
            };
            let difference = (other - value).abs();
            difference > (width + other_width) / 2.0
                && difference > MAX_EQUAL_DIFFERENCE * value
                && growth < MIN_STEP_GROWTH
        };
        if step.is_some_and(contradicts) {
            *kind(&mut scales[at]) = None;
        }
    }
}

/// The waits of one scale, all in nanoseconds. Lists leave out the latest waits unless they say
/// otherwise; a list of lists has one for each scan.
struct Scale<'a> {
    reference: &'a Reference,
    /// All waits, including the latest ones.
    scans: Vec<&'a [Wait]>,
    /// The number of all waits.
    waits: usize,
    /// The width of lateness: the distance from its 5th percentile to its median.
    width: f64,
    /// Requested lengths.
    requests: Vec<f64>,
    /// Observed lengths.
    observed: Vec<Vec<f64>>,
    /// Times of wake-ups since the start of the first wait of the scan.
    wakeups: Vec<Vec<f64>>,
    /// Intervals between consecutive wake-ups.
    intervals: Vec<f64>,
    /// Intervals from the preceding wake-up to the start of a wait, for all waits.
    pauses: Vec<f64>,
    /// Intervals from the preceding wake-up to the requested end of a wait, for all waits.
    due: Vec<f64>,
}

impl<'a> Scale<'a> {
    fn new(scans: &[&'a [Wait]], reference: &'a Reference) -> Self {
        let around_median = |scan: &&[Wait]| -> Vec<f64> {
            let late = scan.iter().map(|wait| late_ns(wait, reference));
            let middle = median(late.clone()).unwrap_or(0.0);
            late.map(|late| late - middle).collect()
        };
        let late: Vec<Vec<f64>> = scans.iter().map(around_median).collect();
        let all = sorted(late.iter().flatten());
        let [low, middle, latest] =
            [0.05, 0.5, 1.0 - LATEST_SHARE].map(|share| quantile(&all, share).unwrap_or(0.0));
        let mut scale = Self {
            reference,
            scans: scans.to_vec(),
            waits: all.len(),
            width: middle - low,
            requests: Vec::new(),
            observed: Vec::new(),
            wakeups: Vec::new(),
            intervals: Vec::new(),
            pauses: Vec::new(),
            due: Vec::new(),
        };
        let ns = |from: i64, to: i64| zero_if_not_finite(reference.ns(from, to));
        for (scan, late) in scans.iter().zip(&late) {
            let (mut observed, mut wakeups) = (Vec::new(), Vec::new());
            for (at, (wait, wait_late)) in scan.iter().zip(late).enumerate() {
                let previous = at.checked_sub(1);
                if let Some(previous) = previous {
                    let pause = ns(scan[previous].after, wait.before);
                    scale.pauses.push(pause);
                    scale.due.push(pause + wait.request_ns as f64);
                }
                if *wait_late > latest {
                    continue;
                }
                scale.requests.push(wait.request_ns as f64);
                observed.push(observed_ns(wait, reference));
                wakeups.push(ns(scan[0].before, wait.after));
                let previous = previous.filter(|previous| late[*previous] <= latest);
                let interval = previous.map(|previous| ns(scan[previous].after, wait.after));
                scale.intervals.extend(interval);
            }
            scale.observed.push(observed);
            scale.wakeups.push(wakeups);
        }
        scale
    }

    /// `up_to_ns` is the longest request. Without several processes, steps have no interval.
    fn granularity(&self, up_to_ns: u64, several_processes: bool) -> Steps {
        if self.waits < MIN_WAITS {
            return Steps {
                up_to_ns,
                rounding: None,
                grid: None,
            };
        }
        let (mut rounding, mut grid) = (self.find_rounding(), self.find_grid(self.width));
        // A step of rounding may hide a shorter step of a grid, which is then sought near the width
        // that lateness has without rounding.
        let rest = rounding.map_or(self.width, |found| self.width_without_step(found.step));
        if grid.is_none() && rounding.is_some() {
            grid = self.find_grid(rest);
        }
        let mut is_ambiguous = false;
        if let (Some(of_lengths), Some(of_instants)) = (rounding, grid)
            && !has_uniform_phases(&self.pauses, of_lengths.step.max(of_instants.step))
        {
            let [rounding_misfit, grid_misfit] =
                [of_lengths, of_instants].map(|found| 1.0 - found.concentration);
            is_ambiguous = true;
            rounding = rounding.filter(|_| MIN_MISFIT_RATIO * rounding_misfit < grid_misfit);
            grid = grid.filter(|_| MIN_MISFIT_RATIO * grid_misfit < rounding_misfit);
        }
        let or_limit = |step: Option<Granularity>, width: f64, span: f64| match step {
            Some(step) => Some(step),
            // Requests must cover a longer range than the limit, or a step could not appear.
            None => Some(
                MAX_STEP_WIDTHS
                    * width
                    * (1.0 + LIMIT_STANDARD_ERRORS / (self.waits as f64).sqrt()),
            )
            .filter(|bound| !is_ambiguous && self.waits >= MIN_WAITS_FOR_LIMIT && *bound <= span)
            .map(|bound| {
                Granularity::AtMost(
                    bound.max(MIN_REFERENCE_STEPS * self.reference.uncertainty_ns()),
                )
            }),
        };
        let [requests, due] = [&self.requests, &self.due]
            .map(|all| range_without_ends(&sorted(all), IGNORED_END_SHARE));
        let rounding = rounding.map(|found| self.rounding_step(found, several_processes));
        let grid = grid.map(|found| self.step_with_interval(found, several_processes));
        Steps {
            up_to_ns,
            rounding: or_limit(rounding, self.width, requests),
            grid: or_limit(grid, rest, due),
        }
    }

    /// Returns the step of the rounding of requests: the step of the observed lengths, or a shorter
    /// one if lateness grows with length.
    fn rounding_step(&self, found: Lattice, several_processes: bool) -> Granularity {
        let fitted = self.step_with_interval(found, several_processes);
        let Granularity::Step(observed_step) = fitted else {
            return fitted;
        };
        // The latest waits are included: their requests exceed a multiple of the step by little.
        let for_each_wait = |of: &dyn Fn(&Wait) -> f64| -> Vec<Vec<f64>> {
            self.scans
                .iter()
                .map(|scan| scan.iter().map(of).collect())
                .collect()
        };
        let requests = for_each_wait(&|wait| wait.request_ns as f64);
        let observed = for_each_wait(&|wait| observed_ns(wait, self.reference));
        let Some([shortest, longest]) = steps_explaining_requests(&requests, &observed, found.step)
        else {
            return Granularity::Step(Interval::unbounded(observed_step.value));
        };
        let value = observed_step.value.clamp(shortest, longest);
        let ends = observed_step.ends().map(|(low, high)| {
            let high = (high * (1.0 + MAX_SLEW)).min(longest).max(value);
            (low.min(shortest).min(value), high)
        });
        Granularity::Step(Interval::with_ends(value, ends))
    }

    fn step_with_interval(&self, found: Lattice, several_processes: bool) -> Granularity {
        let half = f64::hypot(
            found.half_width,
            self.reference.rate_uncertainty * found.step,
        );
        let ends = several_processes.then_some((found.step - half, found.step + half));
        Granularity::Step(Interval::with_ends(found.step, ends))
    }

    /// Returns the range of steps that would cause lateness of this width.
    fn candidates(&self, width: f64) -> std::ops::RangeInclusive<f64> {
        (MIN_STEP_WIDTHS * width)
            .max(MIN_REFERENCE_STEPS * self.reference.uncertainty_ns())
            .max(f64::MIN_POSITIVE)..=MAX_STEP_WIDTHS * width
    }

    /// Returns the lattice of observed lengths, if there is one.
    fn find_rounding(&self) -> Option<Lattice> {
        let step = find_largest_step(
            &self.observed,
            self.candidates(self.width),
            MIN_CONCENTRATION,
        )?;
        let found = fit_lattice(&self.observed, step)
            .filter(|found| found.concentration >= MIN_CONCENTRATION)?;
        has_uniform_phases(&self.requests, found.step).then_some(found)
    }

    /// Returns the grid of absolute time that wake-ups lie on, if there is one. A first estimate
    /// comes from intervals between wake-ups, better ones from longer and longer sequences of
    /// wake-ups.
    fn find_grid(&self, width: f64) -> Option<Lattice> {
        let candidates = self.candidates(width);
        // Longer intervals would require too many tested frequencies.
        let longest = quantile(&sorted(&self.intervals), USED_INTERVAL_SHARE)?
            .min(longest_testable_range(*candidates.start()));
        let mut intervals = vec![self.intervals.clone()];
        intervals[0].retain(|interval| *interval <= longest);
        // The concentration of intervals is the square of that of wake-ups, because an interval has
        // the errors of two wake-ups.
        let step = find_largest_step(
            &intervals,
            candidates,
            MIN_CONCENTRATION * MIN_CONCENTRATION,
        )?;
        let mut found = fit_lattice(&intervals, step).map(|fit| Lattice {
            concentration: fit.concentration.sqrt(),
            ..fit
        })?;
        let most = self.wakeups.iter().map(Vec::len).max()?;
        for size in iter::successors(Some(FIRST_CHUNK_WAKEUPS), |size| {
            (*size < most).then_some(2 * size)
        }) {
            let chunks = self.wakeups.iter().flat_map(|wakeups| wakeups.chunks(size));
            let chunks: Vec<Vec<f64>> = chunks.map(<[f64]>::to_vec).collect();
            // The steps in a chunk must be countable.
            if MIN_COUNTING_RATIO * found.half_width * largest_range(&chunks) > found.step.powi(2) {
                break;
            }
            match fit_lattice(&chunks, found.step)
                .filter(|fit| fit.concentration >= MIN_CONCENTRATION)
            {
                Some(fit) => found = fit,
                None => break,
            }
        }
        Some(found).filter(|found| {
            found.concentration >= MIN_CONCENTRATION && has_uniform_phases(&self.due, found.step)
        })
    }

    /// Returns the width that lateness would have without rounding to this step.
    fn width_without_step(&self, step: f64) -> f64 {
        let residuals = sorted(residuals(&self.observed, step));
        quantile(&residuals, 0.5).unwrap_or(0.0) - quantile(&residuals, 0.05).unwrap_or(0.0)
    }
}

/// Returns whether the phases of values (requests, for example) are uniformly distributed over a
/// step. Otherwise the phases of the observed values may be concentrated without a step of the
/// timer.
fn has_uniform_phases(values: &[f64], step: f64) -> bool {
    concentration(&[values.to_vec()], step) <= MAX_UNIFORM_CONCENTRATION
}

/// Returns the shortest and the longest step that explain which request was rounded to which
/// multiple of about `step`; `requests` and `observed` have a list of lengths for each scan. `None`
/// if no step explains it, or if the requests contain fewer than two boundaries between multiples.
pub fn steps_explaining_requests(
    requests: &[Vec<f64>],
    observed: &[Vec<f64>],
    step: f64,
) -> Option<[f64; 2]> {
    let mut waits: Vec<(f64, i64)> = Vec::new();
    let mut first = None;
    for (requests, observed) in requests.iter().zip(observed) {
        let numbers = multiples(observed, step);
        let numbered = || requests.iter().zip(&numbers);
        let Some(excess) = median(numbered().map(|(request, number)| request / step - number))
        else {
            continue;
        };
        // If all waits of a scan are late by more than half a step, their multiples are too large
        // by the same number, compared with those of the first scan.
        let shift = (excess - *first.get_or_insert(excess)).round();
        waits.extend(numbered().map(|(request, number)| (*request, (number + shift) as i64)));
    }
    waits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least = waits.iter().map(|wait| wait.1).min()?;
    let most = waits.iter().map(|wait| wait.1).max()?;
    let most = most.min(least + waits.len() as i64);
    let boundaries: Vec<(i64, [f64; 2])> = (least..most)
        .filter_map(|number| Some((number, boundary(&waits, number)?)))
        .collect();
    let pairs = boundaries
        .iter()
        .enumerate()
        .flat_map(|(at, first)| boundaries[at + 1..].iter().map(move |last| (first, last)));
    let steps = pairs.map(|((first_number, first), (last_number, last))| {
        let count = (last_number - first_number) as f64;
        [(last[0] - first[1]) / count, (last[1] - first[0]) / count]
    });
    let [shortest, longest] =
        steps.reduce(|[low, high], [least, most]| [low.max(least), high.min(most)])?;
    (shortest <= longest).then_some([shortest.max(0.0), longest])
}

/// Returns two requests between which the rounded length changes from the multiple `number` to the
/// next one. `waits` are pairs of request and multiple, sorted by request. The boundary is where
/// the fewest waits contradict it. If some do, because they were late by a whole step, the range is
/// wider by the requests next to it, because they may be among these waits.
fn boundary(waits: &[(f64, i64)], number: i64) -> Option<[f64; 2]> {
    let is_above = |wait: &(f64, i64)| wait.1 > number;
    // A boundary below all requests is contradicted by each wait that is not above it.
    let before_all = waits.iter().filter(|wait| !is_above(wait)).count();
    let contradictions: Vec<usize> = waits
        .iter()
        .scan(before_all, |count, wait| {
            *count = if is_above(wait) {
                *count + 1
            } else {
                *count - 1
            };
            Some(*count)
        })
        .collect();
    let fewest = *contradictions.iter().min()?;
    let near = |count: &usize| *count <= fewest + usize::from(fewest > 0);
    let first = contradictions.iter().position(near)?;
    let last = contradictions.iter().rposition(near)?;
    Some([waits[first].0, waits.get(last + 1)?.0])
}
