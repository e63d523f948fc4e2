//! File operations that differ between systems or that the standard library lacks.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat,
    readlinkat, stat, statat,
};
use rustix::io::Errno;
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

/// Locks a file or a folder of this user exclusively until it is closed (flock(2)).
///
/// # Errors
/// When another user owns it, another process holds the lock, or the file system does not support locks.
pub fn lock(file: &File) -> io::Result<()> {
    if file.metadata()?.uid() != geteuid().as_raw() {
        return Err(Errno::PERM.into());
    }
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Creates a folder with the permissions `mode`, to which the umask still applies.
///
/// # Errors
/// When it cannot be created.
pub fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(path)
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

/// A folder for output files. It stays open, so that files are created in it even if somebody
/// replaces a part of its path.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    /// The path without symbolic links.
    name: PathBuf,
}

/// Opens a folder only to find files in it, which needs no permission to list them.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;

impl Folder {
    /// Opens a folder; creates it and those that contain it if they are missing. Follows links as
    /// [`find`].
    ///
    /// # Errors
    /// When a folder cannot be opened or created.
    pub fn create(path: &Path) -> io::Result<Self> {
        match find(path, true)? {
            (folder, None) => Ok(folder),
            (folder, Some(name)) => folder.create_in(&name),
        }
    }

    /// A path of the open folder for this process: through its descriptor if `/proc` is mounted.
    pub fn path(&self) -> PathBuf {
        let through = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()));
        match (fstat(&self.descriptor), stat(&through)) {
            (Ok(own), Ok(found)) if (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino) => {
                through
            }
            _ => self.name().to_owned(),
        }
    }

    /// The path without symbolic links, for messages.
    pub fn name(&self) -> &Path {
        if self.name == Path::new("") {
            Path::new(".")
        } else {
            &self.name
        }
    }

    /// Opens a file of this folder to append to it; creates it if it is missing. Follows no link.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn append(&self, name: &OsStr) -> io::Result<File> {
        let mut flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !self.is_of_system());
        let mode = Mode::from_raw_mode(0o666);
        Ok(openat(&self.descriptor, name, flags, mode)?.into())
    }

    /// Whether the files of this folder are devices or descriptors of processes.
    pub fn is_of_system(&self) -> bool {
        let is_in = |folder| self.name.starts_with(folder);
        is_in("/proc") || is_in("/dev") && !is_in("/dev/shm")
    }

    /// Opens a folder in this one, but follows no link.
    fn enter(&self, part: &OsStr) -> rustix::io::Result<Self> {
        let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = openat(&self.descriptor, part, flags, Mode::empty())?;
        let mut name = self.name.clone();
        if part != ".." || name.file_name().is_none() || !name.pop() {
            name.push(part);
        }
        Ok(Self { descriptor, name })
    }

    /// Opens a folder in this one, which is created if it is missing.
    fn create_in(&self, part: &OsStr) -> io::Result<Self> {
        match mkdirat(&self.descriptor, part, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(self.enter(part)?),
            Err(error) => Err(error.into()),
        }
    }

    /// The target of a symbolic link in this folder, if it may be followed; `None` for other files.
    fn link(&self, part: &OsStr) -> io::Result<Option<PathBuf>> {
        let sticky_for_all = Mode::SVTX | Mode::WOTH;
        let found = statat(&self.descriptor, part, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            return Ok(None);
        }
        let folder = fstat(&self.descriptor)?;
        // A user namespace shows one owner for all users outside of it (`overflowuid`).
        let of_folder = found.st_uid == folder.st_uid && found.st_uid != 65_534;
        if Mode::from_raw_mode(folder.st_mode).contains(sticky_for_all)
            && !(of_folder || found.st_uid == geteuid().as_raw())
        {
            return Err(io::Error::other(format!(
                "'{}' is a symbolic link of another user in a folder that everyone may write to",
                self.name.join(part).display()
            )));
        }
        let target = readlinkat(&self.descriptor, part, Vec::new())?;
        Ok(Some(OsString::from_vec(target.into_bytes()).into()))
    }
}

/// Opens the folder of an output file, and with `create` creates missing folders. Returns it with
/// the name of the file in it, which need not exist; without a name if `path` is a folder. Follows
/// symbolic links by the rule of `fs.protected_symlinks` of Linux: in a sticky folder that everyone
/// may write to, only links of this user or of the owner of that folder. The file itself is no
/// link, unless its folder [is of the system](Folder::is_of_system).
///
/// # Errors
/// When a folder cannot be opened or created, or a link must not be followed.
pub fn find(path: &Path, create: bool) -> io::Result<(Folder, Option<OsString>)> {
    const MAX_LINKS: usize = 40;
    let parts = |path: &Path| -> Vec<OsString> { path.iter().rev().map(OsStr::to_owned).collect() };
    let start = if path.is_absolute() { "/" } else { "." };
    let start = openat(CWD, start, SEARCH | OFlags::CLOEXEC, Mode::empty())?;
    let mut folder = Folder {
        descriptor: start,
        name: PathBuf::new(),
    };
    let (mut rest, mut links) = (parts(path), 0);
    while let Some(part) = rest.pop() {
        let is_last = rest.is_empty();
        match folder.enter(&part) {
            Ok(next) => folder = next,
            Err(Errno::NOENT) if is_last => return Ok((folder, Some(part))),
            Err(Errno::NOENT) if create => folder = folder.create_in(&part)?,
            Err(error @ (Errno::NOTDIR | Errno::LOOP)) => {
                if is_last && folder.is_of_system() {
                    return Ok((folder, Some(part)));
                }
                match folder.link(&part)? {
                    Some(_) if links == MAX_LINKS => return Err(Errno::LOOP.into()),
                    Some(target) => rest.extend(parts(&target)),
                    None if is_last => return Ok((folder, Some(part))),
                    None => return Err(error.into()),
                }
                links += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((folder, None))
}

/// What identifies a regular file or a file that does not exist, however its path is written;
/// `None` for others.
pub fn identity(path: &Path) -> Option<(u64, u64, OsString)> {
    let (found, name) = match path.metadata() {
        Ok(found) if !found.is_file() => return None,
        Ok(found) => (found, OsString::new()),
        Err(_) => {
            let (folder, name) = find(path, false).ok()?;
            (folder.path().metadata().ok()?, name?)
        }
    };
    Some((found.dev(), found.ino(), name))
}

/// Whether a path is a file with an execute permission.
pub fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
