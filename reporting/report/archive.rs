//! Stores runs in `DIR/<platform>/<date>/`, each with a report and a readable page, and baselines
//! in `<home>/baselines/<name>.json`.
//!
//! The destination is checked before the measurement starts. A run is written completely or not at
//! all, and never overwrites an older run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use timers::os::files::Folder;

use super::machine::name;
use super::output::{OutputError, WholeFile};
use crate::fields::slug;
use crate::format::{Format, Render, Style, json};
use crate::model::Report;
use crate::scratch::ScratchFolder;

/// The name of the report in the folder of a run.
const REPORT_FILE: &str = "report.json";

/// A folder for a run. Dropping it without [`commit`](Self::commit) leaves no files.
#[derive(Debug)]
pub struct Archive {
    /// A temporary folder in the base folder, so that a rename moves it into place.
    scratch: ScratchFolder,
    base: Folder,
    /// The path that the user named.
    path: PathBuf,
}

impl Archive {
    /// Checks that folders can be created in `base`; creates `base` if it does not exist.
    ///
    /// # Errors
    /// When no folder can be created in `base`.
    pub fn prepare(base: &Path) -> Result<Self, OutputError> {
        let explain = |source| OutputError::explain(base, base, source);
        let folder = Folder::create(base).map_err(explain)?;
        Ok(Self {
            scratch: ScratchFolder::within(&folder.path(), 0o777).map_err(explain)?,
            base: folder,
            path: base.to_owned(),
        })
    }

    /// Writes the report and its page, and returns their folder: `<base>/<platform>/<date>`, or the
    /// first free one of `<date>-2`, `<date>-3`, … if that exists.
    ///
    /// # Errors
    /// When the disk is full, or the base folder changed since [`prepare`](Self::prepare).
    pub fn commit(self, report: &Report) -> Result<PathBuf, OutputError> {
        let name_of_platform = slug(&report.platform);
        let path = self.path.join(&name_of_platform);
        let explain = |source| OutputError::explain(&path, &path, source);
        let page = format!(
            "# Timers of {}\n\n{}\nEvery figure with all its digits, and what it rests on: [report.json](report.json).\n",
            name(report),
            report.rendered(Format::Markdown, Style::default())
        );
        write(
            &self.scratch.path().join(REPORT_FILE),
            &json::render_compact(report),
        )
        .map_err(explain)?;
        write(&self.scratch.path().join("README.md"), &page).map_err(explain)?;
        let platform = Folder::create(&self.base.name().join(name_of_platform)).map_err(explain)?;
        let date = date(&report.created);
        let moved = self.scratch;
        let moved = moved.persist_with(|folder| move_to_free(folder, &platform.path(), date));
        moved.map(|name| path.join(name)).map_err(explain)
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The date of a text without one.
const UNDATED: &str = "undated";

/// The date of a time such as `2026-11-20T12:00:00Z`; [`UNDATED`] if the text does not start with a
/// date of four digits, because reports from other programs may hold any text.
fn date(created: &str) -> &str {
    let day = created.get(..10).filter(|day| !day.starts_with('-'));
    let is_date = |day: &&str| day.chars().all(|c| c.is_ascii_digit() || c == '-');
    day.filter(is_date).unwrap_or(UNDATED)
}

/// Moves `folder` to `<platform>/<date>`, or to the first of `<date>-2`, `<date>-3`, … that does
/// not exist. Returns its new name.
fn move_to_free(folder: &Path, platform: &Path, date: &str) -> io::Result<String> {
    let (mut name, mut number) = (date.to_owned(), 1);
    loop {
        let place = platform.join(&name);
        if fs::symlink_metadata(&place).is_err() {
            match fs::rename(folder, &place) {
                Ok(()) => return Ok(name),
                // Another process took this name. A rename never replaces a folder that is not
                // empty.
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
        number += 1;
        name = format!("{date}-{number}");
    }
}

/// The largest length of the name of a baseline, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The name of the folder that contains all baselines.
const BASELINES: &str = "baselines";

/// The folder that contains all baselines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baselines(PathBuf);

/// The error for a word that does not identify exactly one file or baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// A file and a baseline have the same name.
    #[error(
        "`{name}` is a baseline and a file here: write ./{name} for the file, or '{}' for the baseline", .baseline.display()
    )]
    Both {
        /// The word.
        name: String,
        /// The path of the baseline.
        baseline: PathBuf,
    },
    /// Neither a file nor a baseline has this name.
    #[error(
        "there is neither a baseline nor a file `{name}`; {}; `timermeter probe --baseline {name}` makes one", list_baselines(.names)
    )]
    Neither {
        /// The word.
        name: String,
        /// The names of all baselines.
        names: Vec<String>,
    },
}

