//! The output of a command: data for programs and sections for people, in any format.
//!
//! A command builds one [`Document`]: `data` becomes JSON, the sections become text on a terminal
//! or Markdown, and the tables among the sections become CSV, HTML or LaTeX. The command adds
//! sections in reading order and does not escape text: the renderers fold, clean and escape it.
//!
//! ```
//! use reporting::document::Document;
//! use reporting::format::{Format, Render, Style};
//!
//! let document = Document::new([1, 2])
//!     .paragraph("Two figures were found.")
//!     .heading("figures")
//!     .facts([("first", "1"), ("second", "2")])
//!     .note("measure again with more samples");
//! assert_eq!(
//!     document.rendered(Format::Table, Style::default()),
//!     "Two figures were found.\n\nfigures\n  first   1\n  second  2\n  → measure again with more samples\n"
//! );
//! ```
//!
//! The command line gives each command its `--format` and `--output` as `cli::OutputArgs`.
//! `OutputArgs::prepare` opens the files before the measurement starts, and `commands::emit` writes
//! the document to these files, then to standard output. Reports and tabulations also implement
//! [`Render`](crate::format::Render), so that every command ends with `emit`. `cli::help` lists the formats of each
//! command.

use serde::Serialize;

use crate::table::Table;
use estimators::model::Severity;

/// The result of a command: data for programs and sections for people.
#[derive(Debug)]
#[must_use]
pub struct Document<'a, T> {
    pub(crate) data: T,
    pub(crate) sections: Vec<Section<'a>>,
    data_table: Option<Table<'a>>,
}

/// A section of a document.
#[derive(Debug)]
pub(crate) enum Section<'a> {
    /// The title of the following sections.
    Heading(String),
    /// Text.
    Paragraph(String),
    /// Text that stays on one line, however long.
    Line(String),
    /// A suggestion for the next step.
    Note(String),
    /// Pairs of a name and a value.
    Facts(Vec<(String, String)>),
    /// Pairs of a name and a value that describe the measurement conditions, printed as comments.
    Conditions(Vec<(String, String)>),
    /// A table.
    Table(Table<'a>),
    /// Findings with their severity and advice.
    Findings(Vec<FindingText>),
    /// Source code.
    Code(String),
}

/// A finding with its message and advice as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingText {
    /// The severity of the finding.
    pub severity: Severity,
    /// The stable code of the finding.
    pub code: String,
    /// The text of the finding.
    pub message: String,
    /// The suggested remedy.
    pub advice: Option<String>,
}

impl From<&estimators::model::Finding> for FindingText {
    fn from(finding: &estimators::model::Finding) -> Self {
        Self {
            severity: finding.severity,
            code: finding.code.clone(),
            message: finding.message(),
            advice: finding.advice(),
        }
    }
}

fn to_strings(
    facts: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
) -> Vec<(String, String)> {
    facts
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// Methods that add text: each with the kind of its section.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident: $kind:ident;)*) => {
        impl<T: Serialize> Document<'_, T> {
            $($(#[$about])*
            pub fn $name(self, text: impl Into<String>) -> Self {
                self.with(Section::$kind(text.into()))
            })*
        }
    };
}

texts! {
    /// Adds the title of the following sections.
    heading: Heading;
    /// Adds a paragraph.
    paragraph: Paragraph;
    /// Adds text that stays on one line, for programs that read lines.
    line: Line;
    /// Adds a suggestion for the next step.
    note: Note;
    /// Adds source code.
    code: Code;
}

impl<'a, T: Serialize> Document<'a, T> {
    /// Creates a document without sections.
    pub fn new(data: T) -> Self {
        Self {
            data,
            sections: Vec::new(),
            data_table: None,
        }
    }

    fn with(mut self, section: Section<'a>) -> Self {
        self.sections.push(section);
        self
    }

    /// Adds paragraphs.
    pub fn paragraphs(self, texts: impl IntoIterator<Item = String>) -> Self {
        texts.into_iter().fold(self, Self::paragraph)
    }

    /// Adds pairs of a name and a value.
    pub fn facts(
        self,
        facts: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.with(Section::Facts(to_strings(facts)))
    }

    /// Adds pairs of a name and a value that describe the measurement conditions.
    pub fn conditions(
        mut self,
        facts: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        if let Some(Section::Conditions(before)) = self.sections.last_mut() {
            before.extend(to_strings(facts));
            return self;
        }
        self.with(Section::Conditions(to_strings(facts)))
    }

    /// Adds a table.
    pub fn table(self, table: Table<'a>) -> Self {
        self.with(Section::Table(table))
    }

    /// Adds a table that replaces all other tables in CSV, HTML and LaTeX.
    pub fn data_table(self, table: Table<'a>) -> Self {
        Self {
            data_table: Some(table),
            ..self
        }
    }

    /// Adds findings.
    pub fn findings(self, findings: impl IntoIterator<Item = impl Into<FindingText>>) -> Self {
        let findings: Vec<_> = findings.into_iter().map(Into::into).collect();
        if findings.is_empty() {
            return self;
        }
        self.with(Section::Findings(findings))
    }

    /// The table of formats that print nothing else.
    pub(crate) fn main_table(&self) -> Option<&Table<'a>> {
        let first = self.sections.iter().find_map(|section| match section {
            Section::Table(table) => Some(table),
            _ => None,
        });
        self.data_table.as_ref().or(first)
    }
}
