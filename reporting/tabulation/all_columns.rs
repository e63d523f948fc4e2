//! Writes all columns of many reports to a file, for SQL engines. Reports are read and written in
//! parts, so that memory is sufficient for any number of reports.

#[cfg(feature = "parquet")]
mod parquet;

use std::io;
use std::path::PathBuf;

use crate::fields::{Field, Kind, columns};
use crate::model::Report;
use crate::report::{Collection, ReadError, WholeFile, cells, files};
use crate::table::{CellValue, CsvWriter};

/// The number of reports in a part.
const REPORTS_PER_PART: usize = 128;

/// The numbers of written reports and rows, and the errors of files that could not be read.
#[derive(Debug, Default)]
pub struct Written {
    /// The number of reports.
    pub reports: usize,
    /// The number of rows.
    pub rows: usize,
    /// The errors of files that could not be read.
    pub refused: Vec<ReadError>,
}

/// A function that writes all rows of one kind from the reports at `paths`, files and folders.
pub type WriteTable = fn(&[PathBuf], Kind, &mut WholeFile) -> io::Result<Written>;

/// The function that writes Parquet; `None` in builds without the feature `parquet`.
#[cfg(feature = "parquet")]
pub const PARQUET: Option<WriteTable> = Some(parquet::write);
/// `None`, because this build does not include the feature `parquet`.
#[cfg(not(feature = "parquet"))]
pub const PARQUET: Option<WriteTable> = None;

/// Writes CSV without a byte order mark: a header of keys, undetermined values empty, booleans as
/// `true` and `false`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(paths: &[PathBuf], kind: Kind, file: &mut WholeFile) -> io::Result<Written> {
    let (mut csv, mut has_header) = (CsvWriter::new(file), false);
    let written = each_part(paths, kind, |columns, rows| {
        if !has_header {
            csv.header(columns.iter().map(|field| field.key))?;
            has_header = true;
        }
        rows.iter().try_for_each(|row| csv.row(row))
    })?;
    csv.finish()?;
    Ok(written)
}

/// Reads the reports at `paths` and passes their rows to `write` in parts.
fn each_part(
    paths: &[PathBuf],
    kind: Kind,
    mut write: impl FnMut(&[&Field], &[Vec<CellValue>]) -> io::Result<()>,
) -> io::Result<Written> {
    let columns = columns(kind);
    let mut written = Written::default();
    let mut report_files = Vec::new();
    for file in paths.iter().flat_map(|path| files(path)) {
        match file {
            Ok(file) => report_files.push(file),
            Err(error) => written.refused.push(error),
        }
    }
    for part in report_files.chunks(REPORTS_PER_PART) {
        let part = Collection::read(part, |path, report: Report| {
            cells(Some(path), &report, kind, &columns)
        });
        written.refused.extend(part.refused);
        written.reports += part.reports.len();
        let rows: Vec<Vec<CellValue>> = part
            .reports
            .into_iter()
            .flat_map(|kept| kept.content)
            .collect();
        written.rows += rows.len();
        if !rows.is_empty() {
            write(&columns, &rows)?;
        }
    }
    Ok(written)
}
