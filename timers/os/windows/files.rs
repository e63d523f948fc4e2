//! What the standard library does not know of files.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_STANDARD_INFO, FileStandardInfo,
    GetFileInformationByHandleEx, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::handle::checked;

/// Opens a file to be read.
///
/// # Errors
/// What the system said.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    open(path, FILE_FLAG_BACKUP_SEMANTICS)
}

/// Reads an open file from its beginning.
///
/// # Errors
/// What the system said.
pub fn read_again(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    file.seek_read(bytes, 0)
}

/// Opens a file or a folder, but not through a link.
///
/// # Errors
/// What the system said.
pub fn open_itself(path: &Path) -> io::Result<File> {
    open(
        path,
        FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
    )
}

/// Without the flag for backups no folder can be opened.
fn open(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Locks a file for this process alone, as long as it is open (LockFileEx). Locks of Windows keep
/// others from the bytes that are locked: here it is one far beyond the end. Folders have no locks.
///
/// # Errors
/// When another process holds it, or it is a folder.
pub fn lock(file: &File) -> io::Result<()> {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.OffsetHigh = i32::MAX as u32;
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and the file was not opened for overlapped requests, so that the
    // structure is read at once.
    checked(unsafe { LockFileEx(raw(file), flags, 0, 1, 0, &raw mut place) })
}

/// Whether an open file still has a name.
///
/// # Errors
/// What the system said.
pub fn has_name(file: &File) -> io::Result<bool> {
    let mut info = FILE_STANDARD_INFO::default();
    let size = size_of::<FILE_STANDARD_INFO>() as u32;
    // SAFETY: the handle is open, and the pointer is valid for what that class of information
    // takes.
    checked(unsafe {
        GetFileInformationByHandleEx(raw(file), FileStandardInfo, (&raw mut info).cast(), size)
    })?;
    Ok(!info.DeletePending)
}

fn raw(file: &File) -> HANDLE {
    file.as_raw_handle()
}

/// The system decides them.
#[must_use]
pub fn permissions(_mode: u32) -> Option<Permissions> {
    None
}

/// Whether it is a file that can be run, by the ending of its name.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    path.is_file()
        && ["exe", "com", "bat", "cmd"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
}
