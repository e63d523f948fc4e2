//! Moves a web site to its destination. A site contains a list of its files, so that a new version
//! replaces these files and keeps files that users added.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::{SiteError, parent};
use crate::scratch::ScratchFolder;

/// The name of the list of files; a folder without this list is not replaced.
const LIST_NAME: &str = ".timermeter-site";
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
        return Err(SiteError::Unusable(format!(
            "'{}' exists and was not made by `timermeter publish` (it has no file {LIST_NAME}); choose another destination, or remove it",
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
        return Err(SiteError::Unusable(format!(
            "one of '{}' and '{}' contains the other; choose a destination outside the reports",
            folder.display(),
            destination.display()
        )));
    }
    Ok(())
}

/// Moves the site in `scratch` to `destination`. If `destination` contains a site, files are moved
/// one by one, the index last. Fails before moving anything if a file of the user would be lost.
pub(super) fn replace(scratch: ScratchFolder, destination: &Path) -> Result<(), SiteError> {
    let write_error = || SiteError::write(destination);
    let files = list_files(scratch.path()).map_err(write_error())?;
    write_list(scratch.path(), &files).map_err(write_error())?;
    let old = match fs::read_to_string(destination.join(LIST_NAME)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(write_error()(error)),
    };
    let old = parse_list(&old);
    refuse_losses(destination, &old, &files)?;
    scratch
        .persist_with(|new| {
            if fs::symlink_metadata(destination).is_err() {
                return fs::rename(new, destination);
            }
            let index = Path::new("index.html");
            let pages = files.iter().filter(|path| *path != index);
            for path in pages
                .map(PathBuf::as_path)
                .chain([Path::new(LIST_NAME), index])
            {
                let target = destination.join(path);
                target.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::rename(new.join(path), target)?;
            }
            let removed = old
                .keys()
                .filter(|name| !files.contains(&PathBuf::from(name)));
            for name in removed {
                let path = destination.join(name);
                fs::remove_file(&path)?;
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
        .map_err(write_error())
}

/// Fails if a page was modified after it was published, or if a file of the new site would replace
/// a file that the old site does not list.
fn refuse_losses(
    destination: &Path,
    old: &BTreeMap<&str, FileSum>,
    files: &[PathBuf],
) -> Result<(), SiteError> {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let list_written_at = modified(&destination.join(LIST_NAME));
    for (name, listed) in old {
        let path = destination.join(name);
        let bytes = fs::metadata(&path).map_or(0, |data| data.len());
        if bytes == listed.bytes && modified(&path) <= list_written_at {
            continue;
        }
        let current = match FileSum::from_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            sum => sum.map_err(SiteError::write(&path))?,
        };
        if current != *listed {
            return Err(SiteError::Unusable(format!(
                "'{}' was changed since `timermeter publish` made it, and would be lost; move it out of the site, or choose another destination",
                path.display()
            )));
        }
    }
    let is_listed = |path: &Path| path.to_str().is_some_and(|name| old.contains_key(name));
    let foreign = files
        .iter()
        .find(|path| !is_listed(path) && fs::symlink_metadata(destination.join(path)).is_ok());
    match foreign {
        Some(path) => Err(SiteError::Unusable(format!(
            "'{}' was not made by `timermeter publish`, which has to write a file of that name; move it away",
            destination.join(path).display()
        ))),
        None => Ok(()),
    }
}

/// The CRC-32 and the size of a file, by which a change of its content is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSum {
    crc: u32,
    bytes: u64,
}

impl FileSum {
    fn from_file(path: &Path) -> io::Result<Self> {
        let (mut crc, mut file, mut buffer) = (Crc::new(), File::open(path)?, vec![0; 1 << 16]);
        let mut bytes = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok(Self {
                    crc: crc.sum(),
                    bytes,
                });
            }
            crc.update(&buffer[..read]);
            bytes += read as u64;
        }
    }
}

fn write_list(site: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut text = format!("{LIST_HEADING}\n");
    for path in files {
        // The names of pages are valid UTF-8 because the site creates them.
        let Some(name) = path.to_str() else { continue };
        let FileSum { crc, bytes } = FileSum::from_file(&site.join(path))?;
        text += &format!("{crc:08x} {bytes} {name}\n");
    }
    fs::write(site.join(LIST_NAME), text)
}

/// Parses a list of files. Paths outside the site are ignored, because a user may have edited the
/// list.
fn parse_list(text: &str) -> BTreeMap<&str, FileSum> {
    let entry = |line| {
        let mut parts = str::splitn(line, 3, ' ');
        let crc = u32::from_str_radix(parts.next()?, 16).ok()?;
        let bytes = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let is_within = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        is_within.then_some((name, FileSum { crc, bytes }))
    };
    let lines = text.lines().skip_while(|line| *line != LIST_HEADING);
    lines.skip(1).filter_map(entry).collect()
}

/// The paths of all files in and below `folder`, relative to `folder` and sorted.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(subfolder) = folders.pop() {
        for entry in fs::read_dir(folder.join(&subfolder))? {
            let entry = entry?;
            let path = subfolder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
