//! All columns of all rows of many reports, for engines of SQL: read and written some reports at a
//! time, so that any number of them fits the memory.

#[cfg(feature = "parquet")]
mod parquet;

use std::io;
use std::path::PathBuf;

use crate::fields::{Field, Kind, columns};
use crate::model::Report;
use crate::parallel;
use crate::report::{Collection, ReadError, WholeFile, cells, files};
use crate::table::{CsvWriter, Value};

/// Reports of a part: one part is read while the one before is written.
const PART: usize = 128;

/// What was written, and what could not be read.
#[derive(Debug, Default)]
pub struct Written {
    /// How many reports.
    pub reports: usize,
    /// How many rows.
    pub rows: usize,
    /// Why other files could not be read.
    pub refused: Vec<ReadError>,
}

/// Writes the rows of a kind of the reports at `paths`, files and folders.
pub type WriteTable = fn(&[PathBuf], Kind, &mut WholeFile) -> io::Result<Written>;

/// Writes Parquet, where this build can.
#[cfg(feature = "parquet")]
pub const PARQUET: Option<WriteTable> = Some(parquet::write);
/// This build cannot.
#[cfg(not(feature = "parquet"))]
pub const PARQUET: Option<WriteTable> = None;

/// Writes CSV without a byte order mark: a header of keys, what was not determined as nothing,
/// truths as `true` and `false`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(paths: &[PathBuf], kind: Kind, file: &mut WholeFile) -> io::Result<Written> {
    let (mut csv, mut is_begun) = (CsvWriter::new(file), false);
    let written = each_part(paths, kind, |columns, rows| {
        if !is_begun {
            csv.header(columns.iter().map(|field| field.key))?;
            is_begun = true;
        }
        rows.iter().try_for_each(|row| csv.row(row))
    })?;
    csv.finish()?;
    Ok(written)
}

/// Reads the reports at `paths` and hands over the rows of some at a time.
fn each_part(
    paths: &[PathBuf],
    kind: Kind,
    mut write: impl FnMut(&[&Field], &[Vec<Value>]) -> io::Result<()>,
) -> io::Result<Written> {
    let columns = columns(kind);
    let mut written = Written::default();
    let mut found = Vec::new();
    for file in paths.iter().flat_map(|path| files(path)) {
        match file {
            Ok(file) => found.push(file),
            Err(error) => written.refused.push(error),
        }
    }
    let read = |some: &[PathBuf]| {
        Collection::read(some, |path, report: Report| {
            cells(Some(path), &report, kind, &columns)
        })
    };
    let mut parts = found.chunks(PART);
    let mut ready = parts.next().map(read);
    while let Some(part) = ready {
        written.refused.extend(part.refused);
        written.reports += part.reports.len();
        let rows: Vec<Vec<Value>> = part
            .reports
            .into_iter()
            .flat_map(|kept| kept.content)
            .collect();
        written.rows += rows.len();
        let next = parts.next();
        let (done, next) = parallel::both(
            || {
                if rows.is_empty() {
                    Ok(())
                } else {
                    write(&columns, &rows)
                }
            },
            || next.map(read),
        );
        done?;
        ready = next;
    }
    Ok(written)
}
