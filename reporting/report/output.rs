//! Prepares and writes output files. A file is prepared before the measurement starts, so that a
//! missing folder is reported before a run of several minutes. A file is written completely or not
//! at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use timers::os::files::{self, Folder};

use crate::scratch::ScratchFolder;

/// A file that cannot be written: the reason, and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot write '{}': {reason}", .path.display())]
pub struct OutputError {
    path: PathBuf,
    reason: String,
}

impl OutputError {
    /// The error for the system error `source` at the output `path`. `place` is the file or folder
    /// that must be writable.
    pub(super) fn explain(path: &Path, place: &Path, source: io::Error) -> Self {
        let folder = parent(path);
        let reason = match source.kind() {
            io::ErrorKind::IsADirectory => "it is a folder; name a file in it".to_owned(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let place = place.display();
                format!("{source}; make '{place}' writable, or choose another path")
            }
            // As `/proc`.
            io::ErrorKind::NotFound if folder.is_dir() && !path.is_symlink() => {
                let folder = folder.display();
                format!("no file can be created in '{folder}'; choose another path")
            }
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !path.is_symlink() => {
                let folder = folder.display();
                format!("there is no folder '{folder}'; create it, or choose another path")
            }
            _ => format!("{source}; choose another path"),
        };
        let path = path.to_owned();
        Self { path, reason }
    }
}

/// The folder that contains the file at `path`.
pub(crate) fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// An output file. Dropping it without [`commit`](Self::commit) leaves no file behind.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    target: OutputTarget,
}

/// The name of the content of a file in its temporary folder.
const CONTENT: &str = "content";

#[derive(Debug)]
enum OutputTarget {
    /// A regular file: written in a temporary folder, then moved to the folder.
    Whole {
        file: File,
        scratch: ScratchFolder,
        folder: Folder,
        name: OsString,
    },
    /// A device, a pipe or a descriptor of this process: it cannot be replaced by a rename, so it
    /// is written directly.
    Direct { folder: Folder, name: OsString },
    /// Standard output.
    Stdout,
}

/// Whether `path` denotes standard output.
pub fn is_stdout(path: &Path) -> bool {
    [Path::new("-"), Path::new("/dev/stdout")].contains(&path)
}

/// Standard output. Unlike that of the standard library, returns an error if it is closed or open
/// for reading only.
#[derive(Debug)]
pub struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        files::check_output()?;
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl WholeFile {
    /// Checks that `path` can be written.
    ///
    /// # Errors
    /// When `path` cannot be written.
    pub fn prepare(path: &Path) -> Result<Self, OutputError> {
        let target = prepare(path)?;
        Ok(Self {
            path: path.to_owned(),
            target,
        })
    }

    /// Writes `bytes` completely, or not at all.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since [`prepare`](Self::prepare).
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let written = self.write_all(bytes);
        written.map_err(|source| self.explain(source))?;
        self.finish()
    }

    /// Converts a system error to an error with the path and a remedy.
    pub fn explain(&self, source: io::Error) -> OutputError {
        OutputError::explain(&self.path, &self.path, source)
    }

    /// Makes everything that was written visible at the path.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since [`prepare`](Self::prepare).
    pub fn finish(mut self) -> Result<(), OutputError> {
        let flushed = self.flush();
        let whole = flushed.and_then(|()| match self.target {
            // What comes last is dropped first: the folder stays open until its content is removed.
            OutputTarget::Whole {
                folder,
                name,
                scratch,
                file,
            } => {
                file.sync_all()?;
                scratch.persist_file(CONTENT, &folder.path().join(name))
            }
            OutputTarget::Direct { .. } | OutputTarget::Stdout => Ok(()),
        });
        whole.map_err(|source| OutputError::explain(&self.path, &self.path, source))
    }
}

/// Data appears at the path when the file is [finished](WholeFile::finish), or immediately if the
/// path is a device, a pipe or a descriptor.
impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            OutputTarget::Whole { file, .. } => file.write(bytes),
            OutputTarget::Stdout => StandardOutput.write(bytes),
            OutputTarget::Direct { folder, name } => folder.append(name)?.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let OutputTarget::Stdout = self.target {
            StandardOutput.flush()
        } else {
            Ok(())
        }
    }
}

fn prepare(path: &Path) -> Result<OutputTarget, OutputError> {
    if is_stdout(path) {
        return Ok(OutputTarget::Stdout);
    }
    let explain = |source| OutputError::explain(path, path, source);
    let (folder, name) = files::find(path, false).map_err(explain)?;
    let last = path.as_os_str().as_encoded_bytes().last();
    let ends_in_slash = last.is_some_and(|last| std::path::is_separator(char::from(*last)));
    let name = name.filter(|_| !ends_in_slash);
    let name = name.ok_or_else(|| explain(io::ErrorKind::IsADirectory.into()))?;
    let existing = match folder.path().join(&name).metadata() {
        // A missing device or descriptor cannot be created.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.is_of_system() => None,
        found => Some(found.map_err(explain)?),
    };
    if let Some(found) = &existing {
        if folder.is_of_system() || !found.is_file() {
            return Ok(OutputTarget::Direct { folder, name });
        }
        // A rename needs permission for the folder only; the check keeps read-only files unchanged.
        folder.append(&name).map_err(explain)?;
    }
    let scratch = ScratchFolder::within(&folder.path(), 0o700)
        .map_err(|source| OutputError::explain(path, folder.name(), source))?;
    let file = scratch.create(CONTENT).map_err(explain)?;
    if let Some(existing) = existing {
        files::copy_access(&existing, &file).map_err(explain)?;
    }
    Ok(OutputTarget::Whole {
        file,
        scratch,
        folder,
        name,
    })
}

/// Opens a file to append to it; creates it and missing folders.
///
/// # Errors
/// When the file cannot be opened.
pub fn append(path: &Path) -> Result<File, OutputError> {
    let opened = files::find(path, true)
        .and_then(|(folder, name)| folder.append(&name.ok_or(io::ErrorKind::IsADirectory)?));
    opened.map_err(|source| OutputError::explain(path, path, source))
}

#[cfg(test)]
mod tests;
