//! All columns of all rows of many reports, for engines of SQL: read and written some reports at a
//! time, so that any number of them fits the memory.

#[cfg(feature = "parquet")]
mod parquet;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::each_row;
use crate::fields::{Field, Kind, of_kind};
use crate::model::Report;
use crate::parallel;
use crate::report::{Collection, ReadError, WholeFile, files, slug};
use crate::table::{Value, csv_error, escape_csv};

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

/// All columns of rows of a kind: those of the report first.
#[must_use]
pub fn columns(kind: Kind) -> Vec<&'static Field> {
    of_kind(kind).filter(|field| field.in_all).collect()
}

/// Writes CSV without a byte order mark: a header of keys, what was not determined as nothing,
/// truths as `true` and `false`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(paths: &[PathBuf], kind: Kind, file: &mut WholeFile) -> io::Result<Written> {
    let mut writer = ::csv::Writer::from_writer(file);
    let (mut is_begun, mut text) = (false, Vec::new());
    let written = each_part(paths, kind, |columns, rows| {
        if !is_begun {
            writer
                .write_record(columns.iter().map(|field| field.key))
                .map_err(csv_error)?;
            is_begun = true;
        }
        for row in rows {
            for cell in row {
                text.clear();
                match cell {
                    Value::Truth(truth) => write!(text, "{truth}")?,
                    // With a point or an exponent, by which readers know a column of figures.
                    Value::Figure(figure) => write!(text, "{figure:?}")?,
                    Value::Text(found) => text.extend_from_slice(escape_csv(found).as_bytes()),
                    plain => write!(text, "{plain}")?,
                }
                writer.write_field(&text).map_err(csv_error)?;
            }
            writer.write_record(None::<&[u8]>).map_err(csv_error)?;
        }
        Ok(())
    })?;
    writer.flush()?;
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
            rows(path, &report, kind, &columns)
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

/// All rows of a kind of a report, those without figures too.
fn rows(path: &Path, report: &Report, kind: Kind, columns: &[&Field]) -> Vec<Vec<Value>> {
    let of_report = |field: &&Field| match field.key {
        "file" => Some(path.display().to_string().into()),
        "platform" => Some(slug(&report.platform).into()),
        _ => field.of_report(report),
    };
    let of_report: Vec<Option<Value>> = columns.iter().map(of_report).collect();
    let mut rows = Vec::new();
    each_row(report, kind, true, |row| {
        let cell = |(field, known): (&&Field, &Option<Value>)| {
            known
                .clone()
                .unwrap_or_else(|| field.of_row(row))
                .of_type(field.kind)
        };
        rows.push(columns.iter().zip(&of_report).map(cell).collect());
    });
    rows
}
