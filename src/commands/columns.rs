//! Typed columns, where this build has them.

use std::path::Path;

#[cfg(feature = "dataset")]
mod with;
#[cfg(not(feature = "dataset"))]
mod without;

#[cfg(feature = "dataset")]
pub use with::{ALL_CLOCKS, collect, since, table};
#[cfg(not(feature = "dataset"))]
pub use without::{ALL_CLOCKS, collect, since, table};

/// Whether a folder is a dataset: then its reports are in columns.
fn is_dataset(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .any(|entry| entry.file_name().as_encoded_bytes().starts_with(b"platform=") && entry.path().is_dir())
}
