//! Units of fields, and what follows from them: names, notation, types, base units and ranges.

use crate::table::{Notation, Type};

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Text.
    Text,
    /// Yes or no.
    Truth,
    /// A moment.
    Time,
    /// A day.
    Day,
    /// A number of things.
    Count,
    /// A number without a unit.
    Number,
    /// A time.
    Nanoseconds,
    /// Cycles of the core.
    Cycles,
    /// Ticks of the timer.
    Ticks,
    /// Events in a second.
    Hertz,
    /// A share in [0, 1].
    Share,
    /// A share in [0, 1] that people read in percent; more is better.
    Percent,
    /// Parts per million.
    Ppm,
}

/// What runs of an unchanged machine differ by, beyond what processes of one run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// As costs of such reads do.
    Cost,
    /// As spreads do.
    Spread,
    /// As cost and spread together make of it.
    Quality,
    /// By how the kernel slews its clock.
    Slew,
    /// As latenesses do.
    Lateness,
    /// By nothing.
    None,
}

impl Unit {
    /// The end of the names of fields of this unit.
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

    /// The end of their headings.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Cycles => " (cycles)",
            Self::Ticks => " (ticks)",
            Self::Percent => " %",
            Self::Ppm => " (ppm)",
            _ => "",
        }
    }

    /// What stands behind a figure in a sentence.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Cycles => " cycles",
            Self::Ticks => " ticks",
            Self::Percent => " %",
            Self::Ppm => " ppm",
            _ => "",
        }
    }

    /// How figures are written for people.
    #[must_use]
    pub fn notation(self) -> Notation {
        match self {
            Self::Nanoseconds => Notation::Time,
            Self::Count => Notation::Fixed(0),
            Self::Cycles | Self::Ticks => Notation::Count,
            Self::Hertz => Notation::Rate,
            Self::Share => Notation::Fixed(3),
            Self::Percent => Notation::Percent,
            _ => Notation::Significant,
        }
    }

    /// The type of a column of a file.
    #[must_use]
    pub fn kind(self) -> Type {
        match self {
            Self::Text => Type::Text,
            Self::Truth => Type::Truth,
            Self::Time => Type::Time,
            Self::Day => Type::Day,
            Self::Count => Type::Count,
            _ => Type::Figure,
        }
    }

    /// The base unit of OpenMetrics, and how many of this one it is.
    #[must_use]
    pub fn base(self) -> (&'static str, f64) {
        match self {
            Self::Nanoseconds => ("_seconds", 1e9),
            Self::Hertz => ("_hertz", 1.0),
            Self::Share | Self::Percent => ("_ratio", 1.0),
            Self::Ppm => ("_ratio", 1e6),
            _ => ("", 1.0),
        }
    }

    /// Whether the best come first when the largest do.
    #[must_use]
    pub fn is_largest_first(self) -> bool {
        matches!(self, Self::Share | Self::Percent | Self::Day)
    }

    pub(super) fn range(self) -> Range {
        match self {
            Self::Nanoseconds | Self::Cycles | Self::Ticks => Range::LENGTH,
            Self::Hertz => Range::RATE,
            Self::Share | Self::Percent => Range::SHARE,
            _ => Range::ANY,
        }
    }
}

/// What a figure can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    least: f64,
    most: f64,
    /// Whether it is more than the least.
    more: bool,
    /// In words.
    pub name: &'static str,
}

impl Range {
    /// A share.
    pub const SHARE: Self = Self {
        least: 0.0,
        most: 1.0,
        more: false,
        name: "0 to 1",
    };
    /// A time in nanoseconds, up to thirty years, or in cycles or ticks as many.
    pub const LENGTH: Self = Self {
        least: 0.0,
        most: 1e18,
        more: false,
        name: "0 to 1e18",
    };
    /// The same where 0 is none.
    pub const STEP: Self = Self {
        more: true,
        name: "more than 0, up to 1e18",
        ..Self::LENGTH
    };
    /// An integer of the kernel, whatever it is.
    pub const INTEGER: Self = Self {
        most: u64::MAX as f64,
        name: "0 to 2^64",
        ..Self::LENGTH
    };
    /// Events in a second.
    pub const RATE: Self = Self {
        least: 0.0,
        most: 1e12,
        more: true,
        name: "more than 0, up to 1e12",
    };
    /// A number that may be below zero, as a time of a wait that returned early.
    pub const ANY: Self = Self {
        least: -1e18,
        name: "-1e18 to 1e18",
        ..Self::LENGTH
    };

    /// Whether a figure can be that.
    #[must_use]
    pub fn holds(&self, figure: f64) -> bool {
        (self.least..=self.most).contains(&figure) && !(self.more && figure <= self.least)
    }

    /// The range of the ends of its interval.
    #[must_use]
    pub fn of_ends(self) -> Self {
        Self {
            more: false,
            name: if self.more {
                Self::LENGTH.name
            } else {
                self.name
            },
            ..self
        }
    }
}
