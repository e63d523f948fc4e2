//! A file that will hold a report or another result. It is prepared before anything is measured, so
//! that a run of minutes does not end at a folder that is not there; it is written whole or not at
//! all.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::scratch::ScratchFile;

/// Why a file cannot be written, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The folder is missing.
    #[error("cannot write '{}': there is no folder '{}'; create it, or choose another place", .path.display(), .folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// The path is a folder.
    #[error("cannot write '{}': it is a folder; name a file in it", .path.display())]
    IsFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder or the file may not be written.
    #[error("cannot write '{}': {source}; make '{}' writable, or choose another place", .path.display(), .place.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What has to be writable.
        place: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder is there, and the system makes nothing in it, as in `/proc`.
    #[error("cannot write '{}': nothing can be made in '{}'; choose another place", .path.display(), .folder.display())]
    Sealed {
        /// The file or folder.
        path: PathBuf,
        /// Where it was to be made.
        folder: PathBuf,
    },
    /// Anything else.
    #[error("cannot write '{}': {source}; choose another place", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
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
        explain(&self.path, place, source)
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
        whole.map_err(|source| explain(&self.path, &place, source))
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
    let explained = |source| explain(path, path, source);
    let known = match std::fs::metadata(path) {
        Ok(known) if known.is_dir() => {
            return Err(OutputError::IsFolder {
                path: path.to_owned(),
            });
        }
        Ok(known) if !known.is_file() => return Ok(Target::Straight),
        Ok(known) => Some(known),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(explained(error)),
    };
    let Some(place) = follow_links(path).map_err(explained)? else {
        // What is not there cannot be written to, and nothing is made there.
        return known.map(|_| Target::Straight).ok_or_else(|| sealed(path));
    };
    if ends_in_slash(path) {
        return Err(OutputError::IsFolder {
            path: path.to_owned(),
        });
    }
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(OutputError::NoFolder {
            path: path.to_owned(),
            folder: folder.to_owned(),
        });
    }
    if known.is_some() {
        // Renaming over a file asks only its folder; a file that is read-only is meant to stay as
        // it is.
        OpenOptions::new()
            .append(true)
            .open(&place)
            .map_err(|source| explain(path, &place, source))?;
    }
    let mut file = ScratchFile::beside(folder).map_err(|source| explain(path, folder, source))?;
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

/// Of something that is not there, in a folder that may be.
pub(super) fn sealed(path: &Path) -> OutputError {
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let path = path.to_owned();
    if folder.is_dir() {
        OutputError::Sealed { path, folder }
    } else {
        OutputError::NoFolder { path, folder }
    }
}

pub(super) fn explain(path: &Path, place: &Path, source: io::Error) -> OutputError {
    let (path, place) = (path.to_owned(), place.to_owned());
    match source.kind() {
        io::ErrorKind::NotFound if place.is_dir() => OutputError::Sealed {
            path,
            folder: place,
        },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            OutputError::NotWritable {
                path,
                place,
                source,
            }
        }
        io::ErrorKind::NotADirectory => {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            OutputError::NoFolder { path, folder }
        }
        _ => OutputError::Other { path, source },
    }
}

#[cfg(test)]
mod tests;
