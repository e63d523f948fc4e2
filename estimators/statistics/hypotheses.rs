//! Tests hypotheses: tail probabilities of Student's t distribution, correction for multiple
//! comparisons, and *shrinkage* of variances, which moves imprecise estimates towards similar ones.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::digamma;

use super::{bisect, mean};

/// The least number of degrees of freedom for which the normal distribution is used instead of
/// Student's t distribution. *Numerical*: five digits agree.
const MIN_NORMAL_DEGREES: f64 = 1e5;

/// The two-sided p-value of `deviations` under Student's t distribution with `degrees` degrees of
/// freedom; 1 for zero degrees of freedom and for NaN.
pub fn two_sided_p_value(deviations: f64, degrees: f64) -> f64 {
    let below = -deviations.abs();
    if below.is_nan() {
        return 1.0;
    }
    let tail = if degrees >= MIN_NORMAL_DEGREES {
        Normal::standard().cdf(below)
    } else {
        StudentsT::new(0.0, 1.0, degrees).map_or(0.5, |distribution| distribution.cdf(below))
    };
    (2.0 * tail).clamp(0.0, 1.0)
}

/// The deviation whose two-sided p-value is `probability`, with `degrees` degrees of freedom.
/// Infinite for zero degrees of freedom.
pub fn critical_value(probability: f64, degrees: f64) -> f64 {
    let below = (probability / 2.0).clamp(f64::MIN_POSITIVE, 0.5);
    if degrees >= MIN_NORMAL_DEGREES {
        return -Normal::standard().inverse_cdf(below);
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |distribution| {
        -distribution.inverse_cdf(below)
    })
}

/// Weighted Holm correction (A simple sequentially rejective multiple test procedure, Scandinavian
/// Journal of Statistics 6, 1979, 65-70): returns adjusted p-values for pairs of p-value and
/// weight. A test with twice the weight receives twice the share of all false positives. If tests
/// with an adjusted p-value of at most *a* are significant, the probability of any false positive
/// is at most *a*, whatever the dependence between the tests.
pub fn holm(tests: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..tests.len()).collect();
    let per_weight = |at: usize| tests[at].0 / tests[at].1;
    order.sort_by(|a, b| per_weight(*a).total_cmp(&per_weight(*b)));
    let mut weight: f64 = tests.iter().map(|(_, weight)| weight).sum();
    let mut adjusted = vec![1.0; tests.len()];
    let mut largest: f64 = 0.0;
    for at in order {
        largest = largest.max(per_weight(at) * weight).min(1.0);
        adjusted[at] = largest;
        weight -= tests[at].1;
    }
    adjusted
}

/// A variance estimated from a few values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceEstimate {
    /// The estimate.
    pub value: f64,
    /// Its degrees of freedom.
    pub degrees: f64,
    /// The number of the group of similar variances to which the variance belongs.
    pub group: usize,
    /// A quantity that correlates with the logarithm of the variance, such as the logarithm of
    /// another variance.
    pub covariate: f64,
}

/// The least size of a group whose variances are shrunk. *Judgement*: the scatter of two variances
/// says little about their similarity.
const MIN_GROUP_SIZE: usize = 3;
/// The largest number of degrees of freedom of the prior distribution of variances. *Judgement*.
const MAX_PRIOR_DEGREES: f64 = 40.0;
/// The number of standard errors by which the estimated variation between variances is increased,
/// because few variances give an imprecise estimate, and underestimates cause false positives.
/// *Computed*: by simulation, so that false positives are as frequent as intended under other
/// distributions of the variances.
const VARIATION_MARGIN: f64 = 0.7;
/// The largest slope of the logarithm of the variance over its covariate. *Computed*: with this
/// slope, the variance is proportional to the other variance.
const MAX_SLOPE: f64 = 1.0;

