//! Estimates the granularity of waits. The length of a request may be rounded: observed lengths
//! then lie on a lattice. Wake-ups may lie on a grid of absolute time. In both cases lateness is
//! uniformly distributed over a step, which gives the approximate length of the step; the lattice
//! or grid must then be found near this length.
//!
//! Lateness that grows with the length of a wait stretches the lattice of observed lengths, as on a
//! loaded machine. Observed lengths alone do not distinguish a longer step from growing lateness.
//! The requests do: the distance between two requests at which the rounded length increases is a
//! multiple of the true step.

use std::iter;

use super::lattice::{
    CONCENTRATED, ENDS, Lattice, concentration, fitted, largest, longest_span, numbers, residuals,
    span, spread,
};
use super::{finite, late_ns, observed_ns};
use crate::model::{Granularity, Interval, Steps};
use crate::statistics::{median, quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun};

/// The largest ratio of requests within one scale. *Judgement*.
const A_SCALE: f64 = 2.0;
/// The least ratio between different steps of neighbouring scales. *Default*: moves no figure.
const GROWS: f64 = 1.5;
/// The largest relative difference between steps of two scales that count as equal. *Default*:
/// moves no figure.
const SAME_STEP: f64 = 0.01;
/// The least number of waits of one scale for a step. *Judgement*.
const FEWEST: usize = 16;
/// The least number of waits of one scale for an upper limit. *Default*: moves no figure.
const FOR_BOUND: usize = 30;
/// The share of waits with the largest lateness that is left out, because outliers hide a lattice.
/// *Seen*.
const LATEST: f64 = 0.15;
/// The largest ratio between a step and the distance from the 5th percentile to the median of
/// lateness. Uniformly distributed lateness has a distance of 0.45 steps. *Computed*.
const BOUND: f64 = 4.0;
/// Standard errors added to this distance for an upper limit; the relative standard error for
/// uniformly distributed lateness is 1/√n. *Default*: moves no figure.
const CHANCE: f64 = 2.0;
/// The least ratio between a step and this distance: noise and outliers increase the distance.
/// *Computed*.
const SHORTEST: f64 = 1.0;
/// The least length of a step, in steps of the reference, because the reference has a lattice of
/// its own. *Default*: moves no figure.
const OF_REFERENCE: f64 = 4.0;
/// The largest concentration of phases that count as uniformly distributed. *Judgement*.
const ANY_PHASE: f64 = 0.5;
/// If waits did not begin at uniformly distributed phases: the ratio of the residuals of the two
/// hypotheses (lattice of lengths, grid of time) at which the better one is chosen. *Default*:
/// moves no figure.
const CLOSER: f64 = 3.0;
/// The initial number of wake-ups in which a grid is sought; the number doubles while they agree.
/// *Chance*.
const A_FEW: usize = 4;
/// The least ratio between a step and half the interval of the step, multiplied by the number of
/// steps in a chunk, at which the number of each step is known. *Chance*.
const COUNTED: f64 = 3.0;
/// The largest relative error of a wait that is too short: the kernel slews a clock by no more
/// (adjtimex(2)). *Definition*.
const FAST: f64 = 500e-6;
/// The share of intervals between wake-ups that is used; the longest intervals lie between scans.
/// *Judgement*.
const INTERVALS: f64 = 0.9;

/// Returns the granularity at each scale of lengths, from short to long.
pub fn steps(runs: &[WaitRun], reference: &Reference) -> Vec<Steps> {
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
            ratio <= A_SCALE && (from > to / 2) == (ends(scans[0]).0 > *up_to / 2)
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
    let several = runs.len() > 1;
    let found = scales
        .into_iter()
        .map(|(up_to_ns, scans)| Scale::new(&scans, reference).steps(up_to_ns, several));
    let mut found: Vec<Steps> = found.collect();
    leave_out_contradictions(&mut found, |steps| &mut steps.rounding);
    leave_out_contradictions(&mut found, |steps| &mut steps.grid);
    found
}

