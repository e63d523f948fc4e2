//! What the standard library does not know of files.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};

/// Opens a file to be read without waiting for who writes to it, as for a pipe.
///
/// # Errors
/// What the system said.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK)
}

/// The same, but not through a link.
///
/// # Errors
/// What the system said.
pub fn open_itself(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK | OFlags::NOFOLLOW)
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Reads an open file from its beginning.
///
/// # Errors
/// What the system said.
pub fn read_again(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    file.read_at(bytes, 0)
}

/// Locks a file or a folder for this process alone, as long as it is open (flock(2)).
///
/// # Errors
/// When another process holds it, or the file system has no locks.
pub fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Whether an open file still has a name.
///
/// # Errors
/// What the system said.
pub fn has_name(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

/// The permissions of a new file, before the umask; `None` where the system decides them.
#[must_use]
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Whether it is a file that can be run.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
