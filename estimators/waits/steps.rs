//! Estimates the granularity of waits, of which there are two kinds. If a timer rounds requests,
//! the observed lengths of waits are multiples of a step, a *lattice*. If wake-ups happen only at
//! regular points of absolute time, they lie on a *grid*. In both cases lateness is uniformly
//! distributed over a step, so that the width of its distribution is proportional to the step. Only
//! steps that suit this width are searched for.
//!
//! Lateness may grow with the length of a wait, for example on a loaded machine. This stretches the
//! lattice of observed lengths, so that its step is too long. Requests show the true step: the
//! distance between two requests at which the rounded length increases is a multiple of it.
//!
//! A *scan* is a sequence of waits of random lengths up to a limit. Scans of similar limits form a
//! *scale*. Each scale has its own steps, because a timer may round longer waits more coarsely.

use std::iter;

use super::lattice::{
    MIN_CONCENTRATION, WaitLattice, concentration, find_largest_step, fit_lattice, largest_range,
    longest_testable_range, multiples, range, residuals,
};
use super::{late_ns, observed_ns, zero_if_not_finite};
use crate::model::{Granularity, Interval, MAX_SLEW, Steps};
use crate::statistics::quantiles::MIN_MEDIAN_VALUES;
use crate::statistics::{SIGNIFICANT_DEVIATIONS, Z, median, quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun};

/// The largest ratio between the longest requests of two scans that belong to one scale.
/// *Judgement*.
const MAX_SCALE_RATIO: f64 = 2.0;
/// The share of waits, those with the largest lateness, that is left out, because outliers hide a
/// lattice. *Seen*.
const LATEST_SHARE: f64 = 0.15;
/// The largest ratio of a step to the width of lateness, which is the distance from the 5th
/// percentile of lateness to its median. Lateness that is uniformly distributed over a step has a
/// width of 0.45 steps. *Computed*.
const MAX_STEP_WIDTHS: f64 = 4.0;
/// The smallest ratio of a step to the width of lateness. The ratio is 2.2 for uniformly
/// distributed lateness; noise and outliers decrease it, because they increase the width.
/// *Computed*.
const MIN_STEP_WIDTHS: f64 = 1.0;
/// The smallest step of waits that is searched for, in steps of the reference, because readings of
/// the reference lie on a lattice too. *Default*: moves no figure.
const MIN_REFERENCE_STEPS: f64 = 4.0;
/// The largest concentration (see `lattice.rs`) of phases that count as uniformly distributed.
/// *Judgement*.
const MAX_UNIFORM_CONCENTRATION: f64 = 0.5;
/// The number of consecutive wake-ups that a grid is first fitted to; it doubles while the fit is
/// good. *Chance*.
const FIRST_CHUNK_WAKEUPS: usize = 4;

/// Returns the granularity at each scale, from short to long waits.
pub fn granularity_by_scale(runs: &[WaitRun], reference: &Reference) -> Vec<Steps> {
    let scans = runs
        .iter()
        .flat_map(|run| &run.scans)
        .map(Vec::as_slice)
        .filter(|scan| !scan.is_empty());
    let mut scales: Vec<(u64, Vec<&[Wait]>)> = Vec::new();
    for scan in scans {
        let shortest_and_longest = |scan: &[Wait]| {
            let requests = scan.iter().map(|wait| wait.request_ns);
            (
                requests.clone().min().unwrap_or(0),
                requests.max().unwrap_or(0),
            )
        };
        let (from, to) = shortest_and_longest(scan);
        let same_scale = |(up_to, scans): &&mut (u64, Vec<&[Wait]>)| {
            let ratio = (*up_to).max(to) as f64 / (*up_to).min(to).max(1) as f64;
            // Scans whose requests all exceed half of their longest one form scales of their own.
            let starts_high = shortest_and_longest(scans[0]).0 > *up_to / 2;
            ratio <= MAX_SCALE_RATIO && (from > to / 2) == starts_high
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
    let mut all: Vec<Steps> = scales
        .into_iter()
        .map(|(up_to_ns, scans)| {
            LengthScale::new(&scans, reference).granularity(up_to_ns, several_processes)
        })
        .collect();
    remove_contradictions(&mut all, |steps| &mut steps.rounding);
    remove_contradictions(&mut all, |steps| &mut steps.grid);
    all
}

/// Removes the steps of one kind (`kind` selects `rounding` or `grid`) that contradict the most
/// precisely known step: a scale of longer waits must have an equal or a longer step. A
/// contradicting step was found by chance, or is a fraction of the true one, because its scale has
/// too few waits.
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
            // A longer step is at least twice as long.
            difference > (width + other_width) / 2.0 && growth.round() < 2.0
        };
        if step.is_some_and(contradicts) {
            *kind(&mut scales[at]) = None;
        }
    }
}

