//! Finds the granularity of waits in *scans*, which are waits of random lengths. Values lie on a
//! *lattice* if they are multiples of a step from a common phase: the observed lengths do if a timer
//! rounds requests, the times of wake-ups do if they occur at regular points of absolute time (a
//! *grid*). Only steps that explain the width of the lateness are searched for, because on a
//! lattice lateness is distributed evenly over a step.

use std::collections::BTreeMap;

use super::{late_ns, observed_ns};
use crate::model::{Estimate, Granularity, Steps};
use crate::resolution::lattice::{self, Lattice, MAX_FREQUENCIES, Weighted, longest_span};
use crate::statistics::{SIGNIFICANT_DEVIATIONS, Z, median, quantile, sorted};
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
/// The largest concentration of phases that count as evenly distributed. It also bounds that at twice
/// and three times a step: values that lie on these lattices, too, have a longer step. *Judgement*: less
/// than [`MIN_CONCENTRATION`], because values that are a little too noisy for their step must not be
/// said to have half of it.
const MAX_EVEN_CONCENTRATION: f64 = 0.65;
/// The squared concentration, times the number of values, that evenly distributed phases reach at any
/// of the tested frequencies with a probability of 10⁻⁴. *Chance*: the logarithm of 2·10⁴ frequencies
/// times 10⁴.
const CHANCE: f64 = 19.1;
/// The largest share of its length by which the load of a machine delays each wait, which stretches
/// the lattice of observed lengths. *Judgement*.
const MAX_STRETCH: f64 = 0.01;

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
        // Rounding hides a grid of shorter steps, so only what rounding leaves of the lateness is searched.
        let rest = rounding.map_or(self.width, |found| found.width);
        let grid = self.find(|wait| wait.end, |wait| wait.start + wait.request, rest);
        let known = |found: Option<Lattice>, width: f64, stretch: f64| {
            // The relative standard error of the width of n evenly distributed values is 1/√n.
            let share = 1.0 - SIGNIFICANT_DEVIATIONS / self.waits.sqrt();
            let bound = STEP_WIDTHS[1] * width / share;
            let Some(Lattice { step, error, .. }) = found else {
                let is_known = bound > 0.0 && bound <= self.longest;
                return is_known.then(|| Granularity::AtMost(bound.max(self.shortest())));
            };
            let half = (Z * error).hypot(self.reference.rate_uncertainty * step);
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

    /// Returns the lattice on which a property lies, unless `free` or the starts of waits lie on it too
    /// and so cause it, or the property also lies on one of two or three times the step, which is then
    /// the step. Each piece of a scan has its own phase; it
    /// is so short that all steps are tested.
    fn find(&self, property: Property, free: Property, width: f64) -> Option<Lattice> {
        let [least, most] = STEP_WIDTHS.map(|ratio| ratio * width);
        let least = least.max(self.shortest());
        let span = longest_span(least);
        let piece = |wait: &Timed| (property(wait) / span).floor();
        let lists = |listed: Property| -> Vec<Vec<(f64, f64)>> {
            let scans = self.scans.iter();
            let pieces = scans.flat_map(|scan| scan.chunk_by(|a, b| piece(a) == piece(b)));
            let values = |waits: &[Timed]| sorted(waits.iter().map(listed));
            let weighted =
                |values: Vec<f64>| values.into_iter().map(|value| (value, 1.0)).collect();
            pieces.map(values).map(weighted).collect()
        };
        let values = lists(property);
        let values: Vec<&Weighted> = values.iter().map(Vec::as_slice).collect();
        let range = |values: &&Weighted| values[values.len() - 1].0 - values[0].0;
        let longest = values.iter().map(range).fold(0.0, f64::max) / 2.0;
        let degrees: usize = values.iter().map(|values| values.len() - 1).sum();
        let by_chance = (CHANCE / degrees.max(1) as f64).sqrt();
        let found = lattice::find(
            MAX_FREQUENCIES,
            &values,
            [least, most.min(longest)],
            by_chance.max(MIN_CONCENTRATION),
            Some,
        )?;
        let is_even = |listed: Property, step: f64| {
            let lists = lists(listed);
            let lists: Vec<&Weighted> = lists.iter().map(Vec::as_slice).collect();
            lattice::concentration(&lists, step) <= MAX_EVEN_CONCENTRATION
        };
        let step = found.step;
        let is_longest = is_even(property, 2.0 * step) && is_even(property, 3.0 * step);
        (is_longest && is_even(free, step) && is_even(|wait| wait.start, step)).then_some(found)
    }
}

/// Returns the distance from the 5th percentile of sorted values to their median.
fn width(sorted: &[f64]) -> f64 {
    let [low, middle] = [0.05, 0.5].map(|share| quantile(sorted, share).unwrap_or(0.0));
    middle - low
}
