//! A figure with its interval, where it has one.

use serde::{Deserialize, Serialize};

/// A figure and what it is known to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Known"))]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Lower end of its 95 % interval; null where one process is all there was.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; null where one process is all there was.
    pub high: Option<f64>,
}

impl Figure {
    /// A figure; nothing where it is none. An interval that does not hold the figure is widened to do so, and one without end is none.
    #[must_use]
    pub fn new(value: f64, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let interval = low.zip(high).filter(|(low, high)| (low + high).is_finite());
        let interval = interval.map(|(low, high)| (low.min(value), high.max(value)));
        value.is_finite().then_some(Self::within(value, interval))
    }

    /// A figure with both ends of its interval, or with none.
    #[must_use]
    pub fn within(value: f64, interval: Option<(f64, f64)>) -> Self {
        Self { value, low: interval.map(|(low, _)| low), high: interval.map(|(_, high)| high) }
    }

    /// As a document has it: its parts as they are.
    #[must_use]
    pub fn told(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        Some(Self { value: value?, low, high })
    }

    /// Its interval, where both ends are known.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Self {
            value: self.value * by,
            low: self.low.map(|low| low * by),
            high: self.high.map(|high| high * by),
        }
    }
}
