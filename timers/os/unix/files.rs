//! File operations that differ between systems or that the standard library lacks.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

pub use super::standard::{check_input, check_output};

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

/// Gives a new file the group and the permissions of the file `old` that it replaces, if both have
/// the same owner: another user's file says nothing about who may access files of this user. Never
/// copies the set-user-id, set-group-id and sticky bits.
///
/// # Errors
/// When the permissions cannot be changed.
pub fn copy_access(old: &Metadata, new: &File) -> io::Result<()> {
    let created = new.metadata()?;
    if old.uid() != created.uid() {
        return Ok(());
    }
    // Another group than that of `old` gets none of its permissions.
    let same_group = old.gid() == created.gid() || fchown(new, None, Some(old.gid())).is_ok();
    let mask = if same_group { 0o777 } else { 0o707 };
    new.set_permissions(Permissions::from_mode(old.mode() & mask))
}

/// Whether a symbolic link may be followed, by the rule of `fs.protected_symlinks` of Linux: in a
/// sticky folder that everyone may write to, a link of this user or of the owner of the folder.
///
/// # Errors
/// When the metadata of the link or of its folder cannot be read.
pub fn is_trusted_link(link: &Path) -> io::Result<bool> {
    const STICKY_FOR_ALL: u32 = 0o1002;
    let folder = link.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new(".")).metadata()?;
    let owner = link.symlink_metadata()?.uid();
    Ok(folder.mode() & STICKY_FOR_ALL != STICKY_FOR_ALL
        || [folder.uid(), geteuid().as_raw()].contains(&owner))
}

/// Whether a path is a file with an execute permission.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
