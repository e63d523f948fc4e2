//! Finds the granularity of waits in *scans*, which are waits of random lengths. Values lie on a
//! *lattice* if they are multiples of a step from a common phase: the observed lengths do if a timer
//! rounds requests, the times of wake-ups do if they occur at regular points of absolute time (a
//! *grid*). Only steps that explain the width of the lateness are searched for, because lateness is
//! then distributed evenly over a step.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{late_ns, observed_ns, zero_if_not_finite};
use crate::model::{Granularity, Interval, Steps};
use crate::statistics::phasors::{Complex, Sweep};
use crate::statistics::quantiles::MIN_MEDIAN_VALUES;
use crate::statistics::{
    CONFIDENCE, DEVIATION_PER_MEDIAN, SIGNIFICANT_DEVIATIONS, Z, median, quantile, sorted,
    student_quantile,
};
use crate::trace::{Reference, Wait, WaitRun};

/// The ratio of the longest requests of scans that are analysed separately, because a timer may
/// round longer waits more coarsely. *Definition*: that of successive scans.
const SCALE_RATIO: f64 = 4.0;
/// The share of waits, those with the largest lateness, that is left out, because outliers hide a
/// lattice. *Seen*.
const LATEST_SHARE: f64 = 0.15;
/// The ratios of a step to the width of lateness, from its 5th percentile to its median. It is 2.2
/// for lateness that is distributed evenly over a step; noise increases the width. *Computed*.
const STEP_WIDTHS: [f64; 2] = [1.0, 4.0];
/// The smallest step of waits that is searched for, in steps of the reference, because readings of
/// the reference lie on a lattice too. *Default*: moves no figure.
const MIN_REFERENCE_STEPS: f64 = 4.0;
/// The smallest concentration of phases that counts as a lattice: that of noise with a standard
/// deviation of a tenth of a step. *Computed*: 0.82.
const MIN_CONCENTRATION: f64 = 0.8;
/// The largest concentration of phases that count as evenly distributed. *Judgement*.
const MAX_EVEN_CONCENTRATION: f64 = 0.5;
/// The decrease of the concentration if 5 % of the values lie half a step off the lattice.
/// *Computed*.
const OUTLIER_LOSS: f64 = 0.1;
/// The largest probability that evenly distributed phases are as concentrated at any of the tested
/// frequencies. *Chance*.
const MAX_CHANCE: f64 = 1e-3;
/// The number of tested frequencies (1/step) in the width of a peak of the concentration.
/// *Numerical*.
const OVERSAMPLING: f64 = 8.0;
/// The largest number of tested frequencies. *Numerical*.
const MAX_FREQUENCIES: f64 = 2e4;

/// Returns the granularity of scans of similar lengths, from short to long ones.
pub fn granularity(runs: &[WaitRun], reference: &Reference) -> Vec<Steps> {
    let mut scales = BTreeMap::<i64, Vec<&[Wait]>>::new();
    for scan in runs.iter().flat_map(|run| &run.scans) {
        if let Some(longest) = scan.iter().map(|wait| wait.request_ns).max() {
            let scale = (longest.max(1) as f64).ln() / SCALE_RATIO.ln();
            scales.entry(scale.round() as i64).or_default().push(scan);
        }
    }
    let analyse = |scans: Vec<&[Wait]>| Scale::new(&scans, reference).steps(runs.len() > 1);
    scales.into_values().map(analyse).collect()
}

/// Scans of similar lengths, a list for each. All times are in nanoseconds. The latest waits are
/// left out (see [`LATEST_SHARE`]).
#[derive(Default)]
struct Scale {
    /// The distance from the 5th percentile of the lateness to its median, latest waits included.
    width: f64,
    waits: f64,
    /// The shortest step that the reference shows.
    shortest: f64,
    rate_error: f64,
    requests: Vec<Vec<f64>>,
    observed: Vec<Vec<f64>>,
    /// The times since the first start at which waits start, should end, and end.
    starts: Vec<Vec<f64>>,
    due: Vec<Vec<f64>>,
    ends: Vec<Vec<f64>>,
}