/// Removes contradictions: the step of a longer scale must be equal or longer. Scales that
/// contradict the most precise scale have too few waits; their result is a fraction of the step, or
/// chance.
fn leave_out_contradictions(
    scales: &mut [Steps],
    kind: fn(&mut Steps) -> &mut Option<Granularity>,
) {
    let step = |steps: &mut Steps| match kind(steps) {
        Some(Granularity::Step(step)) => {
            let (low, high) = step.ends()?;
            Some((step.value, high - low))
        }
        _ => None,
    };
    let all: Vec<Option<(f64, f64)>> = scales.iter_mut().map(step).collect();
    let doubt = |(value, width): &(f64, f64)| width / value;
    let known = all
        .iter()
        .enumerate()
        .filter_map(|(at, step)| Some((at, (*step)?)));
    let Some((best, (value, width))) =
        known.min_by(|(_, one), (_, other)| doubt(one).total_cmp(&doubt(other)))
    else {
        return;
    };
    for (at, step) in all.iter().enumerate() {
        let contradicts = |(other, its): (f64, f64)| {
            let longer = if at > best {
                other / value
            } else {
                value / other
            };
            let off = (other - value).abs();
            off > (width + its) / 2.0 && off > SAME_STEP * value && longer < GROWS
        };
        if step.is_some_and(contradicts) {
            *kind(&mut scales[at]) = None;
        }
    }
}

