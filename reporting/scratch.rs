//! Temporary files and folders, which are written next to their final paths and then moved, so that
//! a file is complete or absent. None remains if the program ends early: the thread that waits for
//! signals removes the temporary files of its process ([`abandon`]), and the next process that uses
//! the same folder removes those of a process that was killed.
//!
//! A lock ([flock(2)]) marks a temporary file as in use; a temporary file without a lock is stale.
//! The lock ends with its process. Unlike process ids, it works across containers and machines.
//!
//! [flock(2)]: https://man7.org/linux/man-pages/man2/flock.2.html

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use tempfile::{Builder, NamedTempFile, TempDir};
use timers::os::files::{self, Folder};

/// How the names of temporary files begin and end.
const PREFIX: &str = ".timermeter-";
const SUFFIX: &str = ".tmp";

/// The paths of the temporary files and folders of this process. The mutex is locked while one of
/// them is created, persisted or removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file. Dropping it removes the file.
#[derive(Debug)]
pub struct ScratchFile {
    file: Option<NamedTempFile>,
    folder: Folder,
}

/// A temporary folder. Dropping it removes the folder and its content.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: Option<TempDir>,
    /// The open folder, whose lock marks it as in use.
    _lock: File,
}

impl ScratchFile {
    /// Creates a temporary file in `folder` with the permissions 0666, restricted by the umask.
    /// Removes stale files in `folder` first.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn in_folder(folder: Folder) -> io::Result<Self> {
        let path = folder.path();
        remove_stale(&path);
        loop {
            // Another process may remove the new file as stale before it is locked; the loop then
            // creates another file.
            let mut unfinished = unfinished();
            let file = builder(0o666).tempfile_in(&path)?;
            if lock(file.as_file()) && file.path().exists() {
                unfinished.push(file.path().to_owned());
                let file = Some(file);
                return Ok(Self { file, folder });
            }
        }
    }

    /// The open file.
    ///
    /// # Errors
    /// When the file has been persisted.
    pub fn file(&mut self) -> io::Result<&mut File> {
        self.file
            .as_mut()
            .map(NamedTempFile::as_file_mut)
            .ok_or_else(already_persisted)
    }

    /// Atomically renames the file to `name` in its folder, and replaces an existing file.
    ///
    /// # Errors
    /// When the rename fails; the temporary file is then removed.
    pub fn persist(mut self, name: &OsStr) -> io::Result<()> {
        let mut unfinished = unfinished();
        let file = self.file.take().ok_or_else(already_persisted)?;
        forget(&mut unfinished, file.path());
        let moved = file.persist(self.folder.path().join(name));
        moved.map(drop).map_err(|error| error.error)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut unfinished = unfinished();
            forget(&mut unfinished, file.path());
            drop(file);
        }
    }
}

impl ScratchFolder {
    /// Creates a temporary folder in `folder` with the permissions `mode`, restricted by the umask.
    /// Removes stale files in `folder` first.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn within(folder: &Path, mode: u32) -> io::Result<Self> {
        remove_stale(folder);
        loop {
            let mut unfinished = unfinished();
            let temporary = builder(mode).tempdir_in(folder)?;
            let file = match files::open_no_follow(temporary.path()) {
                // Another process removed the new folder as stale.
                Err(error) if error.kind() == io::ErrorKind::NotFound && folder.exists() => {
                    continue;
                }
                file => file?,
            };
            if lock(&file) && temporary.path().exists() {
                unfinished.push(temporary.path().to_owned());
                return Ok(Self {
                    folder: Some(temporary),
                    _lock: file,
                });
            }
        }
    }

    /// The path of the temporary folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Calls `put_in_place` with the temporary path, to move the folder or its content to a final
    /// path. Meanwhile [`abandon`] cannot remove the folder. Files that `put_in_place` leaves at
    /// the temporary path are removed.
    ///
    /// # Errors
    /// The error of `put_in_place`; the temporary folder is then removed.
    pub fn persist_with<T>(
        mut self,
        put_in_place: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut unfinished = unfinished();
        let folder = self.folder.take().ok_or_else(already_persisted)?;
        let result = put_in_place(folder.path());
        if result.is_ok() && fs::symlink_metadata(folder.path()).is_ok() {
            // Only its content was moved. The folder stays registered until the drop of `self`
            // removes it, which locks the mutex again.
            drop(unfinished);
            self.folder = Some(folder);
            return result;
        }
        forget(&mut unfinished, folder.path());
        if result.is_ok() {
            // The folder was moved, so there is nothing to remove at its temporary path. After an
            // error, the drop of `folder` removes it.
            let _ = folder.keep();
        }
        result
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            let mut unfinished = unfinished();
            forget(&mut unfinished, folder.path());
            drop(folder);
        }
    }
}

