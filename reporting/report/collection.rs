//! Reads many reports from files and folders. A file that cannot be read is listed with the reason,
//! and reading continues.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::read::{ReadError, parse, text_of};
use crate::model::Report;
use crate::parallel;

/// The number of parts into which the files are divided. There are more parts if a part would
/// exceed [`MAX_FILES_PER_PART`].
const PARTS: usize = 256;
/// The largest number of files in a part.
const MAX_FILES_PER_PART: usize = 32;

/// The reports that were read, and the errors of the other files.
#[derive(Debug, Default)]
pub struct Collection<T> {
    /// The retained content of each report, in the order of the paths; files of a folder are sorted
    /// by name.
    pub reports: Vec<ReportFile<T>>,
    /// The errors of files that could not be read, in the same order.
    pub refused: Vec<ReadError>,
}

/// A report that was read: its path and the content that the caller retains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile<T> {
    /// The path of the report.
    pub path: PathBuf,
    /// The retained content.
    pub content: T,
}

impl<T: Send> Collection<T> {
    /// Reads the reports at `paths`: files, and folders with all `.json` files in and below them.
    /// `keep` is called once for each report, from several threads, and returns the content to
    /// retain, so that ten thousand reports need not fit in memory. [`refused`](Self::refused)
    /// lists the errors.
    pub fn read<P: AsRef<Path> + Sync>(
        paths: &[P],
        keep: impl Fn(&Path, Report) -> T + Sync,
    ) -> Self {
        let files: Vec<Result<PathBuf, ReadError>> =
            paths.iter().flat_map(|path| files(path.as_ref())).collect();
        // The files of a part share a buffer, because allocating one for each file is slow.
        let parts: Vec<_> = files
            .chunks(files.len().div_ceil(PARTS).clamp(1, MAX_FILES_PER_PART))
            .collect();
        let read = parallel::map(&parts, |files| {
            let mut buffer = Vec::new();
            let mut content = |path: &PathBuf| {
                let text = text_of(path, &mut buffer)?;
                Ok(keep(path, parse(text, &path.display().to_string())?))
            };
            files
                .iter()
                .map(|path| path.as_ref().ok().map(&mut content))
                .collect::<Vec<_>>()
        });
        let mut collection = Self {
            reports: Vec::with_capacity(files.len()),
            refused: Vec::new(),
        };
        for (path, content) in files.into_iter().zip(read.into_iter().flatten()) {
            match (path, content) {
                (Ok(path), Some(Ok(content))) => {
                    collection.reports.push(ReportFile { path, content })
                }
                (Err(error), _) | (_, Some(Err(error))) => collection.refused.push(error),
                (Ok(_), None) => unreachable!("every path was read"),
            }
        }
        collection
    }
}

/// The files at `path`: the file itself, or all `.json` files in and below a folder.
#[must_use]
pub fn files(path: &Path) -> Vec<Result<PathBuf, ReadError>> {
    if !path.is_dir() {
        // If the path is not a readable file, reading it reports the error.
        return vec![Ok(path.to_owned())];
    }
    let mut found = collect_files(path);
    if found.is_empty() {
        found.push(Err(ReadError::NoReports {
            path: path.to_owned(),
        }));
    }
    found
}

/// All `.json` files in and below `folder`, sorted. Hidden files are skipped, and links to folders
/// are not followed because they may form cycles.
fn collect_files(folder: &Path) -> Vec<Result<PathBuf, ReadError>> {
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>);
    let mut entries = match listed {
        Ok(entries) => entries,
        Err(source) => {
            return vec![Err(ReadError::File {
                path: folder.to_owned(),
                source,
            })];
        }
    };
    entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    entries.sort_by_key(DirEntry::file_name);
    let files_of_entry = |entry: &DirEntry| {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return collect_files(&path);
        }
        let ends_in_json = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if ends_in_json && !path.is_dir() {
            vec![Ok(path)]
        } else {
            Vec::new()
        }
    };
    parallel::map(&entries, files_of_entry)
        .into_iter()
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Collection;
    use crate::model::Report;
    use crate::report::ReadError;
    use crate::report::read::tests::SMALL;
    use std::fs;
    use std::path::Path;

    fn read(path: &Path) -> Collection<String> {
        Collection::read(&[path], |_, report: Report| report.settings.plan)
    }

    fn names(collection: &Collection<String>, base: &Path) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(base).unwrap().display().to_string();
        collection
            .reports
            .iter()
            .map(|kept| name(&kept.path))
            .collect()
    }

    #[test]
    fn reads_folders_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        for name in [
            "b/2026-01-02/report.json",
            "b/2026-01-01/report.json",
            "a.JSON",
        ] {
            fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
            fs::write(base.join(name), SMALL).unwrap();
        }
        for name in [".hidden.json", "README.md", "b/run.trace"] {
            fs::write(base.join(name), "no report").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(base, base.join("b/circle")).unwrap();
        let collection = read(base);
        assert_eq!(
            names(&collection, base),
            [
                "a.JSON",
                "b/2026-01-01/report.json",
                "b/2026-01-02/report.json"
            ]
        );
        assert!(collection.refused.is_empty(), "{:?}", collection.refused);
    }

    #[test]
    fn names_missing_files_and_empty_folders() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.json");
        let collection = Collection::read(&[folder.path(), &missing], |_, _: Report| ());
        assert!(collection.reports.is_empty());
        assert!(
            matches!(&collection.refused[..], [
                ReadError::NoReports { path },
                ReadError::File { path: file, .. },
            ] if path == folder.path() && *file == missing),
            "{:?}",
            collection.refused
        );
    }
}