impl Scale {
    fn new(scans: &[&[Wait]], reference: &Reference) -> Self {
        let late = |scan: &&[Wait]| -> Vec<f64> {
            let late = scan.iter().map(|wait| late_ns(wait, reference));
            let middle = median(late.clone()).unwrap_or(0.0);
            late.map(|late| late - middle).collect()
        };
        let late: Vec<Vec<f64>> = scans.iter().map(late).collect();
        let all = sorted(late.iter().flatten());
        let latest = quantile(&all, 1.0 - LATEST_SHARE).unwrap_or(0.0);
        let mut scale = Self {
            width: width(&all),
            waits: all.len() as f64,
            shortest: MIN_REFERENCE_STEPS * zero_if_not_finite(reference.uncertainty_ns()),
            rate_error: reference.rate_uncertainty,
            ..Self::default()
        };
        for (scan, late) in scans.iter().zip(&late) {
            let early = scan.iter().zip(late).filter(|(_, late)| **late <= latest);
            let list = |value: &dyn Fn(&Wait) -> f64| -> Vec<f64> {
                early.clone().map(|(wait, _)| value(wait)).collect()
            };
            let start = |wait: &Wait| zero_if_not_finite(reference.ns(scan[0].before, wait.before));
            scale.requests.push(list(&|wait| wait.request_ns as f64));
            scale
                .observed
                .push(list(&|wait| observed_ns(wait, reference)));
            scale.starts.push(list(&start));
            scale
                .due
                .push(list(&|wait| start(wait) + wait.request_ns as f64));
            scale
                .ends
                .push(list(&|wait| start(wait) + observed_ns(wait, reference)));
        }
        scale
    }

    /// Returns the steps, with intervals only if the waits come from several processes.
    fn steps(&self, several_processes: bool) -> Steps {
        let longest = self.requests.iter().flatten().copied().fold(0.0, f64::max);
        let mut steps = Steps {
            up_to_ns: longest as u64,
            rounding: None,
            grid: None,
        };
        if self.waits < MIN_MEDIAN_VALUES as f64 {
            return steps;
        }
        let rounding = self.find(&self.observed, &self.requests, self.width);
        // Rounding hides a grid of shorter steps, except from lateness without rounding.
        let width = rounding.map_or(self.width, |found| {
            width(&sorted(
                residuals(&self.observed, found.step).iter().flatten(),
            ))
        });
        let grid = self.find(&self.ends, &self.due, self.width);
        let grid = grid.or_else(|| {
            let pieces = self.pieces(STEP_WIDTHS[0] * width.max(self.shortest));
            self.find(&pieces, &self.due, width)
        });
        // If waits do not start at evenly distributed phases, a lattice looks like a grid too.
        if let (Some(lattice), Some(grid)) = (rounding, grid)
            && !are_even(&self.starts, lattice.step.max(grid.step))
        {
            return steps;
        }
        let known = |found: Lattice, [least, most]: [f64; 2]| {
            let half = found.half_width.hypot(self.rate_error * found.step);
            let value = found.step.clamp(least, most);
            let low = (found.step - half).min(least).min(value);
            let ends = (low, (found.step + half).min(most).max(value));
            Granularity::Step(Interval::with_ends(
                value,
                several_processes.then_some(ends),
            ))
        };
        // The relative standard error of the width of n evenly distributed values is 1/√n.
        let bound = |width: f64| {
            let bound = STEP_WIDTHS[1] * width * (1.0 + Z / self.waits.sqrt());
            (bound <= longest).then_some(Granularity::AtMost(bound.max(self.shortest)))
        };
        steps.rounding = match rounding {
            Some(found) => Some(known(found, self.steps_of_requests(found.step))),
            None => bound(self.width),
        };
        steps.grid = match grid {
            Some(found) => Some(known(found, [0.0, f64::INFINITY])),
            None => bound(width),
        };
        steps
    }

    /// Returns the lattice on which the values lie although the `free` ones, which would cause them,
    /// have evenly distributed phases.
    fn find(&self, values: &[Vec<f64>], free: &[Vec<f64>], width: f64) -> Option<Lattice> {
        let [least, most] = STEP_WIDTHS.map(|ratio| ratio * width);
        let step = largest_step(values, least.max(self.shortest)..=most)?;
        let found = fit(values, step)?;
        let is_lattice = concentration(values, found.step) >= MIN_CONCENTRATION;
        (is_lattice && are_even(free, found.step)).then_some(found)
    }

