//! Defines the units of fields, which determine names, notation, types, base units and ranges.

use crate::table::{Notation, Type};
use estimators::model::Hertz;

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
}

impl Range {
    /// A share in [0, 1].
    pub const SHARE: Self = Self::within(0.0, 1.0);
    /// A duration in nanoseconds (up to thirty years), cycles or ticks.
    pub const LENGTH: Self = Self::within(0.0, 1e18);
    /// A resolution in nanoseconds, cycles or ticks, so much greater than 0 that its ratio to another
    /// is a number.
    pub const STEP: Self = Self::within(1e-9, 1e18);
    /// A number of things; up to here floating-point numbers tell neighbours apart.
    pub const COUNT: Self = Self::within(0.0, (1_u64 << 53) as f64);
    /// A number of processes: a run starts hundreds.
    pub const PROCESSES: Self = Self::within(0.0, 1e6);
    /// Any integer that the kernel reports.
    pub const INTEGER: Self = Self::within(-(u64::MAX as f64), u64::MAX as f64);
    /// Events per second.
    pub const RATE: Self = Self::within(*Hertz::RANGE.start(), *Hertz::RANGE.end());
    /// Any number; a wait that returned early has a negative lateness.
    pub const ANY: Self = Self::within(-1e18, 1e18);

    /// From `min` to `max`, both included.
    pub(super) const fn within(min: f64, max: f64) -> Self {
        Self { min, max }
    }

    /// Checks that the range contains the number with this key.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn check(self, key: &'static str, number: f64) -> Result<(), InvalidNumber> {
        if (self.min..=self.max).contains(&number) {
            return Ok(());
        }
        Err(InvalidNumber {
            key,
            number,
            range: self,
        })
    }

    /// The range of the ends of an interval: that of a step begins at 0.
    pub(super) fn of_ends(self) -> Self {
        match self {
            Self::STEP => Self::LENGTH,
            _ => self,
        }
    }
}

/// A number that is out of range.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{key} is {number:?}; it has to be {range}")]
pub struct InvalidNumber {
    key: &'static str,
    number: f64,
    range: Range,
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = |value: f64| match value.abs() {
            size if size < 1e3 => value.to_string(),
            _ => format!("{value:e}"),
        };
        write!(f, "from {} to {}", bound(self.min), bound(self.max))
    }
}
