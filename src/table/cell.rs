//! What stands in the cells of a table.

use std::cmp::Ordering;
use std::sync::Arc;

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Not determined.
    Nothing,
    /// A figure, in the unit of its column.
    Number(f64),
    /// A bound, in the unit of its column.
    AtMost(f64),
    /// Text as it was found: each format makes it safe for itself.
    Text(Arc<str>),
}

impl Cell {
    /// A figure, or a bound of it.
    #[must_use]
    pub fn bounded(figure: Option<f64>, at_most: bool) -> Self {
        match figure.into() {
            Self::Number(bound) if at_most => Self::AtMost(bound),
            cell => cell,
        }
    }

    /// A share in percent.
    #[must_use]
    pub fn percent(share: Option<f64>) -> Self {
        share.map(|share| share * 100.0).into()
    }

    /// Its text; empty where it is none.
    #[must_use]
    pub fn as_text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// Smaller first; what was not determined comes last either way.
    #[must_use]
    pub fn order(&self, other: &Self, largest_first: bool) -> Ordering {
        let class = |cell: &Self| match cell {
            Self::Number(_) => 0,
            Self::AtMost(_) => 1,
            Self::Text(_) => 2,
            Self::Nothing => 3,
        };
        let within = match (self, other) {
            (Self::Number(a) | Self::AtMost(a), Self::Number(b) | Self::AtMost(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => Ordering::Equal,
        };
        class(self).cmp(&class(other)).then(if largest_first { within.reverse() } else { within })
    }
}

/// A figure; one that is none was not determined.
impl From<Option<f64>> for Cell {
    fn from(figure: Option<f64>) -> Self {
        figure.filter(|figure| figure.is_finite()).map_or(Self::Nothing, Self::Number)
    }
}

impl From<f64> for Cell {
    fn from(figure: f64) -> Self {
        Some(figure).into()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// Text; where there is none, nothing was determined.
impl From<&Option<String>> for Cell {
    fn from(text: &Option<String>) -> Self {
        text.as_deref().map_or(Self::Nothing, Self::from)
    }
}
