//! Prepares and writes output files. A file is prepared before the measurement starts, so that a
//! missing folder is reported before a run of several minutes. A file is written completely or not
//! at all.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use timers::os::files;

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

    /// The error for a file in a folder that does not exist, or in which no file can be created.
    pub(super) fn in_folder(path: &Path, folder: &Path) -> Self {
        let reason = if folder.is_dir() {
            NotWritten::NoNewFiles
        } else {
            NotWritten::NoFolder
        };
        Self::new(path, reason(folder.to_owned()))
    }

    /// The error for the system error `source` at the output `path`. `place` is the file or folder
    /// that must be writable.
    pub(super) fn explain(path: &Path, place: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound if place.is_dir() => Self::in_folder(path, place),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let place = place.to_owned();
                Self::new(path, NotWritten::Forbidden { place, source })
            }
            io::ErrorKind::NotADirectory => Self::in_folder(path, parent(path)),
            _ => Self::new(path, NotWritten::System(source)),
        }
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
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
    Whole { file: ScratchFile, path: PathBuf },
    /// A device, a pipe or a descriptor of this process: it cannot be replaced by a rename, so it
    /// is written directly.
    Direct,
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
        let written = match &self.target {
            OutputTarget::Whole { path, .. } => path,
            OutputTarget::Direct | OutputTarget::Stdout => &self.path,
        };
        OutputError::explain(&self.path, written, source)
    }

    /// Makes everything that was written visible at the path.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since [`prepare`](Self::prepare).
    pub fn finish(mut self) -> Result<(), OutputError> {
        let flushed = self.flush();
        flushed.map_err(|source| self.explain(source))?;
        let OutputTarget::Whole { mut file, path } = self.target else {
            return Ok(());
        };
        let whole = file
            .file()
            .and_then(|file| file.sync_all())
            .and_then(|()| file.persist(&path));
        whole.map_err(|source| OutputError::explain(&self.path, &path, source))
    }
}

/// Data appears at the path when the file is [finished](WholeFile::finish), or immediately if the
/// path is a device, a pipe or a descriptor.
impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            OutputTarget::Whole { file, .. } => file.file()?.write(bytes),
            OutputTarget::Stdout => StandardOutput.write(bytes),
            OutputTarget::Direct => OpenOptions::new()
                .append(true)
                .open(&self.path)?
                .write(bytes),
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
    let target = follow_links(path).map_err(explain)?;
    let existing = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(OutputError::new(path, NotWritten::IsFolder));
        }
        Ok(found) if !found.is_file() => return Ok(OutputTarget::Direct),
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(explain(error)),
    };
    let Some(target) = target else {
        // A missing device or descriptor cannot be created.
        return existing
            .map(|_| OutputTarget::Direct)
            .ok_or_else(|| OutputError::in_folder(path, parent(path)));
    };
    if ends_in_slash(path) {
        return Err(OutputError::new(path, NotWritten::IsFolder));
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(OutputError::in_folder(path, folder));
    }
    if existing.is_some() {
        // A rename needs permission for the folder only; the check keeps read-only files unchanged.
        OpenOptions::new()
            .append(true)
            .open(&target)
            .map_err(|source| OutputError::explain(path, &target, source))?;
    }
    let mut file = ScratchFile::in_folder(folder)
        .map_err(|source| OutputError::explain(path, folder, source))?;
    if let Some(existing) = existing {
        file.file()
            .and_then(|file| files::copy_access(&existing, file))
            .map_err(explain)?;
    }
    Ok(OutputTarget::Whole { file, path: target })
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|last| std::path::is_separator(char::from(*last)))
}

/// Resolves links in `path`, so that writing keeps the link. `None` if `path` leads through a
/// descriptor of this process (`/dev/stdout`, `/proc/self/fd/1`), because other processes may hold
/// the file open. Refuses links that another user put into a folder that everyone may write to.
fn follow_links(path: &Path) -> io::Result<Option<PathBuf>> {
    const MAX_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let found = std::fs::symlink_metadata(&target);
        let is_link = found.as_ref().is_ok_and(std::fs::Metadata::is_symlink);
        if is_link && !files::is_trusted_link(&target)? {
            return Err(io::Error::other(format!(
                "'{}' is a symbolic link of another user in a folder that everyone may write to",
                target.display()
            )));
        }
        if target.starts_with("/dev") || target.starts_with("/proc") {
            return Ok(None);
        }
        match found {
            Ok(_) if is_link => {
                let next = std::fs::read_link(&target)?;
                target = target.parent().unwrap_or(Path::new("")).join(next);
            }
            Ok(_) => return Ok(Some(target)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(target)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(
        "it leads through more than 40 symbolic links",
    ))
}

#[cfg(test)]
mod tests;
