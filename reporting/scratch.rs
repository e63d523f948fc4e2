//! Files and folders that are not finished yet, beside where they will be. None stays when the
//! program ends early: those who handle signals remove them ([`abandon`]), and what a killed
//! process left is removed by the next one that works there.
//!
//! That a process still works on one is told by its lock ([flock(2)]), which ends with the process
//! and says so across containers and machines too, where process ids say nothing.
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

/// Those of this process. Its holder decides whether one is persisted or removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that is not finished. Dropping it removes it.
#[derive(Debug)]
pub struct ScratchFile(Option<NamedTempFile>);

/// A folder that is not finished. Dropping it removes it, with all in it.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: Option<TempDir>,
    _lock: File,
}

impl ScratchFile {
    /// A new file in `folder` with the permissions that any new file has there (the umask is
    /// applied by the system).
    ///
    /// # Errors
    /// What the system said.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        remove_stale(folder);
        loop {
            // A process that removes what is stale finds it either locked or not yet there.
            let mut unfinished = unfinished();
            let file = builder(0o666).tempfile_in(folder)?;
            if lock(file.as_file()) && files::has_name(file.as_file())? {
                unfinished.push(file.path().to_owned());
                return Ok(Self(Some(file)));
            }
        }
    }

    /// The file.
    ///
    /// # Errors
    /// Never before it is finished.
    pub fn file(&mut self) -> io::Result<&mut File> {
        self.0
            .as_mut()
            .map(NamedTempFile::as_file_mut)
            .ok_or_else(gone)
    }

    /// Makes it `place`, which is replaced at once.
    ///
    /// # Errors
    /// What the system said; then it is removed.
    pub fn persist(mut self, place: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        let file = self.0.take().ok_or_else(gone)?;
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
    /// A new folder in `folder` that those may use whom `mode` and the umask allow it.
    ///
    /// # Errors
    /// What the system said.
    pub fn within(folder: &Path, mode: u32) -> io::Result<Self> {
        remove_stale(folder);
        loop {
            let mut unfinished = unfinished();
            let made = builder(mode).tempdir_in(folder)?;
            let file = match files::open_itself(made.path()) {
                // Gone already, as what is stale.
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Has `put_in_place` move it where it belongs, while it is not removed. What `put_in_place`
    /// leaves at its old path is removed.
    ///
    /// # Errors
    /// As `put_in_place`; then it is removed.
    pub fn persist_with<T>(
        mut self,
        put_in_place: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut unfinished = unfinished();
        let folder = self.folder.take().ok_or_else(gone)?;
        let moved = put_in_place(folder.path());
        if moved.is_ok() && fs::symlink_metadata(folder.path()).is_ok() {
            // It stays among those that are removed when a signal asks to stop now.
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

/// Removes all that is not finished, and has nothing finished any more: for who ends the program
/// next.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // Threads that still write into a folder find it no more under another name, so that it can
        // be emptied.
        let aside = path.with_extension(format!("gone{SUFFIX}"));
        let path = if fs::rename(path, &aside).is_ok() {
            &aside
        } else {
            path
        };
        /// One of them may be about to close a file in it.
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

/// Removes what processes left in `folder` that are no more. What cannot be removed stays.
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

/// Returns whether it is one's own: who removes what is stale may have seen it before it was
/// locked, and holds the lock until it is gone. A file system without locks has none that is stale
/// either: what is there cannot be locked.
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

fn gone() -> io::Error {
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
