//! The formats of everything that is printed: a file for each, which alone knows how the format lays
//! out, escapes and serialises tables and documents. Text of reports is untrusted: it first becomes
//! one printable line ([`plain`]), without control characters and characters that reorder text; then
//! each format makes it safe.

mod csv;
mod html;
pub mod json;
mod latex;
mod markdown;
pub mod openmetrics;
mod text;

use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::document::Document;
use crate::table::Table;
use crate::text::plain;

pub use self::csv::CsvWriter;
pub use self::text::{Style, repeated_answer};

/// The output formats of all commands; each command supports the first ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Table,
    /// The whole result, for programs
    Json,
    /// For a wiki page or a pull request
    Markdown,
    /// One line per row with all digits, for spreadsheets
    Csv,
    /// A booktabs table for `\input`
    Latex,
    /// For web browsers
    Html,
    /// Metrics for Prometheus: OpenMetrics, or a file for the textfile collector
    #[value(name = "openmetrics")]
    OpenMetrics,
}

impl Format {
    /// The formats of a report.
    pub const REPORT: &[Self] = &[
        Self::Table,
        Self::Json,
        Self::Markdown,
        Self::Csv,
        Self::Latex,
        Self::Html,
        Self::OpenMetrics,
    ];
    /// The formats of events that are printed as they happen.
    pub const EVENTS: &[Self] = Self::REPORT.split_at(2).0;
    /// The formats of commands that answer a question in a few lines.
    pub const ANSWER: &[Self] = Self::REPORT.split_at(3).0;
    /// The formats of measurements.
    pub const MEASUREMENTS: &[Self] = Self::REPORT.split_at(4).0;
    /// The formats of tables.
    pub const TABULATION: &[Self] = Self::REPORT.split_at(6).0;

    /// The file name extension of this format.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Table => "txt",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Latex => "tex",
            Self::OpenMetrics => "prom",
        }
    }

    /// The format among `formats` that the extension of `path` selects.
    ///
    /// # Errors
    /// When the extension selects none of `formats`.
    pub fn from_path(path: &Path, formats: &[Self]) -> Result<Self, String> {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let format = formats.iter().find(|format| ending == format.ending());
        format.copied().ok_or_else(|| {
            let endings: Vec<_> = formats.iter().map(|format| format.ending()).collect();
            let (path, endings) = (path.display(), endings.join(", ."));
            format!("the name '{path}' does not determine a format: end it in .{endings}")
        })
    }
}

/// A value that can be written in several formats.
pub trait Render {
    /// Writes the value. Only [`Format::Table`] uses `style`.
    ///
    /// # Errors
    /// When the output cannot be written, or the value does not support `format`.
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()>;

    /// The value as text.
    ///
    /// # Panics
    /// When the value does not support `format`.
    fn rendered(&self, format: Format, style: Style) -> String {
        let mut text = Vec::new();
        self.write(format, style, &mut text)
            .expect("writing to memory succeeds, and commands offer no unsupported format");
        String::from_utf8(text).expect("all formats are UTF-8")
    }
}

impl Render for Table<'_> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Table => text::write_table(self, style, output),
            Format::Json => json::write_table(self, output),
            Format::Markdown => output.write_all(markdown::table(self).as_bytes()),
            Format::Csv => csv::write_table(self, output),
            Format::Latex => output.write_all(latex::table(self).as_bytes()),
            Format::Html => output.write_all(html::page(self)?.as_bytes()),
            Format::OpenMetrics => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl<T: Serialize> Render for Document<'_, T> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Table => output.write_all(text::document(&self.sections, style).as_bytes()),
            Format::Markdown => output.write_all(markdown::document(&self.sections).as_bytes()),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *output, &self.data)?;
                output.write_all(b"\n")
            }
            other => match self.main_table() {
                Some(table) => table.write(other, style, output),
                None => Err(io::ErrorKind::Unsupported.into()),
            },
        }
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
