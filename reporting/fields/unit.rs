//! Defines the units of fields, which determine names, notation, types, base units and ranges.

use crate::table::{Notation, Type};

/// The unit of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldUnit {
    /// Text.
    Text,
    /// Yes or no.
    Truth,
    /// A point in time.
    Time,
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

/// The scatter of a value between runs of an unchanged machine, by its cause; comparisons add it to
/// the scatter between the processes of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// The scatter of costs, which depends on how the timer is read.
    Cost,
    /// The scatter of spreads.
    Spread,
    /// The scatter of Qualities, which follows from the scatter of costs and of spreads.
    Quality,
    /// The change of a rate that the kernel causes when it slews its clock.
    Slew,
    /// The scatter of latenesses.
    Lateness,
    /// No scatter.
    None,
}

impl FieldUnit {
    /// The suffix of field names with this unit.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Nanoseconds => "_ns",
            Self::Cycles => "_cycles",
            Self::Ticks => "_ticks",
            Self::Hertz => "_hz",
            Self::Ppm => "_ppm",
            _ => "",
        }
    }

    /// The suffix of headings with this unit.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Cycles => " (cycles)",
            Self::Ticks => " (ticks)",
            Self::Percent => " %",
            Self::Ppm => " (ppm)",
            _ => "",
        }
    }

    /// The unit sign that follows a number in a sentence.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Cycles => " cycles",
            Self::Ticks => " ticks",
            Self::Percent => " %",
            Self::Ppm => " ppm",
            _ => "",
        }
    }

    /// The notation of numbers for people.
    #[must_use]
    pub fn notation(self) -> Notation {
        match self {
            Self::Nanoseconds => Notation::Time,
            Self::Count => Notation::Fixed(0),
            Self::Cycles | Self::Ticks => Notation::Count,
            Self::Hertz => Notation::Rate,
            Self::Share => Notation::Fixed(3),
            Self::Percent => Notation::Percent,
            Self::Ppm => Notation::HalfWidth,
            _ => Notation::Significant,
        }
    }

    /// The type of a column of a file (CSV or Parquet) with this unit.
    #[must_use]
    pub fn column_type(self) -> Type {
        match self {
            Self::Text => Type::Text,
            Self::Truth => Type::Truth,
            Self::Time => Type::Time,
            Self::Day => Type::Day,
            Self::Count => Type::Count,
            _ => Type::Figure,
        }
    }

    /// The suffix of metric names that states the base unit in OpenMetrics, and the divisor that
    /// converts a value to this base unit.
    #[must_use]
    pub fn base_unit(self) -> (&'static str, f64) {
        match self {
            Self::Nanoseconds => ("_seconds", 1e9),
            Self::Hertz => ("_hertz", 1.0),
            Self::Share | Self::Percent => ("_ratio", 1.0),
            Self::Ppm => ("_ratio", 1e6),
            _ => ("", 1.0),
        }
    }

    /// Whether tables put the largest value first by default.
    #[must_use]
    pub fn is_largest_first(self) -> bool {
        matches!(self, Self::Share | Self::Percent | Self::Day)
    }

    /// The range of valid numbers with this unit.
    pub(super) fn range(self) -> Range {
        match self {
            Self::Nanoseconds | Self::Cycles | Self::Ticks => Range::LENGTH,
            Self::Hertz => Range::RATE,
            Self::Share | Self::Percent => Range::SHARE,
            Self::Count => Range::COUNT,
            _ => Range::ANY,
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
    /// The number of a bin of a histogram of latenesses, of which 20 are a decade.
    pub const BIN: Self = Self {
        max: 400.0,
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
        min: 0.0,
        max: 1e12,
        excludes_min: true,
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
