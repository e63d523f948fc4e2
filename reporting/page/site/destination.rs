//! Moves a web site to its destination. A site contains a list of its files, so that a new version
//! replaces these files and keeps files that users added.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use timers::os::files::find;

use super::SiteError;
use crate::report::parent;
use crate::scratch::{self, ScratchFolder};

/// The name of the list of files; a folder without this list is not replaced.
pub const LIST_NAME: &str = ".timermeter-site";
/// The first line of the list, which tells users what it is for.
const LIST_HEADING: &str =
    "Made by `timermeter publish`, which replaces what is listed here, and keeps the rest.";

/// Rejects a destination that contains files but no site, because they might be lost. Rejects a
/// destination inside `folder`, because the data of its pages would be read as reports, and one
/// that contains `folder`, because replacing the site could delete reports.
pub fn check(folder: &Path, destination: &Path) -> Result<(), SiteError> {
    // In an empty folder, a run that was killed can have left temporary files.
    if let Ok((open, None)) = find(destination, false) {
        scratch::remove_stale(&open.path());
    }
    let is_usable = match fs::read_dir(destination) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(_) => false,
        Ok(mut entries) => read_list(destination).is_some() || entries.next().is_none(),
    };
    if !is_usable {
        return Err(SiteError(format!(
            "'{}' exists and was not made by `timermeter publish` (it has no list of pages, {LIST_NAME}); choose another destination, or remove it",
            destination.display()
        )));
    }
    let real = |path: &Path| path.canonicalize();
    let (Ok(reports), Ok(parent)) = (real(folder), real(parent(destination))) else {
        return Ok(());
    };
    let site = real(destination)
        .unwrap_or_else(|_| parent.join(destination.file_name().unwrap_or_default()));
    if site.starts_with(&reports) || reports.starts_with(&site) {
        return Err(SiteError(format!(
            "one of '{}' and '{}' contains the other; choose a destination outside the reports",
            folder.display(),
            destination.display()
        )));
    }
    Ok(())
}

/// Moves the `files` of the site in `scratch` to `place`, the path of `destination` for this process.
/// If it contains a site, files are moved one by one, the index last. Fails before moving anything
/// if something in the place of a file is foreign.
pub fn replace(
    scratch: ScratchFolder,
    files: &BTreeSet<PathBuf>,
    place: &Path,
    destination: &Path,
) -> Result<(), SiteError> {
    let old = read_list(place).unwrap_or_default();
    let foreign = |path| foreign(place, path, &old);
    if let Some(path) = files.iter().find_map(|path| foreign(path)) {
        return Err(SiteError(format!(
            "'{}' was not made by `timermeter publish`, which needs the name for a page or a folder; move it away",
            destination.join(path).display()
        )));
    }
    let put_in_place = |new: &Path| {
        let new_list = new.join(LIST_NAME);
        write_list(&new_list, files)?;
        if fs::symlink_metadata(place).is_err() {
            return fs::rename(new, place);
        }
        // Until the new site is complete, the list names the files of both, so that the next run
        // replaces whatever a run that is killed leaves.
        let (list, both) = (place.join(LIST_NAME), new.join("both"));
        write_list(&both, files.union(&old))?;
        fs::rename(both, &list)?;
        // In this order, the index comes after the pages.
        for path in files.iter().rev() {
            let target = place.join(path);
            target.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::rename(new.join(path), target)?;
        }
        for name in old.difference(files) {
            if foreign(name).is_some() {
                continue;
            }
            let path = place.join(name);
            if fs::symlink_metadata(&path).is_ok() {
                fs::remove_file(&path)?;
            }
            // Folders that contain other files are kept: the last is the site, which contains the list.
            let mut folders = name.ancestors().skip(1);
            let _ = folders.all(|folder| match fs::remove_dir(place.join(folder)) {
                Err(error) => error.kind() == io::ErrorKind::NotFound,
                Ok(()) => true,
            });
        }
        fs::rename(new_list, list)
    };
    let replaced = scratch.persist_with(put_in_place);
    replaced.map_err(SiteError::write(destination))
}

/// What users put in the place of `path` or of one of its folders: what exists there, but is no file
/// in the list `old` or no folder, respectively.
fn foreign<'a>(site: &Path, path: &'a Path, old: &BTreeSet<PathBuf>) -> Option<&'a Path> {
    path.ancestors().find_map(|part| {
        let kind = fs::symlink_metadata(site.join(part)).ok()?.file_type();
        let is_expected = if part == path {
            kind.is_file() && old.contains(path)
        } else {
            kind.is_dir()
        };
        (!is_expected).then_some(part)
    })
}

fn write_list<'a>(list: &Path, files: impl IntoIterator<Item = &'a PathBuf>) -> io::Result<()> {
    // The names of pages are valid UTF-8 because the site creates them.
    let names = files.into_iter().filter_map(|path| path.to_str());
    let lines: Vec<&str> = [LIST_HEADING].into_iter().chain(names).collect();
    fs::write(list, lines.join("\n") + "\n")
}

/// Reads the list of files; `None` if there is none, or it is damaged. Paths outside the site are
/// ignored, because a user may have edited the list.
fn read_list(destination: &Path) -> Option<BTreeSet<PathBuf>> {
    let is_within = |path: &PathBuf| {
        let mut parts = path.components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    };
    let list = destination.join(LIST_NAME);
    let text = list.is_file().then(|| fs::read_to_string(list))?.ok()?;
    let (_, names) = text.split_once(LIST_HEADING)?;
    let paths = names
        .lines()
        .skip(1)
        .map(|name| Path::new(name).components().collect());
    Some(paths.filter(is_within).collect())
}
