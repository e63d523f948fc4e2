//! Packs reproducible archives: the same files give the same bytes on every machine and at any
//! time.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::Outcome;

/// The file that becomes executable. It is recognised by its name, because some systems have no
/// file modes.
const PROGRAM: &str = "timermeter";

/// Packs a folder as a compressed archive, in which all paths begin with the name of the folder.
pub fn pack(folder: &Path, to: &Path) -> Outcome<PathBuf> {
    let encoder = GzBuilder::new().write(File::create(to)?, Compression::best());
    let mut archive = Builder::new(encoder);
    append(
        &mut archive,
        folder,
        Path::new(folder.file_name().unwrap_or_default()),
    )?;
    archive.into_inner()?.finish()?;
    Ok(to.to_owned())
}

/// Adds all files of a folder, under another name, in alphabetical order, owned by root.
fn append(archive: &mut Builder<impl Write>, folder: &Path, name: &Path) -> Outcome<()> {
    archive.append_data(
        &mut header(EntryType::Directory, 0o755, 0),
        name.join(""),
        std::io::empty(),
    )?;
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Outcome<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let file_name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            append(archive, &path, &name.join(file_name))?;
            continue;
        }
        // The completion file for Bash has the name of the program, but is not executable.
        let mode = if file_name == PROGRAM && !name.ends_with("completions") {
            0o755
        } else {
            0o644
        };
        let mut header = header(EntryType::Regular, mode, fs::metadata(&path)?.len());
        archive.append_data(&mut header, name.join(file_name), File::open(&path)?)?;
    }
    Ok(())
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}
