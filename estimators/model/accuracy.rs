//! The resolution of a counter as seen through a method.

use serde::{Deserialize, Serialize};

/// Whether an accuracy is a value or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccuracyKind {
    /// The step was determined.
    Resolved,
    /// The step is not known; it is at most this.
    AtMost,
}

impl AccuracyKind {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::AtMost => "at_most",
        }
    }
}

/// The resolution of the counter as seen through the method (TimerMeter's accuracy).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Accuracy {
    /// One step (or the bound), in nanoseconds.
    pub ns: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low_ns: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high_ns: Option<f64>,
    /// One step (or the bound), in ticks of the timer.
    pub ticks: f64,
    /// One step (or the bound), in CPU cycles.
    pub cycles: Option<f64>,
    /// Value or bound.
    pub kind: AccuracyKind,
}