fn list_baselines(names: &[String]) -> String {
    match names {
        [] => "no baseline is stored yet".to_owned(),
        names => format!("baselines: {}", names.join(", ")),
    }
}

/// Whether a word is a valid name of a baseline. A word with a dot or a slash is always a path.
#[must_use]
pub fn is_baseline_name(word: &str) -> bool {
    word.len() <= MAX_NAME_CHARS
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// The folder for data of this user: `$TIMERMETER_HOME`, or a folder in the data folder of the
/// system: `$XDG_DATA_HOME`, `%LOCALAPPDATA%`, `~/.local/share`. `None` if no variable is set.
#[must_use]
pub fn home() -> Option<PathBuf> {
    let folder = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| !folder.as_os_str().is_empty())
    };
    let in_data_folder = || {
        let data = ["XDG_DATA_HOME", "LOCALAPPDATA"]
            .into_iter()
            .find_map(|name| {
                // The XDG specification requires that relative paths are ignored.
                folder(name).filter(|folder| folder.is_absolute())
            });
        Some(
            data.or_else(|| Some(folder("HOME")?.join(".local/share")))?
                .join("timermeter"),
        )
    };
    folder("TIMERMETER_HOME").or_else(in_data_folder)
}

impl Baselines {
    /// The baselines of this user, in the user's [`home`]. `None` if no variable names a home.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        home().map(|home| Self(home.join(BASELINES)))
    }

    /// The path of the baseline with this name.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    /// The names of all baselines, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let file = entry.file_name();
                Some(file.to_str()?.strip_suffix(".json")?.to_owned())
            })
            .filter(|name| is_baseline_name(name))
            .collect();
        names.sort();
        names
    }

    /// Checks that a baseline with this name can be written. Writing is atomic and replaces an
    /// older baseline.
    ///
    /// # Errors
    /// When the baseline cannot be written.
    pub fn prepare(&self, name: &str) -> Result<WholeFile, OutputError> {
        let file = self.file(name);
        Folder::create(&self.0).map_err(|source| OutputError::explain(&file, &self.0, source))?;
        WholeFile::prepare(&file)
    }

    /// The file that `word` identifies: the path itself, or the baseline if `word` [is a valid
    /// name](is_baseline_name) and no file has this path.
    ///
    /// # Errors
    /// When both a file and a baseline have this name, or neither has.
    pub fn resolve(this: Option<&Self>, word: &Path) -> Result<PathBuf, Unresolved> {
        let Some(name) = word.to_str().filter(|name| is_baseline_name(name)) else {
            return Ok(word.to_owned());
        };
        let baseline = this
            .map(|this| this.file(name))
            .filter(|file| file.is_file());
        match (baseline, word.exists()) {
            (Some(baseline), false) => Ok(baseline),
            (None, true) => Ok(word.to_owned()),
            (Some(baseline), true) => Err(Unresolved::Both {
                name: name.to_owned(),
                baseline,
            }),
            (None, false) => {
                let names = this.map(Self::names).unwrap_or_default();
                Err(Unresolved::Neither {
                    name: name.to_owned(),
                    names,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::report::parse;
    use crate::report::read::tests::SMALL;

    #[test]
    fn concurrent_runs_keep_their_folders() {
        const NODES: usize = 12;
        let report = parse(SMALL, "r.json").unwrap();
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let (base, barrier) = (folder.path().join("run"), Barrier::new(NODES));
            let node = &|number: usize| {
                barrier.wait();
                let archive = Archive::prepare(&base).unwrap();
                (!number.is_multiple_of(3)).then(|| archive.commit(&report).unwrap())
            };
            let folders: BTreeSet<_> = thread::scope(|scope| {
                let started: Vec<_> = (0..NODES)
                    .map(|number| scope.spawn(move || node(number)))
                    .collect();
                started
                    .into_iter()
                    .filter_map(|thread| thread.join().unwrap())
                    .collect()
            });
            assert_eq!(folders.len(), NODES - NODES / 3);
            assert!(
                folders
                    .iter()
                    .all(|folder| folder.join("report.json").is_file())
            );
        }
    }

    #[test]
    fn names_are_no_paths() {
        assert!(
            ["a", "before-2", "v1_0", "2026"]
                .iter()
                .all(|name| is_baseline_name(name))
        );
        let long = "a".repeat(65);
        for path in [
            "",
            ".",
            "a.json",
            "./a",
            "a/b",
            "-",
            "-a",
            "_a",
            "a b",
            "ä",
            "a\\b",
            "c:",
            long.as_str(),
        ] {
            assert!(!is_baseline_name(path), "{path}");
        }
    }
}
