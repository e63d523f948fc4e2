//! Estimates how values of many timers differ between two sides of runs: as a shift that a family
//! of timers has in common, plus the own change of each timer. METHODOLOGY.md explains the model.
//!
//! ```text
//! difference of a timer = shift of its family + own change      (of logarithms, for costs)
//! shift of an unchanged machine      ~ Student, scale: what runs have in common
//! own change of an unchanged machine ~ Student, scale: what a timer differs by from its family
//! ```

use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_2;

use super::noise::PARTNERS;
use crate::statistics::hypotheses::{chi_squared_p_value, critical_value, two_sided_p_value};
use crate::statistics::{CONFIDENCE, median};

/// The degrees of freedom with which the scale of a family's shift is known beforehand.
/// *Judgement*: a few machines, whose runs have heavier tails than a normal distribution.
const FAMILY_DEGREES: f64 = 12.0;
/// The degrees of freedom with which the scale of the own changes is known beforehand.
/// *Judgement*: many timers of a few machines.
const OWN_DEGREES: f64 = 15.0;
/// The least probability of the scatter of replicates for which the scale known beforehand still
/// counts. *Definition*: convention.
const MIN_AGREEMENT: f64 = 0.05;
/// The weight, in timers, of the scales known beforehand against the scatter of the own changes in
/// the comparison itself. *Judgement*.
const OWN_SCATTER_WEIGHT: f64 = 10.0;
/// The degrees of freedom that a timer contributes to a scale that is estimated from the median of
/// absolute values. *Computed*: the efficiency of that estimate for a normal distribution.
const MEDIAN_EFFICIENCY: f64 = 0.37;
/// The median of the absolute value of a standard normal variable. *Computed*.
const NORMAL_MEDIAN: f64 = 0.6745;
/// The standard deviation of the difference between the shifts of two partner families, relative to
/// the larger scale of their shifts. *Seen*: 0.06 to 0.5 in runs of three machines.
const PARTNER_SCALE: f64 = 0.5;
/// A family has more timers than this; of fewer, each is judged by itself, as a family of one.
/// *Definition*: of two timers that differ, neither is known to be the changed one.
pub(super) const FEW: usize = 2;
/// A family whose timers changed by at most this share does not show whether they share a ratio or
/// an addend. *Judgement*.
const MIN_RATIO: f64 = 0.02;
/// The largest deviation that counts, in standard errors, when the timers of a family are compared
/// with a common ratio and with a common addend. *Judgement*: some of them have own changes.
const MAX_MISFIT: f64 = 4.0;
/// The least factor by which an addend changes a value. *Numerical*.
const MIN_FACTOR: f64 = 0.05;

/// The value of a timer in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// The number of the run.
    pub run: usize,
    /// The value on the scale of the comparison: the logarithm of a cost.
    pub value: f64,
    /// The variance of what all timers of the family have in common in this run.
    pub common: f64,
    /// The variance of what the timer differs by from its family in this run.
    pub own: f64,
}

/// The values of a timer in the old runs, the new runs and the history.
pub(super) type Sides = [Vec<Sample>; 3];

/// How the timers of a family share a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shared {
    /// All change by the same ratio.
    Ratio,
    /// The same amount is added to all, such as a further step at the entry to the kernel.
    Addend,
}

/// The shift of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    /// The shift on the scale of the comparison.
    pub value: f64,
    /// Half the width of its 95 % interval.
    pub half: f64,
    /// The shift as an amount, in the unit of the values.
    pub addend: f64,
    pub shared: Shared,
    /// The probability of such a shift if nothing changed.
    pub probability: f64,
    /// The difference from the shift of the partner family, if this family is the one that is
    /// farther from no change.
    pub contrast: Option<Contrast>,
    /// The number of timers of the family.
    count: usize,
    /// The median of the old values.
    old: f64,
    /// The standard error of what runs have in common.
    common_error: f64,
    /// The standard error of the median over the timers.
    own_error: f64,
    degrees: f64,
}

/// The difference between the shifts of two partner families.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contrast {
    /// The partner.
    pub partner: &'static str,
    pub value: f64,
    /// Half the width of the 95 % interval.
    pub half: f64,
    /// The probability of such a difference if nothing changed.
    pub probability: f64,
}

