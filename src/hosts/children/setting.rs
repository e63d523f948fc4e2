//! Changes a kernel setting for a while. One process at a time may do so: the file of the setting
//! is locked, by this program and by the guard, which restores the setting if this program ends
//! before it has done so. The lock is gone when both have ended.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use timers::os::files::lock;

use super::StartError;
use super::groups::{ProcessGroups, interrupted};
use super::guard::read;

/// A kernel setting that is changed for a while.
pub struct TemporarySetting {
    path: PathBuf,
    original: String,
    /// The value that the setting has as far as this program knows.
    now: String,
    _locked: File,
}

impl TemporarySetting {
    /// Locks a setting and prepares its restoration at the end of this program, for whatever
    /// reason. Call this before any process is started, because the guard is given the lock.
    ///
    /// # Errors
    /// When the setting cannot be written, another process holds the lock, or the guard, which
    /// would restore the setting, cannot be started.
    pub fn lock(path: &Path) -> Result<Self, StartError> {
        let locked = OpenOptions::new().read(true).write(true).open(path);
        let locked = locked.map_err(StartError::NotWritable)?;
        lock(&locked).map_err(StartError::Locked)?;
        // Only now, because another process may have changed it until then.
        let original = read(path)?;
        ProcessGroups::lock().prepare(Some(locked.try_clone()?))?;
        Ok(Self {
            path: path.to_owned(),
            now: original.clone(),
            original,
            _locked: locked,
        })
    }

    /// The value before this program changed the setting.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Changes the setting, and checks that the kernel accepted the value.
    ///
    /// # Errors
    /// When something else has changed the setting, the system rejects the value, or the program
    /// was interrupted.
    pub fn set(&mut self, value: &str) -> io::Result<()> {
        let mut groups = ProcessGroups::lock();
        // Whoever handles the interruption takes the guard, which then restores the setting.
        let guard = groups.guard.as_mut().filter(|_| !interrupted());
        let guard = guard.ok_or(io::ErrorKind::Interrupted)?;
        let found = read(&self.path)?;
        if found != self.now {
            return Err(io::Error::other(format!(
                "something else has set it to '{found}', which is left"
            )));
        }
        guard.restore_at_end(&self.path, &self.original, [&self.now, value])?;
        fs::write(&self.path, format!("{value}\n"))?;
        let now = read(&self.path)?;
        if now != value {
            return Err(io::Error::other(format!("the kernel keeps it at '{now}'")));
        }
        self.now = now;
        Ok(())
    }

    /// Restores the setting. After an interruption the guard does so.
    ///
    /// # Errors
    /// As for [`set`](Self::set); the setting then keeps the value that it has.
    pub fn restore(&mut self) -> io::Result<()> {
        if interrupted() {
            return Ok(());
        }
        let original = self.original.clone();
        self.set(&original)?;
        if let Some(guard) = &mut ProcessGroups::lock().guard {
            guard.cancel_restoration();
        }
        Ok(())
    }
}
