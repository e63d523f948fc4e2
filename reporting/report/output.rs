//! Prepares and writes output files. A file is prepared before the measurement starts, so that a
//! missing folder is reported before a run of several minutes. A file is written completely or not
//! at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use timers::os::files::{self, Folder};

use crate::scratch::ScratchFile;

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write '{}': {reason}", .path.display())]
pub struct OutputError {
    path: PathBuf,
    reason: NotWritten,
}

/// The reason why a file cannot be written, with the remedy.
#[derive(Debug, thiserror::Error)]
enum NotWritten {
    #[error("it is a folder; name a file in it")]
    IsFolder,
    #[error("there is no folder '{}'; create it, or choose another path", .0.display())]
    NoFolder(PathBuf),
    /// The folder can hold no new files, as in `/proc`.
    #[error("no file can be created in '{}'; choose another path", .0.display())]
    NoNewFiles(PathBuf),
    /// The file or folder has to be writable.
    #[error("{source}; make '{}' writable, or choose another path", .place.display())]
    Forbidden { place: PathBuf, source: io::Error },
    #[error("{0}; choose another path")]
    System(#[source] io::Error),
}

impl OutputError {
    fn new(path: &Path, reason: NotWritten) -> Self {
        let path = path.to_owned();
        Self { path, reason }
    }

    /// The error for the system error `source` at the output `path`. `place` is the file or folder
    /// that must be writable.
    pub(super) fn explain(path: &Path, place: &Path, source: io::Error) -> Self {
        let reason = match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let place = place.to_owned();
                NotWritten::Forbidden { place, source }
            }
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !path.is_symlink() => {
                let folder = parent(path).to_owned();
                if folder.is_dir() {
                    NotWritten::NoNewFiles(folder)
                } else {
                    NotWritten::NoFolder(folder)
                }
            }
            _ => NotWritten::System(source),
        };
        Self::new(path, reason)
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

#[derive(Debug)]
enum OutputTarget {
    /// A regular file: written to a temporary file in the same folder, then renamed.
    Whole { file: ScratchFile, name: OsString },
    /// A device, a pipe or a descriptor of this process: it cannot be replaced by a rename, so it
    /// is written directly.
    Direct { folder: Folder, name: OsString },
    /// Standard output.
    Stdout,
}

/// Whether `path` denotes standard output.
#[must_use]
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
    #[must_use]
    pub fn explain(&self, source: io::Error) -> OutputError {
        OutputError::explain(&self.path, &self.path, source)
    }

    /// Makes everything that was written visible at the path.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since [`prepare`](Self::prepare).
    pub fn finish(mut self) -> Result<(), OutputError> {
        let flushed = self.flush();
        flushed.map_err(|source| self.explain(source))?;
        let OutputTarget::Whole { mut file, name } = self.target else {
            return Ok(());
        };
        let whole = file
            .file()
            .and_then(|file| file.sync_all())
            .and_then(|()| file.persist(&name));
        whole.map_err(|source| OutputError::explain(&self.path, &self.path, source))
    }
}

/// Data appears at the path when the file is [finished](WholeFile::finish), or immediately if the
/// path is a device, a pipe or a descriptor.
impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            OutputTarget::Whole { file, .. } => file.file()?.write(bytes),
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
    let Some(name) = name.filter(|_| !ends_in_slash(path)) else {
        return Err(OutputError::new(path, NotWritten::IsFolder));
    };
    let existing = match folder.path().join(&name).metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found.map_err(explain)?),
    };
    match &existing {
        // A missing device or descriptor cannot be created.
        None if folder.is_of_system() => return Err(explain(io::ErrorKind::NotFound.into())),
        Some(found) if folder.is_of_system() || !found.is_file() => {
            return Ok(OutputTarget::Direct { folder, name });
        }
        // A rename needs permission for the folder only; the check keeps read-only files unchanged.
        Some(_) => drop(folder.append(&name).map_err(explain)?),
        None => {}
    }
    let place = folder.name().to_owned();
    let mut file = ScratchFile::in_folder(folder)
        .map_err(|source| OutputError::explain(path, &place, source))?;
    if let Some(existing) = existing {
        file.file()
            .and_then(|file| files::copy_access(&existing, file))
            .map_err(explain)?;
    }
    Ok(OutputTarget::Whole { file, name })
}

/// Opens a file to append to it; creates it and missing folders.
///
/// # Errors
/// When the file cannot be opened.
pub fn append(path: &Path) -> Result<File, OutputError> {
    let explain = |source| OutputError::explain(path, path, source);
    let (folder, name) = files::find(path, true).map_err(explain)?;
    let name = name.ok_or_else(|| OutputError::new(path, NotWritten::IsFolder))?;
    folder.append(&name).map_err(explain)
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|last| std::path::is_separator(char::from(*last)))
}

#[cfg(test)]
mod tests;
