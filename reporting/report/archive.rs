//! Where runs are kept: `DIR/<platform>/<date>/` with the report and a page to read. It is tried before anything is
//! measured; it is written whole or not at all, and never over an older one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::output::{OutputError, explain, sealed};
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
        /// Others begin in the same folder at the same time: the process that made it may remove it again, where its own run failed.
        const TRIES: u32 = 20;
        let mut tries = 1;
        loop {
            let mut archive = Self { base: base.to_owned(), folder: None, made: make(base)? };
            match ScratchFolder::within(base, 0o777) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => tries += 1,
                folder => {
                    archive.folder = Some(folder.map_err(|source| explain(base, base, source))?);
                    return Ok(archive);
                }
            }
        }
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
            // Only where nothing was put there.
            let _ = fs::remove_dir(&self.base);
        }
    }
}

/// Makes a folder where there is none. Returns whether it did.
fn make(base: &Path) -> Result<bool, OutputError> {
    if base.exists() {
        return Ok(false);
    }
    match fs::create_dir(base) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(sealed(base)),
        Err(error) => Err(explain(base, base, error)),
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
            // Another process was faster. A rename never replaces a folder with something in it.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::thread;

    use super::Archive;
    use crate::report::parse;
    use crate::report::read::tests::SMALL;

    #[test]
    fn nodes_that_begin_at_once_keep_their_runs_and_one_that_fails_takes_nobodys_folder_away() {
        const NODES: usize = 12;
        let report = parse(SMALL, "r.json").unwrap();
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let (base, together) = (folder.path().join("run"), Barrier::new(NODES));
            let node = &|number: usize| {
                together.wait();
                let archive = Archive::prepare(&base).unwrap();
                (!number.is_multiple_of(3)).then(|| archive.commit(&report).unwrap())
            };
            let places: BTreeSet<_> = thread::scope(|scope| {
                let started: Vec<_> = (0..NODES).map(|number| scope.spawn(move || node(number))).collect();
                started.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(places.len(), NODES - NODES / 3);
            assert!(places.iter().all(|place| place.join("report.json").is_file()));
        }
    }
}
