//! Estimates how values of many timers differ between two sides of runs: as a shift that a family
//! of timers has in common, plus the own change of each timer. METHODOLOGY.md explains the model.
//!
//! ```text
//! difference of a timer = shift of its family + own change      (of logarithms, for costs)
//! shift of an unchanged machine      ~ Student, scale: what runs have in common
//! own change of an unchanged machine ~ Student, scale: what a timer differs by from its family
//! ```

use std::f64::consts::FRAC_PI_2;

use crate::statistics::hypotheses::{critical_value, two_sided_p_value};
use crate::statistics::{CONFIDENCE, median};

/// The degrees of freedom with which the scale of a family's shift is known beforehand.
/// *Judgement*: a few machines, whose runs have heavier tails than a normal distribution.
const FAMILY_DEGREES: f64 = 12.0;
/// The degrees of freedom with which the scale of the own changes is known beforehand.
/// *Judgement*: many timers of a few machines.
const OWN_DEGREES: f64 = 15.0;
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

/// A timer with its values in the old runs, the new runs and the history.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The number of the family.
    pub family: usize,
    pub sides: [Vec<Sample>; 3],
}

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
    /// The shift as an amount, in the unit of the values.
    pub addend: f64,
    pub shared: Shared,
    /// The number of timers of the family.
    pub count: usize,
    /// The median of the old values.
    old: f64,
    /// The standard error of what runs have in common.
    common_error: f64,
    /// The standard error of the median over the timers.
    own_error: f64,
    /// Half the width of the 95 % interval.
    pub half: f64,
    pub probability: f64,
}

/// The difference between the shifts of two partner families.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contrast {
    /// The family that is farther from no change, and its partner.
    pub families: [usize; 2],
    pub value: f64,
    pub half: f64,
    pub probability: f64,
}

/// The change of a timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The mean values of the old side and the new side on the scale of the comparison, each with
    /// half the width of its 95 % interval.
    pub sides: [(f64, f64); 2],
    /// The new value minus the old value.
    pub total: f64,
    /// Half the width of the 95 % interval of the total.
    pub total_half: f64,
    /// The total without the shift of the family.
    pub own: f64,
    /// Half the width of the 95 % interval of the own change.
    pub half: f64,
    /// The probability of such an own change if nothing changed; `None` for families with few
    /// timers.
    pub probability: Option<f64>,
}

/// The estimated changes.
#[derive(Debug)]
pub(super) struct Changes {
    /// The shift of each family; `None` for a family without timers.
    pub shifts: Vec<Option<Shift>>,
    pub contrasts: Vec<Contrast>,
    /// The change of each timer.
    pub changes: Vec<Change>,
}

/// A timer with the mean values of its sides and their variances.
struct Averaged<'a> {
    member: &'a Member,
    means: [f64; 3],
    /// The variance of the common part and of the own part of each side's mean.
    variances: [[f64; 2]; 3],
}

impl<'a> Averaged<'a> {
    /// Averages the runs of each side, weighted by the inverse of their variances. `moments` is the
    /// number of moments at which each side was measured: runs of the same moment share what they
    /// have in common.
    fn new(member: &'a Member, moments: [usize; 2]) -> Self {
        let mut means = [0.0; 3];
        let mut variances = [[0.0; 2]; 3];
        for (side, samples) in member.sides.iter().enumerate() {
            let weight = |sample: &Sample| (sample.common + sample.own).recip();
            let all: f64 = samples.iter().map(weight).sum();
            let runs = samples.len() as f64;
            let shared = moments
                .get(side)
                .map_or(1.0, |moments| (runs / (*moments).max(1) as f64).max(1.0));
            for sample in samples {
                let weight = weight(sample) / all;
                means[side] += weight * sample.value;
                variances[side][0] += weight * weight * sample.common * shared;
                variances[side][1] += weight * weight * sample.own;
            }
        }
        Self {
            member,
            means,
            variances,
        }
    }

