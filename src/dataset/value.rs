//! What stands in a typed column.

use std::sync::Arc;

use crate::table::Cell;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text (UTF-8).
    Text,
    /// A figure (64-bit floating point).
    Figure,
    /// A whole number (64-bit, signed).
    Count,
    /// Yes or no.
    Truth,
    /// A moment: microseconds since 1970, UTC.
    Time,
    /// A day.
    Day,
}

impl Type {
    /// As SQL calls it.
    #[must_use]
    pub fn in_sql(self) -> &'static str {
        match self {
            Self::Text => "VARCHAR",
            Self::Figure => "DOUBLE",
            Self::Count => "BIGINT",
            Self::Truth => "BOOLEAN",
            Self::Time => "TIMESTAMP WITH TIME ZONE",
            Self::Day => "DATE",
        }
    }
}

/// What stands in a column for a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not determined.
    Nothing,
    /// Text as it was found.
    Text(Arc<str>),
    /// A word of this program.
    Word(&'static str),
    /// A figure.
    Figure(f64),
    /// A whole number.
    Count(i64),
    /// Yes or no.
    Truth(bool),
    /// Microseconds since 1970, UTC.
    Time(i64),
    /// Days since 1970.
    Day(i32),
}

impl Value {
    /// Its text, where it is some.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The same as what its column holds: tables hold all numbers as figures.
    pub(super) fn of_type(self, kind: Type) -> Self {
        /// Above it a figure is no exact number any more.
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Figure(figure) if kind == Type::Count => {
                if figure.abs() <= LARGEST {
                    Self::Count(figure.round() as i64)
                } else {
                    Self::Nothing
                }
            }
            value => value,
        }
    }
}

/// A bound stands as its figure: a column beside it tells that it is one.
impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Nothing => Self::Nothing,
            Cell::Number(figure) | Cell::AtMost(figure) => Self::Figure(figure),
            Cell::Text(text) => Self::Text(text),
        }
    }
}

impl From<f64> for Value {
    fn from(figure: f64) -> Self {
        if figure.is_finite() { Self::Figure(figure) } else { Self::Nothing }
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<i64> for Value {
    fn from(count: i64) -> Self {
        Self::Count(count)
    }
}

/// One that no signed number holds was not determined.
impl From<u64> for Value {
    fn from(count: u64) -> Self {
        i64::try_from(count).map_or(Self::Nothing, Self::Count)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.as_str().into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}
