//! Whether differences are more than chance: tails of Student's law, many questions at once, and
//! variances that are known better together than each by itself.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::digamma;

use super::{bisected, mean};

/// Degrees of freedom from which on Student's law is the normal one to all digits that matter.
/// *Numerical*: five digits.
const NORMAL_FROM: f64 = 1e5;

/// The probability that chance alone lies as far from zero as `deviations`, on either side:
/// Student's law with `degrees` degrees of freedom. Without any, and for what is no number, nothing
/// is unlikely.
pub fn two_sided(deviations: f64, degrees: f64) -> f64 {
    let below = -deviations.abs();
    if below.is_nan() {
        return 1.0;
    }
    let tail = if degrees >= NORMAL_FROM {
        Normal::standard().cdf(below)
    } else {
        StudentsT::new(0.0, 1.0, degrees).map_or(0.5, |law| law.cdf(below))
    };
    (2.0 * tail).clamp(0.0, 1.0)
}

/// How many deviations are as unlikely as `probability`, on either side together. Infinite without
/// degrees of freedom.
pub fn critical(probability: f64, degrees: f64) -> f64 {
    let below = (probability / 2.0).clamp(f64::MIN_POSITIVE, 0.5);
    if degrees >= NORMAL_FROM {
        return -Normal::standard().inverse_cdf(below);
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |law| -law.inverse_cdf(below))
}

/// Holm's rule with weights (A simple sequentially rejective multiple test procedure, Scandinavian
/// Journal of Statistics 6, 1979, 65-70): each probability corrected for the number of questions
/// asked. A question with twice the weight is given twice the share of all false alarms. A reader
/// who takes what is at most *a* for a finding has a false one among all with a probability of at
/// most *a*, however the questions hang together.
pub fn holm(asked: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..asked.len()).collect();
    let per_weight = |at: usize| asked[at].0 / asked[at].1;
    order.sort_by(|a, b| per_weight(*a).total_cmp(&per_weight(*b)));
    let mut weight: f64 = asked.iter().map(|(_, weight)| weight).sum();
    let mut adjusted = vec![1.0; asked.len()];
    let mut largest: f64 = 0.0;
    for at in order {
        largest = largest.max(per_weight(at) * weight).min(1.0);
        adjusted[at] = largest;
        weight -= asked[at].1;
    }
    adjusted
}

/// A variance that was estimated from a few figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// The estimate.
    pub value: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
    /// Which variances it is like, but for what `hint` tells.
    pub kind: usize,
    /// Something that larger variances tend to have more of: the logarithm of another variance.
    pub hint: f64,
}

/// The least members of a kind that tell how alike they are.
/// *Judgement*: two have no scatter to speak of.
const FEWEST: usize = 3;
/// As much as one variance counts at most of what it is like: more is not known of any kind from
/// one comparison. *Judgement*.
const MOST_DEGREES: f64 = 40.0;
/// Standard errors by which variances are taken to be less alike than they look: few tell it
/// poorly, and those that are taken for more alike than they are make false alarms. *Computed*: by
/// simulation, so that alarms are as many as they are to be under other laws of the variances.
const CAUTION: f64 = 0.7;
/// The steepest that variances go by their hint: in proportion.
/// *Computed*.
const STEEPEST: f64 = 1.0;

