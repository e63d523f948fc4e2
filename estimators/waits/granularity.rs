//! Finds the granularity of waits in *scans*, which are waits of random lengths. Values lie on a
//! *lattice* if they are multiples of a step from a common phase: the observed lengths do if a timer
//! rounds requests, the times of wake-ups do if they occur at regular points of absolute time (a
//! *grid*). Only steps that explain the width of the lateness are searched for, because lateness is
//! then distributed evenly over a step.

use std::collections::BTreeMap;

use super::{late_ns, observed_ns};
use crate::model::{Estimate, Granularity, Steps};
use crate::statistics::phasors::{Complex, Sweep};
use crate::statistics::{
    CONFIDENCE, SIGNIFICANT_DEVIATIONS, mean, median, quantile, sorted, student_quantile,
};
use crate::trace::{Reference, Wait, WaitObservations};

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
/// The largest concentration of phases that count as evenly distributed, and the largest by twice or
/// three times a step: values that lie on these lattices, too, have a longer step. *Judgement*: half
/// the step of noisy values suits them as well, while the step itself fails [`MIN_CONCENTRATION`].
const MAX_EVEN_CONCENTRATION: f64 = 0.65;
/// The largest probability that evenly distributed phases are as concentrated at any of the tested
/// frequencies. *Chance*.
const MAX_CHANCE: f64 = 1e-4;
/// The number of tested frequencies (1/step) in the width of a peak of the concentration.
/// *Numerical*.
const OVERSAMPLING: f64 = 8.0;
/// The share of the height of a peak from which fitted lines lead to its top. *Numerical*.
const NEAR_TOP: f64 = 0.9;
/// The largest number of tested frequencies. *Numerical*.
const MAX_FREQUENCIES: f64 = 2e4;
/// The largest share of its length by which the load of a machine delays each wait, which stretches
/// the lattice of observed lengths. *Judgement*.
const MAX_STRETCH: f64 = 0.01;

/// The largest distance of a value from the lattice that a line is fitted to, in widths of these
/// distances, from their 5th percentile to their median. *Chance*: 3.3 deviations of normal noise.
const MAX_DISTANCE: f64 = 2.0;

/// Returns the granularity of scans of similar lengths, from short to long ones.
pub fn granularity(runs: &[WaitObservations], reference: &Reference) -> Vec<Steps> {
    let mut scales = BTreeMap::<i64, Vec<&Vec<Wait>>>::new();
    for scan in runs.iter().flat_map(|run| &run.scans) {
        if let Some(longest) = scan.iter().map(|wait| wait.request_ns).max() {
            let scale = (longest.max(1) as f64).ln() / SCALE_RATIO.ln();
            scales.entry(scale.round() as i64).or_default().push(scan);
        }
    }
    let steps = |scans: &Vec<_>| Scale::new(scans, reference).steps(runs.len() > 1);
    scales.values().map(steps).collect()
}

/// A wait in nanoseconds since the first one of its scan began.
struct Timed {
    start: f64,
    request: f64,
    end: f64,
}

/// What may lie on a lattice: a property of a wait.
type Property = fn(&Timed) -> f64;

/// Scans of similar lengths.
struct Scale<'a> {
    reference: &'a Reference,
    /// A list for each scan, without the latest waits.
    scans: Vec<Vec<Timed>>,
    /// The number of waits and their longest request, with the latest waits.
    waits: f64,
    longest: f64,
    /// The distance from the 5th percentile of the lateness to its median.
    width: f64,
}

impl<'a> Scale<'a> {
    fn new(scans: &[&Vec<Wait>], reference: &'a Reference) -> Self {
        let timed = |scan: &&Vec<Wait>| -> Vec<(Timed, f64)> {
            let late = |wait| late_ns(wait, reference);
            let middle = median(scan.iter().map(late)).unwrap_or(0.0);
            let timed = scan.iter().map(|wait| {
                let start = reference.ns(scan[0].before, wait.before);
                let (request, end) = (wait.request_ns as f64, start + observed_ns(wait, reference));
                (
                    Timed {
                        start,
                        request,
                        end,
                    },
                    late(wait) - middle,
                )
            });
            timed.collect()
        };
        let scans: Vec<Vec<(Timed, f64)>> = scans.iter().map(timed).collect();
        let late = sorted(scans.iter().flatten().map(|(_, late)| late));
        let latest = quantile(&late, 1.0 - LATEST_SHARE).unwrap_or(0.0);
        let requests = scans.iter().flatten().map(|(wait, _)| wait.request);
        let longest = requests.fold(0.0, f64::max);
        let used = |scan: Vec<(Timed, f64)>| {
            let used = scan.into_iter().filter(|(_, late)| *late <= latest);
            used.map(|(wait, _)| wait).collect()
        };
        Self {
            reference,
            scans: scans.into_iter().map(used).collect(),
            waits: late.len() as f64,
            longest,
            width: width(&late),
        }
    }

