//! What runs say of a figure: its difference, how uncertain that is, and how unlikely by chance.

use super::scatter::{DEGREES, Read};
use super::{Difference, Interval, Quantity, Unit};
use crate::fields::Scatter;
use crate::statistics::CONFIDENCE;
use crate::statistics::hypotheses::{Variance, critical, shrunk, two_sided};
use crate::statistics::mean;

/// The two-sided probability that belongs to a change being seen nine times in ten.
/// *Definition*: convention.
const MISSED: f64 = 0.2;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub figure: Interval,
    /// Degrees of freedom of its interval.
    pub degrees: f64,
    /// Whether the core was shared.
    pub shared_core: bool,
    /// The spread that goes with it.
    pub spread: f64,
}

/// Runs of both sides, old and new, in one unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sides {
    pub unit: Option<Unit>,
    pub runs: [Vec<Run>; 2],
    /// Others of the machine, which tell what runs differ by and nothing else.
    pub history: Vec<Run>,
}

/// What follows from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    /// Whether effect and errors are of logarithms.
    relative: bool,
    sides: [Interval; 2],
    effect: f64,
    /// Standard errors of the effect downwards and upwards.
    errors: [f64; 2],
    degrees: f64,
    /// Whether another unit has it to the other side.
    opposed: bool,
}

impl Sides {
    fn is_relative(&self, quantity: Quantity) -> bool {
        let runs = self.unchanged().flatten();
        quantity.is_relative() && runs.into_iter().all(|run| run.figure.value > 0.0)
    }

    /// Runs between which nothing changed.
    pub(super) fn unchanged(&self) -> impl Iterator<Item = &Vec<Run>> {
        self.runs
            .iter()
            .chain([&self.history])
            .filter(|runs| !runs.is_empty())
    }

    fn degrees(&self) -> usize {
        self.unchanged().map(|runs| runs.len() - 1).sum()
    }

    /// The difference as it is, where nothing tells how uncertain that is.
    pub(super) fn bare(&self, quantity: Quantity) -> Option<Difference> {
        let first = |side: &Vec<Run>| Some(side.first()?.figure);
        Some(Difference::between(
            first(&self.runs[0])?,
            first(&self.runs[1])?,
            quantity.is_relative(),
        ))
    }

    /// One run a side: what processes of each differ by, and what such timers are known to do from
    /// run to run.
    fn single(&self, quantity: Quantity, read: Read) -> Option<Evidence> {
        let [[old], [new]] = [self.runs[0].as_slice(), self.runs[1].as_slice()] else {
            return None;
        };
        let relative = self.is_relative(quantity);
        let at = |value: f64| if relative { value.ln() } else { value };
        let ([old_below, old_above], [new_below, new_above]) =
            (old.errors(relative)?, new.errors(relative)?);
        let shared_core = old.shared_core || new.shared_core;
        let spread = f64::midpoint(old.spread, new.spread);
        let value = f64::midpoint(old.figure.value, new.figure.value);
        let between = 2.0 * read.variance(quantity, value, spread, shared_core, relative);
        let error = |old: f64, new: f64| (old * old + new * new + between).sqrt();
        // Welch and Satterthwaite; of both directions the one that is known with fewer.
        let degrees = |old_error: f64, new_error: f64| {
            let parts = [
                (old_error.powi(2), old.degrees),
                (new_error.powi(2), new.degrees),
                (between, DEGREES),
            ];
            let whole: f64 = parts.iter().map(|(part, _)| part).sum();
            let by: f64 = parts
                .iter()
                .map(|(part, degrees)| part * part / degrees)
                .sum();
            if by > 0.0 {
                whole * whole / by
            } else {
                DEGREES
            }
        };
        Some(Evidence {
            relative,
            sides: [old.figure, new.figure],
            effect: at(new.figure.value) - at(old.figure.value),
            errors: [error(old_above, new_below), error(old_below, new_above)],
            degrees: degrees(old_above, new_below).min(degrees(old_below, new_above)),
            opposed: false,
        })
    }

    /// What several runs differ by: the variance of one of them, both sides and the history
    /// together, and as a hint what processes of a run differ by.
    fn between(&self, quantity: Quantity, read: Read) -> Option<Variance> {
        let (relative, degrees) = (self.is_relative(quantity), self.degrees());
        let mut squares = 0.0;
        for runs in self.unchanged() {
            let scaled = scaled(runs, relative);
            let centre = mean(&scaled)?;
            squares += scaled
                .iter()
                .map(|value| (value - centre).powi(2))
                .sum::<f64>();
        }
        let errors = self
            .unchanged()
            .flatten()
            .filter_map(|run| run.errors(relative));
        let within: Vec<f64> = errors
            .map(|[below, above]| f64::midpoint(below, above).powi(2))
            .collect();
        let hint = mean(&within).map_or(f64::NAN, f64::ln);
        (degrees > 0).then(|| Variance {
            value: squares / degrees as f64,
            degrees: degrees as f64,
            kind: read as usize,
            hint,
        })
    }

