//! The files of a dataset: which reports are in them already.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;

use super::file::{KIND, kind_name};
use super::identity::Identity;
use crate::fields::Kind;

/// The column that tells whose a row is.
const REPORT: &str = "report_id";

/// Why what lies in a dataset cannot be added to.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// It cannot be read.
    #[error("'{}' cannot be read: {reason}; put it elsewhere, and collect its reports again", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Its rows are of something else.
    #[error("'{}' holds {found}, and what is collected are {wanted}: give each kind a dataset of its own", .path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What was to be added.
        wanted: &'static str,
    },
    /// A column has another type in it than elsewhere.
    #[error("column '{column}' of '{}' holds {found}, and {wanted} in other parts; put it elsewhere, and collect its reports again", .path.display())]
    OtherType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What it holds.
        found: String,
        /// What it holds in others.
        wanted: String,
    },
}

/// The reports that the files in `folder` hold; none where there is no such folder.
pub fn reports_in(folder: &Path, kind: Kind) -> Result<HashSet<Identity>, PartError> {
    let mut found = HashSet::new();
    let parts = match parts_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        parts => parts.map_err(|error| unreadable(folder, error))?,
    };
    for path in parts {
        each_batch_of(&path, kind, Some(&[REPORT]), |batch| {
            found.extend(ids_of(&path, batch)?.flatten());
            Ok(())
        })?;
    }
    Ok(found)
}

/// The parts in the folder of a partition, sorted.
pub fn parts_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut parts = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    parts.retain(|path| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|ending| ending == "parquet")
    });
    parts.sort();
    Ok(parts)
}

/// Hands over the rows of a part of this kind, those columns only where some are named.
pub fn each_batch_of(
    path: &Path,
    kind: Kind,
    columns: Option<&[&str]>,
    mut work: impl FnMut(&RecordBatch) -> Result<(), PartError>,
) -> Result<(), PartError> {
    let reader = opened(path)?;
    of_kind(path, kind_of(reader.metadata()), kind)?;
    let mask = columns.map_or_else(ProjectionMask::all, |columns| {
        ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied())
    });
    for batch in reader.with_projection(mask).build().map_err(|error| unreadable(path, error))? {
        work(&batch.map_err(|error| unreadable(path, error))?)?;
    }
    Ok(())
}

/// A part, of which nothing but what it says of itself was read.
pub fn opened(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, PartError> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(path, error))
}

pub fn unreadable(path: &Path, reason: impl Display) -> PartError {
    PartError::Unreadable { path: path.to_owned(), reason: reason.to_string() }
}

/// What the rows of a part are of.
pub fn kind_of(metadata: &ParquetMetaData) -> Option<&str> {
    let told = metadata.file_metadata().key_value_metadata()?;
    told.iter().find(|entry| entry.key == KIND)?.value.as_deref()
}

/// Refuses a part that says its rows are of something else.
pub fn of_kind(path: &Path, found: Option<&str>, kind: Kind) -> Result<(), PartError> {
    let wanted = kind_name(kind);
    if found == Some(wanted) {
        return Ok(());
    }
    let found = found.unwrap_or("something that is not of timermeter").to_owned();
    Err(PartError::OtherKind { path: path.to_owned(), found, wanted })
}

/// The report of each row.
pub fn ids_of<'a>(
    path: &Path,
    batch: &'a RecordBatch,
) -> Result<impl Iterator<Item = Option<Identity>> + use<'a>, PartError> {
    let ids = batch.column_by_name(REPORT).and_then(|ids| ids.as_string_opt::<i32>());
    let ids = ids.ok_or_else(|| unreadable(path, format!("it has no column {REPORT}")))?;
    Ok(ids.iter().map(|id| id.and_then(Identity::parse)))
}
