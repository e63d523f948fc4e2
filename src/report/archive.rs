//! Where runs are kept: `DIR/<platform>/<date>/` with the report and a page to read. It is tried before anything is
//! measured; it is written whole or not at all, and never over an older one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::output::{OutputError, explain};
use super::slug::slug;
use super::{json, markdown};
use crate::model::Report;
use crate::scratch::{Remains, ScratchFolder};

/// A folder that will be kept; dropped without [`commit`](Self::commit) it leaves nothing behind.
#[derive(Debug)]
pub struct Archive {
    base: PathBuf,
    /// Beside where it will stand, so that it is moved there at once.
    folder: Option<ScratchFolder>,
    /// Whether the base was made for it.
    made: bool,
}

impl Archive {
    /// Makes sure that folders can be made in `base`, which is made where it is not there.
    ///
    /// # Errors
    /// When they cannot.
    pub fn prepare(base: &Path) -> Result<Self, OutputError> {
        let explained = |source| explain(base, base, source);
        let made = !base.exists();
        if made {
            fs::create_dir(base).map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => OutputError::NoFolder {
                    path: base.to_owned(),
                    folder: base.parent().unwrap_or(Path::new("")).to_owned(),
                },
                _ => explained(source),
            })?;
        }
        let mut archive = Self { base: base.to_owned(), folder: None, made };
        archive.folder = Some(ScratchFolder::within(base, 0o777).map_err(explained)?);
        Ok(archive)
    }

    /// Writes the report and its page, and returns the folder that holds them: `<base>/<platform>/<date>`, or
    /// `<date>-2` and so on where the earlier ones are taken.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since.
    pub fn commit(mut self, report: &Report) -> Result<PathBuf, OutputError> {
        let platform = self.base.join(slug(&report.platform));
        let explained = |source| explain(&platform, &platform, source);
        let Some(folder) = self.folder.take() else {
            return Err(explained(io::Error::other("its folder is gone")));
        };
        let page = format!(
            "{}\nEvery figure with all its digits, and what it rests on: [report.json](report.json).\n",
            markdown::render(report)
        );
        write(&folder.path().join("report.json"), &json::dense(report)).map_err(explained)?;
        write(&folder.path().join("README.md"), &page).map_err(explained)?;
        fs::create_dir_all(&platform).map_err(explained)?;
        let date = date(&report.created);
        let moved = folder.become_what_it_shall(|folder| {
            move_to_free(folder, &platform, &date).map(|place| (place, Remains::Nothing))
        });
        let place = moved.map_err(explained)?;
        self.made = false;
        Ok(place)
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        drop(self.folder.take());
        if self.made {
            // Only where nobody put something there.
            let _ = fs::remove_dir(&self.base);
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The day of a time such as `2026-11-20T12:00:00Z`; times from elsewhere may be anything.
fn date(created: &str) -> String {
    let day: String = created.chars().take(10).filter(|c| c.is_ascii_digit() || *c == '-').collect();
    if day.len() == 10 { day } else { "undated".into() }
}

/// Moves `folder` to `<platform>/<name>`, or to the first of `<name>-2`, `<name>-3`, … that is not taken.
fn move_to_free(folder: &Path, platform: &Path, name: &str) -> io::Result<PathBuf> {
    const MOST: u32 = 10_000;
    for number in 1..=MOST {
        let place = platform.join(if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
        if fs::symlink_metadata(&place).is_ok() {
            continue;
        }
        match fs::rename(folder, &place) {
            Ok(()) => return Ok(place),
            // Somebody else was faster. A rename never replaces a folder with something in it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{MOST} runs of {name} are kept already")))
}