    fn several(&self, quantity: Quantity, variance: (f64, f64)) -> Option<Evidence> {
        let (relative, (variance, degrees)) = (self.is_relative(quantity), variance);
        let centre = |side: &Vec<Run>| mean(&scaled(side, relative));
        let centres = [centre(&self.runs[0])?, centre(&self.runs[1])?];
        let errors = [0, 1].map(|side: usize| (variance / self.runs[side].len() as f64).sqrt());
        let back = |value: f64| if relative { value.exp() } else { value };
        let half = critical(1.0 - CONFIDENCE, degrees);
        let sides = [0, 1].map(|side: usize| {
            let (at, half) = (centres[side], half * errors[side]);
            Interval::with_ends(back(at), Some((back(at - half), back(at + half))))
        });
        let error = errors[0].hypot(errors[1]);
        Some(Evidence {
            relative,
            sides,
            effect: centres[1] - centres[0],
            errors: [error; 2],
            degrees,
            opposed: false,
        })
    }
}

fn scaled(side: &[Run], relative: bool) -> Vec<f64> {
    side.iter()
        .map(|run| {
            if relative {
                run.figure.value.ln()
            } else {
                run.figure.value
            }
        })
        .collect()
}

impl Run {
    /// Standard errors below and above.
    fn errors(&self, relative: bool) -> Option<[f64; 2]> {
        let (value, (low, high)) = (self.figure.value, self.figure.ends()?);
        let half = critical(1.0 - CONFIDENCE, self.degrees);
        // An end at zero has no logarithm: then the share tells.
        let below = if relative && low > 0.0 {
            (value / low).ln()
        } else {
            value - low
        };
        let below = if relative && low <= 0.0 {
            below / value
        } else {
            below
        };
        let above = if relative {
            (high / value).ln()
        } else {
            high - value
        };
        Some([below / half, above / half])
    }
}

/// The evidence of all timers for one figure in one unit. Variances between runs of figures that
/// follow what the machine does are drawn towards those of their kind.
pub(super) fn evidence(quantity: Quantity, all: &[(Read, &Sides)]) -> Vec<Option<Evidence>> {
    let known: Vec<Option<Variance>> = all
        .iter()
        .map(|(read, sides)| sides.between(quantity, *read))
        .collect();
    let present: Vec<Variance> = known.iter().flatten().copied().collect();
    let alike = matches!(quantity.scatter(), Scatter::Cost | Scatter::Lateness);
    let variances = if alike {
        shrunk(&present)
    } else {
        present
            .iter()
            .map(|variance| (variance.value, variance.degrees))
            .collect()
    };
    let mut variances = variances.into_iter();
    let one = |((read, sides), known): (&(Read, &Sides), &Option<Variance>)| match known {
        Some(_) => sides.several(quantity, variances.next()?),
        None => sides.single(quantity, *read),
    };
    all.iter().zip(&known).map(one).collect()
}

impl Evidence {
    /// That in which a difference is least sure; where a change in one unit is one to the other
    /// side in another, that which is less of one.
    pub(super) fn weakest(ways: &[Self]) -> Option<Self> {
        let least = ways
            .iter()
            .max_by(|a, b| a.probability().total_cmp(&b.probability()))
            .copied()?;
        let opposed = ways.iter().any(|way| way.effect * least.effect < 0.0);
        Some(Self { opposed, ..least })
    }

    /// How likely chance alone makes so large a difference, or a larger one.
    pub(super) fn probability(&self) -> f64 {
        let error = self.errors[usize::from(self.effect < 0.0)];
        let none = self.effect == 0.0 || self.opposed;
        if none {
            1.0
        } else {
            two_sided(self.effect / error, self.degrees)
        }
    }

    /// The smallest change that is found nine times in ten where what is as unlikely as
    /// `probability` counts: in percent where it is relative, else in the unit of the figure.
    pub(super) fn detectable(&self, probability: f64) -> f64 {
        let deviations = critical(probability, self.degrees) + critical(MISSED, self.degrees);
        let change = deviations * self.errors[0].max(self.errors[1]);
        if self.relative {
            100.0 * change.exp_m1()
        } else {
            change
        }
    }

    /// The difference with its own 95 % interval.
    pub(super) fn difference(&self) -> Difference {
        let half = critical(1.0 - CONFIDENCE, self.degrees);
        let (low, high) = (
            self.effect - half * self.errors[0],
            self.effect + half * self.errors[1],
        );
        let [old, new] = self.sides;
        let shift = |effect: f64| {
            if self.relative {
                old.value * effect.exp_m1()
            } else {
                effect
            }
        };
        let percent = |effect: f64| 100.0 * effect.exp_m1();
        let finite =
            |(low, high): (f64, f64)| (low.is_finite() && high.is_finite()).then_some((low, high));
        Difference {
            old,
            new,
            absolute: new.value - old.value,
            interval: finite((shift(low), shift(high))),
            percent: self
                .relative
                .then(|| percent(self.effect))
                .filter(|percent| percent.is_finite()),
            percent_interval: Some((percent(low), percent(high)))
                .filter(|_| self.relative)
                .and_then(finite),
        }
    }
}
