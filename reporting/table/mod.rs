//! Tables of columns and cells, and the notation of their numbers for people.

mod value;

use std::borrow::Cow;

use crate::text::numbers::{
    NOTHING, count, ends_like, fixed, rate, significant, time, with_half_width,
};
use estimators::model::Tool;

pub use value::{CellValue, Type};

/// The notation of the numbers of a column in formats for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Four significant digits.
    Significant,
    /// The distance to the farther end of the interval follows if it is known, which limits the digits; otherwise four
    /// significant digits.
    HalfWidth,
    /// A fixed number of decimals.
    Fixed(usize),
    /// Nanoseconds, printed with a suitable unit.
    Time,
    /// A count, as in `11.17M`.
    Count,
    /// A share, in percent with two decimals.
    Percent,
    /// Hertz, printed with a suitable unit.
    Rate,
}

/// A column: its heading, and the notation of its cells.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// The heading for people, with the unit.
    pub heading: &'static str,
    /// The name for programs.
    pub key: &'static str,
    /// The notation of numbers for people; programs get all digits.
    pub notation: Notation,
    /// Whether cells are right-aligned.
    pub right_aligned: bool,
    /// The largest number of characters of a text cell in formats for people, which shorten longer
    /// text.
    pub max_chars: usize,
    /// Whether a cell becomes several lines on a narrow terminal.
    pub folds: bool,
    /// On a narrow terminal, columns with the largest priority are omitted first; columns
    /// with priority 0 are omitted only if folding the others does not suffice.
    pub omission_priority: u8,
    /// The meaning of the cells; empty if the heading says it.
    pub about: &'static str,
    /// What words in the cells mean, as in "`a`, `b`: …; `c`: …".
    pub words: &'static str,
    /// Whether LaTeX prints the cells as footnotes to the first cells of their rows.
    pub is_footnote: bool,
}

/// What documents print with a table.
#[derive(Clone, Debug, Default)]
pub struct Caption {
    /// What the table shows, as a sentence.
    pub text: String,
    /// The name by which a document refers to the table: ASCII letters, digits and hyphens.
    pub label: String,
    /// How to cite the table, as a sentence.
    pub cite: String,
}

impl Caption {
    /// A caption of a table that this version of timermeter prints.
    pub fn new(text: String, label: &str) -> Self {
        let Tool { name, version } = Tool::this();
        Self {
            text,
            label: label.replace(' ', "-"),
            cite: format!(
                "Cite as: The {name} contributors, {name} {version}, with the source of the figures. Metric: \
                 doi:10.1145/1958746.1958776."
            ),
        }
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The cells of each row; missing cells at the end are empty.
    pub rows: Vec<Cow<'a, [CellValue]>>,
    /// What Markdown, HTML and LaTeX print with the table.
    pub caption: Option<Caption>,
}

impl TableColumn {
    /// A left-aligned column of text.
    pub fn left(heading: &'static str) -> Self {
        Self {
            heading,
            key: heading,
            notation: Notation::Significant,
            right_aligned: false,
            max_chars: 100,
            folds: false,
            omission_priority: 0,
            about: "",
            words: "",
            is_footnote: false,
        }
    }

    /// A right-aligned column of numbers.
    pub fn right(heading: &'static str, notation: Notation) -> Self {
        Self {
            notation,
            right_aligned: true,
            ..Self::left(heading)
        }
    }

    /// Formats a cell for people. Text is neither cleaned nor escaped.
    pub fn format_cell(&self, cell: &CellValue) -> String {
        match cell {
            CellValue::Nothing => NOTHING.to_owned(),
            CellValue::Figure(figure) => match (self.notation, figure.ends()) {
                (Notation::HalfWidth, Some((low, high))) => {
                    let half = (figure.value - low).max(high - figure.value);
                    with_half_width(figure.value, half)
                }
                (notation, _) => notation.number(figure.value),
            },
            CellValue::AtMost(bound) => format!("≤ {}", self.notation.number(*bound)),
            CellValue::Amortised(mean) => format!("{} (amortised)", self.notation.number(*mean)),
            CellValue::Link { text, .. } => text.to_string(),
            other => other.to_string(),
        }
    }

    /// Formats a cell for documents, in which the ends of an interval follow the number in its unit,
    /// as in `21.20 ns [20.91, 21.50]`.
    pub fn format_in_document(&self, cell: &CellValue) -> String {
        let text = self.format_cell(cell);
        let ends = match (cell, self.notation) {
            (CellValue::Figure(figure), Notation::Percent) => {
                ends_like(figure.map(|share| 100.0 * share), &text)
            }
            (CellValue::Figure(figure), notation) if notation != Notation::HalfWidth => {
                ends_like(*figure, &text)
            }
            _ => String::new(),
        };
        text + &ends
    }
}

impl Notation {
    fn number(self, figure: f64) -> String {
        match self {
            Notation::Significant | Notation::HalfWidth => significant(figure, 4),
            Notation::Fixed(decimals) => fixed(figure, decimals),
            Notation::Time => time(Some(figure)),
            Notation::Count => count(Some(figure)),
            Notation::Percent => fixed(100.0 * figure, 2),
            Notation::Rate => rate(Some(figure)),
        }
    }
}

impl<'a> Table<'a> {
    /// Creates a table without rows.
    pub fn new(columns: Vec<TableColumn>) -> Self {
        Self {
            columns,
            ..Self::default()
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<CellValue>) {
        self.rows.push(Cow::Owned(row));
    }

    /// The cells of a row with their columns; missing cells are [`CellValue::Nothing`].
    pub fn cells<'b>(
        &'b self,
        row: &'b [CellValue],
    ) -> impl Iterator<Item = (&'b TableColumn, &'b CellValue)> {
        self.columns
            .iter()
            .zip(row.iter().chain(std::iter::repeat(&CellValue::Nothing)))
    }
}