/// Removes all temporary files and folders of this process. Called by the thread that ends the
/// process, for example after a signal, immediately before the end, because afterwards no temporary
/// file can be created, persisted or removed.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // A folder is renamed first, so that threads that still create files in it fail.
        let renamed = path.with_extension(format!("gone{SUFFIX}"));
        let path = if fs::rename(path, &renamed).is_ok() {
            &renamed
        } else {
            path
        };
        /// The number of attempts, because another thread may still be creating a file in the
        /// folder.
        const MAX_ATTEMPTS: u32 = 20;
        for _ in 0..MAX_ATTEMPTS {
            if remove(path).is_ok() {
                break;
            }
            // Unlike `sleep`, this works where a sandbox refuses `clock_nanosleep`.
            thread::park_timeout(std::time::Duration::from_millis(5));
        }
    }
    // The mutex stays locked, so that other threads cannot persist files any more. A thread that
    // tries waits until the process ends.
    mem::forget(unfinished);
}

/// Removes the temporary files in `folder` whose processes have ended. Errors are ignored.
pub fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes()) {
            let _ = remove_if_stale(&entry.path());
        }
    }
}

/// Removes a temporary file or folder that is not in use; fails if this or another process has
/// locked it, or if the file system does not support locks.
fn remove_if_stale(path: &Path) -> io::Result<()> {
    let file = files::open_no_follow(path)?;
    files::lock(&file)?;
    remove(path)
}

/// Removes a file, or a folder with its content; succeeds if the path does not exist.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            Ok(())
        } else {
            Err(error)
        }
    })
}

/// Locks a new file. Returns `false` if another process holds the lock because it considers the
/// file stale and is about to remove it. Returns `true` on file systems without locks, because no
/// process removes stale files there.
fn lock(file: &File) -> bool {
    !files::lock(file).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Creates temporary files with the permissions `mode`.
fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    if let Some(permissions) = files::permissions(mode) {
        builder.permissions(permissions);
    }
    builder
}

/// Locks the paths of the temporary files of this process.
fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a path from the paths of temporary files.
fn forget(unfinished: &mut Vec<PathBuf>, path: &Path) {
    unfinished.retain(|other| other != path);
}

fn already_persisted() -> io::Error {
    io::Error::other("the temporary file has already been moved to its final path")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn removes_only_stale_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".timermeter-dead00.tmp"), "half").unwrap();
        fs::create_dir_all(folder.path().join(".timermeter-dead01.tmp/below")).unwrap();
        fs::write(folder.path().join(".timermeter-site"), "not temporary").unwrap();
        let in_folder = || ScratchFile::in_folder(Folder::create(folder.path()).unwrap());
        let first = in_folder().unwrap();
        let second = ScratchFolder::within(folder.path(), 0o700).unwrap();
        let third = in_folder().unwrap();
        assert!(second.path().is_dir());
        assert_eq!(names(folder.path()).len(), 4, "{:?}", names(folder.path()));
        assert!(
            !names(folder.path())
                .iter()
                .any(|name| name.contains("dead"))
        );
        drop((first, second, third));
        assert_eq!(names(folder.path()), [".timermeter-site"]);
    }
}
