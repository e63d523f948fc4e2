//! Files that others wrote: regular ones only, as a pipe in a folder may never say anything and a device never end, and no
//! more of them than what is looked for can be long.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Bytes of the longest report that is read; most take some hundred thousand.
pub const LONGEST_REPORT: u64 = 10 << 20;
/// Bytes of the longest trace, packed; most take some million.
pub const LONGEST_TRACE: u64 = 64 << 20;

/// Reads a file into `buffer`, from its beginning.
///
/// # Errors
/// When it cannot be read, is no regular file, or is longer than `most` bytes.
pub fn read(path: &Path, most: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    open(path)?.take(most.saturating_add(1)).read_to_end(buffer)?;
    if buffer.len() as u64 > most {
        buffer.clear();
        buffer.shrink_to_fit();
        return Err(io::Error::other(format!("it is longer than {} MiB, and is not read", most >> 20)));
    }
    Ok(())
}

/// Opens a regular file, or what the caller of this program opened for it: `-`, `/dev/stdin`, `/dev/fd/63` as of `<(…)`.
///
/// # Errors
/// When it cannot be opened or is no regular file.
pub fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    if path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|of| path.starts_with(of)) {
        return Ok(Box::new(File::open(path)?));
    }
    // To open a pipe would wait for who writes to it; on a regular file the flag does nothing.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(Box::new(file)),
        () if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        () if kind.is_fifo() => "a pipe",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "a socket or something else that is no file",
    };
    Err(io::Error::other(format!(
        "it is {what}; only regular files are read, and `-`, which is standard input"
    )))
}