    /// Returns the steps, with intervals only if the waits come from several processes.
    fn steps(&self, several_processes: bool) -> Steps {
        let rounding = self.find(
            |wait| wait.end - wait.start,
            |wait| wait.request,
            self.width,
        );
        // Rounding hides a grid of shorter steps, except from lateness without rounding.
        let rest = rounding.map_or(self.width, |found| found.width);
        let grid = self.find(|wait| wait.end, |wait| wait.start + wait.request, rest);
        let known = |found: Option<Lattice>, width: f64, stretch: f64| {
            // The relative standard error of the width of n evenly distributed values is 1/√n.
            let share = 1.0 - SIGNIFICANT_DEVIATIONS / self.waits.sqrt();
            let bound = STEP_WIDTHS[1] * width / share;
            let Some(Lattice {
                step, half_width, ..
            }) = found
            else {
                let is_known = bound > 0.0 && bound <= self.longest;
                return is_known.then(|| Granularity::AtMost(bound.max(self.shortest())));
            };
            let half = half_width.hypot(self.reference.rate_uncertainty * step);
            let ends = (step * (1.0 - stretch) - half, step + half);
            let step = Estimate::with_ends(step, several_processes.then_some(ends));
            Some(Granularity::Step(step))
        };
        Steps {
            up_to_ns: self.longest as u64,
            rounding: known(rounding, self.width, MAX_STRETCH),
            grid: known(grid, rest, 0.0),
        }
    }

    /// Returns the shortest step that the reference shows.
    fn shortest(&self) -> f64 {
        MIN_REFERENCE_STEPS * self.reference.uncertainty_ns()
    }

    /// Returns the lattice on which a property lies although `free` and the starts of waits, which
    /// could cause it, have evenly distributed phases. Each piece of a scan has its own phase; it is
    /// so short that all steps are tested.
    fn find(&self, property: Property, free: Property, width: f64) -> Option<Lattice> {
        let [least, most] = STEP_WIDTHS.map(|ratio| ratio * width);
        let least = least.max(self.shortest());
        let span = MAX_FREQUENCIES / OVERSAMPLING * least;
        let piece = |wait: &Timed| (property(wait) / span).floor();
        let lists = |listed: Property| -> Vec<Vec<f64>> {
            let scans = self.scans.iter();
            let pieces = scans.flat_map(|scan| scan.chunk_by(|a, b| piece(a) == piece(b)));
            pieces
                .map(|waits| waits.iter().map(listed).collect())
                .collect()
        };
        let found = longest_step(&lists(property), least, most)?;
        let is_even = |free| concentration(&lists(free), found.step) <= MAX_EVEN_CONCENTRATION;
        (is_even(free) && is_even(|wait| wait.start)).then_some(found)
    }
}

/// Returns the distance from the 5th percentile of sorted values to their median.
fn width(sorted: &[f64]) -> f64 {
    let [low, middle] = [0.05, 0.5].map(|share| quantile(sorted, share).unwrap_or(0.0));
    middle - low
}

/// Returns how equal the phases of the values of each list are: 1 if they are identical, about 0 if
/// they are evenly distributed. The mean squared length of the sum of n unit vectors with random
/// phases, which is n, is subtracted.
fn concentration_of(lists: &[Vec<f64>], sums: impl Iterator<Item = Complex>) -> f64 {
    let (mut squares, mut pairs) = (0.0, f64::MIN_POSITIVE);
    for (values, sum) in lists.iter().zip(sums) {
        let count = values.len() as f64;
        squares += sum.length().powi(2) - count;
        pairs += count * (count - 1.0);
    }
    (squares / pairs).max(0.0).sqrt()
}

