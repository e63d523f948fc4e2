//! Temporary files and folders next to their final paths. None remains if the program ends early:
//! signal handlers remove them ([`abandon`]), and the next process that uses the same folder
//! removes those of a killed process.
//!
//! A lock ([flock(2)]) marks a temporary file as in use. The lock ends with the process and also
//! works across containers and machines, unlike process ids.
//!
//! [flock(2)]: https://man7.org/linux/man-pages/man2/flock.2.html

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use tempfile::{Builder, NamedTempFile, TempDir};
use timers::os::files;

const PREFIX: &str = ".timermeter-";
const SUFFIX: &str = ".tmp";

/// The temporary files and folders of this process. The lock is held while one of them is persisted
/// or removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file. Dropping it removes the file.
#[derive(Debug)]
pub struct ScratchFile(Option<NamedTempFile>);

/// A temporary folder. Dropping it removes the folder and its content.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: Option<TempDir>,
    _lock: File,
}

impl ScratchFile {
    /// Creates a temporary file in `folder` with the default permissions of new files (the system
    /// applies the umask).
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        remove_stale(folder);
        loop {
            // A process that removes stale files finds this file either locked or not yet created.
            let mut unfinished = unfinished();
            let file = builder(0o666).tempfile_in(folder)?;
            if lock(file.as_file()) && files::has_name(file.as_file())? {
                unfinished.push(file.path().to_owned());
                return Ok(Self(Some(file)));
            }
        }
    }

    /// The open file.
    ///
    /// # Errors
    /// Never before the file is persisted.
    pub fn file(&mut self) -> io::Result<&mut File> {
        self.0
            .as_mut()
            .map(NamedTempFile::as_file_mut)
            .ok_or_else(already_persisted)
    }

    /// Atomically renames the file to `place` and replaces an existing file.
    ///
    /// # Errors
    /// When the rename fails; the temporary file is then removed.
    pub fn persist(mut self, place: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        let file = self.0.take().ok_or_else(already_persisted)?;
        forget(&mut unfinished, file.path());
        file.persist(place).map(drop).map_err(|error| error.error)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let path = file.path().to_owned();
            drop(file);
            forget(&mut unfinished(), &path);
        }
    }
}

impl ScratchFolder {
    /// Creates a temporary folder in `folder` with the permissions `mode`, restricted by the umask.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn within(folder: &Path, mode: u32) -> io::Result<Self> {
        remove_stale(folder);
        loop {
            let mut unfinished = unfinished();
            let made = builder(mode).tempdir_in(folder)?;
            let file = match files::open_itself(made.path()) {
                // Another process removed the new folder as stale.
                Err(error) if error.kind() == io::ErrorKind::NotFound && folder.exists() => {
                    continue;
                }
                file => file?,
            };
            if lock(&file) && files::has_name(&file)? {
                unfinished.push(made.path().to_owned());
                return Ok(Self {
                    folder: Some(made),
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

    /// Moves the folder into place with `put_in_place`, while signal handlers cannot remove it.
    /// Anything that `put_in_place` leaves at the temporary path is removed.
    ///
    /// # Errors
    /// The error of `put_in_place`; the temporary folder is then removed.
    pub fn persist_with<T>(
        mut self,
        put_in_place: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut unfinished = unfinished();
        let folder = self.folder.take().ok_or_else(already_persisted)?;
        let moved = put_in_place(folder.path());
        if moved.is_ok() && fs::symlink_metadata(folder.path()).is_ok() {
            // The folder stays registered, so that a signal handler can remove it.
            drop(unfinished);
            self.folder = Some(folder);
            return moved;
        }
        forget(&mut unfinished, folder.path());
        if moved.is_ok() {
            let _ = folder.keep();
        }
        moved
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            let path = folder.path().to_owned();
            drop(folder);
            forget(&mut unfinished(), &path);
        }
    }
}

/// Removes all temporary files and folders and prevents persisting them; called immediately before
/// the process exits.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // After the rename, threads that still write into the folder cannot find it, so it can be
        // emptied.
        let aside = path.with_extension(format!("gone{SUFFIX}"));
        let path = if fs::rename(path, &aside).is_ok() {
            &aside
        } else {
            path
        };
        /// Attempts to remove the folder; another thread may be about to close a file in it.
        const TRIES: u32 = 20;
        for _ in 0..TRIES {
            if remove(path).is_ok() {
                break;
            }
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    mem::forget(unfinished);
}

/// Removes temporary files in `folder` that ended processes left. Errors are ignored.
pub fn sweep(folder: &Path) {
    remove_stale(folder);
}

fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes()) {
            let _ = remove_if_stale(&entry.path());
        }
    }
}

fn remove_if_stale(path: &Path) -> io::Result<()> {
    let file = files::open_itself(path)?;
    files::lock(&file)?;
    remove(path)
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
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

/// Locks a new file. `false` if another process holds the lock, because it considers the file stale
/// and is about to remove it. File systems without locks return `true`: no process can then remove
/// the file as stale.
fn lock(file: &File) -> bool {
    !files::lock(file).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    if let Some(permissions) = files::permissions(mode) {
        builder.permissions(permissions);
    }
    builder
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn forget(unfinished: &mut Vec<PathBuf>, path: &Path) {
    unfinished.retain(|other| other != path);
}

fn already_persisted() -> io::Error {
    io::Error::other("it is finished already")
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
    fn removes_only_what_dead_processes_left() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(".timermeter-dead00.tmp"), "half").unwrap();
        fs::create_dir_all(place.path().join(".timermeter-dead01.tmp/below")).unwrap();
        fs::write(place.path().join(".timermeter-site"), "no scratch").unwrap();
        let first = ScratchFile::in_folder(place.path()).unwrap();
        let second = ScratchFolder::within(place.path(), 0o700).unwrap();
        let third = ScratchFile::in_folder(place.path()).unwrap();
        assert!(second.path().is_dir());
        assert_eq!(names(place.path()).len(), 4, "{:?}", names(place.path()));
        assert!(!names(place.path()).iter().any(|name| name.contains("dead")));
        drop((first, second, third));
        assert_eq!(names(place.path()), [".timermeter-site"]);
    }
}
