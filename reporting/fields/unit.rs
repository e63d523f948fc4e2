//! Defines the units of fields, which determine names, notation, types, base units and ranges.

use crate::model::{Hertz, Interval};
use crate::table::{Notation, Type};

/// The unit of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldUnit {
    /// Text.
    Text,
    /// Yes or no.
    Truth,
    /// A date.
    Day,
    /// A count.
    Count,
    /// A number without a unit.
    Number,
    /// A duration in nanoseconds.
    Nanoseconds,
    /// Core cycles.
    Cycles,
    /// Ticks of the timer.
    Ticks,
    /// Events per second.
    Hertz,
    /// A share in [0, 1].
    Share,
    /// A share in [0, 1] that is printed in percent; larger is better.
    Percent,
    /// Parts per million.
    Ppm,
}

/// What follows from the unit of a field.
#[derive(Clone, Copy)]
pub struct UnitRules {
    /// The suffix of field names.
    pub(super) suffix: &'static str,
    /// The suffix of headings.
    pub(super) heading: &'static str,
    /// The sign that follows a number in a sentence.
    pub(super) sign: &'static str,
    /// The notation of numbers for people.
    pub(super) notation: Notation,
    /// The type of a column of a CSV file.
    pub column_type: Type,
    /// The suffix of metric names that states the base unit in OpenMetrics, and the divisor that
    /// converts a value to this base unit.
    pub base_unit: (&'static str, f64),
    /// Whether tables put the largest value first by default.
    pub is_largest_first: bool,
    /// The range of valid numbers.
    pub(super) range: Range,
}

impl FieldUnit {
    /// What follows from the unit.
    pub fn rules(self) -> UnitRules {
        const NUMBER: UnitRules = UnitRules {
            suffix: "",
            heading: "",
            sign: "",
            notation: Notation::Significant,
            column_type: Type::Figure,
            base_unit: ("", 1.0),
            is_largest_first: false,
            range: Range::ANY,
        };
        const LENGTH: UnitRules = UnitRules {
            notation: Notation::Count,
            range: Range::LENGTH,
            ..NUMBER
        };
        const SHARE: UnitRules = UnitRules {
            notation: Notation::Fixed(3),
            base_unit: ("_ratio", 1.0),
            is_largest_first: true,
            range: Range::SHARE,
            ..NUMBER
        };
        let of_type = |column_type| UnitRules {
            column_type,
            ..NUMBER
        };
        match self {
            Self::Text => of_type(Type::Text),
            Self::Truth => of_type(Type::Truth),
            Self::Day => UnitRules {
                is_largest_first: true,
                ..of_type(Type::Text)
            },
            Self::Count => UnitRules {
                notation: Notation::Fixed(0),
                range: Range::COUNT,
                ..of_type(Type::Count)
            },
            Self::Number => NUMBER,
            Self::Nanoseconds => UnitRules {
                suffix: "_ns",
                notation: Notation::Time,
                base_unit: ("_seconds", 1e9),
                ..LENGTH
            },
            Self::Cycles => UnitRules {
                suffix: "_cycles",
                heading: " (cycles)",
                sign: " cycles",
                ..LENGTH
            },
            Self::Ticks => UnitRules {
                suffix: "_ticks",
                heading: " (ticks)",
                sign: " ticks",
                ..LENGTH
            },
            Self::Hertz => UnitRules {
                suffix: "_hz",
                notation: Notation::Rate,
                base_unit: ("_hertz", 1.0),
                range: Range::RATE,
                ..NUMBER
            },
            Self::Share => SHARE,
            Self::Percent => UnitRules {
                heading: " %",
                sign: " %",
                notation: Notation::Percent,
                ..SHARE
            },
            Self::Ppm => UnitRules {
                suffix: "_ppm",
                heading: " (ppm)",
                sign: " ppm",
                notation: Notation::HalfWidth,
                base_unit: ("_ratio", 1e6),
                ..NUMBER
            },
        }
    }
}

/// The range of valid numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    min: f64,
    max: f64,
    /// Whether `min` itself is excluded.
    excludes_min: bool,
}

