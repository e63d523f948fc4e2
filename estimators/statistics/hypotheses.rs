//! Tests hypotheses: tail probabilities of Student's t distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The least number of degrees of freedom for which the normal distribution is used instead of
/// Student's t distribution. *Numerical*: five digits agree.
pub(super) const MIN_NORMAL_DEGREES: f64 = 1e5;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
