//! Estimates how values of many timers differ between two sides of runs: as a shift of the whole
//! machine, plus a shift that a family of timers has in common, plus the own change of each timer.
//! METHODOLOGY.md explains the model.
//!
//! ```text
//! difference of a timer = shift of the machine + shift of its family + own change
//! ```
//!
//! How much each of them scatters where nothing changed is taken from the processes of the compared
//! runs (`scatter.rs`), and from how much the runs of a side differ among themselves.

use super::scatter::{Location, REFERENCE};
use crate::model::Interval;
use crate::statistics::hypotheses::{critical_value, two_sided_p_value};
use crate::statistics::{CONFIDENCE, median};

/// A family has more timers than this; of fewer, each is judged by itself, as a family of one.
/// *Definition*: of two timers that differ, neither is known to be the changed one.
pub const FEW: usize = 2;
/// The degrees of freedom with which the scatter of single timers is known. *Judgement*: about as many
/// as processes measure a timer in two runs.
const DEGREES: f64 = 15.0;
/// The degrees of freedom with which the scatter of families is known before their runs are compared.
/// *Judgement*: a few runs decide more than what the processes of one promise.
const PRIOR_DEGREES: f64 = 4.0;
/// The variance of the mean of a family, as a share of that of a timer. *Seen*: with 0.3 the 95 %
/// intervals hold at least 95 % of the differences between unchanged runs on Emerald Rapids and Zen 3.
const SHARED_VARIANCE: f64 = 0.3;

/// The values of a timer in the old runs and the new runs.
pub type Sides = [Vec<Location>; 2];

/// Timers that are judged together; of few timers of a family, each by itself.
pub struct TimerGroup<'n> {
    /// The way in which they are read.
    pub family: &'n str,
    /// The name of the family or of the only timer.
    pub name: &'n str,
    /// The timers with their numbers among all figures.
    pub timers: Vec<(usize, Sides)>,
}

/// The shift of timers, and the probability of such a shift if nothing changed.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    pub by: Interval,
    pub probability: f64,
}

/// The change of a timer, without that of the machine.
#[derive(Clone, Copy, Debug)]
pub struct TimerChange {
    /// The mean values of the old side and the new side on the scale of the comparison.
    pub sides: [Interval; 2],
    /// The new value minus the old value.
    pub total: Interval,
    /// The total without the shift of the family.
    pub own: Interval,
    /// The probability of such an own change if nothing changed; 1 for a timer by itself.
    pub probability: f64,
}

/// The shift of a family, and the changes of its timers.
#[derive(Debug)]
pub struct Estimate {
    pub shift: Shift,
    pub changes: Vec<TimerChange>,
}

/// A variance that is known with some degrees of freedom.
#[derive(Clone, Copy, Debug, Default)]
struct PooledVariance {
    squares: f64,
    degrees: f64,
}

impl PooledVariance {
    fn add(&mut self, square: f64, degrees: f64) {
        self.squares += square * degrees;
        self.degrees += degrees;
    }

    /// The scale together with one that is `prior` with `degrees` degrees of freedom.
    fn with(self, prior: f64, degrees: f64) -> f64 {
        (self.squares + prior * degrees) / (self.degrees + degrees)
    }
}

/// A timer with the means of its old and its new side, and their variances.
struct Averaged<'a> {
    sides: &'a Sides,
    means: [Location; 2],
    /// How much it differs between runs of a side.
    between_runs: PooledVariance,
}

impl<'a> Averaged<'a> {
    fn new(sides: &'a Sides) -> Self {
        let mean = |side: usize| {
            let count = sides[side].len() as f64;
            let sum = |part: fn(&Location) -> f64| sides[side].iter().map(part).sum::<f64>();
            Location {
                value: sum(|location| location.value) / count,
                own: sum(|location| location.own) / count.powi(2),
                state: sum(|location| location.state) / count.powi(2),
            }
        };
        Self {
            means: [mean(0), mean(1)],
            between_runs: PooledVariance::default(),
            sides,
        }
    }

    fn difference(&self) -> f64 {
        self.means[1].value - self.means[0].value
    }

