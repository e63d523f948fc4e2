//! CSV (RFC 4180) with all digits: undetermined values are empty, booleans are `true` or `false`.

use std::io::{self, Write};

use crate::table::{CellValue, Table};
use crate::text::plain;

pub(super) fn write_table(table: &Table<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvWriter::new(output);
    csv.header(table.columns.iter().map(|column| column.key))?;
    for row in &table.rows {
        csv.row(table.cells(row).map(|(_, cell)| cell))?;
    }
    csv.finish()
}

/// Writes CSV row by row.
pub struct CsvWriter<W: Write>(::csv::Writer<W>);

impl<W: Write> CsvWriter<W> {
    /// Creates a writer.
    pub fn new(output: W) -> Self {
        Self(::csv::Writer::from_writer(output))
    }

    /// Writes the names of the columns.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn header(&mut self, keys: impl Iterator<Item = impl AsRef<[u8]>>) -> io::Result<()> {
        self.0.write_record(keys).map_err(output_error)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a CellValue>) -> io::Result<()> {
        let cells = cells.into_iter().map(|cell| match cell {
            CellValue::Truth(truth) => truth.to_string(),
            // The point or exponent lets readers recognise a column of floating-point numbers.
            CellValue::Figure(figure) => format!("{:?}", figure.value),
            CellValue::Text(text) => escape(text),
            other => other.to_string(),
        });
        self.0
            .write_record(cells.map(String::into_bytes))
            .map_err(output_error)
    }

    /// Writes buffered data.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns the error of the output itself, because callers recognise a closed pipe by its kind,
/// which the conversion of the `csv` crate loses.
fn output_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Escapes text for spreadsheets: text that a spreadsheet would evaluate as a formula gets a
/// leading apostrophe (OWASP, "CSV Injection").
pub(super) fn escape(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        format!("'{text}")
    } else {
        text
    }
}