    /// Returns the ends of waits in pieces, each so short that all steps from `shortest` are tested.
    fn pieces(&self, shortest: f64) -> Vec<Vec<f64>> {
        let span = MAX_FREQUENCIES / OVERSAMPLING * shortest;
        let pieces = |ends: &Vec<f64>| -> Vec<Vec<f64>> {
            let same = |a: &f64, b: &f64| (a / span).floor() == (b / span).floor();
            ends.chunk_by(same).map(<[f64]>::to_vec).collect()
        };
        self.ends.iter().flat_map(pieces).collect()
    }

    /// Returns the shortest and the longest step near `step` by which the fewest requests are rounded
    /// to another multiple than observed. Lateness that grows with the length stretches the lattice of
    /// observed lengths, but not these.
    fn steps_of_requests(&self, step: f64) -> [f64; 2] {
        /// The candidates, as ratios to the step of the observed lengths. *Judgement*: a loaded
        /// machine delays waits by up to 1 % of their length.
        const RATIOS: RangeInclusive<i32> = -200..=200;
        let wrong = |step: f64| {
            let scans = self.requests.iter().zip(&self.observed);
            let wrong = scans.map(|(requests, observed)| {
                let waits = requests.iter().zip(observed);
                let late =
                    waits.map(|(request, observed)| observed - (request / step).ceil() * step);
                let middle = median(late.clone()).unwrap_or(0.0);
                late.filter(|late| (late - middle).abs() > step / 2.0)
                    .count()
            });
            wrong.sum::<usize>()
        };
        let steps = RATIOS.map(|ratio| step * (1.0 + f64::from(ratio) * 1e-4));
        let counted: Vec<(f64, usize)> = steps.map(|step| (step, wrong(step))).collect();
        let fewest = counted.iter().map(|(_, wrong)| *wrong).min().unwrap_or(0);
        let best = counted.iter().filter(|(_, wrong)| *wrong == fewest);
        best.fold([f64::INFINITY, 0.0], |[low, high], (step, _)| {
            [low.min(*step), high.max(*step)]
        })
    }
}

/// Returns the distance from the 5th percentile of sorted values to their median.
fn width(sorted: &[f64]) -> f64 {
    let [low, middle] = [0.05, 0.5].map(|share| quantile(sorted, share).unwrap_or(0.0));
    middle - low
}

/// A step with half the width of its 95 % interval.
#[derive(Clone, Copy)]
struct Lattice {
    step: f64,
    half_width: f64,
}

/// Returns how equal the phases of the values of each list are: 1 if they are identical, about 0 if
/// they are evenly distributed. The mean squared length of the sum of n unit vectors with random
/// phases, which is n, is subtracted.
fn concentration_of(sums: impl Iterator<Item = (usize, Complex)>) -> f64 {
    let (mut squares, mut pairs) = (0.0, 0.0);
    for (count, sum) in sums {
        let count = count as f64;
        squares += sum.length().powi(2) - count;
        pairs += count * (count - 1.0);
    }
    (squares / pairs.max(f64::MIN_POSITIVE)).max(0.0).sqrt()
}

fn phase(values: &[f64], step: f64) -> Complex {
    Complex::sum(values.iter().map(|value| (value / step, 1.0)))
}

fn concentration(lists: &[Vec<f64>], step: f64) -> f64 {
    concentration_of(
        lists
            .iter()
            .map(|values| (values.len(), phase(values, step))),
    )
}

fn are_even(lists: &[Vec<f64>], step: f64) -> bool {
    concentration(lists, step) <= MAX_EVEN_CONCENTRATION
}

/// Returns the distance of each value from the nearest point of the lattice of its list.
fn residuals(lists: &[Vec<f64>], step: f64) -> Vec<Vec<f64>> {
    let of_list = |values: &Vec<f64>| {
        let phase = phase(values, step).turns();
        let distance = |value: &f64| (value / step - phase - (value / step - phase).round()) * step;
        values.iter().map(distance).collect()
    };
    lists.iter().map(of_list).collect()
}