/// Empirical Bayes shrinkage of variances towards their group. The prior of a variance is a scaled
/// inverse chi-square distribution (G. K. Smyth, Linear models and empirical Bayes methods for
/// assessing differential expression in microarray experiments, Statistical Applications in
/// Genetics and Molecular Biology 3, 2004, sections 3 to 6), with one level for each group and a
/// common slope over the covariate. Returns each shrunk variance with its degrees of freedom. Zero
/// variances and variances of small groups are unchanged.
pub fn shrink(variances: &[VarianceEstimate]) -> Vec<(f64, f64)> {
    let usable = |variance: &VarianceEstimate| {
        variance.value > 0.0
            && variance.degrees > 0.0
            && (variance.value + variance.covariate).is_finite()
    };
    let is_in_a_group = |variance: &&VarianceEstimate| {
        let same_group = |other: &&VarianceEstimate| other.group == variance.group && usable(other);
        usable(variance) && variances.iter().filter(same_group).count() >= MIN_GROUP_SIZE
    };
    let known: Vec<&VarianceEstimate> = variances.iter().filter(is_in_a_group).collect();
    let prior = Prior::estimate(&known);
    let shrink_one = |variance: &VarianceEstimate| match &prior {
        Some(prior) if is_in_a_group(&variance) => {
            let degrees = variance.degrees + prior.degrees;
            let squares =
                variance.degrees * variance.value + prior.degrees * prior.expected(variance);
            (squares / degrees, degrees)
        }
        _ => (variance.value, variance.degrees),
    };
    variances.iter().map(shrink_one).collect()
}

/// The prior distribution of variances.
struct Prior {
    /// Its degrees of freedom.
    degrees: f64,
    /// For each group: the mean logarithm, corrected for the bias of few degrees of freedom, and
    /// the mean covariate.
    levels: BTreeMap<usize, (f64, f64)>,
    /// The common slope of the logarithm over the covariate.
    slope: f64,
    /// The difference between the mean logarithm and the logarithm of the expected variance.
    shift: f64,
}

impl Prior {
    fn estimate(known: &[&VarianceEstimate]) -> Option<Self> {
        let mut groups = BTreeMap::<usize, Vec<&VarianceEstimate>>::new();
        for variance in known {
            groups.entry(variance.group).or_default().push(variance);
        }
        let mut levels = BTreeMap::new();
        for (group, members) in groups {
            let covariates = members.iter().map(|member| member.covariate);
            let level = (
                mean(members.iter().copied().map(logarithm))?,
                mean(covariates)?,
            );
            levels.insert(group, level);
        }
        let centred = |variance: &&VarianceEstimate| {
            let (log, covariate) = levels[&variance.group];
            (logarithm(variance) - log, variance.covariate - covariate)
        };
        let covariance: f64 = known
            .iter()
            .map(centred)
            .map(|(log, covariate)| log * covariate)
            .sum();
        let square: f64 = known
            .iter()
            .map(centred)
            .map(|(_, covariate)| covariate * covariate)
            .sum();
        let slope = if square > 1e-9 {
            (covariance / square).clamp(0.0, MAX_SLOPE)
        } else {
            0.0
        };
        let degrees = known.len().checked_sub(levels.len() + 1);
        let degrees = degrees.filter(|degrees| *degrees > 0)? as f64;
        let squared_residual = |(log, covariate)| f64::powi(log - slope * covariate, 2);
        let scatter: f64 = known.iter().map(centred).map(squared_residual).sum();
        let chance = mean(
            known
                .iter()
                .map(|variance| trigamma(variance.degrees / 2.0)),
        )?;
        let variation = scatter / degrees * (1.0 + VARIATION_MARGIN * (2.0 / degrees).sqrt());
        let half = inverse_trigamma(variation - chance, MAX_PRIOR_DEGREES / 2.0);
        Some(Self {
            degrees: 2.0 * half,
            levels,
            slope,
            shift: digamma(half) - half.ln(),
        })
    }

    fn expected(&self, variance: &VarianceEstimate) -> f64 {
        let (log, covariate) = self.levels[&variance.group];
        (log + self.slope * (variance.covariate - covariate) + self.shift).exp()
    }
}

/// The logarithm of a variance, corrected for the bias of few degrees of freedom.
fn logarithm(variance: &VarianceEstimate) -> f64 {
    let half = variance.degrees / 2.0;
    variance.value.ln() - digamma(half) + half.ln()
}

