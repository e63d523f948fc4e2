//! A figure of a report with its interval, where it has one.

use serde::Serialize;

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Its interval; null where the report has none.
    pub interval: Option<(f64, f64)>,
}

impl Figure {
    /// A figure; nothing where it is none. An interval that does not hold the figure is widened to do so.
    #[must_use]
    pub fn new(value: f64, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let interval = low.zip(high).filter(|(low, high)| (low + high).is_finite());
        let interval = interval.map(|(low, high)| (low.min(value), high.max(value)));
        value.is_finite().then_some(Self { value, interval })
    }
}