/// The waits of one scale without the latest ones, a list for each scan, all in nanoseconds.
struct Scale<'a> {
    reference: &'a Reference,
    /// All waits, including the latest ones.
    scans: Vec<&'a [Wait]>,
    waits: usize,
    /// The distance from the 5th percentile to the median of lateness.
    width: f64,
    requests: Vec<f64>,
    observed: Vec<Vec<f64>>,
    /// Times of wake-ups since the start of the first wait of the scan.
    wakeups: Vec<Vec<f64>>,
    /// Intervals between consecutive wake-ups.
    intervals: Vec<f64>,
    /// Intervals from the preceding wake-up to the start of a wait.
    pauses: Vec<f64>,
    /// Intervals from the preceding wake-up to the requested end of a wait.
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
            [0.05, 0.5, 1.0 - LATEST].map(|share| quantile(&all, share).unwrap_or(0.0));
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
        let ns = |from: i64, to: i64| finite(reference.ns(from, to));
        for (scan, late) in scans.iter().zip(&late) {
            let (mut observed, mut wakeups) = (Vec::new(), Vec::new());
            for (at, (wait, its)) in scan.iter().zip(late).enumerate() {
                let before = at.checked_sub(1);
                if let Some(before) = before {
                    let pause = ns(scan[before].after, wait.before);
                    scale.pauses.push(pause);
                    scale.due.push(pause + wait.request_ns as f64);
                }
                if *its > latest {
                    continue;
                }
                scale.requests.push(wait.request_ns as f64);
                observed.push(observed_ns(wait, reference));
                wakeups.push(ns(scan[0].before, wait.after));
                let before = before.filter(|before| late[*before] <= latest);
                let interval = before.map(|before| ns(scan[before].after, wait.after));
                scale.intervals.extend(interval);
            }
            scale.observed.push(observed);
            scale.wakeups.push(wakeups);
        }
        scale
    }

    fn steps(&self, up_to_ns: u64, several: bool) -> Steps {
        if self.waits < FEWEST {
            return Steps {
                up_to_ns,
                rounding: None,
                grid: None,
            };
        }
        let (mut rounding, mut grid) = (self.rounding(), self.grid(self.width));
        // The longer of the two steps hides the shorter one; a known step can be subtracted.
        let rest = rounding.map_or(self.width, |found| self.width_without(found.step));
        if grid.is_none() && rounding.is_some() {
            grid = self.grid(rest);
        }
        let mut both = false;
        if let (Some(of_lengths), Some(of_instants)) = (rounding, grid)
            && !any_phase(&self.pauses, of_lengths.step.max(of_instants.step))
        {
            let [off, instants_off] =
                [of_lengths, of_instants].map(|found| 1.0 - found.concentration);
            both = true;
            rounding = rounding.filter(|_| CLOSER * off < instants_off);
            grid = grid.filter(|_| CLOSER * instants_off < off);
        }
        let granularity = |step: Option<Granularity>, width: f64, span: f64| match step {
            Some(step) => Some(step),
            // Requests that are not spread over a step do not show it.
            None => Some(BOUND * width * (1.0 + CHANCE / (self.waits as f64).sqrt()))
                .filter(|bound| !both && self.waits >= FOR_BOUND && *bound <= span)
                .map(|bound| {
                    Granularity::AtMost(bound.max(OF_REFERENCE * self.reference.uncertainty_ns()))
                }),
        };
        let [requests, due] = [&self.requests, &self.due].map(|of| spread(&sorted(of), ENDS));
        let rounding = rounding.map(|found| self.rounded(found, several));
        let grid = grid.map(|found| self.step(found, several));
        Steps {
            up_to_ns,
            rounding: granularity(rounding, self.width, requests),
            grid: granularity(grid, rest, due),
        }
    }

    /// Returns the step of the rounding of requests: the step of the observed lengths, or a shorter
    /// one if lateness grows with length.
    fn rounded(&self, found: Lattice, several: bool) -> Granularity {
        let Granularity::Step(seen) = self.step(found, several) else {
            return self.step(found, several);
        };
        // The latest waits are those whose requests slightly exceed a multiple of the step.
        let each = |of: &dyn Fn(&Wait) -> f64| -> Vec<Vec<f64>> {
            self.scans
                .iter()
                .map(|scan| scan.iter().map(of).collect())
                .collect()
        };
        let requests = each(&|wait| wait.request_ns as f64);
        let observed = each(&|wait| observed_ns(wait, self.reference));
        let Some([shortest, longest]) = admissible(&requests, &observed, found.step) else {
            return Granularity::Step(Interval::unbounded(seen.value));
        };
        let value = seen.value.clamp(shortest, longest);
        let ends = seen.ends().map(|(low, high)| {
            let high = (high * (1.0 + FAST)).min(longest).max(value);
            (low.min(shortest).min(value), high)
        });
        Granularity::Step(Interval::with_ends(value, ends))
    }

    fn step(&self, found: Lattice, several: bool) -> Granularity {
        let half = f64::hypot(found.half, self.reference.rate_uncertainty * found.step);
        let ends = several.then_some((found.step - half, found.step + half));
        Granularity::Step(Interval::with_ends(found.step, ends))
    }

    /// The range of steps that would cause this width of the distribution of lateness.
    fn candidates(&self, width: f64) -> std::ops::RangeInclusive<f64> {
        (SHORTEST * width)
            .max(OF_REFERENCE * self.reference.uncertainty_ns())
            .max(f64::MIN_POSITIVE)..=BOUND * width
    }

    /// Returns the lattice of lengths.
    fn rounding(&self) -> Option<Lattice> {
        let step = largest(&self.observed, self.candidates(self.width), CONCENTRATED)?;
        let found =
            fitted(&self.observed, step).filter(|found| found.concentration >= CONCENTRATED)?;
        any_phase(&self.requests, found.step).then_some(found)
    }

    /// Returns the grid of absolute time: first from intervals between wake-ups, then from
    /// sequences of wake-ups of growing length.
    fn grid(&self, width: f64) -> Option<Lattice> {
        let candidates = self.candidates(width);
        // Longer sequences would require too many frequencies.
        let longest =
            quantile(&sorted(&self.intervals), INTERVALS)?.min(longest_span(*candidates.start()));
        let mut intervals = vec![self.intervals.clone()];
        intervals[0].retain(|interval| *interval <= longest);
        // The phase of an interval has the errors of two wake-ups.
        let step = largest(&intervals, candidates, CONCENTRATED * CONCENTRATED)?;
        let mut found = fitted(&intervals, step).map(|fit| Lattice {
            concentration: fit.concentration.sqrt(),
            ..fit
        })?;
        let most = self.wakeups.iter().map(Vec::len).max()?;
        for size in iter::successors(Some(A_FEW), |size| (*size < most).then_some(2 * size)) {
            let chunks = self.wakeups.iter().flat_map(|wakeups| wakeups.chunks(size));
            let chunks: Vec<Vec<f64>> = chunks.map(<[f64]>::to_vec).collect();
            // The number of each step must be known over the whole chunk.
            if COUNTED * found.half * span(&chunks) > found.step.powi(2) {
                break;
            }
            match fitted(&chunks, found.step).filter(|fit| fit.concentration >= CONCENTRATED) {
                Some(fit) => found = fit,
                None => break,
            }
        }
        Some(found)
            .filter(|found| found.concentration >= CONCENTRATED && any_phase(&self.due, found.step))
    }

    /// Returns the width of the distribution of lateness without the effect of rounding to this
    /// step.
    fn width_without(&self, step: f64) -> f64 {
        let off = sorted(residuals(&self.observed, step));
        quantile(&off, 0.5).unwrap_or(0.0) - quantile(&off, 0.05).unwrap_or(0.0)
    }
}

