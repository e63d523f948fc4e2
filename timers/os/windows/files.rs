//! File operations that differ between systems or that the standard library lacks.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::handle::check_status;

/// Opens a file or a folder for reading.
///
/// # Errors
/// When the file cannot be opened.
pub fn open_nonblocking(path: &Path) -> io::Result<File> {
    open(path, FILE_FLAG_BACKUP_SEMANTICS)
}

/// As [`open_nonblocking`], but opens a symbolic link itself and not its target.
///
/// # Errors
/// When the file cannot be opened.
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    open(
        path,
        FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
    )
}

/// Opens a path with the given flags; folders need FILE_FLAG_BACKUP_SEMANTICS.
fn open(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Locks a file exclusively until it is closed (LockFileEx). The lock covers one byte far beyond
/// the end of the file, because other processes cannot read locked bytes.
///
/// # Errors
/// When another process holds the lock, or the path is a folder, which Windows cannot lock.
pub fn lock(file: &File) -> io::Result<()> {
    let mut position = OVERLAPPED::default();
    position.Anonymous.Anonymous.OffsetHigh = i32::MAX as u32;
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open. The file was not opened for overlapped requests, so that the
    // system uses the structure only during the call.
    check_status(unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut position) })
}

/// Always `true`, because a file that is open for writing is seldom deleted.
///
/// # Errors
/// None.
pub fn is_linked(_file: &File) -> io::Result<bool> {
    Ok(true)
}

/// `None`, because Windows has no permission bits.
pub fn permissions(_mode: u32) -> Option<Permissions> {
    None
}

/// Does nothing, because a new file has the permissions of its folder.
///
/// # Errors
/// None.
pub fn copy_access(_old: &Metadata, _new: &File) -> io::Result<()> {
    Ok(())
}

/// A folder for output files.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens a folder; creates it and those that contain it if they are missing.
    ///
    /// # Errors
    /// When a folder cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path).map(|()| Self(path.to_owned()))
    }

    /// The path of the folder.
    pub fn path(&self) -> PathBuf {
        self.0.clone()
    }

    /// The path of the folder, for messages.
    pub fn name(&self) -> &Path {
        &self.0
    }

    /// Opens a file of this folder to append to it; creates it if it is missing.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn append(&self, name: &OsStr) -> io::Result<File> {
        let path = self.0.join(name);
        OpenOptions::new().create(true).append(true).open(path)
    }

    /// `false`, because devices are in no folder.
    pub fn is_of_system(&self) -> bool {
        false
    }
}

/// The folder of an output file, with the name of the file in it; without a name if `path` is a
/// folder. With `create` creates missing folders. Windows has no folders in which everyone may
/// create links.
///
/// # Errors
/// When the folder cannot be created or does not exist.
pub fn find(path: &Path, create: bool) -> io::Result<(Folder, Option<OsString>)> {
    // Writing keeps a link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
        return Ok((Folder(path), None));
    };
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    if create {
        fs::create_dir_all(folder)?;
    }
    folder.metadata()?;
    Ok((Folder(folder.to_owned()), Some(name.to_owned())))
}

/// What identifies a file, however its path is written.
pub fn identity(path: &Path) -> Option<PathBuf> {
    let (folder, name) = find(path, false).ok()?;
    Some(folder.0.canonicalize().ok()?.join(name?))
}

/// Does nothing, because the standard library reports errors of standard input.
///
/// # Errors
/// None.
pub fn check_input() -> io::Result<()> {
    Ok(())
}

/// Does nothing, like [`check_input`].
///
/// # Errors
/// None.
pub fn check_output() -> io::Result<()> {
    Ok(())
}

/// Whether a path is an executable file, according to the extension of its name.
pub fn is_program(path: &Path) -> bool {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    path.is_file()
        && ["exe", "com", "bat", "cmd"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
}
