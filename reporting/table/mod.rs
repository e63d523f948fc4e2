//! Tables: columns and cells once. Each format makes text from elsewhere safe for itself, and its
//! `escape` is the one place that does. All of that is one line of printable text first
//! ([`plain`]): no newline, no control character, nothing that reorders text.

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

/// How the figures of a column are written for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// With four significant digits.
    Significant,
    /// With a fixed number of decimals.
    Fixed(usize),
    /// Nanoseconds, in the unit that fits.
    Time,
    /// A number of things, as in `11.17M`.
    Count,
    /// A share, in percent with two decimals.
    Percent,
    /// Hertz, in the unit that fits.
    Rate,
}

/// A column: what it is called, and how its cells are written.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// What people call it, with its unit.
    pub heading: &'static str,
    /// What it is called where scripts read it.
    pub key: &'static str,
    /// How its figures are written for people; with all digits for scripts.
    pub notation: Notation,
    /// Whether its cells are aligned right.
    pub right: bool,
    /// Characters of its longest text for people; none where the program wrote it and it stays as
    /// it is.
    pub longest: Option<usize>,
    /// Whether its cells may take several lines where a terminal is narrow.
    pub folds: bool,
    /// How soon a narrow terminal leaves it out: the largest first, never where it is 0.
    pub spare: u8,
    /// Which of the groups of the table it belongs to.
    pub group: Option<usize>,
}

/// Columns and rows.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    /// Its columns.
    pub columns: Vec<TableColumn>,
    /// Names of runs of columns; mostly there are none.
    pub groups: Vec<&'a str>,
    /// A cell for each column; where some are missing at the end, nothing stands there.
    pub rows: Vec<Cow<'a, [Value]>>,
}

/// With a fixed number of decimals; what rounds to zero has no sign.
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
    /// A column of text.
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

    /// A column of figures.
    #[must_use]
    pub fn right(heading: &'static str, notation: Notation) -> Self {
        Self {
            notation,
            right: true,
            ..Self::left(heading)
        }
    }

    /// A column of what the program wrote itself, aligned right.
    #[must_use]
    pub fn written(heading: &'static str) -> Self {
        Self {
            right: true,
            longest: None,
            ..Self::left(heading)
        }
    }

    /// A cell of this column for people. Text is as it was found.
    #[must_use]
    pub fn format_cell(&self, cell: &Value) -> String {
        match cell {
            Value::Nothing => NOTHING.to_owned(),
            Value::Figure(figure) => self.figure(*figure),
            Value::AtMost(bound) => format!("≤ {}", self.figure(*bound)),
            plain => plain.to_string(),
        }
    }

    /// The same in documents, where a time stands in the unit that fits, and not all of a column in
    /// nanoseconds.
    fn scaled(&self, cell: &Value) -> String {
        match (self.in_nanoseconds(), cell) {
            (Some(_), Value::Figure(ns)) => time(Some(*ns)),
            (Some(_), Value::AtMost(ns)) => format!("≤ {}", time(Some(*ns))),
            _ => self.format_cell(cell),
        }
    }

    /// Its heading where each cell of a document has its own unit.
    fn scaled_heading(&self) -> &'static str {
        self.in_nanoseconds().unwrap_or(self.heading)
    }

    /// Its heading without the unit, where that is nanoseconds.
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
    /// A table without rows.
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

    /// Writes the table, for people as if there were no terminal.
    ///
    /// # Errors
    /// When the output cannot be written, or a table has no such format.
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

    /// The same as text.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        let mut text = Vec::new();
        self.write(format, &mut text)
            .expect("a vector takes all, and tables have the format");
        String::from_utf8(text).expect("only text was written")
    }

    /// A heading with the name of the group of its column.
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

/// The text as one printable line, each character as `write` puts it.
fn rewritten(text: &str, write: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        write(c, &mut out);
    }
    out
}

#[cfg(test)]
mod tests;
