//! Prints a report in all formats that commands support for reports, including HTML.

use std::io::{self, Write};

use super::render;
use crate::document::Render;
use crate::model::Report;
use crate::report::{self, Detail, document};
use crate::table::{Format, Style};

/// A report with the options for printing it.
#[derive(Clone, Copy, Debug)]
pub struct PrintedReport<'a> {
    /// The report.
    pub report: &'a Report,
    /// The level of detail of the text.
    pub detail: Detail,
}

impl Render for PrintedReport<'_> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let report = self.report;
        let text = match format {
            Format::Table => {
                return document(report, self.detail).write(format, style, output);
            }
            Format::Html => render(std::slice::from_ref(report), &[]).map_err(io::Error::other)?,
            Format::Latex => return Err(io::ErrorKind::Unsupported.into()),
            other => report::render(report, other, style),
        };
        output.write_all(text.as_bytes())
    }
}