fn phase(values: &[f64], step: f64) -> Complex {
    Complex::sum(values.iter().map(|value| (value / step, 1.0)))
}

fn concentration(lists: &[Vec<f64>], step: f64) -> f64 {
    concentration_of(lists, lists.iter().map(|values| phase(values, step)))
}

/// Returns the longest step at which the phases are concentrated beyond chance. `None` if there is
/// none, or if the values lie on the lattice of two or three times the step, too.
fn longest_step(lists: &[Vec<f64>], shortest: f64, longest: f64) -> Option<Lattice> {
    let range = |values: &Vec<f64>| {
        let sorted = sorted(values);
        sorted[sorted.len() - 1] - sorted[0]
    };
    let span = lists.iter().map(range).fold(0.0, f64::max);
    let longest = longest.min(span / 2.0);
    if !(longest > shortest && shortest > 0.0 && longest.is_finite()) {
        return None;
    }
    let stride = 1.0 / (OVERSAMPLING * span);
    let count = ((1.0 / shortest - 1.0 / longest) / stride + 1.0).min(MAX_FREQUENCIES);
    let degrees: usize = lists.iter().map(|values| values.len() - 1).sum();
    let by_chance = ((count / MAX_CHANCE).ln() / degrees.max(1) as f64).sqrt();
    let least = by_chance.max(MIN_CONCENTRATION);
    let weighted = |values: &Vec<f64>| values.iter().map(|value| (*value, 1.0)).collect();
    let weighted: Vec<Vec<(f64, f64)>> = lists.iter().map(weighted).collect();
    let sweep = |values| Sweep::new(values, 1.0 / longest, stride);
    let mut sweeps: Vec<Sweep> = weighted.iter().map(|values| sweep(values)).collect();
    let near = |at: f64| {
        let height = concentration_of(lists, sweeps.iter_mut().flat_map(Sweep::next));
        let is_near = height >= NEAR_TOP * least;
        is_near.then(|| {
            (0..2).try_fold(
                fit(lists, 1.0 / (1.0 / longest + at * stride))?,
                |found, _| fit(lists, found.step),
            )
        })?
    };
    let height = |step| concentration(lists, step);
    let mut steps = (0..count as usize).map(|at| at as f64).filter_map(near);
    let found = steps.find(|found| height(found.step) >= least)?;
    let is_longest = [2.0, 3.0]
        .iter()
        .all(|times| height(times * found.step) <= MAX_EVEN_CONCENTRATION);
    is_longest.then_some(found)
}

/// A step with half the width of its 95 % interval, and the width of the distances from its lattice.
#[derive(Clone, Copy)]
struct Lattice {
    step: f64,
    half_width: f64,
    width: f64,
}

/// Fits a line to the distances of the values from the lattice, whose slope corrects the step; each
/// list has its own phase. Outliers are left out.
fn fit(lists: &[Vec<f64>], step: f64) -> Option<Lattice> {
    let points = lists.iter().flat_map(|values| {
        let phase = phase(values, step).turns();
        let middle = mean(values).unwrap_or(0.0);
        values.iter().map(move |value| {
            let steps = value / step - phase;
            (value - middle, (steps - steps.round()) * step)
        })
    });
    let mut points: Vec<(f64, f64)> = points.collect();
    let width = width(&sorted(points.iter().map(|(_, off)| off)));
    points.retain(|(_, off)| off.abs() <= MAX_DISTANCE * width + 1e-5 * step);
    let sum = |term: fn(f64, f64) -> f64| points.iter().map(|(x, y)| term(*x, *y)).sum::<f64>();
    let (square, product) = (sum(|x, _| x * x), sum(|x, y| x * y));
    let degrees = points.len().checked_sub(lists.len() + 2)?;
    let slope = product / square;
    let variance = (sum(|_, y| y * y) - slope * product).max(0.0) / degrees as f64;
    let half_width = step * student_quantile(CONFIDENCE, degrees) * (variance / square).sqrt();
    let step = step * (1.0 + slope);
    (half_width.is_finite() && step > 0.0).then_some(Lattice {
        step,
        half_width,
        width,
    })
}