/// The change of a timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The mean values of the old side and the new side on the scale of the comparison, each with
    /// half the width of its 95 % interval.
    pub sides: [(f64, f64); 2],
    /// The new value minus the old value, with half the width of its 95 % interval.
    pub total: (f64, f64),
    /// The total without the shift of the family, with half the width of its 95 % interval.
    pub own: (f64, f64),
    /// The probability of such an own change if nothing changed; `None` for families with few
    /// timers.
    pub probability: Option<f64>,
}

/// The shift of a family, and the changes of its timers.
#[derive(Debug)]
pub(super) struct Estimate {
    pub shift: Shift,
    pub changes: Vec<Change>,
}

/// A timer with the mean values of its sides and their variances.
struct Averaged<'a> {
    sides: &'a Sides,
    means: [f64; 3],
    /// The variance of the common part and of the own part of each side's mean.
    variances: [[f64; 2]; 3],
    /// The variance of the own part of the difference.
    own: f64,
}

impl<'a> Averaged<'a> {
    /// Averages the runs of each side, weighted by the inverse of their variances. `moments` is the
    /// number of moments at which each side was measured: runs of the same moment share what they
    /// have in common.
    fn new(sides: &'a Sides, moments: [usize; 2]) -> Self {
        let mut means = [0.0; 3];
        let mut variances = [[0.0; 2]; 3];
        for (side, samples) in sides.iter().enumerate() {
            let weight = |sample: &Sample| (sample.common + sample.own).recip();
            let all: f64 = samples.iter().map(weight).sum();
            let moments = moments.get(side).map_or(1, |moments| (*moments).max(1));
            let shared = (samples.len() as f64 / moments as f64).max(1.0);
            for sample in samples {
                let weight = weight(sample) / all;
                means[side] += weight * sample.value;
                variances[side][0] += weight * weight * sample.common * shared;
                variances[side][1] += weight * weight * sample.own;
            }
        }
        Self {
            sides,
            means,
            variances,
            own: variances[0][1] + variances[1][1],
        }
    }