/// Returns whether the phases of values are uniformly distributed over a step. Only then is a
/// concentration of the other phases significant.
fn any_phase(values: &[f64], step: f64) -> bool {
    concentration(&[values.to_vec()], step) <= ANY_PHASE
}

/// Returns the shortest and the longest step that explain which requests were rounded to which
/// multiple of about `step`; the lists are per process. `None` if no step does, or if fewer than
/// two multiples begin within the requests.
pub fn admissible(requests: &[Vec<f64>], observed: &[Vec<f64>], step: f64) -> Option<[f64; 2]> {
    let mut waits: Vec<(f64, i64)> = Vec::new();
    let mut first = None;
    for (requests, observed) in requests.iter().zip(observed) {
        let numbers = numbers(observed, step);
        let both = || requests.iter().zip(&numbers);
        let Some(over) = median(both().map(|(request, number)| request / step - number)) else {
            continue;
        };
        // In a process that is late by more than half a step, all multiples are shifted by the same
        // number.
        let shift = (over - *first.get_or_insert(over)).round();
        waits.extend(both().map(|(request, number)| (*request, (number + shift) as i64)));
    }
    waits.sort_by(|one, other| one.0.total_cmp(&other.0));
    let least = waits.iter().map(|wait| wait.1).min()?;
    let most = waits.iter().map(|wait| wait.1).max()?;
    let most = most.min(least + waits.len() as i64);
    let begins: Vec<(i64, [f64; 2])> = (least..most)
        .filter_map(|number| Some((number, boundary(&waits, number)?)))
        .collect();
    let pairs = begins
        .iter()
        .enumerate()
        .flat_map(|(at, one)| begins[at + 1..].iter().map(move |other| (one, other)));
    let steps = pairs.map(|((number, here), (other, there))| {
        let apart = (other - number) as f64;
        [(there[0] - here[1]) / apart, (there[1] - here[0]) / apart]
    });
    let [shortest, longest] =
        steps.reduce(|[low, high], [least, most]| [low.max(least), high.min(most)])?;
    (shortest <= longest).then_some([shortest.max(0.0), longest])
}

/// Returns the two neighbouring requests, in sorted order, between which the multiple `number` ends
/// and the next one begins: the boundary with the fewest contradictions. If there are
/// contradictions, some waits were late by a whole step; the request next to the boundary may be
/// one of them.
fn boundary(waits: &[(f64, i64)], number: i64) -> Option<[f64; 2]> {
    let more = |wait: &(f64, i64)| wait.1 > number;
    // At first all waits lie above the boundary.
    let all = waits.iter().filter(|wait| !more(wait)).count();
    let wrong: Vec<usize> = waits
        .iter()
        .scan(all, |wrong, wait| {
            *wrong = if more(wait) { *wrong + 1 } else { *wrong - 1 };
            Some(*wrong)
        })
        .collect();
    let fewest = *wrong.iter().min()?;
    let near = |wrong: &usize| *wrong <= fewest + usize::from(fewest > 0);
    let (first, last) = (wrong.iter().position(near)?, wrong.iter().rposition(near)?);
    Some([waits[first].0, waits.get(last + 1)?.0])
}
