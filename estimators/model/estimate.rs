//! A figure with its interval.

use serde::{Deserialize, Serialize};

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// What it rests on.
    pub samples: usize,
}

impl Estimate {
    /// What is known for certain.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value, samples: 0 }
    }

    /// The same estimate in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor, ..self }
    }
}