    fn difference(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    fn variance(&self, part: usize) -> f64 {
        self.variances[0][part] + self.variances[1][part]
    }
}

/// Estimates the changes. `families` is the number of families; `partners` are pairs of families
/// that share what moves them; `moments` as in [`Averaged::new`]. `is_logarithmic`: the scale is
/// the logarithm, so that timers may share an addend.
pub(super) fn estimate(
    members: &[Member],
    families: usize,
    partners: &[[usize; 2]],
    moments: [usize; 2],
    is_logarithmic: bool,
) -> Changes {
    let averaged: Vec<Averaged> = members
        .iter()
        .map(|member| Averaged::new(member, moments))
        .collect();
    let of_family = |family: usize| -> Vec<usize> {
        (0..members.len())
            .filter(|at| members[*at].family == family)
            .collect()
    };
    let families: Vec<Vec<usize>> = (0..families).map(of_family).collect();
    let mut own_variances: Vec<f64> = averaged.iter().map(|one| one.variance(1)).collect();
    let mut replicates = vec![Replicates::default(); families.len()];
    for (family, members) in families.iter().enumerate() {
        let (of_family, of_members) = replicated(&averaged, members);
        replicates[family] = of_family;
        for (at, (squares, degrees)) in members.iter().zip(of_members) {
            // Most runs of a timer agree better than one in ten does, so a few that agree promise
            // nothing: the scale only grows.
            own_variances[*at] *= ((OWN_DEGREES + squares) / (OWN_DEGREES + degrees)).max(1.0);
        }
    }
    let mut own = vec![0.0; members.len()];
    let shifts: Vec<Option<Shift>> = families
        .iter()
        .zip(&replicates)
        .map(|(members, replicates)| {
            let shift = shift(
                &averaged,
                members,
                &own_variances,
                *replicates,
                is_logarithmic,
            )?;
            for at in members {
                own[*at] =
                    averaged[*at].difference() - shift.expected(averaged[*at].means[0].exp());
            }
            Some(shift)
        })
        .collect();
    let contrasts = partners
        .iter()
        .filter_map(|pair| contrast(&shifts, *pair, replicates[pair[0]]))
        .collect();
    let is_asked = |at: &usize| families[members[*at].family].len() > FEW;
    let asked: Vec<usize> = (0..members.len()).filter(is_asked).collect();
    let deviations = asked
        .iter()
        .map(|at| own[*at].abs() / own_variances[*at].sqrt());
    let asked_families = families.iter().filter(|members| members.len() > FEW);
    let wilder = own_scatter(
        median(deviations.collect::<Vec<f64>>()),
        asked.len() - asked_families.count(),
    );
    let changes = averaged
        .iter()
        .zip(own.iter().zip(&own_variances))
        .map(|(averaged, (own, variance))| {
            let family = averaged.member.family;
            let (common, own_error) = (
                shifts[family].map_or(0.0, |shift| shift.common_error),
                variance.sqrt() * wilder,
            );
            let half = critical_value(1.0 - CONFIDENCE, OWN_DEGREES);
            let side = |side: usize| {
                let [common, own] = averaged.variances[side];
                (averaged.means[side], half * (common + own).sqrt())
            };
            Change {
                sides: [side(0), side(1)],
                total: averaged.difference(),
                total_half: half * own_error.hypot(common),
                own: *own,
                half: half * own_error,
                probability: (families[family].len() > FEW)
                    .then(|| two_sided_p_value(own / own_error, OWN_DEGREES)),
            }
        })
        .collect();
    Changes {
        shifts,
        contrasts,
        changes,
    }
}

/// The factor by which the own changes of this comparison scatter more than expected, at least 1.
/// `deviation` is the median of their absolute values in standard errors; half the timers may have
/// changed.
fn own_scatter(deviation: Option<f64>, degrees: usize) -> f64 {
    let degrees = MEDIAN_EFFICIENCY * degrees as f64;
    let squared = deviation.map_or(1.0, |deviation| (deviation / NORMAL_MEDIAN).powi(2));
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

/// The deviations of runs from the mean of their side: of the family, and for each of its members
/// the sum of squares and the degrees of freedom.
fn replicated(averaged: &[Averaged], members: &[usize]) -> (Replicates, Vec<(f64, f64)>) {
    let mut family = Replicates::default();
    let mut own = vec![(0.0, 0.0); members.len()];
    for side in 0..3 {
        let samples = |at: &usize| &averaged[*at].member.sides[side];
        let mut runs: Vec<usize> = members
            .iter()
            .flat_map(|at| samples(at).iter().map(|sample| sample.run))
            .collect();
        runs.sort_unstable();
        runs.dedup();
        if runs.len() < 2 {
            continue;
        }
        family.degrees += runs.len() as f64 - 1.0;
        for run in runs {
            let deviations: Vec<(usize, f64, Sample)> = members
                .iter()
                .enumerate()
                .filter(|(_, at)| samples(at).len() > 1)
                .filter_map(|(member, at)| {
                    let sample = samples(at).iter().find(|sample| sample.run == run)?;
                    Some((member, sample.value - averaged[*at].means[side], *sample))
                })
                .collect();
            let weighted = deviations
                .iter()
                .map(|(_, deviation, sample)| (*deviation, sample.own.sqrt().recip()));
            let Some(common) = weighted_median(weighted.collect()) else {
                continue;
            };
            let expected = median(
                deviations
                    .iter()
                    .map(|(_, _, sample)| sample.common)
                    .collect::<Vec<f64>>(),
            );
            family.squares += common * common / expected.unwrap_or(f64::INFINITY);
            for (member, deviation, sample) in &deviations {
                let runs = samples(&members[*member]).len() as f64;
                own[*member].0 += (deviation - common).powi(2) / sample.own;
                own[*member].1 += (runs - 1.0) / runs;
            }
        }
    }
    (family, own)
}

/// The shift of the family with these members; `None` without members.
fn shift(
    averaged: &[Averaged],
    members: &[usize],
    own_variances: &[f64],
    replicates: Replicates,
    is_logarithmic: bool,
) -> Option<Shift> {
    let each = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
        members.iter().map(|at| value(*at)).collect()
    };
    let error = |at: usize| own_variances[at].sqrt();
    let old = |at: usize| averaged[at].means[0].exp();
    let change = |at: usize| averaged[at].difference();
    let ratio = weighted_median(
        members
            .iter()
            .map(|at| (change(*at), error(*at).recip()))
            .collect(),
    )?;
    let mut shift = Shift {
        value: ratio,
        addend: 0.0,
        shared: Shared::Ratio,
        count: members.len(),
        old: 0.0,
        common_error: 0.0,
        own_error: 0.0,
        half: 0.0,
        probability: 1.0,
    };
    if is_logarithmic {
        shift.old = median(each(&old))?;
        let amounts = members.iter().map(|at| {
            let old = old(*at);
            (old * change(*at).exp_m1(), (error(*at) * old).recip())
        });
        shift.addend = weighted_median(amounts.collect())?;
        let misfit = |shift: &Shift| -> f64 {
            let deviations = each(&|at| (change(at) - shift.expected(old(at))).abs() / error(at));
            deviations
                .iter()
                .map(|deviation| deviation.min(MAX_MISFIT))
                .sum()
        };
        let by_addend = Shift {
            shared: Shared::Addend,
            ..shift
        };
        if members.len() > FEW && ratio.abs() > MIN_RATIO && misfit(&by_addend) < misfit(&shift) {
            shift = by_addend;
        }
    }
    let degrees = FAMILY_DEGREES + replicates.degrees;
    let common = median(each(&|at| averaged[at].variance(0)))?;
    shift.common_error = (common * (FAMILY_DEGREES + replicates.squares) / degrees).sqrt();
    let own = median(each(&|at| own_variances[at]))? / members.len() as f64;
    // The standard error of a median relative to that of a mean is √(π / 2); of two values, they are
    // the same.
    let of_median = if members.len() > FEW { FRAC_PI_2 } else { 1.0 };
    shift.own_error = (of_median * own).sqrt();
    let error = shift.common_error.hypot(shift.own_error);
    shift.half = critical_value(1.0 - CONFIDENCE, degrees) * error;
    shift.probability = two_sided_p_value(ratio / error, degrees);
    Some(shift)
}

impl Shift {
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
}

/// The difference between the shifts of two families, by ratio or by addend, whichever is smaller;
/// `None` if one of them has few timers.
fn contrast(
    shifts: &[Option<Shift>],
    pair: [usize; 2],
    replicates: Replicates,
) -> Option<Contrast> {
    let [a, b] = pair.map(|family| shifts[family].filter(|shift| shift.count > FEW));
    let (mut families, [mut a, mut b]) = (pair, [a?, b?]);
    if (b.value / b.error()).abs() > (a.value / a.error()).abs() {
        (families, a, b) = ([pair[1], pair[0]], b, a);
    }
    let by_addend = Shift {
        shared: Shared::Addend,
        ..b
    };
    let [ratio, addend] = [b.value, by_addend.expected(a.old)].map(|partner| a.value - partner);
    let value = if ratio.abs() < addend.abs() {
        ratio
    } else {
        addend
    };
    let error = (PARTNER_SCALE * a.common_error.max(b.common_error))
        .hypot(a.own_error)
        .hypot(b.own_error);
    let degrees = FAMILY_DEGREES + replicates.degrees;
    Some(Contrast {
        families,
        value,
        half: critical_value(1.0 - CONFIDENCE, degrees) * error,
        probability: two_sided_p_value(value / error, degrees),
    })
}

/// The median of values with weights; `None` without values.
fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let mut previous: Option<(f64, f64)> = None;
    for (value, weight) in values {
        // Each value stands at the middle of its weight; between two values, the median is
        // interpolated.
        let at = sum + weight / 2.0;
        if at >= half {
            return Some(previous.map_or(value, |(before, from)| {
                before + (value - before) * (half - from) / (at - from)
            }));
        }
        previous = Some((value, at));
        sum += weight;
    }
    previous.map(|(value, _)| value)
}