    fn difference(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    fn error(&self) -> f64 {
        self.own.sqrt()
    }

    /// The change without that of the family.
    fn own_change(&self, shift: &Shift) -> f64 {
        self.difference() - shift.expected(self.means[0].exp())
    }
}

/// Estimates the changes of families, which have a name and timers. `moments` as in
/// [`Averaged::new`]. `is_logarithmic`: the scale is the logarithm, so that timers may share an
/// addend.
pub(super) fn estimate(
    families: &[(&str, Vec<Sides>)],
    moments: [usize; 2],
    is_logarithmic: bool,
) -> Vec<Estimate> {
    let (averaged, mut shifts): (Vec<Vec<Averaged>>, Vec<Shift>) = families
        .iter()
        .map(|(_, timers)| {
            let averaged = timers.iter().map(|sides| Averaged::new(sides, moments));
            let mut averaged: Vec<Averaged> = averaged.collect();
            let replicates = Replicates::apply(&mut averaged);
            let shift = Shift::new(&averaged, replicates, is_logarithmic);
            (averaged, shift)
        })
        .unzip();
    for pair in PARTNERS {
        let [a, b] = pair.map(|name| families.iter().position(|(family, _)| *family == name));
        let Some([a, b]) = a.zip(b).map(<[usize; 2]>::from) else {
            continue;
        };
        let is_farther = shifts[a].deviation() >= shifts[b].deviation();
        let (at, contrast) = if is_farther {
            (a, shifts[a].contrast(&shifts[b], pair[1]))
        } else {
            (b, shifts[b].contrast(&shifts[a], pair[0]))
        };
        shifts[at].contrast = contrast.filter(|_| shifts[a].count.min(shifts[b].count) > FEW);
    }
    let scatter = own_scatter(&averaged, &shifts);
    let half = critical_value(1.0 - CONFIDENCE, OWN_DEGREES);
    let change = |timer: &Averaged, shift: &Shift| {
        let (own, error) = (timer.own_change(shift), timer.error() * scatter);
        Change {
            sides: [0, 1].map(|side| {
                let [common, own] = timer.variances[side];
                (timer.means[side], half * (common + own).sqrt())
            }),
            total: (timer.difference(), half * error.hypot(shift.common_error)),
            own: (own, half * error),
            probability: (shift.count > FEW).then(|| two_sided_p_value(own / error, OWN_DEGREES)),
        }
    };
    let estimate = |(timers, shift): (&Vec<Averaged>, &Shift)| Estimate {
        shift: *shift,
        changes: timers.iter().map(|timer| change(timer, shift)).collect(),
    };
    averaged.iter().zip(&shifts).map(estimate).collect()
}

/// The factor by which the own changes of this comparison scatter more than expected, at least 1. It
/// is estimated from the median of their absolute values, because half the timers may have changed.
fn own_scatter(families: &[Vec<Averaged>], shifts: &[Shift]) -> f64 {
    let asked = families
        .iter()
        .zip(shifts)
        .filter(|(_, shift)| shift.count > FEW);
    let timers = asked.clone().flat_map(|(timers, shift)| {
        let deviation = |timer: &Averaged| timer.own_change(shift).abs() / timer.error();
        timers.iter().map(deviation).collect::<Vec<f64>>()
    });
    let deviations: Vec<f64> = timers.collect();
    let degrees = MEDIAN_EFFICIENCY * (deviations.len() - asked.count()) as f64;
    let squared = median(deviations).map_or(1.0, |median| (median / NORMAL_MEDIAN).powi(2));
    ((OWN_SCATTER_WEIGHT + degrees * squared) / (OWN_SCATTER_WEIGHT + degrees))
        .max(1.0)
        .sqrt()
}

/// What several runs of a side, and those of the history, show of the scale of a family's shift.
#[derive(Clone, Copy, Debug, Default)]
struct Replicates {
    /// The sum of squared deviations, each in its expected variance.
    squares: f64,
    degrees: f64,
}

impl Replicates {
    /// Compares the runs of a family with the mean of their side. Enlarges the own variances of its
    /// timers if these differ more between runs than expected. Most runs of a timer agree better
    /// than one in ten does, so a few that agree promise nothing: own variances only grow.
    fn apply(timers: &mut [Averaged]) -> Self {
        let mut family = Self::default();
        let mut own = vec![Self::default(); timers.len()];
        // The deviation of a single timer shows both parts.
        let is_single = timers.len() == 1;
        for side in 0..3 {
            let samples = timers.iter().flat_map(|timer| &timer.sides[side]);
            let runs: BTreeSet<usize> = samples.map(|sample| sample.run).collect();
            if runs.len() < 2 {
                continue;
            }
            family.degrees += runs.len() as f64 - 1.0;
            for run in runs {
                let deviations: Vec<(usize, f64, Sample)> = timers
                    .iter()
                    .enumerate()
                    .filter_map(|(at, timer)| {
                        let samples = &timer.sides[side];
                        let sample = samples.iter().find(|sample| sample.run == run)?;
                        let deviation = sample.value - timer.means[side];
                        (samples.len() > 1).then_some((at, deviation, *sample))
                    })
                    .collect();
                let weighted = deviations
                    .iter()
                    .map(|(_, deviation, sample)| (*deviation, sample.own.sqrt().recip()));
                let common = weighted_median(weighted.collect());
                let expected = deviations
                    .iter()
                    .map(|(_, _, sample)| sample.common + if is_single { sample.own } else { 0.0 });
                let expected = median(expected.collect::<Vec<f64>>()).unwrap_or(f64::INFINITY);
                family.squares += common * common / expected;
                for (at, deviation, sample) in &deviations {
                    let runs = timers[*at].sides[side].len() as f64;
                    own[*at].squares += (deviation - common).powi(2) / sample.own;
                    own[*at].degrees += 1.0 - runs.recip();
                }
            }
        }
        for (timer, own) in timers.iter_mut().zip(own) {
            let scale = if is_single {
                family.of_family().0
            } else {
                own.scale(OWN_DEGREES)
            };
            timer.own *= scale.max(1.0);
        }
        family
    }

    /// The factor by which a variance that is known with some degrees of freedom changes.
    fn scale(self, degrees: f64) -> f64 {
        (degrees + self.squares) / (degrees + self.degrees)
    }