impl Range {
    /// A share in [0, 1].
    pub const SHARE: Self = Self {
        min: 0.0,
        max: 1.0,
        excludes_min: false,
    };
    /// A duration in nanoseconds (up to thirty years), cycles or ticks.
    pub const LENGTH: Self = Self {
        min: 0.0,
        max: 1e18,
        excludes_min: false,
    };
    /// A resolution: greater than 0, in nanoseconds, cycles or ticks.
    pub const STEP: Self = Self {
        excludes_min: true,
        ..Self::LENGTH
    };
    /// A number of things; up to here floating-point numbers tell neighbours apart.
    pub const COUNT: Self = Self {
        max: (1_u64 << 53) as f64,
        ..Self::LENGTH
    };
    /// A number of processes: a run starts hundreds.
    pub const PROCESSES: Self = Self {
        max: 1e6,
        ..Self::LENGTH
    };
    /// Any integer that the kernel reports.
    pub const INTEGER: Self = Self {
        min: -(u64::MAX as f64),
        max: u64::MAX as f64,
        ..Self::LENGTH
    };
    /// Events per second.
    pub const RATE: Self = Self {
        min: *Hertz::RANGE.start(),
        max: *Hertz::RANGE.end(),
        ..Self::LENGTH
    };
    /// A duration in seconds, as a clock of 64-bit nanoseconds counts them.
    pub const SECONDS: Self = Self {
        max: i64::MAX as f64 / 1e9,
        ..Self::LENGTH
    };
    /// A difference between two times, in seconds.
    pub const CLOCK: Self = Self {
        min: -Self::SECONDS.max,
        ..Self::SECONDS
    };
    /// Any number; a wait that returned early has a negative lateness.
    pub const ANY: Self = Self {
        min: -1e18,
        ..Self::LENGTH
    };

    /// Whether the range contains a number.
    fn contains(&self, number: f64) -> bool {
        (self.min..=self.max).contains(&number) && !(self.excludes_min && number <= self.min)
    }

    /// Checks that the range contains the number with this key.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(self, key: &str, number: f64) -> Result<(), InvalidNumber> {
        if self.contains(number) {
            return Ok(());
        }
        Err(InvalidNumber::OutOfRange {
            key: key.to_owned(),
            number,
            range: self,
        })
    }

    /// The range for the ends of an interval, which may equal the lower bound.
    #[must_use]
    pub const fn for_ends(self) -> Self {
        Self {
            excludes_min: false,
            ..self
        }
    }
}

/// A number that no valid report holds.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidNumber {
    /// The number is out of range.
    #[error("{key} is {number:?}; it has to be {range}")]
    OutOfRange {
        /// The key in the report.
        key: String,
        /// The number.
        number: f64,
        /// The valid numbers.
        range: Range,
    },
    /// The upper end of an interval is below its lower end.
    #[error("{key} ends at {high:?}, below its beginning at {low:?}")]
    Reversed {
        /// The key in the report.
        key: String,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
}

/// Checks that the interval with this key contains its value.
///
/// # Errors
/// When it does not, or its upper end is below its lower end.
pub fn check_interval(key: &str, figure: Interval) -> Result<(), InvalidNumber> {
    let Interval { value, low, high } = figure;
    if low > high {
        let key = key.to_owned();
        return Err(InvalidNumber::Reversed { key, low, high });
    }
    let interval = Range {
        min: low,
        max: high,
        ..Range::ANY
    };
    interval.check(key, value)
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = |value: f64| match value.abs() {
            size if size < 1e3 => value.to_string(),
            _ => format!("{value:e}"),
        };
        let (min, max) = (bound(self.min), bound(self.max));
        match self.excludes_min {
            true => write!(f, "more than {min}, up to {max}"),
            false => write!(f, "from {min} to {max}"),
        }
    }
}
