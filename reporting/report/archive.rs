//! Where runs are kept: `DIR/<platform>/<date>/` with the report and a page to read, and
//! `<home>/baselines/<name>.json` for those that are compared with later. A place is tried before
//! anything is measured; a run is written whole or not at all, and never over an older one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::machine::name;
use super::output::{OutputError, WholeFile};
use super::slug::slug;
use super::{json, render};
use crate::model::Report;
use crate::scratch::ScratchFolder;
use crate::table::{Format, Style};

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
        /// Others begin in the same folder at the same time: the process that made it may remove it
        /// again, where its own run failed.
        const TRIES: u32 = 20;
        let mut tries = 1;
        loop {
            let mut archive = Self {
                base: base.to_owned(),
                folder: None,
                made: make(base)?,
            };
            match ScratchFolder::within(base, 0o777) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {
                    tries += 1
                }
                folder => {
                    archive.folder =
                        Some(folder.map_err(|source| OutputError::explain(base, base, source))?);
                    return Ok(archive);
                }
            }
        }
    }

    /// Writes the report and its page, and returns the folder that holds them:
    /// `<base>/<platform>/<date>`, or `<date>-2` and so on where the earlier ones are taken.
    ///
    /// # Errors
    /// When the disk is full, or the folder changed since.
    pub fn commit(mut self, report: &Report) -> Result<PathBuf, OutputError> {
        let platform = self.base.join(slug(&report.platform));
        let explained = |source| OutputError::explain(&platform, &platform, source);
        let Some(folder) = self.folder.take() else {
            return Err(explained(io::Error::other("its folder is gone")));
        };
        let page = format!(
            "# Timers of {}\n\n{}\nEvery figure with all its digits, and what it rests on: [report.json](report.json).\n",
            name(report),
            render(report, Format::Markdown, Style::default())
        );
        write(&folder.path().join("report.json"), &json::dense(report)).map_err(explained)?;
        write(&folder.path().join("README.md"), &page).map_err(explained)?;
        fs::create_dir_all(&platform).map_err(explained)?;
        let date = date(&report.created);
        let moved = folder.persist_with(|folder| move_to_free(folder, &platform, &date));
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
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(OutputError::in_folder(
            base,
            base.parent().unwrap_or(Path::new("")),
        )),
        Err(error) => Err(OutputError::explain(base, base, error)),
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The day of a time such as `2026-11-20T12:00:00Z`; times from elsewhere may be anything.
fn date(created: &str) -> String {
    let day: String = created
        .chars()
        .take(10)
        .filter(|c| c.is_ascii_digit() || *c == '-')
        .collect();
    if day.len() == 10 {
        day
    } else {
        "undated".into()
    }
}

/// Moves `folder` to `<platform>/<name>`, or to the first of `<name>-2`, `<name>-3`, … that is not
/// taken.
fn move_to_free(folder: &Path, platform: &Path, name: &str) -> io::Result<PathBuf> {
    const MOST: u32 = 10_000;
    for number in 1..=MOST {
        let place = platform.join(if number == 1 {
            name.to_owned()
        } else {
            format!("{name}-{number}")
        });
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
    Err(io::Error::other(format!(
        "{MOST} runs of {name} are kept already"
    )))
}

/// The longest name.
const LONGEST: usize = 64;

/// The folder of all that have a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baselines(PathBuf);

/// A word that is not the one thing it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// There is a file of that name as well.
    #[error(
        "`{name}` is a baseline and a file here: write ./{name} for the file, or '{}' for the baseline", .baseline.display()
    )]
    Both {
        /// The word.
        name: String,
        /// Where the baseline lies.
        baseline: PathBuf,
    },
    /// There is neither.
    #[error(
        "there is neither a baseline nor a file `{name}`; {}; `timermeter probe --baseline {name}` makes one", known(.names)
    )]
    Neither {
        /// The word.
        name: String,
        /// The baselines that there are.
        names: Vec<String>,
    },
}

fn known(names: &[String]) -> String {
    match names {
        [] => "no baseline is kept yet".to_owned(),
        names => format!("baselines: {}", names.join(", ")),
    }
}

