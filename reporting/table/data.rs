//! Writes tables for programs with all digits: CSV (RFC 4180), in which undetermined values are
//! empty, and JSON as an array with one object for each row.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::{CellValue, Table};
use crate::text::plain;

pub(super) fn write_csv(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvWriter::new(output);
    csv.header(table.columns.iter().map(|column| column.key))?;
    for row in &table.rows {
        csv.row(table.cells(row).map(|(_, cell)| cell))?;
    }
    csv.finish()
}

/// Writes CSV row by row. Undetermined values are empty, booleans are
/// `true` or `false`.
pub struct CsvWriter<W: Write> {
    writer: ::csv::Writer<W>,
    cell: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer.
    pub fn new(output: W) -> Self {
        Self {
            writer: ::csv::Writer::from_writer(output),
            cell: Vec::new(),
        }
    }

    /// Writes the names of the columns.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn header(&mut self, keys: impl Iterator<Item = impl AsRef<[u8]>>) -> io::Result<()> {
        self.writer.write_record(keys).map_err(csv_error)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a CellValue>) -> io::Result<()> {
        let text = &mut self.cell;
        for cell in cells {
            text.clear();
            match cell {
                CellValue::Truth(truth) => write!(text, "{truth}")?,
                // The point or exponent lets readers recognise a column of floating-point numbers.
                CellValue::Figure(figure) => write!(text, "{:?}", figure.value)?,
                CellValue::Text(untrusted)
                | CellValue::Link {
                    href: untrusted, ..
                } => text.extend_from_slice(escape_csv(untrusted).as_bytes()),
                other => write!(text, "{other}")?,
            }
            self.writer.write_field(&*text).map_err(csv_error)?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(csv_error)
    }

    /// Writes buffered data.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Returns the error of the output itself, because callers recognise a closed pipe by its kind,
/// which the conversion of the `csv` crate loses.
fn csv_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Escapes text for spreadsheets: text that a spreadsheet would evaluate as a formula gets a
/// leading apostrophe (OWASP, "CSV Injection").
pub(super) fn escape_csv(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        format!("'{text}")
    } else {
        text
    }
}

pub(super) fn write_json(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut separator = "[\n  ";
    for row in &table.rows {
        output.write_all(separator.as_bytes())?;
        serde_json::to_writer(&mut *output, &JsonRow { table, row })?;
        separator = ",\n  ";
    }
    let end = if table.rows.is_empty() {
        "[]\n"
    } else {
        "\n]\n"
    };
    output.write_all(end.as_bytes())
}

/// A row as an object whose members are named by the keys of the columns.
struct JsonRow<'a> {
    table: &'a Table<'a>,
    row: &'a [CellValue],
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = self.table.cells(self.row);
        serializer.collect_map(cells.map(|(column, cell)| (column.key, cell)))
    }
}

/// Serialises undetermined values as null, and bounds as `{"at_most": …}`.
impl Serialize for CellValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Figure(figure) => serializer.serialize_f64(figure.value),
            Self::AtMost(bound) => serializer.collect_map([("at_most", bound)]),
            Self::Count(count) => serializer.serialize_i64(*count),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            other => serializer.collect_str(other),
        }
    }
}
