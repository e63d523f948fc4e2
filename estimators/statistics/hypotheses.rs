//! Tests hypotheses: quantiles of Student's t distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The least number of degrees of freedom for which the normal distribution is used instead of
/// Student's t distribution. *Numerical*: five digits agree.
const MIN_NORMAL_DEGREES: f64 = 1e5;

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
    fn quantiles_match_tables() {
        for (probability, degrees, quantile) in [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 30.0, 2.042),
            (0.05, 1000.0, 1.962),
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
        }
        assert!(critical_value(0.01, 0.0).is_infinite());
    }
}
