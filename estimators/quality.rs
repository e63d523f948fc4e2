//! The unified quality metric of Kuperberg, Krogmann and Reussner, "Metric-based Selection of Timer
//! Methods for Accurate Measurements", ICPE 2011: Formula (1) in section 4.2.

use crate::model::Cycles;

/// Exponent of resolution in Formula (1) (section 4.3).
pub const RESOLUTION_EXPONENT: f64 = -0.1;
/// Exponent of the median invocation cost in Formula (1) (section 4.3).
pub const COST_EXPONENT: f64 = -0.1;
/// Exponent of the invocation cost spread in Formula (1) (section 4.3).
pub const SPREAD_EXPONENT: f64 = 0.5;

/// `Quality = resolution^-0.1 · cost^-0.1 · spread^0.5`, in (0, 1].
///
/// Resolution and median invocation cost are in CPU cycles; values below one cycle count as one
/// (section 4.1: one cycle is the smallest unit of time). Spread is the share of single invocations
/// within ±1 resolution of the median, in (0, 1]. `None` if an input is not a number or the spread
/// is outside (0, 1]. The result is never 0, because 0 is reserved for timers that are not
/// monotonic, not stable or not thread-safe (section 4.4).
pub fn quality(resolution: Cycles, cost: Cycles, spread: f64) -> Option<f64> {
    let usable = resolution.0.is_finite() && cost.0.is_finite() && spread > 0.0 && spread <= 1.0;
    usable.then(|| {
        resolution.0.max(1.0).powf(RESOLUTION_EXPONENT)
            * cost.0.max(1.0).powf(COST_EXPONENT)
            * spread.powf(SPREAD_EXPONENT)
    })
}

#[cfg(test)]
mod tests {
    use super::quality;
    use crate::model::Cycles;
    use proptest::prelude::*;

    const CYCLES: std::ops::Range<f64> = 1.0..1e12;
    const SPREAD: std::ops::RangeInclusive<f64> = 1e-6..=1.0;

    fn score(resolution: f64, cost: f64, spread: f64) -> f64 {
        quality(Cycles(resolution), Cycles(cost), spread).expect("usable")
    }

    #[test]
    fn invalid_inputs_have_no_quality() {
        let is_refused =
            |resolution, cost, spread| quality(Cycles(resolution), Cycles(cost), spread).is_none();
        for wrong in [f64::NAN, f64::INFINITY] {
            assert!(is_refused(wrong, 1.0, 1.0) && is_refused(1.0, wrong, 1.0));
        }
        for spread in [f64::NAN, 0.0, -0.5, 1.000_001] {
            assert!(is_refused(1.0, 1.0, spread), "{spread}");
        }
    }

    proptest! {
        #[test]
        fn quality_is_a_share(resolution in 0.0..1e12, cost in -1e3..1e12, spread in SPREAD) {
            let quality = score(resolution, cost, spread);
            prop_assert!(quality > 0.0 && quality <= 1.0);
        }

        #[test]
        fn figures_scale_by_their_exponents(
            resolution in CYCLES, cost in CYCLES, spread in SPREAD,
        ) {
            let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
            let base = score(resolution, cost, spread);
            let tenth_root = 10f64.powf(-0.1);
            prop_assert!(near(score(resolution * 10.0, cost, spread), base * tenth_root));
            prop_assert!(near(score(resolution, cost * 10.0, spread), base * tenth_root));
            prop_assert!(near(score(resolution, cost, spread / 10.0), base / 10f64.sqrt()));
            prop_assert!(near(score(cost, resolution, spread), base));
        }

        #[test]
        fn below_one_cycle_counts_as_one(below in -10.0..1.0, other in CYCLES, spread in SPREAD) {
            prop_assert_eq!(score(below, other, spread), score(1.0, other, spread));
            prop_assert_eq!(score(other, below, spread), score(other, 1.0, spread));
        }
    }
}
