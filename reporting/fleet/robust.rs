//! Middles and widths that a few odd ones do not move.

use crate::analysis::statistics::median;

/// A normal law's standard deviation over its median absolute deviation: 1 / Φ⁻¹(3/4).
/// *Computed*.
const OF_NORMAL: f64 = 1.4826;

/// The median, and the standard deviation as the median absolute deviation tells it; nothing where there are no figures.
pub(super) fn middle_and_width(figures: &[f64]) -> Option<(f64, f64)> {
    let middle = median(figures)?;
    let width = median(&figures.iter().map(|figure| (figure - middle).abs()).collect::<Vec<_>>())?;
    Some((middle, OF_NORMAL * width))
}
