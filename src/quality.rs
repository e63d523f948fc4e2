//! The unified quality metric of Kuperberg, Krogmann and Reussner, "Metric-based Selection of Timer Methods for
//! Accurate Measurements", ICPE 2011: Formula (1) in section 4.2, and nothing else.

use crate::units::Cycles;

/// Exponent of accuracy in Formula (1) (section 4.3).
pub const ACCURACY_EXPONENT: f64 = -0.1;
/// Exponent of the median invocation cost in Formula (1) (section 4.3).
pub const COST_EXPONENT: f64 = -0.1;
/// Exponent of the invocation cost spread in Formula (1) (section 4.3).
pub const SPREAD_EXPONENT: f64 = 0.5;

/// `Quality = accuracy^-0.1 · cost^-0.1 · spread^0.5`, in (0, 1].
///
/// Accuracy and median invocation cost are in CPU cycles; values below one cycle count as one (section 4.1: one
/// cycle is the smallest unit of time there is). Spread is the share of single invocations within ±1 accuracy of
/// the median, in (0, 1]. `None` when an input is not a number or the spread lies outside (0, 1]. The value 0 is
/// not produced here: it is kept for timers that are not monotonic, unstable or not thread-safe (section 4.4).
#[must_use]
pub fn quality(accuracy: Cycles, cost: Cycles, spread: f64) -> Option<f64> {
    let usable = accuracy.0.is_finite() && cost.0.is_finite() && spread > 0.0 && spread <= 1.0;
    usable.then(|| {
        accuracy.0.max(1.0).powf(ACCURACY_EXPONENT)
            * cost.0.max(1.0).powf(COST_EXPONENT)
            * spread.powf(SPREAD_EXPONENT)
    })
}
