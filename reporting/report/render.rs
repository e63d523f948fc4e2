//! Renders a report in each of its formats, and its rows for files with all columns.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use super::machine::name;
use super::{Detail, document, sections};
use crate::fields::{Kind, cells, columns, slug};
use crate::format::{Format, Render, Style, json, openmetrics};
use crate::table::{Caption, Table};
use estimators::model::Report;

/// Writes a report in every format but HTML; only the table uses `style`.
impl Render for Report {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let text = match format {
            Format::Json => json::render(self),
            Format::OpenMetrics => openmetrics::render(self),
            Format::Csv => return all_columns(self).write(format, style, output),
            Format::Latex => return figures(self).write(format, style, output),
            other => return document(self, Detail::Full).write(other, style, output),
        };
        output.write_all(text.as_bytes())
    }
}

/// The main table of a report with all columns.
fn all_columns(report: &Report) -> Table<'static> {
    let kind = Kind::main(report);
    let columns = columns(kind);
    let mut table = Table::new(
        columns
            .iter()
            .flat_map(|field| field.data_columns())
            .collect(),
    );
    let rows = cells(Path::new(""), report, kind, &columns).into_iter();
    table.rows = rows.map(Cow::Owned).collect();
    table
}

/// The main table of a report as people read it, with a caption.
fn figures(report: &Report) -> Table<'static> {
    let (kind, machine) = (Kind::main(report).in_words(), name(report));
    let measured = format!(
        "measured on {} by {} {}, with 95 % intervals over processes",
        report.day(),
        report.tool.name,
        report.tool.version
    );
    let published = report.provenance.source.as_ref();
    let origin = published.map_or(measured, |source| format!("published in {source}"));
    let text = format!("{kind} of {machine}, {origin}.");
    let first = sections(report).into_iter().next();
    Table {
        caption: Some(Caption::new(text, &slug(&report.platform))),
        ..first
            .map(|first| first.table(Detail::Full))
            .unwrap_or_default()
    }
}
