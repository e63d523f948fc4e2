//! Temporary folders next to the final paths of files and folders, which are written there and then
//! moved, so that each is complete or absent. None remains if the program ends early: the thread that
//! waits for signals removes the temporary folders of its process ([`abandon`]), and the next process
//! that uses the same folder removes those of a process that was killed.
//!
//! A lock ([flock(2)]) marks a temporary folder as in use; one without a lock is stale. The lock ends
//! with its process. Unlike process ids, it works across containers and machines.
//!
//! [flock(2)]: https://man7.org/linux/man-pages/man2/flock.2.html

use std::fs::{self, File};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use timers::os::files;

/// How the names of temporary folders begin and end.
const PREFIX: &str = ".timermeter-";
const SUFFIX: &str = ".tmp";

/// The paths of the temporary folders of this process. The mutex is locked while one of them is
/// created, moved or removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The number in the name of the next temporary folder. This process uses no name twice, so that what removes
/// one removes no other.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A temporary folder. Dropping it removes the folder and its content.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    /// The open folder, whose lock marks it as in use.
    _lock: File,
}

impl ScratchFolder {
    /// Creates a temporary folder in `folder` with the permissions `mode`, restricted by the umask.
    /// Removes stale ones in `folder` first.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn within(folder: &Path, mode: u32) -> io::Result<Self> {
        remove_stale(folder);
        // Another process may have a folder of this name, or remove the new folder as stale before it is
        // locked: then another is created.
        loop {
            let mut unfinished = unfinished();
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id());
            let path = folder.join(name);
            match files::create_folder(&path, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            }
            let lock = match files::open_no_follow(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && folder.exists() => {
                    continue;
                }
                opened => opened.inspect_err(|_| drop(fs::remove_dir(&path)))?,
            };
            // On file systems without locks no process removes stale folders.
            let locked = files::lock(&lock);
            let is_taken = locked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
            if !is_taken && path.exists() {
                unfinished.push(path.clone());
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// The path of the temporary folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a file in the folder, with the usual permissions.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    /// Moves a file of the folder to a final path, and removes the folder. Replaces a file that is
    /// there.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn persist_file(self, name: &str, path: &Path) -> io::Result<()> {
        self.persist_with(|folder| fs::rename(folder.join(name), path))
    }

    /// Calls `put_in_place` with the temporary path, to move the folder or its content to a final
    /// path. Meanwhile [`abandon`] cannot remove the folder. What `put_in_place` leaves at the
    /// temporary path is removed.
    ///
    /// # Errors
    /// The error of `put_in_place`; the temporary folder is then removed.
    pub fn persist_with<T>(
        self,
        put_in_place: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let _unfinished = unfinished();
        put_in_place(&self.path)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        let _ = fs::remove_dir_all(&self.path);
        unfinished.retain(|other| *other != self.path);
    }
}

/// Removes all temporary folders of this process. Called by the thread that ends the process, for
/// example after a signal, immediately before the end, because afterwards none can be created, moved
/// or removed.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // It is renamed first, so that threads that still create files in it fail.
        let renamed = path.with_extension(format!("gone{SUFFIX}"));
        let is_renamed = fs::rename(path, &renamed).is_ok();
        let path = if is_renamed { &renamed } else { path };
        /// The number of attempts, because another thread may still be creating a file in the
        /// folder.
        const MAX_ATTEMPTS: u32 = 20;
        for _ in 0..MAX_ATTEMPTS {
            if fs::remove_dir_all(path).is_ok() || !path.exists() {
                break;
            }
            timers::pause(std::time::Duration::from_millis(5));
        }
    }
    // The mutex stays locked, so that other threads cannot move folders any more. A thread that
    // tries waits until the process ends.
    mem::forget(unfinished);
}

/// Removes the temporary folders of this user in `folder` whose processes have ended. Errors are ignored. One that
/// this or another process has locked stays, and all on a file system without locks.
pub fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(PREFIX.as_bytes())
            && name.ends_with(SUFFIX.as_bytes())
            && let Ok(found) = files::open_no_follow(&entry.path())
            && files::lock(&found).is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks the paths of the temporary folders of this process.
fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The sorted names of all files in a folder.
    pub(crate) fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn removes_only_stale_folders() {
        let folder = tempfile::tempdir().unwrap();
        let stale = folder.path().join(".timermeter-dead01.tmp/below");
        fs::create_dir_all(&stale).unwrap();
        fs::write(stale.join("file"), "half").unwrap();
        fs::write(folder.path().join(".timermeter-site"), "not temporary").unwrap();
        let within = || ScratchFolder::within(folder.path(), 0o700).unwrap();
        let (first, second) = (within(), within());
        assert!(first.path().is_dir() && second.path().is_dir());
        assert!(!stale.exists());
        assert_eq!(names(folder.path()).len(), 3, "{:?}", names(folder.path()));
        fs::write(first.path().join("file"), "whole").unwrap();
        first
            .persist_file("file", &folder.path().join("file"))
            .unwrap();
        drop(second);
        assert_eq!(names(folder.path()), [".timermeter-site", "file"]);
        #[cfg(unix)]
        {
            fs::create_dir_all(&stale).unwrap();
            // Only root may give a folder to another user.
            let parent = stale.parent().unwrap();
            let is_given = std::os::unix::fs::chown(parent, Some(12_345), None).is_ok();
            remove_stale(folder.path());
            assert_eq!(stale.exists(), is_given);
        }
    }
}
