//! File operations that differ between systems or that the standard library lacks. There are no
//! locks, permission bits or devices: temporary files of a run that was killed stay, and a new file
//! has the permissions of its folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;

pub use self::open_nonblocking as open_no_follow;

/// Opens a file or a folder for reading.
///
/// # Errors
/// When the file cannot be opened.
pub fn open_nonblocking(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
}

/// Not supported, so that no temporary file is taken for stale.
///
/// # Errors
/// Always.
pub fn lock(_file: &File) -> io::Result<()> {
    crate::os::other::unsupported()
}

/// Creates a folder, which has the permissions of the one that it is in.
///
/// # Errors
/// When it cannot be created.
pub fn create_folder(path: &Path, _mode: u32) -> io::Result<()> {
    fs::create_dir(path)
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
/// folder. With `create` creates missing folders. Links are followed, of whatever user.
///
/// # Errors
/// When the folder cannot be created or does not exist.
pub fn find(path: &Path, create: bool) -> io::Result<(Folder, Option<OsString>)> {
    // Writing keeps a link.
    let path = path.canonicalize().or_else(|_| std::path::absolute(path))?;
    let name = path.file_name().filter(|_| !path.is_dir());
    let folder = path.parent().filter(|_| name.is_some()).unwrap_or(&path);
    if create {
        fs::create_dir_all(folder)?;
    }
    folder.metadata()?;
    Ok((Folder(folder.to_owned()), name.map(OsStr::to_owned)))
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

pub use self::check_input as check_output;

/// Whether a path is a file; which files are programs, their names say.
pub fn is_program(path: &Path) -> bool {
    path.is_file()
}
