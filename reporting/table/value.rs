//! Defines the values of table cells, and the types of the columns of CSV files.

use std::fmt;
use std::sync::Arc;

use crate::text::plain;
use estimators::model::Estimate;

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
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue {
    /// The value was not determined.
    Nothing,
    /// A number with its interval, in the unit of the column.
    Figure(Estimate),
    /// An upper bound in the unit of the column.
    AtMost(f64),
    /// The mean cost of consecutive reads, where that of isolated reads is unknown: for people only.
    Amortised(f64),
    /// An integer.
    Count(i64),
    /// A boolean.
    Truth(bool),
    /// Untrusted text; each format sanitises it.
    Text(Arc<str>),
    /// Untrusted text with an address: people read the text, programs the address.
    Link {
        /// The text.
        text: Arc<str>,
        /// The address: a relative path, or an address on the web.
        href: Arc<str>,
    },
}

impl CellValue {
    /// The value of a number, which is an upper bound if `at_most`; [`CellValue::Nothing`] if the
    /// number is unknown or not finite.
    pub fn bounded(figure: Option<f64>, at_most: bool) -> Self {
        match figure.into() {
            Self::Figure(bound) if at_most => Self::AtMost(bound.value),
            value => value,
        }
    }

    /// The number or bound; `None` for values of other types.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Figure(figure) => Some(figure.value),
            Self::AtMost(number) | Self::Amortised(number) => Some(number),
            Self::Count(count) => Some(count as f64),
            _ => None,
        }
    }

    /// The text; empty for values of other types.
    pub fn as_text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Link { text, .. } => text,
            _ => "",
        }
    }

    /// The address of a link, percent-encoded; `None` unless it is relative or of the web, because
    /// other addresses may run code.
    pub fn address(&self) -> Option<String> {
        let Self::Link { href, .. } = self else {
            return None;
        };
        let encoded = |byte: u8| match byte.is_ascii_alphanumeric() {
            false if !b"-._~:/?#@!$&*+,;=%".contains(&byte) => format!("%{byte:02X}"),
            _ => char::from(byte).to_string(),
        };
        let address: String = plain(href).bytes().map(encoded).collect();
        let start = address.split(['/', '?', '#']).next()?;
        let is_usual = ["http:", "https:"].contains(&start) || !start.contains(':');
        is_usual.then_some(address)
    }

    /// Converts the value for a column of the given type. An upper bound is no value; the upper end of the
    /// interval states it.
    pub fn into_type(self, target: Type) -> Self {
        /// The largest number up to which all integers are exact (2^53).
        const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Figure(Estimate { value, .. }) if target == Type::Count => {
                let count = Some(value.round() as i64);
                count.filter(|_| value.abs() <= MAX_EXACT).into()
            }
            Self::AtMost(_) | Self::Amortised(_) => Self::Nothing,
            Self::Link { text, .. } => Self::Text(text),
            value => value,
        }
    }
}

/// Formats the value with all digits for programs; undetermined values are empty.
impl fmt::Display for CellValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing | Self::Amortised(_) => Ok(()),
            Self::Figure(figure) => figure.value.fmt(f),
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::Count(count) => count.fmt(f),
            Self::Truth(truth) => f.write_str(if *truth { "yes" } else { "no" }),
            Self::Text(text) | Self::Link { href: text, .. } => f.write_str(text),
        }
    }
}

macro_rules! cells_from {
    ($($(#[$doc:meta])* $from:ty: $value:ident => $cell:expr;)*) => {
        $($(#[$doc])* impl From<$from> for CellValue {
            fn from($value: $from) -> Self {
                $cell
            }
        })*
    };
}

cells_from! {
    /// A number that is not finite becomes [`CellValue::Nothing`].
    f64: number => Some(number).filter(|it| it.is_finite()).map(Estimate::unbounded).into();
    Estimate: figure => Self::Figure(figure);
    u32: count => Self::Count(count.into());
    i64: count => Self::Count(count);
    /// A number that does not fit into `i64` becomes [`CellValue::Nothing`].
    u64: count => i64::try_from(count).ok().into();
    bool: truth => Self::Truth(truth);
    &str: text => Self::Text(text.into());
    String: text => Self::Text(text.into());
    &String: text => Self::Text(text.as_str().into());
    Arc<str>: text => Self::Text(text);
    &Option<String>: text => text.as_deref().into();
}

/// `None` becomes [`CellValue::Nothing`].
impl<T: Into<Self>> From<Option<T>> for CellValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}
