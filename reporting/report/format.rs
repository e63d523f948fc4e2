//! Writes a report in any of its formats.

use super::terminal::{self, Detail};
use super::{csv, json, markdown, openmetrics};
use crate::model::Report;
use crate::table::{Format, Style};

/// The report in one of [`Format::REPORT`]; `style` matters to the table only.
///
/// # Panics
/// When a report has no such format.
#[must_use]
pub fn render(report: &Report, format: Format, style: Style) -> String {
    match format {
        Format::Table => terminal::render(report, style, Detail::Full),
        Format::Json => json::render(report),
        Format::Csv => csv::render(report),
        Format::Markdown => markdown::render(report),
        Format::OpenMetrics => openmetrics::render(report),
        Format::Html | Format::Latex | Format::Parquet => {
            unreachable!("the command line lets a report have the formats of Format::REPORT only")
        }
    }
}
