//! Figures, with their intervals and units.

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
    /// A figure; nothing where it is none. An interval that does not hold the figure is widened to
    /// do so, and one without end is none.
    #[must_use]
    pub fn new(value: f64, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let interval = low.zip(high).filter(|(low, high)| (low + high).is_finite());
        let interval = interval.map(|(low, high)| (low.min(value), high.max(value)));
        value.is_finite().then_some(Self::within(value, interval))
    }

    /// A figure with both ends of its interval, or with none.
    #[must_use]
    pub fn within(value: f64, interval: Option<(f64, f64)>) -> Self {
        Self {
            value,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
        }
    }

    /// As a document has it: its parts as they are.
    #[must_use]
    pub fn told(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        Some(Self {
            value: value?,
            low,
            high,
        })
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
        Self {
            value,
            low: value,
            high: value,
            samples: 0,
        }
    }

    /// The same estimate in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
            ..self
        }
    }
}

macro_rules! unit {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);
    };
}

unit!(
    /// Nanoseconds of real time.
    Nanos
);
unit!(
    /// CPU cycles, at a stated frequency.
    Cycles
);
unit!(
    /// Events in a second.
    Hertz
);

impl Nanos {
    /// As cycles of a CPU that runs at `frequency`.
    #[must_use]
    pub fn cycles(self, frequency: Hertz) -> Cycles {
        Cycles(self.0 * frequency.0 * 1e-9)
    }
}

impl Cycles {
    /// As time on a CPU that runs at `frequency`.
    #[must_use]
    pub fn nanos(self, frequency: Hertz) -> Nanos {
        Nanos(self.0 / frequency.0 * 1e9)
    }
}
