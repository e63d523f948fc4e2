//! Granularity. Requests may be rounded: lengths observed then lie on a lattice. And wake-ups may
//! lie on a grid of absolute time. Over either, latenesses are spread evenly, which says how long
//! the step is about; a lattice has to be found there.
//!
//! Lateness that grows with the length of a wait stretches the lattice of observed lengths, as on a
//! loaded machine: from these alone a longer step and growing lateness look the same. Requests were
//! not late: where one more step begins among them is a whole number of steps from where another
//! one does.

use std::iter;

use super::lattice::{
    CONCENTRATED, ENDS, Lattice, concentration, fitted, largest, longest_span, numbers, residuals,
    span, spread,
};
use super::{finite, late_ns, observed_ns};
use crate::model::{Granularity, Interval, Steps};
use crate::statistics::{median, quantile, sorted};
use crate::trace::{Reference, Wait, WaitRun};

/// Requests of one scale end within this factor of each other.
/// *Judgement*.
const A_SCALE: f64 = 2.0;
/// Steps of longer waits, where they are others, are at least this many times as long.
/// *Default*: moves no figure.
const GROWS: f64 = 1.5;
/// Steps of two scales that are off by no more than this share are the same.
/// *Default*: moves no figure.
const SAME_STEP: f64 = 0.01;
/// Waits of one scale that tell a step.
/// *Judgement*.
const FEWEST: usize = 16;
/// Waits of one scale that tell a bound.
/// *Default*: moves no figure.
const FOR_BOUND: usize = 30;
/// The share of the latest waits, which are left out: outliers hide a lattice.
/// *Seen*.
const LATEST: f64 = 0.15;
/// How many times the distance from the 5th percentile of lateness to its median a step is at most.
/// Evenly spread latenesses show 0.45 of it. *Computed*.
const BOUND: f64 = 4.0;
/// Standard errors that are added to that distance for a bound: evenly spread, it is known to its
/// share 1/√n. *Default*: moves no figure.
const CHANCE: f64 = 2.0;
/// And at least: noise and outliers make that distance longer.
/// *Computed*.
const SHORTEST: f64 = 1.0;
/// Steps of the reference that a step has to be longer than: the reference is a lattice as well.
/// *Default*: moves no figure.
const OF_REFERENCE: f64 = 4.0;
/// Concentration of phases up to which they are taken for any phases.
/// *Judgement*.
const ANY_PHASE: f64 = 0.5;
/// Where waits did not begin at any phase: how many times closer to its lattice the one kind has to
/// lie than the other. *Default*: moves no figure.
const CLOSER: f64 = 3.0;
/// Waits that a grid is first looked for in, one by one; then in twice as many, as long as they
/// agree. *Chance*.
const A_FEW: usize = 4;
/// How many times half the interval of a step, over all steps of a chunk, a step has to be longer,
/// for the number of each to be known. *Chance*.
const COUNTED: f64 = 3.0;
/// A wait is shorter than it should be by this share of its length at most: so much the kernel
/// slews a clock (adjtimex(2)). *Definition*.
const FAST: f64 = 500e-6;
/// The share of intervals between wake-ups that are looked at: the longest are those between
/// questions. *Judgement*.
const INTERVALS: f64 = 0.9;

/// Granularity at each scale of lengths, from short to long ones.
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

/// Steps of longer waits are longer, or the same. What contradicts the scale that is known best is
/// of too few waits: part of its step, or chance.
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