/// Whether a word may be the name of a baseline. What has a dot or a slash in it is a path, always.
#[must_use]
pub fn is_name(word: &str) -> bool {
    (1..=LONGEST).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Where what is kept for this user lies: `$TIMERMETER_HOME`, or below the folder where the system
/// has programs keep data: `$XDG_DATA_HOME`, `%LOCALAPPDATA%`, `~/.local/share`. `None` where no
/// variable names any.
#[must_use]
pub fn home() -> Option<PathBuf> {
    let folder = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| !folder.as_os_str().is_empty())
    };
    let own = || {
        let data = ["XDG_DATA_HOME", "LOCALAPPDATA"]
            .into_iter()
            .find_map(|name| {
                // As its specification has it, what is relative is passed over.
                folder(name).filter(|folder| folder.is_absolute())
            });
        Some(
            data.or_else(|| Some(folder("HOME")?.join(".local/share")))?
                .join("timermeter"),
        )
    };
    folder("TIMERMETER_HOME").or_else(own)
}

impl Baselines {
    /// Those of this user, in their [`home`]. `None` where no variable names any.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        home().map(|home| Self(home.join("baselines")))
    }

    /// Where the one of that name lies.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    /// All that there are, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| PathBuf::from(entry.file_name()));
        let json = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
        let mut names: Vec<String> = json
            .filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()))
            .filter(|name| is_name(name))
            .collect();
        names.sort();
        names
    }

    /// Makes sure that one of that name can be written, whole or not at all, and over an older one
    /// of the name.
    ///
    /// # Errors
    /// When it cannot.
    pub fn prepare(&self, name: &str) -> Result<WholeFile, OutputError> {
        let file = self.file(name);
        fs::create_dir_all(&self.0)
            .map_err(|source| OutputError::explain(&file, &self.0, source))?;
        WholeFile::prepare(&file)
    }

    /// The file that `word` stands for: a path, unless it [may be a name](is_name) and there is no
    /// such file.
    ///
    /// # Errors
    /// When there are both, or neither.
    pub fn resolve(this: Option<&Self>, word: &Path) -> Result<PathBuf, Unresolved> {
        let Some(name) = word.to_str().filter(|name| is_name(name)) else {
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
            let (base, together) = (folder.path().join("run"), Barrier::new(NODES));
            let node = &|number: usize| {
                together.wait();
                let archive = Archive::prepare(&base).unwrap();
                (!number.is_multiple_of(3)).then(|| archive.commit(&report).unwrap())
            };
            let places: BTreeSet<_> = thread::scope(|scope| {
                let started: Vec<_> = (0..NODES)
                    .map(|number| scope.spawn(move || node(number)))
                    .collect();
                started
                    .into_iter()
                    .filter_map(|thread| thread.join().unwrap())
                    .collect()
            });
            assert_eq!(places.len(), NODES - NODES / 3);
            assert!(
                places
                    .iter()
                    .all(|place| place.join("report.json").is_file())
            );
        }
    }

    #[test]
    fn names_are_no_paths() {
        assert!(
            ["a", "before-2", "v1_0", "2026"]
                .iter()
                .all(|name| is_name(name))
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
            assert!(!is_name(path), "{path}");
        }
    }

    #[test]
    fn refuses_ambiguous_words() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Baselines(folder.path().join("home/baselines"));
        let resolve = |word: &str| Baselines::resolve(Some(&kept), Path::new(word));
        assert!(
            resolve("before")
                .unwrap_err()
                .to_string()
                .contains("no baseline is kept yet")
        );
        kept.prepare("before").unwrap().commit(b"1").unwrap();
        kept.prepare("after").unwrap().commit(b"2").unwrap();
        drop(kept.prepare("given-up").unwrap());
        fs::write(folder.path().join("home/baselines/no name.json"), "").unwrap();
        assert_eq!(kept.names(), ["after", "before"]);
        assert_eq!(resolve("before"), Ok(kept.file("before")));
        let unknown = resolve("befor").unwrap_err().to_string();
        assert!(
            unknown.contains("baselines: after, before") && unknown.contains("--baseline befor"),
            "{unknown}"
        );
        // Tests run in the folder of the package, which has a folder of templates.
        assert_eq!(resolve("templates"), Ok("templates".into()));
        kept.prepare("templates").unwrap().commit(b"3").unwrap();
        let both = resolve("templates").unwrap_err().to_string();
        assert!(
            both.contains("./templates for the file") && both.contains("baselines/templates.json"),
            "{both}"
        );
        assert_eq!(resolve("./templates"), Ok("./templates".into()));
        assert_eq!(resolve("before.json"), Ok("before.json".into()));
        assert_eq!(Baselines::resolve(None, Path::new("-")), Ok("-".into()));
        kept.prepare("after").unwrap().commit(b"newer").unwrap();
        assert_eq!(fs::read(kept.file("after")).unwrap(), b"newer");
    }
}