    /// The variance of its difference.
    fn own(&self) -> f64 {
        self.means[0].own + self.means[1].own
    }

    /// The variance of the difference of its family between states.
    fn state(&self) -> f64 {
        self.means[0].state + self.means[1].state
    }

    /// How much more its runs differ than its processes say.
    fn scale(&self) -> f64 {
        self.between_runs.with(1.0, DEGREES).max(1.0)
    }

    /// The variance of its difference, by its processes and its runs.
    fn variance(&self) -> f64 {
        self.own() * self.scale()
    }
}

/// Estimates the changes of groups of timers, and the shift of the machine.
pub fn estimate(groups: &[TimerGroup]) -> (Vec<Estimate>, Shift) {
    let sides = groups
        .iter()
        .map(|group| group.timers.iter().map(|(_, sides)| sides));
    let mut all: Vec<Vec<Averaged>> = sides
        .map(|sides| sides.map(Averaged::new).collect())
        .collect();
    let median_of = |timers: &Vec<Averaged>| {
        weighted_median(timers.iter().map(|it| (it.difference(), it.own())))
    };
    let shifts: Vec<f64> = all.iter().map(median_of).collect();
    let of_reference = |group: &TimerGroup| group.family == REFERENCE;
    let reference: Vec<&Averaged> = groups
        .iter()
        .zip(&all)
        .filter(|(group, _)| of_reference(group))
        .flat_map(|(_, timers)| timers)
        .collect();
    let machine = shift_of_machine(groups, &shifts);
    let reference_variance =
        SHARED_VARIANCE * typical_variance(reference.iter().map(|timer| timer.own()));
    let reference_state = reference.first().map_or(0.0, |timer| timer.state());
    let together = compare_runs(groups, &mut all);
    let degrees = match together.degrees {
        0.0 => f64::INFINITY,
        degrees => PRIOR_DEGREES + degrees,
    };
    // A few runs that agree promise nothing of runs at another time.
    let of_families = together.with(1.0, PRIOR_DEGREES).max(1.0);
    let shift = |value: f64, variance: f64, degrees: f64| {
        let error = variance.sqrt();
        let half = critical_value(1.0 - CONFIDENCE, degrees) * error;
        Shift {
            by: Interval::around(value, half),
            probability: two_sided_p_value(value / error, degrees),
        }
    };
    let half = critical_value(1.0 - CONFIDENCE, DEGREES);
    let estimates = groups
        .iter()
        .zip(&all)
        .zip(shifts)
        .map(|((group, timers), value)| {
            let is_family = timers.len() > FEW;
            let state = timers.iter().map(Averaged::state).sum::<f64>() / timers.len() as f64;
            let variance = if is_family {
                let typical = typical_variance(timers.iter().map(Averaged::own));
                of_families * (SHARED_VARIANCE * typical + state)
            } else {
                timers.iter().map(Averaged::variance).sum::<f64>() / timers.len() as f64 + state
            };
            let of_machine = if machine != 0.0 && !of_reference(group) {
                reference_variance
            } else {
                0.0
            };
            let variance = variance + of_machine;
            let degrees = if is_family { degrees } else { DEGREES };
            let shift = shift(value - machine, variance, degrees);
            let of_family = if is_family { variance } else { 0.0 };
            let change = |timer: &Averaged| {
                let own = timer.difference() - value;
                let variance = timer.variance();
                let within =
                    |value: f64, variance: f64| Interval::around(value, half * variance.sqrt());
                let side = |at: usize| {
                    let Location { value, own, state } = timer.means[at];
                    within(value - [0.0, machine][at], timer.scale() * own + state)
                };
                TimerChange {
                    sides: [0, 1].map(side),
                    total: within(timer.difference() - machine, variance + of_family),
                    own: within(own, variance),
                    // The own change of a timer by itself is 0.
                    probability: two_sided_p_value(own / variance.sqrt(), DEGREES),
                }
            };
            Estimate {
                changes: timers.iter().map(change).collect(),
                shift,
            }
        });
    let of_machine = of_families * (reference_variance + reference_state);
    (estimates.collect(), shift(machine, of_machine, degrees))
}

