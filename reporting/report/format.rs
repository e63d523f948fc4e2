//! Renders a report in each of its formats, and its rows for files with all columns.

use std::borrow::Cow;
use std::path::Path;

use super::{Detail, document, json, openmetrics, slug};
use crate::document::Render;
use crate::fields::{Field, Kind, Row, columns, rows};
use crate::model::Report;
use crate::table::{CellValue, Format, Style, Table};

/// Renders a report in one of [`Format::REPORT`] except HTML; only the table uses `style`.
///
/// # Panics
/// When reports do not support the format.
#[must_use]
pub fn render(report: &Report, format: Format, style: Style) -> String {
    let mut text = Vec::new();
    let written = match format {
        Format::Json => return json::render(report),
        Format::OpenMetrics => return openmetrics::render(report),
        Format::Csv => {
            let kind = Kind::main(report);
            let columns = columns(kind);
            let mut table = Table::new(columns.iter().map(|field| field.as_column()).collect());
            let rows = cells(None, report, kind, &columns);
            table.rows = rows.into_iter().map(Cow::Owned).collect();
            table.write(format, &mut text)
        }
        other => document(report, Detail::Full).write(other, style, &mut text),
    };
    written.expect(
        "writing to memory cannot fail, and reports support every format of the command line",
    );
    String::from_utf8(text).expect("only text was written")
}

/// The cells of all rows of one kind in the given columns, including rows without results, for
/// files with all columns.
#[must_use]
pub fn cells(
    path: Option<&Path>,
    report: &Report,
    kind: Kind,
    columns: &[&Field],
) -> Vec<Vec<CellValue>> {
    let read = cell_reader(path, report, columns);
    let typed = |row: Row| -> Vec<CellValue> {
        let cells = read(row).into_iter().zip(columns);
        cells
            .map(|(cell, field)| cell.into_type(field.unit.rules().column_type))
            .collect()
    };
    let rows = rows(report, kind).into_iter();
    rows.flat_map(Row::by_length).map(typed).collect()
}

/// A function that returns the cells of a row in the given columns. Values that all rows of a report
/// share are read once.
pub fn cell_reader(
    path: Option<&Path>,
    report: &Report,
    columns: &[&Field],
) -> impl Fn(Row) -> Vec<CellValue> {
    let report_cell = |field: &Field| match field.key {
        "file" => Some(path.map(|path| path.display().to_string()).into()),
        "platform" => Some(slug(&report.platform).into()),
        _ => field.is_of_report().then(|| field.value(report)),
    };
    let sources: Vec<(&Field, Option<CellValue>)> = columns
        .iter()
        .map(|field| (*field, report_cell(field)))
        .collect();
    move |row| {
        let cells = sources.iter();
        cells
            .map(|(field, shared)| shared.clone().unwrap_or_else(|| field.value(row)))
            .collect()
    }
}
