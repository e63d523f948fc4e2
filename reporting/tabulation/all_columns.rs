//! Writes all columns of many reports to a file, for SQL engines. Reports are read and written in
//! parts, so that memory is sufficient for any number of reports.

use std::io;
use std::path::PathBuf;

use crate::fields::{Kind, cells, columns};
use crate::format::CsvWriter;
use crate::model::Report;
use crate::report::{Collection, ReadError, WholeFile, files};

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

/// Writes CSV without a byte order mark: a header of keys, undetermined values empty, booleans as
/// `true` and `false`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(paths: &[PathBuf], kind: Kind, file: &mut WholeFile) -> io::Result<Written> {
    let columns = columns(kind);
    let mut csv = CsvWriter::new(file);
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
            cells(path, &report, kind, &columns)
        });
        written.refused.extend(part.refused);
        written.reports += part.reports.len();
        for row in part.reports.iter().flat_map(|kept| &kept.content) {
            if written.rows == 0 {
                csv.header(columns.iter().flat_map(|field| &field.keys))?;
            }
            written.rows += 1;
            csv.row(row)?;
        }
    }
    csv.finish()?;
    Ok(written)
}
