//! Estimates the difference between the old and the new runs in one quantity: its size, its
//! uncertainty, and its probability if nothing changed.

use super::Quantity;
use super::scatter::{DEGREES, Read};
use super::{Change, Interval, Unit};
use crate::fields::Scatter;
use crate::statistics::hypotheses::{VarianceEstimate, critical_value, shrink, two_sided_p_value};
use crate::statistics::{CONFIDENCE, mean};

/// The two-sided probability that corresponds to detecting a change in 90 % of cases. *Definition*:
/// convention.
const DETECTION_ERROR: f64 = 0.2;

/// The value of one quantity in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub figure: Interval,
    /// The degrees of freedom of the estimated variance behind the interval.
    pub degrees: f64,
    /// Whether another program shared the core.
    pub shared_core: bool,
    /// The spread of the timer in the same run.
    pub spread: f64,
}

/// The values of one quantity in the old and the new runs, in the same unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sides {
    pub unit: Option<Unit>,
    /// The old runs and the new runs.
    pub runs: [Vec<Run>; 2],
    /// Other runs of the machine, which improve the estimate of the variance between runs.
    pub history: Vec<Run>,
}

/// The scale on which values are compared, so that their variance does not depend on their size.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Linear,
    Logarithmic,
}

/// The estimated difference between the old and the new side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    scale: Scale,
    /// The old and the new value in the unit of the quantity.
    sides: [Interval; 2],
    /// The new value minus the old value on the scale.
    effect: f64,
    /// The standard errors of the effect, downwards and upwards.
    errors: [f64; 2],
    /// The degrees of freedom of the standard errors.
    degrees: f64,
    /// Whether the value changed in the opposite direction in another unit.
    opposed: bool,
}

impl Scale {
    fn apply(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.ln(),
        }
    }

    fn invert(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.exp(),
        }
    }
}

impl Sides {
    fn scale(&self, quantity: Quantity) -> Scale {
        let mut runs = self.unchanged_groups().flatten();
        if quantity.is_relative() && runs.all(|run| run.figure.value > 0.0) {
            Scale::Logarithmic
        } else {
            Scale::Linear
        }
    }

    /// Groups of runs within which nothing changed.
    fn unchanged_groups(&self) -> impl Iterator<Item = &Vec<Run>> {
        let groups = self.runs.iter().chain([&self.history]);
        groups.filter(|runs| !runs.is_empty())
    }

    /// The difference between the first old and the first new run, without an interval.
    pub(super) fn bare_change(&self, quantity: Quantity) -> Option<Change> {
        let [old, new] = [self.runs[0].first()?.figure, self.runs[1].first()?.figure];
        let percent = 100.0 * (new.value / old.value - 1.0);
        let has_ratio = quantity.is_relative() && old.value > 0.0 && new.value > 0.0;
        Some(Change {
            old,
            new,
            difference: Interval::unbounded(new.value - old.value),
            percent: (has_ratio && percent.is_finite()).then(|| Interval::unbounded(percent)),
        })
    }

    /// The evidence from one run on each side. Its variance is that between the processes of each
    /// run plus the known variance between runs of such timers.
    fn of_single_runs(&self, quantity: Quantity, read: Read) -> Option<Evidence> {
        let [[old], [new]] = [self.runs[0].as_slice(), self.runs[1].as_slice()] else {
            return None;
        };
        let scale = self.scale(quantity);
        let ([old_below, old_above], [new_below, new_above]) =
            (old.errors(scale)?, new.errors(scale)?);
        let between = 2.0
            * read.variance(
                quantity,
                f64::midpoint(old.figure.value, new.figure.value),
                f64::midpoint(old.spread, new.spread),
                old.shared_core || new.shared_core,
                scale == Scale::Logarithmic,
            );
        // The standard error of the difference and its degrees of freedom (the approximation of
        // Welch and Satterthwaite).
        let error = |old_error: f64, new_error: f64| {
            let parts = [
                (old_error.powi(2), old.degrees),
                (new_error.powi(2), new.degrees),
                (between, DEGREES),
            ];
            let whole: f64 = parts.iter().map(|(part, _)| part).sum();
            let by: f64 = parts.iter().map(|(part, of)| part * part / of).sum();
            let degrees = if by > 0.0 {
                whole * whole / by
            } else {
                DEGREES
            };
            (whole.sqrt(), degrees)
        };
        let (down, up) = (error(old_above, new_below), error(old_below, new_above));
        Some(Evidence {
            scale,
            sides: [old.figure, new.figure],
            effect: scale.apply(new.figure.value) - scale.apply(old.figure.value),
            errors: [down.0, up.0],
            degrees: down.1.min(up.1),
            opposed: false,
        })
    }

