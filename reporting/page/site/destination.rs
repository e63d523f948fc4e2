//! Moves a web site to its destination. A site contains a list of its files, so that a new version
//! replaces these files and keeps files that users added.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use super::{SiteError, parent};
use crate::scratch::ScratchFolder;

/// The name of the list of files; a folder without this list is not replaced.
pub(super) const LIST_NAME: &str = ".timermeter-site";
/// The first line of the list, which tells users what it is for.
const LIST_HEADING: &str =
    "Made by `timermeter publish`, which replaces what is listed here, and keeps the rest.";

/// Rejects a destination that contains files but no site, because they might be lost. Rejects a
/// destination inside `folder`, because the data of its pages would be read as reports, and one
/// that contains `folder`, because replacing the site could delete reports.
pub(super) fn check(folder: &Path, destination: &Path) -> Result<(), SiteError> {
    let is_usable = match fs::read_dir(destination) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(_) => false,
        Ok(mut entries) => destination.join(LIST_NAME).is_file() || entries.next().is_none(),
    };
    if !is_usable {
        return Err(SiteError::NotASite(destination.to_owned()));
    }
    let real = |path: &Path| path.canonicalize();
    let (Ok(reports), Ok(parent)) = (real(folder), real(parent(destination))) else {
        return Ok(());
    };
    let site = real(destination)
        .unwrap_or_else(|_| parent.join(destination.file_name().unwrap_or_default()));
    if site.starts_with(&reports) || reports.starts_with(&site) {
        return Err(SiteError::Nested {
            folder: folder.to_owned(),
            destination: destination.to_owned(),
        });
    }
    Ok(())
}

/// Moves the site in `scratch` to `destination`. If `destination` contains a site, files are moved
/// one by one, the index last. Fails before moving anything if a file that the old site does not list
/// would be lost.
pub(super) fn replace(scratch: ScratchFolder, destination: &Path) -> Result<(), SiteError> {
    let failed = || SiteError::write(destination);
    let files = list_files(scratch.path()).map_err(failed())?;
    write_list(scratch.path(), &files).map_err(failed())?;
    let old = match fs::read_to_string(destination.join(LIST_NAME)) {
        Ok(text) => parse_list(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
        Err(error) => return Err(failed()(error)),
    };
    let mut added = files.difference(&old).map(|path| destination.join(path));
    if let Some(foreign) = added.find(|path| fs::symlink_metadata(path).is_ok()) {
        return Err(SiteError::Foreign(foreign));
    }
    scratch
        .persist_with(|new| {
            if fs::symlink_metadata(destination).is_err() {
                return fs::rename(new, destination);
            }
            let index = Path::new("index.html");
            let pages = files.iter().map(PathBuf::as_path);
            let pages = pages.filter(|path| *path != index);
            for path in pages.chain([Path::new(LIST_NAME), index]) {
                let target = destination.join(path);
                target.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::rename(new.join(path), target)?;
            }
            for name in old.difference(&files) {
                let path = destination.join(name);
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                // Folders that contain other files are kept.
                let folders = path.ancestors().skip(1);
                let mut folders = folders.take_while(|folder| *folder != destination);
                while folders
                    .next()
                    .is_some_and(|folder| fs::remove_dir(folder).is_ok())
                {}
            }
            Ok(())
        })
        .map_err(failed())
}

fn write_list(site: &Path, files: &BTreeSet<PathBuf>) -> io::Result<()> {
    // The names of pages are valid UTF-8 because the site creates them.
    let names = files.iter().filter_map(|path| path.to_str());
    let lines: Vec<&str> = [LIST_HEADING].into_iter().chain(names).collect();
    fs::write(site.join(LIST_NAME), lines.join("\n") + "\n")
}

/// Parses a list of files. Paths outside the site are ignored, because a user may have edited the
/// list.
fn parse_list(text: &str) -> BTreeSet<PathBuf> {
    let is_within = |path: &PathBuf| {
        let mut parts = path.components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    };
    let lines = text.lines().skip_while(|line| *line != LIST_HEADING);
    let paths = lines.skip(1).map(PathBuf::from);
    paths.filter(is_within).collect()
}

/// The paths of all files in and below `folder`, relative to `folder`.
fn list_files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(subfolder) = folders.pop() {
        for entry in fs::read_dir(folder.join(&subfolder))? {
            let entry = entry?;
            let path = subfolder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    Ok(found)
}