    /// The factor by which the variance of a family's shift changes, and its degrees of freedom: those
    /// of the replicates alone if they differ more than what is known beforehand allows.
    fn of_family(self) -> (f64, f64) {
        if chi_squared_p_value(self.squares, self.degrees) < MIN_AGREEMENT {
            (self.squares / self.degrees, self.degrees)
        } else {
            (self.scale(FAMILY_DEGREES), FAMILY_DEGREES + self.degrees)
        }
    }
}

impl Shift {
    /// The shift of the family with these timers.
    fn new(timers: &[Averaged], replicates: Replicates, is_logarithmic: bool) -> Self {
        let middle = |value: &dyn Fn(&Averaged) -> f64| {
            median(timers.iter().map(value).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
        };
        let old = |timer: &Averaged| timer.means[0].exp();
        let weighted = |value: &dyn Fn(&Averaged) -> (f64, f64)| {
            weighted_median(timers.iter().map(value).collect())
        };
        let common = middle(&|timer| timer.variances[0][0] + timer.variances[1][0]);
        let (scale, degrees) = replicates.of_family();
        let own = middle(&|timer| timer.own) / timers.len() as f64;
        // The standard error of a median relative to that of a mean is √(π / 2); of two values,
        // they are the same.
        let of_median = if timers.len() > FEW { FRAC_PI_2 } else { 1.0 };
        let mut shift = Self {
            value: weighted(&|timer| (timer.difference(), timer.error().recip())),
            half: 0.0,
            addend: 0.0,
            shared: Shared::Ratio,
            probability: 1.0,
            contrast: None,
            count: timers.len(),
            old: 0.0,
            common_error: (common * scale).sqrt(),
            own_error: (of_median * own).sqrt(),
            degrees,
        };
        shift.half = shift.critical() * shift.error();
        shift.probability = two_sided_p_value(shift.deviation(), shift.degrees);
        if !is_logarithmic {
            return shift;
        }
        shift.old = middle(&old);
        shift.addend = weighted(&|timer| {
            let old = old(timer);
            let amount = old * timer.difference().exp_m1();
            (amount, (timer.error() * old).recip())
        });
        let misfit = |shift: &Self| -> f64 {
            let deviation = |timer: &Averaged| timer.own_change(shift).abs() / timer.error();
            timers
                .iter()
                .map(|timer| deviation(timer).min(MAX_MISFIT))
                .sum()
        };
        let by_addend = shift.as_addend();
        if timers.len() > FEW
            && shift.value.abs() > MIN_RATIO
            && misfit(&by_addend) < misfit(&shift)
        {
            return by_addend;
        }
        shift
    }

    fn as_addend(self) -> Self {
        Self {
            shared: Shared::Addend,
            ..self
        }
    }

    /// The change that a timer with this old value has by the shift.
    fn expected(&self, old: f64) -> f64 {
        match self.shared {
            Shared::Ratio => self.value,
            Shared::Addend => (1.0 + self.addend / old).max(MIN_FACTOR).ln(),
        }
    }

    /// The standard error.
    pub(super) fn error(&self) -> f64 {
        self.common_error.hypot(self.own_error)
    }

    /// The distance from no change, in standard errors.
    fn deviation(&self) -> f64 {
        (self.value / self.error()).abs()
    }

    /// Half the width of a 95 % interval, in standard errors.
    fn critical(&self) -> f64 {
        critical_value(1.0 - CONFIDENCE, self.degrees)
    }

    /// The difference from the shift of a partner, by ratio or by addend, whichever is smaller.
    fn contrast(&self, other: &Self, partner: &'static str) -> Option<Contrast> {
        let partners = [other.value, other.as_addend().expected(self.old)];
        let value = partners.map(|partner| self.value - partner);
        let value = value
            .into_iter()
            .min_by(|a, b| a.abs().total_cmp(&b.abs()))?;
        let error = (PARTNER_SCALE * self.common_error.max(other.common_error))
            .hypot(self.own_error)
            .hypot(other.own_error);
        Some(Contrast {
            partner,
            value,
            half: self.critical() * error,
            probability: two_sided_p_value(value / error, self.degrees),
        })
    }
}

/// The median of values with weights; NaN without values.
fn weighted_median(mut values: Vec<(f64, f64)>) -> f64 {
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