    /// The variance between runs: the pooled variance of runs around the mean of their group. The
    /// variance between the processes of a run is the covariate from which `shrink` predicts it.
    /// `None` if no group has several runs.
    fn variance(&self, quantity: Quantity, read: Read) -> Option<VarianceEstimate> {
        let scale = self.scale(quantity);
        let degrees: usize = self.unchanged_groups().map(|runs| runs.len() - 1).sum();
        let mut squares = 0.0;
        for runs in self.unchanged_groups() {
            let values = scaled(runs, scale);
            let centre = mean(&values)?;
            let group = values.iter().map(|value| (value - centre).powi(2));
            squares += group.sum::<f64>();
        }
        let runs = self.unchanged_groups().flatten();
        let within: Vec<f64> = runs
            .filter_map(|run| run.errors(scale))
            .map(|[below, above]| f64::midpoint(below, above).powi(2))
            .collect();
        (degrees > 0).then(|| VarianceEstimate {
            value: squares / degrees as f64,
            degrees: degrees as f64,
            group: read as usize,
            covariate: mean(&within).map_or(f64::NAN, f64::ln),
        })
    }

    /// The evidence from several runs, given their variance and its degrees of freedom.
    fn of_several_runs(
        &self,
        quantity: Quantity,
        (variance, degrees): (f64, f64),
    ) -> Option<Evidence> {
        let scale = self.scale(quantity);
        let half = critical_value(1.0 - CONFIDENCE, degrees);
        let side = |runs: &Vec<Run>| {
            let (centre, error) = (
                mean(scaled(runs, scale))?,
                (variance / runs.len() as f64).sqrt(),
            );
            let [low, high] = [-1.0, 1.0].map(|sign| scale.invert(centre + sign * half * error));
            let interval = Interval::with_ends(scale.invert(centre), Some((low, high)));
            Some((centre, error, interval))
        };
        let (old, new) = (side(&self.runs[0])?, side(&self.runs[1])?);
        Some(Evidence {
            scale,
            sides: [old.2, new.2],
            effect: new.0 - old.0,
            errors: [old.1.hypot(new.1); 2],
            degrees,
            opposed: false,
        })
    }
}

fn scaled(side: &[Run], scale: Scale) -> Vec<f64> {
    side.iter()
        .map(|run| scale.apply(run.figure.value))
        .collect()
}

impl Run {
    /// The standard errors below and above the value; `None` if the value has no interval.
    fn errors(&self, scale: Scale) -> Option<[f64; 2]> {
        let (value, (low, high)) = (self.figure.value, self.figure.ends()?);
        let half = critical_value(1.0 - CONFIDENCE, self.degrees);
        let [below, above] = match scale {
            Scale::Linear => [value - low, high - value],
            Scale::Logarithmic if low > 0.0 => [(value / low).ln(), (high / value).ln()],
            // Zero has no logarithm, so the relative distance from the value is used for a lower
            // end at zero.
            Scale::Logarithmic => [(value - low) / value, (high / value).ln()],
        };
        Some([below / half, above / half])
    }
}

/// The evidence of all timers for one quantity in one unit; `None` for values without intervals.
/// For costs and lateness, the variance of a timer is shrunk towards the variance of timers that
/// are read in the same way.
pub(super) fn evidence(quantity: Quantity, all: &[(Read, &Sides)]) -> Vec<Option<Evidence>> {
    let known: Vec<Option<VarianceEstimate>> = all
        .iter()
        .map(|(read, sides)| sides.variance(quantity, *read))
        .collect();
    let present: Vec<VarianceEstimate> = known.iter().flatten().copied().collect();
    let variances = if matches!(quantity.scatter(), Scatter::Cost | Scatter::Lateness) {
        shrink(&present)
    } else {
        present
            .iter()
            .map(|known| (known.value, known.degrees))
            .collect()
    };
    let mut variances = variances.into_iter();
    let one = |((read, sides), known): (&(Read, &Sides), &Option<VarianceEstimate>)| match known {
        Some(_) => sides.of_several_runs(quantity, variances.next()?),
        None => sides.of_single_runs(quantity, *read),
    };
    all.iter().zip(&known).map(one).collect()
}