/// The waits of one scale, with all times in nanoseconds. A list does not include the latest waits
/// (see [`LATEST_SHARE`]) unless its comment says so; a list of lists has one list for each scan.
struct LengthScale<'a> {
    reference: &'a Reference,
    /// All waits, including the latest ones.
    scans: Vec<&'a [Wait]>,
    /// The number of waits, including the latest ones.
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
    /// Intervals from the preceding wake-up to the start of a wait; includes the latest waits.
    pauses: Vec<f64>,
    /// Intervals from the preceding wake-up to the requested end of a wait; includes the latest
    /// waits.
    due: Vec<f64>,
}

impl<'a> LengthScale<'a> {
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

    /// Returns the granularity of the scale, whose longest request is `up_to_ns`. The steps have an
    /// interval only if the waits come from several processes.
    fn granularity(&self, up_to_ns: u64, several_processes: bool) -> Steps {
        let unknown = Steps {
            up_to_ns,
            rounding: None,
            grid: None,
        };
        if self.waits < MIN_MEDIAN_VALUES {
            return unknown;
        }
        let (rounding, mut grid) = (self.find_rounding(), self.find_grid(self.width));
        // Rounding may hide a grid of shorter steps. Such a grid is searched for with the width
        // that lateness has without rounding.
        let width_without_rounding =
            rounding.map_or(self.width, |found| self.width_without_step(found.step));
        if grid.is_none() && rounding.is_some() {
            grid = self.find_grid(width_without_rounding);
        }
        // If waits do not begin at uniformly distributed phases, a lattice looks like a grid too.
        if let (Some(lattice), Some(wakeup_grid)) = (rounding, grid)
            && !has_uniform_phases(&self.pauses, lattice.step.max(wakeup_grid.step))
        {
            return unknown;
        }
        let step_or_limit = |step: Option<Granularity>, width: f64, range: f64| match step {
            Some(step) => Some(step),
            // An upper limit is valid only for steps that could have been found: those shorter than
            // the range of the requests.
            // The relative standard error of the width of `n` uniformly distributed values is
            // 1/√n.
            None => Some(MAX_STEP_WIDTHS * width * (1.0 + Z / (self.waits as f64).sqrt()))
                .filter(|bound| *bound <= range)
                .map(|bound| {
                    Granularity::AtMost(
                        bound.max(MIN_REFERENCE_STEPS * self.reference.uncertainty_ns()),
                    )
                }),
        };
        let [request_range, due_range] = [&self.requests, &self.due].map(range);
        let rounding = rounding.map(|found| self.rounding_step(found, several_processes));
        let grid = grid.map(|found| self.step_with_interval(found, several_processes));
        Steps {
            up_to_ns,
            rounding: step_or_limit(rounding, self.width, request_range),
            grid: step_or_limit(grid, width_without_rounding, due_range),
        }
    }

