//! Figures, with their intervals and units.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The figure.
    pub value: f64,
    /// Lower end of its 95 % interval; null where it is unknown, as of a single process.
    #[serde(deserialize_with = "lower_end", default = "lowest")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub low: f64,
    /// Upper end of its 95 % interval; null where it is unknown, as of a single process.
    #[serde(deserialize_with = "upper_end", default = "highest")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub high: f64,
}

/// Null where the figure is not finite, which JSON cannot hold.
impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.value.is_finite() {
            return serializer.serialize_none();
        }
        let mut written = serializer.serialize_struct("Interval", 3)?;
        written.serialize_field("value", &self.value)?;
        written.serialize_field("low", &self.low())?;
        written.serialize_field("high", &self.high())?;
        written.end()
    }
}

/// In memory an unknown end is infinite, so that arithmetic needs no special cases.
fn lower_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(lowest()))
}

fn upper_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(highest()))
}

fn lowest() -> f64 {
    f64::NEG_INFINITY
}

fn highest() -> f64 {
    f64::INFINITY
}

impl Interval {
    /// A figure without uncertainty.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    /// A figure of which no interval is known.
    pub fn unbounded(value: f64) -> Self {
        Self {
            value,
            low: lowest(),
            high: highest(),
        }
    }

    /// A figure with both ends of its interval, or with none.
    pub fn with_ends(value: f64, ends: Option<(f64, f64)>) -> Self {
        ends.map_or(Self::unbounded(value), |(low, high)| Self {
            value,
            low,
            high,
        })
    }

    /// Both ends or none, widened to hold the figure; `None` where the figure is not a number.
    pub fn sound(self) -> Option<Self> {
        let ends = self.ends();
        let ends = ends.map(|(low, high)| (low.min(self.value), high.max(self.value)));
        self.value
            .is_finite()
            .then_some(Self::with_ends(self.value, ends))
    }

    /// The ends, where both are known.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.is_bounded().then_some((self.low, self.high))
    }

    /// The lower end, where it is known.
    pub fn low(&self) -> Option<f64> {
        Some(self.low).filter(|end| end.is_finite())
    }

    /// The upper end, where it is known.
    pub fn high(&self) -> Option<f64> {
        Some(self.high).filter(|end| end.is_finite())
    }

    /// Whether both ends are known.
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The same in another unit; `factor` is positive.
    pub fn scaled(self, factor: f64) -> Self {
        self.map(|figure| figure * factor)
    }

    /// `change`, which keeps the order, of the figure and its ends.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            value: change(self.value),
            low: change(self.low),
            high: change(self.high),
        }
    }
}

/// The figure without its interval.
pub fn value_of(figure: Option<Interval>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

macro_rules! unit {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[apply(recorded)]
        #[derive(Copy, Default, PartialOrd)]
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
    pub fn cycles(self, frequency: Hertz) -> Cycles {
        Cycles(self.0 * frequency.0 * 1e-9)
    }
}

impl Cycles {
    /// As time on a CPU that runs at `frequency`.
    pub fn nanos(self, frequency: Hertz) -> Nanos {
        Nanos(self.0 / frequency.0 * 1e9)
    }
}
