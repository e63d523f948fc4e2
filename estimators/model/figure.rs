//! Values with their intervals and units.

use std::ops::RangeInclusive;

/// A value with its 95 % interval. A document with a value outside its interval is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(not(feature = "serde"), derive(attributes::Unwritten))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "json::Figure")]
#[cfg_attr(feature = "schema", schemars(!try_from))]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end of the 95 % interval; null if unknown, for example for a single process.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub low: f64,
    /// Upper end of the 95 % interval; null if unknown, for example for a single process.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub high: f64,
}

#[cfg(feature = "serde")]
mod json {
    use serde::ser::SerializeStruct;
    use serde::{Deserialize, Serialize, Serializer};

    use super::Estimate;

    /// A figure as it is written.
    #[derive(Deserialize)]
    pub(super) struct Figure {
        value: f64,
        low: Option<f64>,
        high: Option<f64>,
    }

    impl TryFrom<Figure> for Estimate {
        type Error = String;

        /// An unknown end becomes −∞ or ∞, so that arithmetic needs no special cases.
        fn try_from(read: Figure) -> Result<Self, String> {
            let value = read.value;
            let low = read.low.unwrap_or(f64::NEG_INFINITY);
            let high = read.high.unwrap_or(f64::INFINITY);
            if (low..=high).contains(&value) {
                Ok(Self { value, low, high })
            } else {
                Err(format!(
                    "a figure is {value:?}; it has to be from {low:?} to {high:?}"
                ))
            }
        }
    }

    /// Serialised as null if the value is not finite, which JSON cannot represent.
    impl Serialize for Estimate {
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
}

impl Estimate {
    /// A value without uncertainty: both ends equal the value.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    /// A value with an unknown interval.
    pub fn unbounded(value: f64) -> Self {
        Self {
            value,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        }
    }

    /// A value with both ends of its interval, or with an unknown interval.
    pub fn with_ends(value: f64, ends: Option<(f64, f64)>) -> Self {
        ends.map_or(Self::unbounded(value), |(low, high)| Self {
            value,
            low,
            high,
        })
    }

    /// A value with an interval of this half-width around it.
    pub fn around(value: f64, half_width: f64) -> Self {
        Self {
            value,
            low: value - half_width,
            high: value + half_width,
        }
    }

    /// Half of the width of the interval; infinite if an end is unknown.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether the interval contains this number.
    pub fn contains(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    /// The ends of the interval, if both are known.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.is_bounded().then_some((self.low, self.high))
    }

    /// The lower end, if known.
    pub fn low(&self) -> Option<f64> {
        Some(self.low).filter(|end| end.is_finite())
    }

    /// The upper end, if known.
    pub fn high(&self) -> Option<f64> {
        Some(self.high).filter(|end| end.is_finite())
    }

    /// Whether both ends are known.
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Multiplies the value and the ends by `factor`, which must be positive, to convert to another
    /// unit.
    pub fn scaled(self, factor: f64) -> Self {
        self.map(|figure| figure * factor)
    }

    /// Applies an increasing function to the value and to the ends.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            value: change(self.value),
            low: change(self.low),
            high: change(self.high),
        }
    }
}

/// The value without its interval.
pub fn value_of(figure: Option<Estimate>) -> Option<f64> {
    figure.map(|figure| figure.value)
}

macro_rules! unit {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[apply(recorded, Copy, Default, PartialOrd)]
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
/// Events in a second. A document with a number outside [`Hertz::RANGE`] is refused.
#[apply(recorded, Copy, PartialOrd)]
#[serde(try_from = "f64")]
pub struct Hertz(pub f64);

impl Hertz {
    /// The frequencies that clocks, counters and cores have, in hertz.
    pub const RANGE: RangeInclusive<f64> = 1.0..=1e12;

    /// Returns the frequency; `None` if it is out of range, as zero is.
    pub fn new(hertz: f64) -> Option<Self> {
        Self::RANGE.contains(&hertz).then_some(Self(hertz))
    }
}

impl TryFrom<f64> for Hertz {
    type Error = &'static str;

    fn try_from(hertz: f64) -> Result<Self, Self::Error> {
        Self::new(hertz).ok_or("a number that is no frequency")
    }
}

impl Nanos {
    /// Converts to cycles of a CPU that runs at `frequency`.
    pub fn cycles(self, frequency: Hertz) -> Cycles {
        Cycles(self.0 * frequency.0 * 1e-9)
    }
}
