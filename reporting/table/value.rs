//! Defines the values of table cells, and the types of the columns of files (CSV and Parquet).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// The type of a column of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text (UTF-8).
    Text,
    /// A floating-point number (64-bit).
    Figure,
    /// An integer (64-bit, signed).
    Count,
    /// A boolean.
    Truth,
    /// A point in time: microseconds since 1970, UTC.
    Time,
    /// A date.
    Day,
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value was not determined.
    Nothing,
    /// A number in the unit of the column.
    Figure(f64),
    /// A number, and half of its 95 % interval, in the unit of the column.
    Within(f64, f64),
    /// An upper bound in the unit of the column.
    AtMost(f64),
    /// An integer.
    Count(i64),
    /// A boolean.
    Truth(bool),
    /// A point in time: microseconds since 1970, UTC.
    Time(i64),
    /// A date: days since 1970.
    Day(i32),
    /// A word that the program defines.
    Word(&'static str),
    /// Untrusted text; each format sanitises it.
    Text(Arc<str>),
}

impl Value {
    /// The value of a number, which is an upper bound if `at_most`; [`Value::Nothing`] if the
    /// number is unknown or not finite.
    #[must_use]
    pub fn bounded(figure: Option<f64>, at_most: bool) -> Self {
        match figure.into() {
            Self::Figure(bound) if at_most => Self::AtMost(bound),
            value => value,
        }
    }

    /// The number or bound; `None` for values of other types.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Figure(number) | Self::Within(number, _) | Self::AtMost(number) => Some(number),
            Self::Count(count) => Some(count as f64),
            _ => None,
        }
    }

    /// The text; empty for values of other types.
    #[must_use]
    pub fn as_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Word(word) => word,
            _ => "",
        }
    }

    /// Converts the value for a column of the given type. An upper bound and a number with its
    /// interval become a number, because other columns state which numbers are bounds, and the ends
    /// of intervals.
    #[must_use]
    pub fn into_type(self, target: Type) -> Self {
        /// The largest number up to which all integers are exact (2^53).
        const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Figure(figure) if target == Type::Count && figure.abs() <= MAX_EXACT => {
                Self::Count(figure.round() as i64)
            }
            Self::Figure(_) if target == Type::Count => Self::Nothing,
            Self::Within(number, _) | Self::AtMost(number) => Self::Figure(number),
            value => value,
        }
    }

    /// Compares values for sorting: smaller values first, or larger values first if
    /// `largest_first`. Bounds come after numbers, and undetermined values last, in both orders.
    #[must_use]
    pub fn order(&self, other: &Self, largest_first: bool) -> Ordering {
        let type_order = |value: &Self| match value {
            Self::Figure(_) | Self::Within(..) | Self::Count(_) => 0,
            Self::AtMost(_) => 1,
            Self::Text(_) | Self::Word(_) => 2,
            Self::Truth(_) | Self::Time(_) | Self::Day(_) => 3,
            Self::Nothing => 4,
        };
        let order = match (self, other) {
            (Self::Truth(a), Self::Truth(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Day(a), Self::Day(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => self.as_text().cmp(other.as_text()),
            },
        };
        type_order(self)
            .cmp(&type_order(other))
            .then(if largest_first {
                order.reverse()
            } else {
                order
            })
    }
}

/// Formats the value with all digits for programs; undetermined values are empty.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECONDS_PER_DAY: i64 = 86_400;
        let time =
            |seconds: i64| UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        match self {
            Self::Nothing => Ok(()),
            Self::Figure(figure) | Self::Within(figure, _) => figure.fmt(f),
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::Count(count) => count.fmt(f),
            Self::Truth(truth) => f.write_str(if *truth { "yes" } else { "no" }),
            Self::Time(micros) => {
                humantime::format_rfc3339_seconds(time(micros / 1_000_000)).fmt(f)
            }
            Self::Day(days) => {
                let text =
                    humantime::format_rfc3339_seconds(time(i64::from(*days) * SECONDS_PER_DAY))
                        .to_string();
                f.write_str(text.get(..10).unwrap_or_default())
            }
            Self::Word(word) => f.write_str(word),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A number that is not finite becomes [`Value::Nothing`].
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

/// A number that does not fit into `i64` becomes [`Value::Nothing`].
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

/// `None` becomes [`Value::Nothing`].
impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

/// `None` becomes [`Value::Nothing`].
impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        text.as_deref().map_or(Self::Nothing, Self::from)
    }
}
