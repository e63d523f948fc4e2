//! Renders a report in each of its formats, and its rows for files with all columns.

use std::path::Path;

use super::{Detail, document, json, openmetrics, slug, tracked};
use crate::document::Render;
use crate::fields::{Field, Kind, columns, rows};
use crate::model::Report;
use crate::table::{CsvWriter, Format, Style, Value};

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
        Format::Bmf => return tracked::bencher(report),
        Format::GithubBenchmark => return tracked::github_benchmark(report),
        Format::Csv => {
            let kind = Kind::main(report);
            let columns = columns(kind);
            let mut csv = CsvWriter::new(&mut text);
            let rows = cells(None, report, kind, &columns);
            csv.header(columns.iter().map(|field| field.key))
                .and_then(|()| rows.iter().try_for_each(|row| csv.row(row)))
                .and_then(|()| csv.finish())
        }
        other => document(report, Detail::Full, None).write(other, style, &mut text),
    };
    written.expect(
        "writing to memory cannot fail, and reports support every format of the command line",
    );
    String::from_utf8(text).expect("only text was written")
}

/// The cells of all rows of one kind in the given columns, including rows without results.
#[must_use]
pub fn cells(
    path: Option<&Path>,
    report: &Report,
    kind: Kind,
    columns: &[&Field],
) -> Vec<Vec<Value>> {
    let report_cell = |field: &&Field| match field.key {
        "file" => Some(path.map(|path| path.display().to_string()).into()),
        "platform" => Some(slug(&report.platform).into()),
        _ => field.report_value(report),
    };
    let report_cells: Vec<Option<Value>> = columns.iter().map(report_cell).collect();
    let rows = rows(report, kind)
        .into_iter()
        .flat_map(|row| row.by_length());
    rows.map(|row| {
        let cells = columns.iter().zip(&report_cells);
        let value = |(field, report_cell): (&&Field, &Option<Value>)| {
            let value = report_cell.clone().unwrap_or_else(|| field.value(row));
            value.into_type(field.unit.column_type())
        };
        cells.map(value).collect()
    })
    .collect()
}
