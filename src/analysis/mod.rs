//! Pure functions from raw observations to figures, one question a file. Nothing here sees a subject, a clock, a
//! file or the terminal.

pub mod allan;
pub mod cost;
pub mod distribution;
pub mod figures;
pub mod interval;
mod jump;
mod lattice;
pub mod moments;
pub mod offsets;
pub mod order;
pub mod pace;
pub mod profile;
pub mod rate;
pub mod resolution;
pub mod shape;
pub mod singles;
mod spectrum;
pub mod statistics;

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
    /// What is known without doubt.
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