/// The trigamma function, by its recurrence and its asymptotic series (Abramowitz and Stegun, 6.4.6
/// and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// The inverse of the trigamma function, limited to `most`; `most` for values that are not
/// positive.
fn inverse_trigamma(value: f64, most: f64) -> f64 {
    if value.is_nan() || value <= trigamma(most) {
        return most;
    }
    let lowest: f64 = 1e-3;
    let (low, high) = bisect((lowest.ln(), most.ln()), 60, |at| {
        trigamma(at.exp()) > value
    });
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn tails_and_quantiles_match_tables() {
        for (probability, degrees, quantile) in [
            (0.05, 1.0, 12.706),
            (0.01, 8.0, 3.355),
            (0.001, 30.0, 3.646),
            (0.01, 1e9, 2.576),
            (0.0001, 8.0, 7.120),
        ] {
            let found = critical_value(probability, degrees);
            assert!(
                (found - quantile).abs() < 0.001,
                "{probability} {degrees}: {found}"
            );
            let tail = two_sided_p_value(quantile, degrees);
            assert!(
                (tail / probability - 1.0).abs() < 0.001,
                "{probability} {degrees}: {tail}"
            );
        }
        assert_eq!(two_sided_p_value(f64::INFINITY, 5.0), 0.0);
        assert_eq!(
            (
                two_sided_p_value(f64::NAN, 5.0),
                two_sided_p_value(3.0, 0.0)
            ),
            (1.0, 1.0)
        );
        assert!(critical_value(0.01, 0.0).is_infinite());
    }

    #[test]
    fn holm_matches_its_example() {
        let similar = |tests: &[f64]| holm(&tests.iter().map(|p| (*p, 1.0)).collect::<Vec<_>>());
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
    fn trigamma_matches_tables() {
        let pi = std::f64::consts::PI;
        assert!(
            (trigamma(1.0) - pi * pi / 6.0).abs() < 1e-9
                && (trigamma(0.5) - pi * pi / 2.0).abs() < 1e-9
        );
        assert!((inverse_trigamma(trigamma(3.7), 100.0) - 3.7).abs() < 1e-9);
        assert_eq!(inverse_trigamma(-1.0, 100.0), 100.0);
    }

    /// An approximately normal random number: the sum of twelve uniform ones.
    fn draw_normal(random: &mut StdRng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Estimates variances with four degrees of freedom; `truth` holds the true standard
    /// deviations.
    fn estimate_variances(truth: &[f64], random: &mut StdRng) -> Vec<VarianceEstimate> {
        let estimate = |deviation: &f64| {
            let value = (0..4)
                .map(|_| (deviation * draw_normal(random)).powi(2))
                .sum::<f64>()
                / 4.0;
            VarianceEstimate {
                value,
                degrees: 4.0,
                group: 0,
                covariate: 0.0,
            }
        };
        truth.iter().map(estimate).collect()
    }

    /// The median, over 41 draws, of the degrees of freedom of the first variance after shrinkage.
    fn degrees(draw: impl Fn(&mut StdRng) -> Vec<VarianceEstimate>) -> f64 {
        let mut random = StdRng::seed_from_u64(3);
        let mut degrees: Vec<f64> = (0..41).map(|_| shrink(&draw(&mut random))[0].1).collect();
        degrees.sort_by(f64::total_cmp);
        degrees[20]
    }

    #[test]
    fn similar_variances_are_pooled() {
        let similar = degrees(|random| estimate_variances(&[2.0; 40], random));
        assert!(similar > 15.0, "{similar}");
        let truth: Vec<f64> = (0..40).map(|at| 10_f64.powi(at % 5)).collect();
        let dissimilar = degrees(|random| estimate_variances(&truth, random));
        assert!(dissimilar < 6.0, "{dissimilar}");
        let with_covariates = degrees(|random| {
            let add_covariate = |(variance, truth): (VarianceEstimate, &f64)| VarianceEstimate {
                covariate: 2.0 * truth.ln(),
                ..variance
            };
            estimate_variances(&truth, random)
                .into_iter()
                .zip(&truth)
                .map(add_covariate)
                .collect()
        });
        assert!(with_covariates > 9.0, "{with_covariates}");
    }

    #[test]
    fn single_variance_stays_unchanged() {
        let one = VarianceEstimate {
            value: 4.0,
            degrees: 8.0,
            group: 2,
            covariate: 0.0,
        };
        assert_eq!(
            shrink(&[one, VarianceEstimate { value: 0.0, ..one }]),
            [(4.0, 8.0), (0.0, 8.0)]
        );
        assert!(shrink(&[]).is_empty());
    }
}
