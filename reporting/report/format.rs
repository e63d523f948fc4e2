//! Renders a report in each of its formats, and its rows for files with all columns.

use std::borrow::Cow;
use std::path::Path;

use super::{Detail, document, json, openmetrics};
use crate::document::Render;
use crate::fields::cells;
use crate::fields::{Kind, columns};
use crate::model::Report;
use crate::table::{Format, Style, Table};

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
            let mut table = Table::new(
                columns
                    .iter()
                    .flat_map(|field| field.data_columns())
                    .collect(),
            );
            let rows = cells(Path::new(""), report, kind, &columns);
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