    /// Returns the step to which requests are rounded, from the lattice of the observed lengths.
    /// The step is shorter than that of the lattice if lateness grows with length.
    fn rounding_step(&self, found: WaitLattice, several_processes: bool) -> Granularity {
        let fitted = self.step_with_interval(found, several_processes);
        let Granularity::Step(observed_step) = fitted else {
            return fitted;
        };
        // The latest waits are included: their requests exceed a multiple of the step by little, so
        // that they show where the rounded length increases.
        let values_by_scan = |value: &dyn Fn(&Wait) -> f64| -> Vec<Vec<f64>> {
            self.scans
                .iter()
                .map(|scan| scan.iter().map(value).collect())
                .collect()
        };
        let requests = values_by_scan(&|wait| wait.request_ns as f64);
        let observed = values_by_scan(&|wait| observed_ns(wait, self.reference));
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

    /// Returns the step of a lattice or grid, with an interval only if the waits come from several
    /// processes.
    fn step_with_interval(&self, found: WaitLattice, several_processes: bool) -> Granularity {
        let half = f64::hypot(
            found.half_width,
            self.reference.rate_uncertainty * found.step,
        );
        let ends = several_processes.then_some((found.step - half, found.step + half));
        Granularity::Step(Interval::with_ends(found.step, ends))
    }

    /// Returns the range of steps that may cause lateness of this width.
    fn candidate_steps(&self, width: f64) -> std::ops::RangeInclusive<f64> {
        (MIN_STEP_WIDTHS * width)
            .max(MIN_REFERENCE_STEPS * self.reference.uncertainty_ns())
            .max(f64::MIN_POSITIVE)..=MAX_STEP_WIDTHS * width
    }

    /// Returns the lattice of observed lengths, if there is one.
    fn find_rounding(&self) -> Option<WaitLattice> {
        let step = find_largest_step(
            &self.observed,
            self.candidate_steps(self.width),
            MIN_CONCENTRATION,
        )?;
        let found = fit_lattice(&self.observed, step)
            .filter(|found| found.concentration >= MIN_CONCENTRATION)?;
        has_uniform_phases(&self.requests, found.step).then_some(found)
    }

    /// Returns the grid of absolute time that wake-ups lie on, if there is one. A first estimate
    /// comes from intervals between wake-ups, better ones from longer and longer sequences of
    /// wake-ups.
    fn find_grid(&self, width: f64) -> Option<WaitLattice> {
        let candidates = self.candidate_steps(width);
        // Longer intervals are left out, because they would require too many tested frequencies.
        let longest = longest_testable_range(*candidates.start());
        let mut intervals = vec![self.intervals.clone()];
        intervals[0].retain(|interval| *interval <= longest);
        // The concentration of intervals is the square of that of wake-ups, because an interval has
        // the errors of two wake-ups.
        let step = find_largest_step(
            &intervals,
            candidates,
            MIN_CONCENTRATION * MIN_CONCENTRATION,
        )?;
        let mut found = fit_lattice(&intervals, step).map(|fit| WaitLattice {
            concentration: fit.concentration.sqrt(),
            ..fit
        })?;
        let most_wakeups = self.wakeups.iter().map(Vec::len).max()?;
        for size in iter::successors(Some(FIRST_CHUNK_WAKEUPS), |size| {
            (*size < most_wakeups).then_some(2 * size)
        }) {
            let chunks: Vec<Vec<f64>> = self
                .wakeups
                .iter()
                .flat_map(|wakeups| wakeups.chunks(size))
                .map(<[f64]>::to_vec)
                .collect();
            // The number of steps in a chunk must be known in spite of the error of the step.
            if SIGNIFICANT_DEVIATIONS * found.half_width * largest_range(&chunks)
                > found.step.powi(2)
            {
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

/// Returns whether the phases of requests, or of the starts or requested ends of waits, are
/// uniformly distributed over a step. If they are not, the phases of the observed values may be
/// concentrated although the timer has no such step.
fn has_uniform_phases(values: &[f64], step: f64) -> bool {
    concentration(&[values.to_vec()], step) <= MAX_UNIFORM_CONCENTRATION
}

/// Returns the shortest and the longest step near `step` that explain which request was rounded to
/// which multiple; `requests` and `observed` have a list of lengths for each scan. `None` if no
/// step explains that, or if the requests contain fewer than two boundaries between multiples.
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
        // If all waits of a scan are late by more than half a step, all their multiples differ by
        // the same number from those of the first scan.
        let shift = (excess - *first.get_or_insert(excess)).round();
        waits.extend(numbered().map(|(request, number)| (*request, (number + shift) as i64)));
    }
    waits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least = waits.iter().map(|wait| wait.1).min()?;
    let most = waits
        .iter()
        .map(|wait| wait.1)
        .max()?
        .min(least + waits.len() as i64);
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
/// next one. `waits` are pairs of request and multiple, sorted by request. The boundary lies where
/// the fewest waits contradict it. A wait that was late by a whole step contradicts the true
/// boundary; if there are such waits, the range includes the next request on either side, because
/// the waits next to the boundary may be among them.
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
