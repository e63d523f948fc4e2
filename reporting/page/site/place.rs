//! How a site takes the place of the one before, so that a reader finds one of them, whole; and
//! what others put there stays. What a site is made of is written down in it: that is replaced by
//! the next one.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;
use timers::os::files;

use super::{MARK, SiteError, parent};
use crate::scratch::ScratchFolder;

/// Moves a site to `place`. Returns whether there was one at any moment, if there was one before.
pub(super) fn take(made: ScratchFolder, place: &Path) -> Result<bool, SiteError> {
    let explain = |source| SiteError::Write {
        path: place.to_owned(),
        source,
    };
    if fs::symlink_metadata(place).is_err() {
        let moved = made.persist_with(|made| fs::rename(made, place));
        return moved.map(|()| true).map_err(explain);
    }
    let Foreign { added, changed } = foreign(place).map_err(explain)?;
    if let Some(path) = changed.into_iter().next() {
        return Err(SiteError::Changed(place.join(path)));
    }
    for path in added {
        keep(&path, place, made.path())?;
    }
    let mode = fs::metadata(place).map_err(explain)?.permissions();
    fs::set_permissions(made.path(), mode).map_err(explain)?;
    made.persist_with(|made| {
        let at_once = exchange(made, place)?;
        if at_once {
            // What came in the meantime lies where the old site is now.
            for path in foreign(made)?.added {
                let _ = keep(&path, made, place);
            }
        }
        Ok(at_once)
    })
    .map_err(explain)
}

/// Has the new site hold what was put into the old one: the same file under a second name, so that
/// neither a copy nor a moment without it is needed.
fn keep(path: &Path, old: &Path, new: &Path) -> Result<(), SiteError> {
    let (from, to) = (old.join(path), new.join(path));
    let failed = |source| SiteError::Keep {
        path: from.clone(),
        source,
    };
    if fs::symlink_metadata(&to).is_ok() {
        return Err(SiteError::Taken(from));
    }
    let mut below = PathBuf::new();
    for part in path.parent().into_iter().flat_map(Path::components) {
        below.push(part);
        folder_like(&old.join(&below), &new.join(&below)).map_err(failed)?;
    }
    if fs::symlink_metadata(&from).map_err(failed)?.is_dir() {
        return folder_like(&from, &to).map_err(failed);
    }
    fs::hard_link(&from, &to).map_err(failed)
}

fn folder_like(from: &Path, to: &Path) -> io::Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    fs::create_dir(to)?;
    let mode: Permissions = fs::metadata(from)?.permissions();
    fs::set_permissions(to, mode)
}

/// Exchanges both folders at once. Where the file system cannot, one after the other, and then says
/// no.
fn exchange(new: &Path, place: &Path) -> io::Result<bool> {
    let at_once = files::exchange(new, place)?;
    if !at_once {
        in_two_steps(new, place)?;
    }
    Ok(at_once)
}

/// The old site lies beside its place until the new one is there, under a name that is not removed
/// as rubbish.
fn in_two_steps(new: &Path, place: &Path) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let free = |number: &u32| {
        let aside = parent(place).join(format!("{name}.old-{number}"));
        fs::symlink_metadata(&aside).is_err().then_some(aside)
    };
    let aside = (1..1_000).find_map(|number| free(&number));
    let aside = aside
        .ok_or_else(|| io::Error::other(format!("too many folders {name}.old-… lie beside it")))?;
    fs::rename(place, &aside)?;
    if let Err(error) = fs::rename(new, place) {
        fs::rename(&aside, place)?;
        return Err(error);
    }
    fs::remove_dir_all(&aside)
}

const HEAD: &str =
    "Made by `timermeter publish`, which replaces what is listed here, and keeps the rest.";

/// A file as it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    check: u32,
    bytes: u64,
}

/// What was put into a site by hand.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Foreign {
    /// Files, links, and folders without anything in them.
    pub added: Vec<PathBuf>,
    /// Files of the site that are no longer what they were.
    pub changed: Vec<PathBuf>,
}

/// Writes down all that is in `site`.
pub(super) fn write_manifest(site: &Path) -> io::Result<()> {
    let mut text = format!("{HEAD}\n");
    for path in walk(site)? {
        // All names of a site are its own, and are plain.
        let Some(name) = path.to_str() else { continue };
        let Made { check, bytes } = made(&site.join(&path))?;
        text += &format!("{check:08x} {bytes} {name}\n");
    }
    fs::write(site.join(MARK), text)
}

/// What in `site` was not made by this program.
pub(super) fn foreign(site: &Path) -> io::Result<Foreign> {
    let mark = site.join(MARK);
    let text = match fs::read_to_string(&mark) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let listed = listed(&text);
    let written = fs::metadata(&mark).and_then(|mark| mark.modified()).ok();
    let mut foreign = Foreign::default();
    for path in walk(site)? {
        if path == Path::new(MARK) {
            continue;
        }
        let Some(known) = path.to_str().and_then(|name| listed.get(name)) else {
            foreign.added.push(path);
            continue;
        };
        let place = site.join(&path);
        let found = fs::symlink_metadata(&place)?;
        let untouched = found.is_file()
            && found.len() == known.bytes
            // What is older than the list is what was listed; the rest is looked at.
            && (written.is_some_and(|written| found.modified().is_ok_and(|time| time <= written))
                || made(&place)? == *known);
        if !untouched {
            foreign.changed.push(path);
        }
    }
    Ok(foreign)
}

/// The files of the list.
fn listed(text: &str) -> BTreeMap<&str, Made> {
    text.lines()
        .skip_while(|line| *line != HEAD)
        .skip(1)
        .filter_map(entry)
        .collect()
}

/// A line of the list: its check, its length, its name.
fn entry(line: &str) -> Option<(&str, Made)> {
    let mut parts = line.splitn(3, ' ');
    let check = u32::from_str_radix(parts.next()?, 16).ok()?;
    let bytes = parts.next()?.parse().ok()?;
    Some((parts.next()?, Made { check, bytes }))
}

/// All that is no folder, and folders without anything in them, as paths below `folder`, sorted.
fn walk(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = folders.pop() {
        let mut is_empty = true;
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            is_empty = false;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
        if is_empty && !below.as_os_str().is_empty() {
            found.push(below);
        }
    }
    found.sort();
    Ok(found)
}

fn made(path: &Path) -> io::Result<Made> {
    let (mut crc, mut file, mut buffer) = (Crc::new(), File::open(path)?, vec![0; 1 << 16]);
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => {
                return Ok(Made {
                    check: crc.sum(),
                    bytes,
                });
            }
            read => {
                crc.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_exchange_the_site_is_replaced_in_two_steps() {
        let base = tempfile::tempdir().unwrap();
        let (new, place) = (base.path().join("new"), base.path().join("site"));
        for folder in [&new, &place] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("name"), folder.to_str().unwrap()).unwrap();
        }
        in_two_steps(&new, &place).unwrap();
        assert_eq!(
            fs::read_to_string(place.join("name")).unwrap(),
            new.to_str().unwrap()
        );
        assert_eq!(
            fs::read_dir(base.path()).unwrap().count(),
            1,
            "nothing else is left"
        );
    }
}
