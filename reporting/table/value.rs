//! What stands in the cells of tables and in the columns of files.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// What a column of a file holds.
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

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not determined.
    Nothing,
    /// A figure, in the unit of its column.
    Figure(f64),
    /// A bound, in the unit of its column.
    AtMost(f64),
    /// A whole number.
    Count(i64),
    /// Yes or no.
    Truth(bool),
    /// Microseconds since 1970, UTC.
    Time(i64),
    /// Days since 1970.
    Day(i32),
    /// A word of this program.
    Word(&'static str),
    /// Text as it was found: each format makes it safe for itself.
    Text(Arc<str>),
}

impl Value {
    /// A figure, or a bound of it.
    #[must_use]
    pub fn bounded(figure: Option<f64>, at_most: bool) -> Self {
        match figure.into() {
            Self::Figure(bound) if at_most => Self::AtMost(bound),
            value => value,
        }
    }

    /// Its number, where it is one, a bound included.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Figure(number) | Self::AtMost(number) => Some(number),
            Self::Count(count) => Some(count as f64),
            _ => None,
        }
    }

    /// Its text; empty where it is none.
    #[must_use]
    pub fn as_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Word(word) => word,
            _ => "",
        }
    }

    /// As a column of that type holds it: there a bound stands as its figure, beside a column that
    /// tells it is one.
    #[must_use]
    pub fn of_type(self, kind: Type) -> Self {
        /// Above it a figure is no exact number any more.
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Figure(figure) if kind == Type::Count && figure.abs() <= LARGEST => {
                Self::Count(figure.round() as i64)
            }
            Self::Figure(_) if kind == Type::Count => Self::Nothing,
            Self::AtMost(bound) => Self::Figure(bound),
            value => value,
        }
    }

    /// Smaller first; what was not determined comes last either way.
    #[must_use]
    pub fn order(&self, other: &Self, largest_first: bool) -> Ordering {
        let class = |value: &Self| match value {
            Self::Figure(_) | Self::Count(_) => 0,
            Self::AtMost(_) => 1,
            Self::Text(_) | Self::Word(_) => 2,
            Self::Truth(_) | Self::Time(_) | Self::Day(_) => 3,
            Self::Nothing => 4,
        };
        let within = match (self, other) {
            (Self::Truth(a), Self::Truth(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Day(a), Self::Day(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => self.as_text().cmp(other.as_text()),
            },
        };
        class(self).cmp(&class(other)).then(if largest_first {
            within.reverse()
        } else {
            within
        })
    }
}

/// With all digits, as scripts read it; nothing where nothing was determined.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: i64 = 86_400;
        let moment =
            |seconds: i64| UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        match self {
            Self::Nothing => Ok(()),
            Self::Figure(figure) => figure.fmt(f),
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::Count(count) => count.fmt(f),
            Self::Truth(truth) => f.write_str(if *truth { "yes" } else { "no" }),
            Self::Time(micros) => {
                humantime::format_rfc3339_seconds(moment(micros / 1_000_000)).fmt(f)
            }
            Self::Day(days) => {
                let text =
                    humantime::format_rfc3339_seconds(moment(i64::from(*days) * DAY)).to_string();
                f.write_str(text.get(..10).unwrap_or_default())
            }
            Self::Word(word) => f.write_str(word),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A figure; one that is none was not determined.
impl From<f64> for Value {
    fn from(figure: f64) -> Self {
        if figure.is_finite() {
            Self::Figure(figure)
        } else {
            Self::Nothing
        }
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

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.as_str().into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::Text(text)
    }
}

/// What there is none of was not determined.
impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

/// Text; where there is none, nothing was determined.
impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        text.as_deref().map_or(Self::Nothing, Self::from)
    }
}
