//! The files of a dataset: which reports are in them already.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::file::{KIND, kind_name};
use super::identity::Identity;
use crate::fields::Kind;

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
}

/// The reports that the files in `folder` hold; none where there is no such folder.
pub fn reports_in(folder: &Path, kind: Kind) -> Result<HashSet<Identity>, PartError> {
    let unreadable =
        |error: io::Error| PartError::Unreadable { path: folder.to_owned(), reason: error.to_string() };
    let mut found = HashSet::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(unreadable(error)),
    };
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|ending| ending == "parquet") {
            add_reports_of(&path, kind, &mut found)?;
        }
    }
    Ok(found)
}

fn add_reports_of(path: &Path, kind: Kind, found: &mut HashSet<Identity>) -> Result<(), PartError> {
    let unreadable = |reason: String| PartError::Unreadable { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(error.to_string()))?;
    let told = reader.metadata().file_metadata().key_value_metadata();
    let holds = told.and_then(|told| told.iter().find(|entry| entry.key == KIND)?.value.clone());
    let wanted = kind_name(kind);
    if holds.as_deref() != Some(wanted) {
        let found = holds.unwrap_or_else(|| "something that is not of timermeter".into());
        return Err(PartError::OtherKind { path: path.to_owned(), found, wanted });
    }
    let ids = ProjectionMask::columns(reader.parquet_schema(), ["report_id"]);
    let batches = reader.with_projection(ids).build().map_err(|error| unreadable(error.to_string()))?;
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(error.to_string()))?;
        let ids = batch.columns().first().and_then(|ids| ids.as_string_opt::<i32>());
        let ids = ids.ok_or_else(|| unreadable("it has no column report_id".into()))?;
        found.extend(ids.iter().flatten().filter_map(Identity::parse));
    }
    Ok(())
}