impl Evidence {
    /// The evidence with the least significant difference among the evidence in several units.
    /// `opposed` is set if the value changed in the opposite direction in another unit.
    pub(super) fn weakest(ways: &[Self]) -> Option<Self> {
        let least = ways
            .iter()
            .max_by(|a, b| a.probability().total_cmp(&b.probability()))
            .copied()?;
        let opposed = ways.iter().any(|way| way.effect * least.effect < 0.0);
        Some(Self { opposed, ..least })
    }

    /// The probability of a difference at least this large if nothing changed (the two-sided
    /// p-value).
    pub(super) fn probability(&self) -> f64 {
        if self.effect == 0.0 || self.opposed {
            return 1.0;
        }
        let error = self.errors[usize::from(self.effect < 0.0)];
        two_sided_p_value(self.effect / error, self.degrees)
    }

    /// The smallest change that is detected in 90 % of cases if differences with at most this
    /// `probability` count as changes: in percent on the logarithmic scale, else in the unit of the
    /// quantity.
    pub(super) fn detectable(&self, probability: f64) -> f64 {
        let deviations = critical_value(probability, self.degrees)
            + critical_value(DETECTION_ERROR, self.degrees);
        let change = deviations * self.errors[0].max(self.errors[1]);
        match self.scale {
            Scale::Linear => change,
            Scale::Logarithmic => 100.0 * change.exp_m1(),
        }
    }

    /// The difference with its 95 % interval.
    pub(super) fn change(&self) -> Change {
        let half = critical_value(1.0 - CONFIDENCE, self.degrees);
        let [old, new] = self.sides;
        let effect = Interval {
            value: self.effect,
            low: self.effect - half * self.errors[0],
            high: self.effect + half * self.errors[1],
        };
        let shares = effect.map(f64::exp_m1);
        let differences = match self.scale {
            Scale::Linear => effect,
            Scale::Logarithmic => shares.scaled(old.value),
        };
        let difference = Interval::with_ends(new.value - old.value, differences.ends());
        let percent = shares.scaled(100.0);
        let is_relative = self.scale == Scale::Logarithmic && percent.value.is_finite();
        Change {
            old,
            new,
            difference,
            percent: is_relative.then(|| Interval::with_ends(percent.value, percent.ends())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Change, Interval, Quantity, Read, Run, Sides, evidence};

    /// The change between one run on each side, with intervals of ± `half`.
    fn change(old: (f64, f64), new: (f64, f64)) -> Change {
        let run = |(value, half): (f64, f64)| Run {
            figure: Interval::with_ends(value, Some((value - half, value + half))),
            degrees: 1e6,
            shared_core: false,
            spread: 0.9,
        };
        let sides = Sides {
            unit: None,
            runs: [vec![run(old)], vec![run(new)]],
            history: Vec::new(),
        };
        let mut all = Quantity::all();
        let rate = all.find(|quantity| quantity.name() == "rate").unwrap();
        let found = evidence(rate, &[(Read::Waiting, &sides)]);
        found[0].expect("both have intervals").change()
    }

    #[test]
    fn errors_add_up_as_squares() {
        let change = change((10.0, 4.0), (30.0, 3.0));
        let (low, high) = change.difference.ends().expect("both have intervals");
        assert_eq!(change.difference.value, 20.0);
        assert!((high - low - 10.0).abs() < 1e-3, "{change:?}");
        assert_eq!(change.percent, None, "a rate is no time");
    }

    proptest! {
        #[test]
        fn swapped_sides_mirror_the_interval(
            old in 0.1f64..1e3, new in 0.1f64..1e3, a in 0.0f64..10.0, b in 0.0f64..10.0,
        ) {
            let (there, back) = (change((old, a), (new, b)), change((new, b), (old, a)));
            let ends = [there, back].map(|change| change.difference.ends().unwrap());
            prop_assert!((ends[0].0 + ends[1].1).abs() < 1e-9 && (ends[0].1 + ends[1].0).abs() < 1e-9);
            prop_assert!(ends[0].0 <= there.difference.value && there.difference.value <= ends[0].1);
        }
    }
}
