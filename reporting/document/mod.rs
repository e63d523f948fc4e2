//! What a verb prints: data for programs and sections for people, in any format.
//!
//! A verb builds one [`Document`]: `data` becomes JSON, the sections become text on a terminal or
//! Markdown, and the tables among them become CSV, HTML or LaTeX. The verb adds sections in the
//! order in which people read them, with texts as they are: the renderers fold, clean and escape
//! them.
//!
//! ```
//! use reporting::document::{Document, Render};
//! use reporting::table::{Format, Style};
//!
//! let document = Document::new([1, 2])
//!     .paragraph("Two figures were found.")
//!     .heading("figures")
//!     .facts([("first", "1"), ("second", "2")])
//!     .note("measure again with more samples");
//! let mut text = Vec::new();
//! document.write(Format::Table, Style::default(), &mut text)?;
//! assert_eq!(
//!     String::from_utf8_lossy(&text),
//!     "Two figures were found.\n\nfigures\n  first   1\n  second  2\n  → measure again with more samples\n"
//! );
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The command line gives a verb its `--format` and `--output` as `cli::OutputArgs`.
//! `OutputArgs::prepare` opens the files before anything is measured and `commands::emit` writes the
//! document to them, then to standard output. Reports and tabulations implement [`Render`] as well,
//! so that all verbs end with `emit`. The formats of each verb stand in one table, `cli::groups`.

mod markdown;
mod terminal;

use std::io::{self, Write};

use serde::Serialize;

use crate::model::Severity;
use crate::plot::Plot;
use crate::table::{Format, Style, Table};

pub use terminal::{listed, machine};

/// Something that can be written in several formats.
pub trait Render {
    /// Writes it; `style` matters to [`Format::Table`] only.
    ///
    /// # Errors
    /// When the output cannot be written, or there is no such format of it.
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()>;
}

/// The data of an answer and its sections for people.
#[derive(Debug)]
pub struct Document<'a, T> {
    data: T,
    sections: Vec<Section<'a>>,
}

/// A part of a document.
#[derive(Debug)]
enum Section<'a> {
    /// The title of what follows.
    Heading(String),
    /// Text, and the escape codes (ECMA-48, SGR) that paint it.
    Paragraph(String, &'static str),
    /// What to do next.
    Note(String),
    /// Names with values.
    Facts(Vec<(String, String)>),
    /// Names with values that describe the conditions, as comments.
    Conditions(Vec<(String, String)>),
    /// Figures, and the escape codes that paint each row.
    Table(Table<'a>, Vec<&'static str>),
    /// Figures for programs only.
    Data(Table<'a>),
    Findings(Vec<FindingText>),
    Plot(Plot),
    /// Source code.
    Code(String),
}

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingText {
    /// How much it matters.
    pub severity: Severity,
    /// Its stable name.
    pub code: String,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl From<&crate::model::Finding> for FindingText {
    fn from(finding: &crate::model::Finding) -> Self {
        Self {
            severity: finding.severity,
            code: finding.code.clone(),
            message: finding.message(),
            advice: Some(finding.advice()),
        }
    }
}

fn owned(
    facts: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
) -> Vec<(String, String)> {
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

impl<'a, T: Serialize> Document<'a, T> {
    /// A document without sections.
    pub fn new(data: T) -> Self {
        Self {
            data,
            sections: Vec::new(),
        }
    }

    fn with(mut self, section: Section<'a>) -> Self {
        self.sections.push(section);
        self
    }

    /// Adds the title of what follows.
    #[must_use]
    pub fn heading(self, text: impl Into<String>) -> Self {
        self.with(Section::Heading(text.into()))
    }

    /// Adds text.
    #[must_use]
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.painted("", text)
    }

    /// Adds text that escape codes (ECMA-48, SGR) paint where there is colour.
    #[must_use]
    pub fn painted(self, codes: &'static str, text: impl Into<String>) -> Self {
        self.with(Section::Paragraph(text.into(), codes))
    }

    /// Adds what to do next.
    #[must_use]
    pub fn note(self, text: impl Into<String>) -> Self {
        self.with(Section::Note(text.into()))
    }

    /// Adds names with values.
    #[must_use]
    pub fn facts(
        self,
        facts: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.with(Section::Facts(owned(facts)))
    }

    /// Adds names with values that describe the conditions of the figures.
    #[must_use]
    pub fn conditions(
        self,
        facts: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.with(Section::Conditions(owned(facts)))
    }

    /// Adds figures.
    #[must_use]
    pub fn table(self, table: Table<'a>) -> Self {
        self.painted_table(table, Vec::new())
    }

    /// Adds figures of which each row is painted by its escape codes.
    #[must_use]
    pub fn painted_table(self, table: Table<'a>, codes: Vec<&'static str>) -> Self {
        self.with(Section::Table(table, codes))
    }

    /// Adds figures for CSV, HTML and LaTeX in place of the tables for people.
    #[must_use]
    pub fn data_table(self, table: Table<'a>) -> Self {
        self.with(Section::Data(table))
    }

    /// Adds findings.
    #[must_use]
    pub fn findings(self, findings: impl IntoIterator<Item = impl Into<FindingText>>) -> Self {
        let findings: Vec<_> = findings.into_iter().map(Into::into).collect();
        if findings.is_empty() {
            return self;
        }
        self.with(Section::Findings(findings))
    }

    /// Adds a plot.
    #[must_use]
    pub fn plot(self, plot: Plot) -> Self {
        self.with(Section::Plot(plot))
    }

    /// Adds source code.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(Section::Code(text.into()))
    }
}

impl<T: Serialize> Render for Document<'_, T> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Table => output.write_all(terminal::render(&self.sections, style).as_bytes()),
            Format::Markdown => output.write_all(markdown::render(&self.sections).as_bytes()),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *output, &self.data)?;
                output.write_all(b"\n")
            }
            other => {
                let data = self.sections.iter().find_map(|section| match section {
                    Section::Data(table) => Some(table),
                    _ => None,
                });
                let table = data.or_else(|| {
                    self.sections.iter().find_map(|section| match section {
                        Section::Table(table, _) => Some(table),
                        _ => None,
                    })
                });
                table
                    .ok_or(io::ErrorKind::Unsupported)?
                    .write(other, output)
            }
        }
    }
}

#[cfg(test)]
mod tests;
