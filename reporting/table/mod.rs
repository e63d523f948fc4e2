//! Defines tables of columns and cells, independent of the format. The `escape` function of each
//! format is the only place that makes untrusted text safe for it. All untrusted text first becomes
//! one printable line ([`plain`]), without newlines, control characters or characters that reorder
//! text.

mod data;
mod format;
mod latex;
mod markup;
mod text;
mod value;

use std::borrow::Cow;
use std::io::{self, Write};

use crate::text::numbers::{NOTHING, count, rate, significant, time};
use crate::text::plain;

pub use data::CsvWriter;
pub use format::{Format, UnknownEnding};
pub use markup::{escape_html, escape_markdown};
pub use text::Style;
pub use value::{Type, Value};

/// The notation of the numbers of a column for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Four significant digits.
    Significant,
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
    pub right: bool,
    /// The longest text for people, in characters; `None` if the program itself wrote the text,
    /// which is then not changed.
    pub longest: Option<usize>,
    /// Whether cells fold to several lines on a narrow terminal.
    pub folds: bool,
    /// The priority for omission on a narrow terminal: the largest is omitted first, 0 never.
    pub spare: u8,
    /// The index of the column group.
    pub group: Option<usize>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The names of the column groups; most tables have none.
    pub groups: Vec<&'a str>,
    /// The cells of each row; missing cells at the end are empty.
    pub rows: Vec<Cow<'a, [Value]>>,
}

/// Formats a number with fixed decimals; a number that rounds to zero has no sign.
fn fixed(figure: f64, decimals: usize) -> String {
    let text = format!("{figure:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|digit| matches!(digit, b'0' | b'.')) => {
            digits.to_owned()
        }
        _ => text,
    }
}

impl TableColumn {
    /// A left-aligned column of text.
    #[must_use]
    pub fn left(heading: &'static str) -> Self {
        Self {
            heading,
            key: heading,
            notation: Notation::Significant,
            right: false,
            longest: Some(100),
            folds: false,
            spare: 0,
            group: None,
        }
    }

    /// A right-aligned column of numbers.
    #[must_use]
    pub fn right(heading: &'static str, notation: Notation) -> Self {
        Self {
            notation,
            right: true,
            ..Self::left(heading)
        }
    }

    /// A right-aligned column of text that the program wrote.
    #[must_use]
    pub fn written(heading: &'static str) -> Self {
        Self {
            right: true,
            longest: None,
            ..Self::left(heading)
        }
    }

    /// Formats a cell for people. Text is not sanitised.
    #[must_use]
    pub fn format_cell(&self, cell: &Value) -> String {
        match cell {
            Value::Nothing => NOTHING.to_owned(),
            Value::Figure(figure) => self.figure(*figure),
            Value::AtMost(bound) => format!("≤ {}", self.figure(*bound)),
            plain => plain.to_string(),
        }
    }

    /// Formats a cell for documents, in which each time has a suitable unit.
    fn scaled(&self, cell: &Value) -> String {
        match (self.in_nanoseconds(), cell) {
            (Some(_), Value::Figure(ns)) => time(Some(*ns)),
            (Some(_), Value::AtMost(ns)) => format!("≤ {}", time(Some(*ns))),
            _ => self.format_cell(cell),
        }
    }

    /// The heading for documents, in which each cell has its own unit.
    fn scaled_heading(&self) -> &'static str {
        self.in_nanoseconds().unwrap_or(self.heading)
    }

    /// The heading without the unit, if the unit is nanoseconds.
    fn in_nanoseconds(&self) -> Option<&'static str> {
        self.heading
            .strip_suffix(" (ns)")
            .filter(|_| self.notation == Notation::Significant)
    }

    fn figure(&self, figure: f64) -> String {
        match self.notation {
            Notation::Significant => significant(figure, 4),
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
    #[must_use]
    pub fn new(columns: Vec<TableColumn>) -> Self {
        Self {
            columns,
            groups: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Value>) {
        self.rows.push(Cow::Owned(row));
    }

    fn remove_column(&mut self, at: usize) {
        self.columns.remove(at);
        for row in self.rows.iter_mut().filter(|row| row.len() > at) {
            row.to_mut().remove(at);
        }
    }

    /// Writes the table; text for people is written as if there were no terminal.
    ///
    /// # Errors
    /// When the output cannot be written, or tables do not support the format.
    pub fn write(&self, format: Format, output: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Table => text::write(self, output),
            Format::Markdown => markup::write_markdown(self, output),
            Format::Csv => data::write_csv(self, output),
            Format::Latex => latex::write(self, output),
            Format::Html => markup::write_html(self, output),
            Format::Json => data::write_json(self, output),
            Format::OpenMetrics | Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Renders the table as text.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        let mut text = Vec::new();
        self.write(format, &mut text)
            .expect("a vector takes all, and tables have the format");
        String::from_utf8(text).expect("only text was written")
    }

    /// The heading with the name of the column group.
    fn full_heading(&self, column: &TableColumn, heading: &str) -> String {
        let group = column.group.and_then(|group| self.groups.get(group));
        group.map_or(heading.to_owned(), |group| format!("{group}, {heading}"))
    }

    /// The cells of a row with their columns.
    fn cells<'b>(&'b self, row: &'b [Value]) -> impl Iterator<Item = (&'b TableColumn, &'b Value)> {
        self.columns
            .iter()
            .zip(row.iter().chain(std::iter::repeat(&Value::Nothing)))
    }
}

/// Converts text to one printable line and passes each character to `write` for escaping.
fn rewritten(text: &str, write: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        write(c, &mut out);
    }
    out
}

#[cfg(test)]
mod tests;