/// Returns the largest step at which the phases are concentrated beyond chance. `None` if there is
/// none, or if two or three times the step suits the values as well.
fn largest_step(lists: &[Vec<f64>], steps: RangeInclusive<f64>) -> Option<f64> {
    let range = |values: &Vec<f64>| {
        let values = values.iter().copied();
        let low = values.clone().fold(f64::INFINITY, f64::min);
        values.fold(f64::NEG_INFINITY, f64::max) - low
    };
    let span = lists.iter().map(range).fold(0.0, f64::max);
    let (shortest, longest) = (*steps.start(), steps.end().min(span / 2.0));
    if !(longest > shortest && shortest > 0.0 && longest.is_finite()) {
        return None;
    }
    let stride = 1.0 / (OVERSAMPLING * span);
    let count = ((1.0 / shortest - 1.0 / longest) / stride + 1.0).min(MAX_FREQUENCIES);
    let degrees: usize = lists
        .iter()
        .map(|values| values.len().saturating_sub(1))
        .sum();
    let by_chance = ((count.ln() - MAX_CHANCE.ln()) / degrees.max(1) as f64).sqrt();
    let least = by_chance.max(MIN_CONCENTRATION);
    let first = 1.0 / longest - stride;
    let weighted: Vec<Vec<(f64, f64)>> = lists
        .iter()
        .map(|values| values.iter().map(|value| (*value, 1.0)).collect())
        .collect();
    let mut sweeps: Vec<Sweep> = weighted
        .iter()
        .map(|values| Sweep::new(values, first, stride))
        .collect();
    let heights: Vec<f64> = (0..count as usize + 2)
        .map(|_| {
            let sums = weighted.iter().zip(&mut sweeps);
            concentration_of(sums.filter_map(|(values, sweep)| Some((values.len(), sweep.next()?))))
        })
        .collect();
    let peaks = (1..heights.len().saturating_sub(1)).filter(|&at| {
        heights[at] >= heights[at - 1]
            && heights[at] > heights[at + 1]
            && heights[at] >= 0.95 * least
    });
    for at in peaks {
        let (step, height) = top(lists, first + at as f64 * stride, stride);
        // Values half a step off the lattice lie on that of half the step.
        let fits = |times: f64, least: f64| concentration(lists, times * step) >= least;
        let finer = [0.5, 1.0 / 3.0]
            .into_iter()
            .any(|times| fits(times, height + OUTLIER_LOSS));
        if height >= least && !finer {
            let coarser = [2.0, 3.0].into_iter().any(|times| fits(times, least));
            return (!coarser).then_some(step);
        }
    }
    None
}

/// Returns the step at the top of the peak around a frequency, and the concentration there.
fn top(lists: &[Vec<f64>], mut frequency: f64, mut stride: f64) -> (f64, f64) {
    for _ in 0..12 {
        stride /= 2.0;
        let near = [frequency - stride, frequency, frequency + stride];
        let height = |frequency: &f64| concentration(lists, 1.0 / frequency);
        let best = near
            .into_iter()
            .max_by(|a, b| height(a).total_cmp(&height(b)));
        frequency = best.unwrap_or(frequency);
    }
    (1.0 / frequency, concentration(lists, 1.0 / frequency))
}

/// Fits a line to the residuals over the values, whose slope corrects the step; each list has its own
/// intercept.
fn fit(lists: &[Vec<f64>], mut step: f64) -> Option<Lattice> {
    let mut half_width = f64::INFINITY;
    for _ in 0..3 {
        let residuals = residuals(lists, step);
        let far = SIGNIFICANT_DEVIATIONS
            * DEVIATION_PER_MEDIAN
            * median(residuals.iter().flatten().map(|far| far.abs()))?
            + 1e-5 * step;
        let (mut square, mut product, mut rest, mut count) = (0.0, 0.0, 0.0, 0.0);
        for (values, residuals) in lists.iter().zip(&residuals) {
            let near = values
                .iter()
                .zip(residuals)
                .filter(|(_, off)| off.abs() <= far);
            let points: Vec<(f64, f64)> = near.map(|(value, off)| (value / step, *off)).collect();
            let size = points.len().max(1) as f64;
            let sums = points
                .iter()
                .fold([0.0; 2], |[x, y], point| [x + point.0, y + point.1]);
            for point in &points {
                let (x, y) = (point.0 - sums[0] / size, point.1 - sums[1] / size);
                (square, product, rest) = (square + x * x, product + x * y, rest + y * y);
            }
            count += points.len() as f64 - 1.0;
        }
        if !(square > 0.0 && count > 2.0) {
            return None;
        }
        let slope = product / square;
        let variance = (rest - slope * product).max(0.0) / (count - 1.0);
        step += slope;
        half_width = student_quantile(CONFIDENCE, count as usize - 1) * (variance / square).sqrt();
    }
    (step.is_finite() && step > 0.0).then_some(Lattice { step, half_width })
}
