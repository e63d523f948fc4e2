//! For programs: CSV (RFC 4180) with all digits, empty where nothing was determined; and JSON, an
//! array of objects, one a row, in which a bound is `{"at_most": …}` and what was not determined is
//! null.

use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use super::{Table, Value};
use crate::text::plain;

pub(super) fn write_csv(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(output);
    writer
        .write_record(table.columns.iter().map(|column| match column.group {
            Some(group) => escape_csv(&format!("{} {}", table.groups[group], column.key)),
            None => column.key.to_owned(),
        }))
        .map_err(csv_error)?;
    for row in &table.rows {
        writer
            .write_record(table.cells(row).map(|(_, cell)| match cell {
                Value::Text(text) => escape_csv(text),
                plain => plain.to_string(),
            }))
            .map_err(csv_error)?;
    }
    writer.flush()
}

/// The error of the output itself, whose kind the crate's own conversion loses: a closed pipe is no
/// failure.
#[must_use]
pub fn csv_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Text as a cell of a spreadsheet: what would start a formula is led by an apostrophe (OWASP, "CSV
/// Injection").
#[must_use]
pub fn escape_csv(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        format!("'{text}")
    } else {
        text
    }
}

pub(super) fn write_json(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut next = "[\n";
    for row in &table.rows {
        let members = table
            .cells(row)
            .map(|(column, cell)| (column.key.to_owned(), in_json(cell)));
        write!(
            output,
            "{next}  {}",
            Json::Object(members.collect::<Map<_, _>>())
        )?;
        next = ",\n";
    }
    writeln!(
        output,
        "{}",
        if table.rows.is_empty() { "[]" } else { "\n]" }
    )
}

fn in_json(cell: &Value) -> Json {
    match cell {
        Value::Nothing => Json::Null,
        Value::Figure(figure) => json!(figure),
        Value::AtMost(bound) => json!({ "at_most": bound }),
        Value::Count(count) => json!(count),
        Value::Truth(truth) => json!(truth),
        Value::Word(_) | Value::Text(_) => json!(cell.as_text()),
        Value::Time(_) | Value::Day(_) => json!(cell.to_string()),
    }
}
