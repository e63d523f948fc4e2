//! File operations that differ between systems or that the standard library lacks.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};

/// Opens a file for reading. Unlike the standard library, does not wait for a writer of a named
/// pipe.
///
/// # Errors
/// When the file cannot be opened.
pub fn open_nonblocking(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK)
}

/// As [`open_nonblocking`], but fails for a symbolic link.
///
/// # Errors
/// When the file cannot be opened.
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK | OFlags::NOFOLLOW)
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Reads an open file from its beginning. Returns the number of bytes read.
///
/// # Errors
/// When the file cannot be read.
pub fn read_from_start(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    file.read_at(bytes, 0)
}

/// Locks a file or a folder exclusively until it is closed (flock(2)).
///
/// # Errors
/// When another process holds the lock, or the file system does not support locks.
pub fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Whether an open file or folder still exists in its file system, which means that it was not
/// deleted.
///
/// # Errors
/// When the file's metadata cannot be read.
pub fn is_linked(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

/// The permissions for a new file, to which the umask still applies; `None` if the system has none.
#[must_use]
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Whether a path is a file with an execute permission.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
