//! Reads files that other programs wrote: regular files of limited size, because reading a pipe may
//! block forever and a device may have no end; and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use timers::os::files;

/// The size of the largest report that is read, in bytes; most reports have about 10⁵ bytes.
pub const MAX_REPORT_BYTES: u64 = 10 << 20;

/// Reads a file.
///
/// # Errors
/// When the file cannot be read, is not a regular file, or is larger than `max_bytes`.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, max_bytes)
}

/// Reads a source to its end, as [`read`] does a file.
///
/// # Errors
/// When it cannot be read, or has more than `max_bytes`.
pub fn read_from(source: impl Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other(format!(
            "it is larger than {} MiB, which is the limit",
            max_bytes >> 20
        )));
    }
    Ok(bytes)
}

/// Opens a regular file, or a descriptor that the calling process passed: `-`, `/dev/stdin`, or
/// `/dev/fd/63` from the shell's `<(…)`.
///
/// # Errors
/// When the path cannot be opened or is not a regular file.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        files::check_input()?;
        return Ok(Box::new(io::stdin().lock()));
    }
    if path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|folder| path.starts_with(folder))
    {
        return Ok(Box::new(File::open(path)?));
    }
    let file = files::open_nonblocking(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(Box::new(file)),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other(
            "it is not a regular file; give a regular file, or `-` for standard input",
        )),
    }
}
