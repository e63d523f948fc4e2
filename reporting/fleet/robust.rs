//! Middles and widths that a few odd ones do not move.

use crate::analysis::statistics::{Z, median};
use crate::model::Figure;

/// A normal law's standard deviation over its median absolute deviation: 1 / Φ⁻¹(3/4).
/// *Computed*.
const OF_NORMAL: f64 = 1.4826;

/// The logarithm of a figure, and the standard deviation of that as its interval tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Log {
    pub value: f64,
    /// Nothing where the figure has no interval.
    pub noise: Option<f64>,
}

impl Log {
    /// Of a figure above zero.
    pub fn of(figure: Figure) -> Self {
        let noise = figure.interval().filter(|(low, _)| *low > 0.0);
        Self { value: figure.value.ln(), noise: noise.map(|(low, high)| (high / low).ln() / (2.0 * Z)) }
    }
}

/// The median, and the standard deviation as the median absolute deviation tells it; nothing where there are no figures.
pub(super) fn middle_and_width(figures: &[f64]) -> Option<(f64, f64)> {
    let middle = median(figures)?;
    let width = median(&figures.iter().map(|figure| (figure - middle).abs()).collect::<Vec<_>>())?;
    Some((middle, OF_NORMAL * width))
}
