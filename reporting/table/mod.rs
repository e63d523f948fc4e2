//! Defines tables of columns and cells, and writes them in all formats. Text of reports is
//! untrusted: it first becomes one printable line ([`plain`]), without control characters and
//! characters that reorder text; then the `escape` function of each format makes it safe for that
//! format.

mod data;
mod format;
mod latex;
mod markup;
mod text;
mod value;

use std::borrow::Cow;
use std::io::{self, Write};

use crate::model::Tool;
use crate::text::numbers::{NOTHING, count, rate, significant, time, with_half_width};
use crate::text::plain;

pub use data::CsvWriter;
pub use format::{Format, UnknownEnding};
pub use markup::{escape_html, escape_markdown};
pub use text::Style;
pub use value::{CellValue, Type};

/// The notation of the numbers of a column in formats for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Four significant digits.
    Significant,
    /// Half of the interval follows if it is known, which limits the digits; otherwise four
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
    /// text; `None` if this program wrote the text, which is then not changed.
    pub max_chars: Option<usize>,
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
            label: label.to_owned(),
            cite: format!(
                "Cite as: The {name} contributors, {name} {version}, with the source of each row. Metric: Kuperberg, \
                 Krogmann and Reussner, ICPE 2011, doi:10.1145/1958746.1958776."
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
    /// Whether the text for people has ASCII characters only.
    pub ascii: bool,
    /// What Markdown, HTML and LaTeX print with the table.
    pub caption: Option<Caption>,
}

/// Formats a number with a fixed number of decimals; zero has no sign.
fn format_fixed(figure: f64, decimals: usize) -> String {
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
    pub fn left(heading: &'static str) -> Self {
        Self {
            heading,
            key: heading,
            notation: Notation::Significant,
            right_aligned: false,
            max_chars: Some(100),
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

    /// A right-aligned column of text that this program wrote.
    pub fn program_text(heading: &'static str) -> Self {
        Self {
            right_aligned: true,
            max_chars: None,
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
                _ => self.format_number(figure.value),
            },
            CellValue::AtMost(bound) => format!("≤ {}", self.format_number(*bound)),
            CellValue::Amortised(mean) => format!("{} (amortised)", self.format_number(*mean)),
            CellValue::Link { text, .. } => text.to_string(),
            other => other.to_string(),
        }
    }

    /// Formats a cell for documents, in which each time has a suitable unit, as in `1.2 µs`.
    fn format_with_unit(&self, cell: &CellValue) -> String {
        match (self.time_heading(), cell) {
            (Some(_), CellValue::Figure(ns)) => time(Some(ns.value)),
            (Some(_), CellValue::AtMost(ns)) => format!("≤ {}", time(Some(*ns))),
            (Some(_), CellValue::Amortised(ns)) => format!("{} (amortised)", time(Some(*ns))),
            _ => self.format_cell(cell),
        }
    }

    /// The heading for documents, in which each cell has its own unit.
    fn heading_without_ns(&self) -> &'static str {
        self.time_heading().unwrap_or(self.heading)
    }

    /// The heading without its unit if the unit is nanoseconds; otherwise `None`.
    fn time_heading(&self) -> Option<&'static str> {
        self.heading
            .strip_suffix(" (ns)")
            .filter(|_| self.notation == Notation::Significant)
    }

    fn format_number(&self, figure: f64) -> String {
        match self.notation {
            Notation::Significant | Notation::HalfWidth => significant(figure, 4),
            Notation::Fixed(decimals) => format_fixed(figure, decimals),
            Notation::Time => time(Some(figure)),
            Notation::Count => count(Some(figure)),
            Notation::Percent => format_fixed(100.0 * figure, 2),
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

    /// Removes a column with its cells.
    pub fn remove_column(&mut self, index: usize) {
        self.columns.remove(index);
        for row in self.rows.iter_mut().filter(|row| row.len() > index) {
            row.to_mut().remove(index);
        }
    }

    /// Writes the table; the text format is not adapted to a terminal.
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
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Renders the table in one of the text formats.
    pub fn render(&self, format: Format) -> String {
        let mut text = Vec::new();
        self.write(format, &mut text)
            .expect("writing to a vector succeeds, and tables support the format");
        String::from_utf8(text).expect("all formats are UTF-8")
    }

    /// Writes a line for each row: its cells between the three texts of `line`.
    fn write_rows(
        &self,
        output: &mut dyn Write,
        [begin, between, end]: [&str; 3],
        cell: impl Fn(&TableColumn, &CellValue) -> String,
    ) -> io::Result<()> {
        self.rows.iter().try_for_each(|row| {
            let cells = self
                .cells(row)
                .map(|(column, value)| cell(column, value))
                .collect::<Vec<_>>()
                .join(between);
            writeln!(output, "{begin}{cells}{end}")
        })
    }

    /// The cells of a row with their columns; missing cells are [`CellValue::Nothing`].
    fn cells<'b>(
        &'b self,
        row: &'b [CellValue],
    ) -> impl Iterator<Item = (&'b TableColumn, &'b CellValue)> {
        self.columns
            .iter()
            .zip(row.iter().chain(std::iter::repeat(&CellValue::Nothing)))
    }
}

/// Converts text to one printable line and escapes it: `escape` appends the escaped form of a
/// character to the output.
fn escape_with(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        escape(c, &mut out);
    }
    out
}

#[cfg(test)]
mod tests;
