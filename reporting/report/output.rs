//! A file that will hold a report or another result. It is prepared before anything is measured, so
//! that a run of minutes does not end at a folder that is not there; it is written whole or not at
//! all.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::scratch::ScratchFile;

/// Why a file cannot be written, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("cannot write '{}': {problem}; {remedy}", .path.display())]
pub struct OutputError {
    path: PathBuf,
    problem: String,
    remedy: String,
}

impl OutputError {
    fn new(path: &Path, problem: impl ToString, remedy: &str) -> Self {
        Self {
            path: path.to_owned(),
            problem: problem.to_string(),
            remedy: remedy.to_owned(),
        }
    }

    fn is_folder(path: &Path) -> Self {
        Self::new(path, "it is a folder", "name a file in it")
    }

    /// Of something in a folder that does not exist, or in which nothing can be made, as in `/proc`.
    pub(super) fn in_folder(path: &Path, folder: &Path) -> Self {
        let name = folder.display();
        if folder.is_dir() {
            Self::new(
                path,
                format!("nothing can be made in '{name}'"),
                "choose another place",
            )
        } else {
            let problem = format!("there is no folder '{name}'");
            Self::new(path, problem, "create it, or choose another place")
        }
    }

    /// By what the system said of `place`, which has to be writable.
    pub(super) fn explain(path: &Path, place: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound if place.is_dir() => Self::in_folder(path, place),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let remedy = format!(
                    "make '{}' writable, or choose another place",
                    place.display()
                );
                Self::new(path, source, &remedy)
            }
            io::ErrorKind::NotADirectory => Self::in_folder(path, parent(path)),
            _ => Self::new(path, source, "choose another place"),
        }
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// A file that will be written; dropped without [`commit`](Self::commit) it leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// Written beside the file, then renamed over it.
    Whole { file: ScratchFile, place: PathBuf },
    /// A device, a pipe or a descriptor: it cannot be replaced, so it is written to.
    Straight,
    /// Standard output.
    Standard,
}

/// Whether a path stands for standard output.
#[must_use]
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

impl WholeFile {
    /// Makes sure that `path` can be written.
    ///
    /// # Errors
    /// When it cannot.
    pub fn prepare(path: &Path) -> Result<Self, OutputError> {
        let target = prepare(path)?;
        Ok(Self {
            path: path.to_owned(),
            target,
        })
    }

    /// Writes `bytes`: all of them under the path, or nothing.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since.
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let written = self.write_all(bytes);
        written.map_err(|source| self.explain(source))?;
        self.finish()
    }

    /// Why it cannot be written, by what the system said.
    #[must_use]
    pub fn explain(&self, source: io::Error) -> OutputError {
        let place = if let Target::Whole { place, .. } = &self.target {
            place
        } else {
            &self.path
        };
        OutputError::explain(&self.path, place, source)
    }

    /// Has all that was written be there.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since.
    pub fn finish(self) -> Result<(), OutputError> {
        let Target::Whole { mut file, place } = self.target else {
            return Ok(());
        };
        let whole = file
            .file()
            .and_then(|file| file.sync_all())
            .and_then(|()| file.persist(&place));
        whole.map_err(|source| OutputError::explain(&self.path, &place, source))
    }
}

/// What is written is there once the file is [finished](WholeFile::finish); at once where it cannot
/// be replaced.
impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Whole { file, .. } => file.file()?.write(bytes),
            Target::Standard => io::stdout().write(bytes),
            Target::Straight => OpenOptions::new()
                .append(true)
                .open(&self.path)?
                .write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Target::Standard = self.target {
            io::stdout().flush()
        } else {
            Ok(())
        }
    }
}

fn prepare(path: &Path) -> Result<Target, OutputError> {
    if is_standard(path) {
        return Ok(Target::Standard);
    }
    let explained = |source| OutputError::explain(path, path, source);
    let known = match std::fs::metadata(path) {
        Ok(known) if known.is_dir() => {
            return Err(OutputError::is_folder(path));
        }
        Ok(known) if !known.is_file() => return Ok(Target::Straight),
        Ok(known) => Some(known),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(explained(error)),
    };
    let Some(place) = follow_links(path).map_err(explained)? else {
        // What is not there cannot be written to, and nothing is made there.
        return known
            .map(|_| Target::Straight)
            .ok_or_else(|| OutputError::in_folder(path, parent(path)));
    };
    if ends_in_slash(path) {
        return Err(OutputError::is_folder(path));
    }
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(OutputError::in_folder(path, folder));
    }
    if known.is_some() {
        // Renaming over a file asks only its folder; a file that is read-only is meant to stay as
        // it is.
        OpenOptions::new()
            .append(true)
            .open(&place)
            .map_err(|source| OutputError::explain(path, &place, source))?;
    }
    let mut file = ScratchFile::in_folder(folder)
        .map_err(|source| OutputError::explain(path, folder, source))?;
    if let Some(known) = known {
        file.file()
            .and_then(|file| file.set_permissions(known.permissions()))
            .map_err(explained)?;
    }
    Ok(Target::Whole { file, place })
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|last| std::path::is_separator(char::from(*last)))
}

/// Where `path` leads, so that a link stays a link. `None` when it leads through a descriptor of
/// this process (`/dev/stdout`, `/proc/self/fd/1`): what others hold open must not be replaced
/// under them.
fn follow_links(path: &Path) -> io::Result<Option<PathBuf>> {
    const MOST: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST {
        if place.starts_with("/dev") || place.starts_with("/proc") {
            return Ok(None);
        }
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.file_type().is_symlink() => {
                let target = std::fs::read_link(&place)?;
                place = place.parent().unwrap_or(Path::new("")).join(target);
            }
            Ok(_) => return Ok(Some(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(place)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many links lead on from it"))
}

#[cfg(test)]
mod tests;
