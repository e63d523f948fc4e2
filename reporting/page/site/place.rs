//! Moves a site to its destination. A site contains a list of its files, so that a new version
//! replaces these files and keeps files that users added.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::{SiteError, parent};
use crate::scratch::ScratchFolder;

/// The name of the list of files; a folder without this list is not replaced.
const MARK: &str = ".timermeter-site";
/// The heading of the list.
const HEAD: &str =
    "Made by `timermeter publish`, which replaces what is listed here, and keeps the rest.";

/// Rejects a destination that contains other files, or that is inside the folder of reports or
/// contains it: replacing the site must not delete reports, and pages must not be read as reports.
pub(super) fn check(folder: &Path, place: &Path) -> Result<(), SiteError> {
    let is_site = match fs::read_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(_) => false,
        Ok(mut entries) => place.join(MARK).is_file() || entries.next().is_none(),
    };
    if !is_site {
        return Err(SiteError::Place(format!(
            "'{}' is there and was not made by `timermeter publish` (it has no file {MARK}); choose another place, or remove it",
            place.display()
        )));
    }
    let real = |path: &Path| path.canonicalize();
    let (Ok(reports), Ok(parent)) = (real(folder), real(parent(place))) else {
        return Ok(());
    };
    let site = real(place).unwrap_or_else(|_| parent.join(place.file_name().unwrap_or_default()));
    if site.starts_with(&reports) || reports.starts_with(&site) {
        return Err(SiteError::Place(format!(
            "'{}' and '{}' lie in each other; choose a place outside the reports",
            folder.display(),
            place.display()
        )));
    }
    Ok(())
}

/// Moves a site to `place`. If `place` contains a site, files are moved one by one, the index last.
/// Fails before moving anything if a file of the user would be lost.
pub(super) fn replace(made: ScratchFolder, place: &Path) -> Result<(), SiteError> {
    let failed = || SiteError::write(place);
    let files = walk(made.path()).map_err(failed())?;
    write_list(made.path(), &files).map_err(failed())?;
    let old = match fs::read_to_string(place.join(MARK)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed()(error)),
    };
    let old = parse_list(&old);
    refuse_losses(place, &old, &files)?;
    made.persist_with(|made| {
        if fs::symlink_metadata(place).is_err() {
            return fs::rename(made, place);
        }
        let index = Path::new("index.html");
        let pages = files.iter().filter(|path| *path != index);
        for path in pages.map(PathBuf::as_path).chain([Path::new(MARK), index]) {
            let target = place.join(path);
            target.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::rename(made.join(path), target)?;
        }
        let gone = old
            .keys()
            .filter(|name| !files.contains(&PathBuf::from(name)));
        for name in gone {
            let path = place.join(name);
            fs::remove_file(&path)?;
            // Folders that contain other files are kept.
            let folders = path.ancestors().skip(1);
            let mut folders = folders.take_while(|folder| *folder != place);
            while folders
                .next()
                .is_some_and(|folder| fs::remove_dir(folder).is_ok())
            {}
        }
        Ok(())
    })
    .map_err(failed())
}

/// Fails if a page was modified after it was published, or if a file of the new site would replace
/// a file that the old site does not list.
fn refuse_losses(
    place: &Path,
    old: &BTreeMap<&str, FileSum>,
    files: &[PathBuf],
) -> Result<(), SiteError> {
    let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    let listed_at = modified(&place.join(MARK));
    for (name, known) in old {
        let path = place.join(name);
        let length = fs::metadata(&path).map_or(0, |found| found.len());
        if length == known.bytes && modified(&path) <= listed_at {
            continue;
        }
        let found = match FileSum::of_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(SiteError::write(&path))?,
        };
        if found != *known {
            return Err(SiteError::Place(format!(
                "'{}' was changed since `timermeter publish` made it, and would be lost; move it out of the site, or choose another place",
                path.display()
            )));
        }
    }
    let is_listed = |path: &Path| path.to_str().is_some_and(|name| old.contains_key(name));
    let foreign = files
        .iter()
        .find(|path| !is_listed(path) && fs::symlink_metadata(place.join(path)).is_ok());
    match foreign {
        Some(path) => Err(SiteError::Place(format!(
            "'{}' was not made by `timermeter publish`, which makes a file of that name now; move it away",
            place.join(path).display()
        ))),
        None => Ok(()),
    }
}

/// The size and hash of a file, which identify its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSum {
    check: u32,
    bytes: u64,
}

impl FileSum {
    fn of_file(path: &Path) -> io::Result<Self> {
        let (mut crc, mut file, mut buffer) = (Crc::new(), File::open(path)?, vec![0; 1 << 16]);
        let mut bytes = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok(Self {
                    check: crc.sum(),
                    bytes,
                });
            }
            crc.update(&buffer[..read]);
            bytes += read as u64;
        }
    }
}

fn write_list(site: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut text = format!("{HEAD}\n");
    for path in files {
        // The names of pages are valid UTF-8 because the site creates them.
        let Some(name) = path.to_str() else { continue };
        let FileSum { check, bytes } = FileSum::of_file(&site.join(path))?;
        text += &format!("{check:08x} {bytes} {name}\n");
    }
    fs::write(site.join(MARK), text)
}

/// Parses a list of files. A user may have edited the list, so paths outside the site are ignored.
fn parse_list(text: &str) -> BTreeMap<&str, FileSum> {
    let entry = |line| {
        let mut parts = str::splitn(line, 3, ' ');
        let check = u32::from_str_radix(parts.next()?, 16).ok()?;
        let bytes = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let is_within = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        is_within.then_some((name, FileSum { check, bytes }))
    };
    let lines = text.lines().skip_while(|line| *line != HEAD);
    lines.skip(1).filter_map(entry).collect()
}

/// All files in and below `folder`, sorted.
fn walk(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
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
