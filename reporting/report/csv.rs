//! Reports as CSV (RFC 4180): a line for each timer, or for each length that it waited for. An empty
//! cell was not determined.

use std::io::{self, Write};

use super::rows::rows;
use super::waits::is_read;
use crate::fields::{Field, Kind, columns};
use crate::model::Report;
use crate::table::{Value, csv_error, escape_csv};

/// The rows of the report with all columns: those of `table --columns all`.
#[must_use]
pub fn render(report: &Report) -> String {
    let kind = match report.waits.is_empty() {
        _ if is_read(report) => Kind::Clocks,
        false => Kind::Waits,
        true => Kind::Periods,
    };
    let columns = columns(kind);
    let mut csv = CsvWriter::new(Vec::new());
    let written = csv.header(&columns).and_then(|()| {
        let rows = rows(None, report, kind, &columns);
        rows.iter().try_for_each(|row| csv.row(row))
    });
    let bytes = written.and_then(|()| csv.finish());
    String::from_utf8(bytes.expect("memory takes all")).expect("cells are text")
}

/// Writes CSV without a byte order mark: a header of keys, unknown cells empty, truths as `true` and
/// `false`.
pub struct CsvWriter<W: Write> {
    writer: ::csv::Writer<W>,
    cell: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self {
            writer: ::csv::Writer::from_writer(output),
            cell: Vec::new(),
        }
    }

    /// Writes the names of the columns.
    ///
    /// # Errors
    /// When the output fails.
    pub fn header(&mut self, columns: &[&Field]) -> io::Result<()> {
        let keys = columns.iter().map(|field| field.key);
        self.writer.write_record(keys).map_err(csv_error)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// When the output fails.
    pub fn row(&mut self, cells: &[Value]) -> io::Result<()> {
        let text = &mut self.cell;
        for cell in cells {
            text.clear();
            match cell {
                Value::Truth(truth) => write!(text, "{truth}")?,
                // With a point or an exponent, by which readers detect a column of figures.
                Value::Figure(figure) => write!(text, "{figure:?}")?,
                Value::Text(found) => text.extend_from_slice(escape_csv(found).as_bytes()),
                plain => write!(text, "{plain}")?,
            }
            self.writer.write_field(&*text).map_err(csv_error)?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(csv_error)
    }

    /// Writes what is buffered and gives the output back.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(self) -> io::Result<W> {
        self.writer
            .into_inner()
            .map_err(|error| io::Error::other(error.to_string()))
    }
}