/// The shift of the machine: that of the reference family, if at least half of the other families moved with it, that
/// is in the same direction by at least half as much; 0 otherwise, because then these clocks changed
/// and not the machine.
fn shift_of_machine(groups: &[TimerGroup], shifts: &[f64]) -> f64 {
    let of = |is_reference: bool| {
        groups
            .iter()
            .zip(shifts)
            .filter(move |(group, _)| (group.family == REFERENCE) == is_reference)
            .map(|(_, shift)| *shift)
            .collect::<Vec<f64>>()
    };
    let (reference, others) = (median(of(true)).unwrap_or(0.0), of(false));
    let moved = others
        .iter()
        .filter(|other| *other / reference >= 0.5)
        .count();
    if moved > 0 && 2 * moved >= others.len() {
        reference
    } else {
        0.0
    }
}

/// Compares the runs of each side with their mean. Returns how much families differ between runs,
/// relative to what their processes promise and beyond what all families have in common; adds to the
/// timers how much they differ from their families.
fn compare_runs(groups: &[TimerGroup], all: &mut [Vec<Averaged>]) -> PooledVariance {
    let mut together = PooledVariance::default();
    for side in 0..2 {
        let runs = all
            .iter()
            .flatten()
            .map(|timer| timer.sides[side].len())
            .max()
            .unwrap_or(0);
        if runs < 2 {
            continue;
        }
        let share = (runs - 1) as f64 / runs as f64;
        for run in 0..runs {
            // Of each family its shift, the variance of that, and whether it is the reference.
            let mut shifts: Vec<(f64, f64, bool)> = Vec::new();
            for (group, timers) in groups.iter().zip(all.iter_mut()) {
                let of_run = timers
                    .iter_mut()
                    .filter(|timer| timer.sides[side].len() == runs);
                let of_run = of_run.map(|timer| {
                    let location = timer.sides[side][run];
                    (location.value - timer.means[side].value, location, timer)
                });
                let found: Vec<(f64, Location, &mut Averaged)> = of_run.collect();
                let mut common = 0.0;
                if found.len() > FEW {
                    let own = found.iter().map(|(by, location, _)| (*by, location.own));
                    common = weighted_median(own.clone());
                    let typical = typical_variance(own.map(|(_, variance)| variance));
                    let variance = share * (SHARED_VARIANCE * typical + found[0].1.state);
                    shifts.push((common, variance, group.family == REFERENCE));
                }
                for (by, location, timer) in found {
                    let square = (by - common).powi(2) / (share * location.own);
                    timer.between_runs.add(square, share);
                }
            }
            let of_machine = shifts
                .iter()
                .find(|shift| shift.2)
                .map_or(0.0, |shift| shift.0);
            for (shift, variance, _) in shifts.iter().filter(|shift| !shift.2) {
                together.add((shift - of_machine).powi(2) / variance, share);
            }
        }
    }
    together
}

/// The variance of the mean of timers whose errors go together: the square of the harmonic mean of
/// their standard deviations, because they are weighted by the inverse of these.
fn typical_variance(variances: impl Iterator<Item = f64>) -> f64 {
    let weights: Vec<f64> = variances.map(|variance| variance.sqrt().recip()).collect();
    if weights.is_empty() {
        return 0.0;
    }
    (weights.len() as f64 / weights.iter().sum::<f64>()).powi(2)
}

/// The median of values with variances, weighted by the inverse of their standard deviations; NaN
/// without values.
fn weighted_median(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut values: Vec<(f64, f64)> = values
        .map(|(value, variance)| (value, variance.sqrt().recip()))
        .collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let mut previous: Option<(f64, f64)> = None;
    for (value, weight) in values {
        // Each value stands at the middle of its weight; between two values, the median is
        // interpolated.
        let at = sum + weight / 2.0;
        if at >= half {
            return previous.map_or(value, |(before, from)| {
                before + (value - before) * (half - from) / (at - from)
            });
        }
        previous = Some((value, at));
        sum += weight;
    }
    previous.map_or(f64::NAN, |(value, _)| value)
}