/// Each variance drawn towards those that it is like, as far as these are alike: by empirical
/// Bayes, the law of their logarithms being that of an estimate times an inverse chi-square (G. K.
/// Smyth, Linear models and empirical Bayes methods for assessing differential expression in
/// microarray experiments, Statistical Applications in Genetics and Molecular Biology 3, 2004,
/// sections 3 to 6), with a kind's level and a common slope over the hint. What is of too small a
/// kind, or zero, is left as it is.
pub fn shrunk(variances: &[Variance]) -> Vec<(f64, f64)> {
    let usable = |variance: &Variance| {
        variance.value > 0.0
            && variance.degrees > 0.0
            && (variance.value + variance.hint).is_finite()
    };
    let counts = |variance: &&Variance| {
        let like = |other: &&Variance| other.kind == variance.kind && usable(other);
        usable(variance) && variances.iter().filter(like).count() >= FEWEST
    };
    let known: Vec<&Variance> = variances.iter().filter(counts).collect();
    let prior = Prior::estimate(&known);
    let drawn = |variance: &Variance| match &prior {
        Some(prior) if counts(&variance) => {
            let degrees = variance.degrees + prior.degrees;
            let squares =
                variance.degrees * variance.value + prior.degrees * prior.expected(variance);
            (squares / degrees, degrees)
        }
        _ => (variance.value, variance.degrees),
    };
    variances.iter().map(drawn).collect()
}

/// What variances of their kinds are.
struct Prior {
    degrees: f64,
    /// By kind: the mean logarithm, corrected for what few degrees of freedom do to it, and the
    /// mean hint.
    levels: BTreeMap<usize, (f64, f64)>,
    slope: f64,
    /// From the mean of logarithms to the logarithm of the expected variance.
    shift: f64,
}

impl Prior {
    fn estimate(known: &[&Variance]) -> Option<Self> {
        let mut kinds = BTreeMap::<usize, Vec<&Variance>>::new();
        for variance in known {
            kinds.entry(variance.kind).or_default().push(variance);
        }
        let mut levels = BTreeMap::new();
        for (kind, members) in kinds {
            let hints = members.iter().map(|member| member.hint);
            let level = (mean(members.iter().copied().map(logarithm))?, mean(hints)?);
            levels.insert(kind, level);
        }
        let apart = |variance: &&Variance| {
            let (log, hint) = levels[&variance.kind];
            (logarithm(variance) - log, variance.hint - hint)
        };
        let along: f64 = known.iter().map(apart).map(|(log, hint)| log * hint).sum();
        let square: f64 = known.iter().map(apart).map(|(_, hint)| hint * hint).sum();
        let slope = if square > 1e-9 {
            (along / square).clamp(0.0, STEEPEST)
        } else {
            0.0
        };
        let free = known.len().checked_sub(levels.len() + 1);
        let free = free.filter(|free| *free > 0)? as f64;
        let off = |(log, hint)| f64::powi(log - slope * hint, 2);
        let scatter: f64 = known.iter().map(apart).map(off).sum();
        let chance = mean(
            known
                .iter()
                .map(|variance| trigamma(variance.degrees / 2.0)),
        )?;
        let apart = scatter / free * (1.0 + CAUTION * (2.0 / free).sqrt());
        let half = inverse_trigamma(apart - chance, MOST_DEGREES / 2.0);
        Some(Self {
            degrees: 2.0 * half,
            levels,
            slope,
            shift: digamma(half) - half.ln(),
        })
    }

    fn expected(&self, variance: &Variance) -> f64 {
        let (log, hint) = self.levels[&variance.kind];
        (log + self.slope * (variance.hint - hint) + self.shift).exp()
    }
}

/// The logarithm of a variance, on average that of the true one.
fn logarithm(variance: &Variance) -> f64 {
    let half = variance.degrees / 2.0;
    variance.value.ln() - digamma(half) + half.ln()
}

