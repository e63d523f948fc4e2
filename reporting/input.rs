//! Reads files that other programs wrote. Only regular files of limited size are read, because a
//! pipe in a folder may block forever and a device may never end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use timers::os::files;

/// The longest report that is read, in bytes; most reports have some hundred thousand bytes.
pub const LONGEST_REPORT: u64 = 10 << 20;

/// Reads a file into `buffer`, replacing its content.
///
/// # Errors
/// When the file cannot be read, is not a regular file, or is longer than `most` bytes.
pub fn read(path: &Path, most: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    open(path)?
        .take(most.saturating_add(1))
        .read_to_end(buffer)?;
    if buffer.len() as u64 > most {
        buffer.clear();
        buffer.shrink_to_fit();
        return Err(io::Error::other(format!(
            "it is longer than {} MiB, and is not read",
            most >> 20
        )));
    }
    Ok(())
}

/// Opens a regular file, or a descriptor that the calling process passed: `-`, `/dev/stdin`, or
/// `/dev/fd/63` from the shell's `<(…)`.
///
/// # Errors
/// When the path cannot be opened or is not a regular file.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    if path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|of| path.starts_with(of))
    {
        return Ok(Box::new(File::open(path)?));
    }
    let file = files::open_at_once(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(Box::new(file)),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other(
            "only regular files are read, and `-`, which is standard input",
        )),
    }
}
