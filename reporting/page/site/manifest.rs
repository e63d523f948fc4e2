//! What a site is made of, written down in it: what the next site replaces, and what is not its own and stays.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::MARK;

const HEAD: &str = "Made by `timermeter publish`, which replaces what is listed here, and keeps the rest.";

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
pub(super) fn write(site: &Path) -> io::Result<()> {
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
        let Some(known) = listed.as_ref().map(|listed| path.to_str().and_then(|name| listed.get(name)))
        else {
            // Before there was a list, sites held nothing but this.
            if !is_of_a_site(&path) {
                foreign.added.push(path);
            }
            continue;
        };
        let Some(known) = known else {
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

/// The files of the list; nothing where there is no list.
fn listed(text: &str) -> Option<BTreeMap<&str, Made>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return None;
    }
    Some(lines.filter_map(entry).collect())
}

/// A line of the list: its check, its length, its name.
fn entry(line: &str) -> Option<(&str, Made)> {
    let mut parts = line.splitn(3, ' ');
    let check = u32::from_str_radix(parts.next()?, 16).ok()?;
    let bytes = parts.next()?.parse().ok()?;
    Some((parts.next()?, Made { check, bytes }))
}

fn is_of_a_site(path: &Path) -> bool {
    let Some(name) = path.to_str() else { return false };
    let page = name == "index.html" || (name.starts_with("index-") && name.ends_with(".html"));
    page || (name.starts_with("reports/") && (name.ends_with(".html") || name.ends_with(".json")))
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
            if entry.file_type()?.is_dir() { folders.push(path) } else { found.push(path) }
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
            0 => return Ok(Made { check: crc.sum(), bytes }),
            read => {
                crc.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}
