//! Reports as documents.

use std::io::{self, Write};

use super::Render;
use crate::model::Report;
use crate::page;
use crate::report::render;
use crate::report::terminal::{self, Detail};
use crate::table::{Format, Style};
use crate::text::hang;

/// A report as a verb prints it.
#[derive(Clone, Copy, Debug)]
pub struct ReportView<'a> {
    /// The report.
    pub report: &'a Report,
    /// How much the text says of notes.
    pub detail: Detail,
    /// What a report comes down to, in a sentence.
    pub sentence: page::Sentence,
}

impl Render for ReportView<'_> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let report = self.report;
        let text = match format {
            Format::Table => {
                let mut text = String::new();
                if let Some(sentence) = (self.sentence)(report) {
                    hang(&mut text, "", "  ", &sentence, style.columns());
                }
                text + &terminal::render(report, style, self.detail)
            }
            Format::Html => page::render(std::slice::from_ref(report), &[], Some(self.sentence))
                .map_err(io::Error::other)?,
            Format::Latex | Format::Parquet => return Err(io::ErrorKind::Unsupported.into()),
            other => render(report, other, style),
        };
        output.write_all(text.as_bytes())
    }
}