/// The derivative of the digamma function, by its recurrence and its asymptotic series (Abramowitz
/// and Stegun, 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// Where the trigamma function has that value; `most` where that lies beyond, or nowhere.
fn inverse_trigamma(value: f64, most: f64) -> f64 {
    if value.is_nan() || value <= trigamma(most) {
        return most;
    }
    let least: f64 = 1e-3;
    let (low, high) = bisected((least.ln(), most.ln()), 60, |at| trigamma(at.exp()) > value);
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn tails_and_quantiles_of_the_tables() {
        for (probability, degrees, quantile) in [
            (0.05, 1.0, 12.706),
            (0.01, 8.0, 3.355),
            (0.001, 30.0, 3.646),
            (0.01, 1e9, 2.576),
            (0.0001, 8.0, 7.120),
        ] {
            let found = critical(probability, degrees);
            assert!(
                (found - quantile).abs() < 0.001,
                "{probability} {degrees}: {found}"
            );
            let tail = two_sided(quantile, degrees);
            assert!(
                (tail / probability - 1.0).abs() < 0.001,
                "{probability} {degrees}: {tail}"
            );
        }
        assert_eq!(two_sided(f64::INFINITY, 5.0), 0.0);
        assert_eq!((two_sided(f64::NAN, 5.0), two_sided(3.0, 0.0)), (1.0, 1.0));
        assert!(critical(0.01, 0.0).is_infinite());
    }

    #[test]
    fn the_example_of_holm() {
        let similar = |asked: &[f64]| holm(&asked.iter().map(|p| (*p, 1.0)).collect::<Vec<_>>());
        for (found, expected) in similar(&[0.01, 0.04, 0.03, 0.005])
            .iter()
            .zip([0.03, 0.06, 0.06, 0.02])
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(similar(&[]).is_empty());
        assert_eq!(
            holm(&[(0.01, 3.0), (0.01, 1.0)]),
            [0.01 / 3.0 * 4.0, 0.01 / 3.0 * 4.0]
        );
    }

    #[test]
    fn trigamma_of_the_tables() {
        let pi = std::f64::consts::PI;
        assert!(
            (trigamma(1.0) - pi * pi / 6.0).abs() < 1e-9
                && (trigamma(0.5) - pi * pi / 2.0).abs() < 1e-9
        );
        assert!((inverse_trigamma(trigamma(3.7), 100.0) - 3.7).abs() < 1e-9);
        assert_eq!(inverse_trigamma(-1.0, 100.0), 100.0);
    }

    fn normal(random: &mut StdRng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Estimates of variances with four degrees of freedom, whose true deviations are what `truth`
    /// says.
    fn estimated(truth: &[f64], random: &mut StdRng) -> Vec<Variance> {
        let of = |deviation: &f64| {
            let value = (0..4)
                .map(|_| (deviation * normal(random)).powi(2))
                .sum::<f64>()
                / 4.0;
            Variance {
                value,
                degrees: 4.0,
                kind: 0,
                hint: 0.0,
            }
        };
        truth.iter().map(of).collect()
    }

    /// Half of all draws tell more degrees of freedom than this.
    fn degrees(draw: impl Fn(&mut StdRng) -> Vec<Variance>) -> f64 {
        let mut random = StdRng::seed_from_u64(3);
        let mut degrees: Vec<f64> = (0..41).map(|_| shrunk(&draw(&mut random))[0].1).collect();
        degrees.sort_by(f64::total_cmp);
        degrees[20]
    }

    #[test]
    fn similar_variances_are_pooled() {
        let similar = degrees(|random| estimated(&[2.0; 40], random));
        assert!(similar > 15.0, "{similar}");
        let truth: Vec<f64> = (0..40).map(|at| 10_f64.powi(at % 5)).collect();
        let apart = degrees(|random| estimated(&truth, random));
        assert!(apart < 6.0, "{apart}");
        let hinted = degrees(|random| {
            let with_hint = |(variance, truth): (Variance, &f64)| Variance {
                hint: 2.0 * truth.ln(),
                ..variance
            };
            estimated(&truth, random)
                .into_iter()
                .zip(&truth)
                .map(with_hint)
                .collect()
        });
        assert!(hinted > 9.0, "{hinted}");
    }

    #[test]
    fn single_variance_stays_unchanged() {
        let one = Variance {
            value: 4.0,
            degrees: 8.0,
            kind: 2,
            hint: 0.0,
        };
        assert_eq!(
            shrunk(&[one, Variance { value: 0.0, ..one }]),
            [(4.0, 8.0), (0.0, 8.0)]
        );
        assert!(shrunk(&[]).is_empty());
    }
}