/// Waits of one scale but the latest, a list for each scan, all in nanoseconds.
struct Scale<'a> {
    reference: &'a Reference,
    /// All of them, the latest too.
    scans: Vec<&'a [Wait]>,
    waits: usize,
    /// From the 5th percentile of lateness to its median.
    width: f64,
    requests: Vec<f64>,
    observed: Vec<Vec<f64>>,
    /// Wake-ups, since the first wait of the scan began.
    wakeups: Vec<Vec<f64>>,
    /// From one wake-up to the next.
    intervals: Vec<f64>,
    /// From the wake-up before to the beginning.
    pauses: Vec<f64>,
    /// From the wake-up before to when it should have been over.
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
        // What is longer than one of the two hides it, where it is known, it can be taken off.
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

    /// The step of requests: that of the lengths that were observed, or less by what lateness may
    /// have grown with length.
    fn rounded(&self, found: Lattice, several: bool) -> Granularity {
        let Granularity::Step(seen) = self.step(found, several) else {
            return self.step(found, several);
        };
        // The latest are those whose requests were just too long for a step less.
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

    /// The steps that spread latenesses so widely.
    fn candidates(&self, width: f64) -> std::ops::RangeInclusive<f64> {
        (SHORTEST * width)
            .max(OF_REFERENCE * self.reference.uncertainty_ns())
            .max(f64::MIN_POSITIVE)..=BOUND * width
    }

    /// The lattice of lengths.
    fn rounding(&self) -> Option<Lattice> {
        let step = largest(&self.observed, self.candidates(self.width), CONCENTRATED)?;
        let found =
            fitted(&self.observed, step).filter(|found| found.concentration >= CONCENTRATED)?;
        any_phase(&self.requests, found.step).then_some(found)
    }

    /// The grid of instants: first of intervals between wake-ups, then of more and more wake-ups
    /// together.
    fn grid(&self, width: f64) -> Option<Lattice> {
        let candidates = self.candidates(width);
        // Over longer ones more frequencies than are looked at would have to be.
        let longest =
            quantile(&sorted(&self.intervals), INTERVALS)?.min(longest_span(*candidates.start()));
        let mut intervals = vec![self.intervals.clone()];
        intervals[0].retain(|interval| *interval <= longest);
        // What an interval is off by is what two wake-ups are off by.
        let step = largest(&intervals, candidates, CONCENTRATED * CONCENTRATED)?;
        let mut found = fitted(&intervals, step).map(|fit| Lattice {
            concentration: fit.concentration.sqrt(),
            ..fit
        })?;
        let most = self.wakeups.iter().map(Vec::len).max()?;
        for size in iter::successors(Some(A_FEW), |size| (*size < most).then_some(2 * size)) {
            let chunks = self.wakeups.iter().flat_map(|wakeups| wakeups.chunks(size));
            let chunks: Vec<Vec<f64>> = chunks.map(<[f64]>::to_vec).collect();
            // Over this many steps the number of each has to be known.
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

    /// How widely latenesses are spread by what is not rounding to this step.
    fn width_without(&self, step: f64) -> f64 {
        let off = sorted(residuals(&self.observed, step));
        quantile(&off, 0.5).unwrap_or(0.0) - quantile(&off, 0.05).unwrap_or(0.0)
    }
}

/// Whether something came at any phase of a step: only then does it matter that something else did
/// not.
fn any_phase(values: &[f64], step: f64) -> bool {
    concentration(&[values.to_vec()], step) <= ANY_PHASE
}

/// The shortest and the longest step that explains which requests got which number of steps of
/// about `step`; lists for each process. `None` where none does, or where fewer than two steps
/// begin among them.
pub fn admissible(requests: &[Vec<f64>], observed: &[Vec<f64>], step: f64) -> Option<[f64; 2]> {
    let mut waits: Vec<(f64, i64)> = Vec::new();
    let mut first = None;
    for (requests, observed) in requests.iter().zip(observed) {
        let numbers = numbers(observed, step);
        let both = || requests.iter().zip(&numbers);
        let Some(over) = median(both().map(|(request, number)| request / step - number)) else {
            continue;
        };
        // A process that is late by more than half a step has other numbers, all by as much.
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

/// Between which requests, sorted, those end that get so many steps and those begin that get more:
/// where the fewest lie on the wrong side. Where any do, some were late by a whole step, and the
/// next one to the boundary may be as well.
fn boundary(waits: &[(f64, i64)], number: i64) -> Option<[f64; 2]> {
    let more = |wait: &(f64, i64)| wait.1 > number;
    // To begin with all lie above.
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
