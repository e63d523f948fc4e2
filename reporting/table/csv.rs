//! CSV (RFC 4180) with all digits; empty is "not determined".

use std::io::{self, Write};

use super::{Table, Value};
use crate::text::plain;

pub(super) fn write(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(output);
    writer.write_record(table.columns.iter().map(|column| match column.group {
        Some(group) => escape(&format!("{} {}", table.groups[group], column.key)),
        None => column.key.to_owned(),
    }))?;
    for row in &table.rows {
        writer.write_record(table.cells(row).map(|(_, cell)| match cell {
            Value::Text(text) => escape(text),
            plain => plain.to_string(),
        }))?;
    }
    writer.flush()
}

/// A cell of a spreadsheet: what would start a formula is led by an apostrophe (OWASP, "CSV Injection").
pub(super) fn escape(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) { format!("'{text}") } else { text }
}
