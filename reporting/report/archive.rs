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
use crate::scratch::ScratchFolder;
use estimators::model::Report;

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
        let platform = slug(&report.platform);
        let path = self.path.join(&platform);
        let page = format!(
            "# Timers of {}\n\n{}\nEvery figure with all its digits, and what it rests on: [report.json](report.json).\n",
            name(report),
            report.rendered(Format::Markdown, Style::default())
        );
        let scratch = self.scratch;
        let write = |name: &str, text: &str| {
            let mut file = scratch.create(name)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        let moved = write("report.json", &json::render_compact(report))
            .and_then(|()| write("README.md", &page))
            .and_then(|()| Folder::create(&self.base.name().join(platform)))
            .and_then(|folder| {
                let day = day(&report.created);
                scratch.persist_with(|scratch| move_to_free(scratch, &folder.path(), day))
            });
        moved
            .map(|name| path.join(name))
            .map_err(|source| OutputError::explain(&path, &path, source))
    }
}

/// The day of a time such as `2026-11-20T12:00:00Z`; reports from other programs may contain any text.
fn day(created: &str) -> &str {
    let time = humantime::parse_rfc3339(created).ok();
    time.and(created.get(..10)).unwrap_or("undated")
}

/// Moves `folder` to `<platform>/<date>`, or to the first of `<date>-2`, `<date>-3`, … that does
/// not exist. Returns its new name.
fn move_to_free(folder: &Path, platform: &Path, date: &str) -> io::Result<String> {
    let (mut name, mut number) = (date.to_owned(), 1);
    loop {
        let place = platform.join(&name);
        let is_taken = || fs::symlink_metadata(&place).is_ok();
        if !is_taken() {
            match fs::rename(folder, &place) {
                // Another process took this name meanwhile. A rename never replaces a folder that is
                // not empty.
                Err(_) if is_taken() => {}
                moved => return moved.map(|()| name),
            }
        }
        number += 1;
        name = format!("{date}-{number}");
    }
}

/// The largest length of the name of a baseline, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The folder that contains all baselines.
#[derive(Debug)]
pub struct Baselines(PathBuf);

/// The error for a word that does not identify exactly one file or baseline.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unresolved(String);

/// Whether a word is a valid name of a baseline. A word with a dot or a slash is always a path.
pub fn is_baseline_name(word: &str) -> bool {
    word.len() <= MAX_NAME_CHARS
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// The folder for data of this user: `$TIMERMETER_HOME`, or a folder in the data folder of the
/// system: `$XDG_DATA_HOME`, `%LOCALAPPDATA%`, `~/.local/share`. `None` if no variable is set.
pub fn home() -> Option<PathBuf> {
    let folder = |name| Some(PathBuf::from(env::var_os(name)?)).filter(|it| it != Path::new(""));
    // The XDG specification requires that relative paths are ignored.
    let absolute = |name| folder(name).filter(|folder| folder.is_absolute());
    folder("TIMERMETER_HOME").or_else(|| {
        let data = absolute("XDG_DATA_HOME").or_else(|| absolute("LOCALAPPDATA"));
        let data = data.or_else(|| Some(folder("HOME")?.join(".local/share")))?;
        Some(data.join("timermeter"))
    })
}

impl Baselines {
    /// The baselines of this user, in the user's [`home`]. `None` if no variable names a home.
    pub fn of_user() -> Option<Self> {
        home().map(|home| Self(home.join("baselines")))
    }

    /// The path of the baseline with this name.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    /// The names of all baselines, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                Some(
                    entry
                        .file_name()
                        .to_str()?
                        .strip_suffix(".json")?
                        .to_owned(),
                )
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
        let baseline = this.map(|this| this.file(name));
        match (baseline.filter(|file| file.is_file()), word.exists()) {
            (Some(baseline), false) => Ok(baseline),
            (None, true) => Ok(word.to_owned()),
            (Some(baseline), true) => Err(Unresolved(format!(
                "`{name}` is a baseline and a file here: write ./{name} for the file, or '{}' for the baseline",
                baseline.display()
            ))),
            (None, false) => {
                let stored = match this.map(Self::names).unwrap_or_default() {
                    names if names.is_empty() => "no baseline is stored yet".to_owned(),
                    names => format!("baselines: {}", names.join(", ")),
                };
                Err(Unresolved(format!(
                    "there is neither a baseline nor a file `{name}`; {stored}; `timermeter probe --baseline {name}` makes one"
                )))
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
