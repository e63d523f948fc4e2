//! What stands in the cells of a table of reports.

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
    /// A figure; one that is none was not determined.
    #[must_use]
    pub fn number(figure: Option<f64>) -> Self {
        figure.filter(|figure| figure.is_finite()).map_or(Self::Nothing, Self::Number)
    }

    /// Text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
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
