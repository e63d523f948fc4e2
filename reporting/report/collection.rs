//! Reads many reports from files and folders. A file that cannot be read is listed with the reason,
//! and reading continues.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::read::{ReadError, read};
use crate::parallel;
use estimators::model::Report;

/// The reports that were read, and the errors of the other files.
#[derive(Debug)]
pub struct Collection<T> {
    /// The retained content of each report, in the order of the paths; files of a folder are sorted
    /// by name.
    pub reports: Vec<ReportFile<T>>,
    /// The errors of folders and files that could not be read.
    pub refused: Vec<ReadError>,
}

/// A report that was read: its path and the content that the caller retains.
#[derive(Debug)]
pub struct ReportFile<T> {
    /// The path of the report.
    pub path: PathBuf,
    /// The retained content.
    pub content: T,
}

impl<T: Send + Sync> Collection<T> {
    /// Reads the reports at `paths`: files, and folders with all `.json` files in and below them.
    /// `keep` is called once for each report, from several threads, and returns the content to
    /// retain, so that ten thousand reports need not fit in memory. [`refused`](Self::refused)
    /// lists the errors.
    pub fn read<P: AsRef<Path> + Sync>(
        paths: &[P],
        keep: impl Fn(&Path, Report) -> T + Sync,
    ) -> Self {
        let (found, mut refused) = all_files(paths);
        let mut reports = Vec::new();
        let all = parallel::map(&found, |path| Ok(keep(path, read(path)?)));
        for (path, content) in found.into_iter().zip(all) {
            match content {
                Ok(content) => reports.push(ReportFile { path, content }),
                Err(error) => refused.push(error),
            }
        }
        Self { reports, refused }
    }
}

/// The files at all of these paths, and the errors of those that cannot be listed.
pub fn all_files(paths: &[impl AsRef<Path>]) -> (Vec<PathBuf>, Vec<ReadError>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for file in paths.iter().flat_map(|path| files(path.as_ref())) {
        match file {
            Ok(path) => found.push(path),
            Err(error) => refused.push(error),
        }
    }
    (found, refused)
}

/// The files at `path`: the file itself, or all `.json` files in and below a folder, sorted. Hidden
/// files are skipped, and links to folders are not followed because they may form cycles.
pub fn files(path: &Path) -> Vec<Result<PathBuf, ReadError>> {
    if !path.is_dir() {
        // If the path is not a readable file, reading it reports the error.
        return vec![Ok(path.to_owned())];
    }
    let mut found = Vec::new();
    collect_files(path, &mut found);
    if found.is_empty() {
        let path = path.to_owned();
        found.push(Err(ReadError::NoReports { path }));
    }
    found
}

/// Adds the `.json` files in and below a folder.
fn collect_files(folder: &Path, found: &mut Vec<Result<PathBuf, ReadError>>) {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries = entries.unwrap_or_else(|source| {
        let path = folder.to_owned();
        found.push(Err(ReadError::File { path, source }));
        Vec::new()
    });
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let ending = path.extension();
        let is_json = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_files(&path, found);
        } else if is_json && !path.is_dir() {
            found.push(Ok(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Collection;
    use crate::report::ReadError;
    use crate::report::read::tests::SMALL;
    use estimators::model::Report;
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
