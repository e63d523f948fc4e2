//! Reports that are kept under a name, to be compared with later: `<home>/baselines/<name>.json`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::output::{OutputError, WholeFile, explain};

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
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Where what is kept for this user lies: `$TIMERMETER_HOME`, or below the folder where the system has programs keep data: `$XDG_DATA_HOME`,
/// `%LOCALAPPDATA%`, `~/.local/share`. `None` where no variable names any.
#[must_use]
pub fn home() -> Option<PathBuf> {
    let folder =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|folder| !folder.as_os_str().is_empty());
    let own = || {
        let data = ["XDG_DATA_HOME", "LOCALAPPDATA"].into_iter().find_map(|name| {
            // As its specification has it, what is relative is passed over.
            folder(name).filter(|folder| folder.is_absolute())
        });
        Some(data.or_else(|| Some(folder("HOME")?.join(".local/share")))?.join("timermeter"))
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

    /// Makes sure that one of that name can be written, whole or not at all, and over an older one of the name.
    ///
    /// # Errors
    /// When it cannot.
    pub fn prepare(&self, name: &str) -> Result<WholeFile, OutputError> {
        let file = self.file(name);
        fs::create_dir_all(&self.0).map_err(|source| explain(&file, &self.0, source))?;
        WholeFile::prepare(&file)
    }

    /// The file that `word` stands for: a path, unless it [may be a name](is_name) and there is no such file.
    ///
    /// # Errors
    /// When there are both, or neither.
    pub fn resolve(this: Option<&Self>, word: &Path) -> Result<PathBuf, Unresolved> {
        let Some(name) = word.to_str().filter(|name| is_name(name)) else { return Ok(word.to_owned()) };
        let baseline = this.map(|this| this.file(name)).filter(|file| file.is_file());
        match (baseline, word.exists()) {
            (Some(baseline), false) => Ok(baseline),
            (None, true) => Ok(word.to_owned()),
            (Some(baseline), true) => Err(Unresolved::Both { name: name.to_owned(), baseline }),
            (None, false) => {
                let names = this.map(Self::names).unwrap_or_default();
                Err(Unresolved::Neither { name: name.to_owned(), names })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_paths() {
        assert!(["a", "before-2", "v1_0", "2026"].iter().all(|name| is_name(name)));
        let long = "a".repeat(65);
        for path in
            ["", ".", "a.json", "./a", "a/b", "-", "-a", "_a", "a b", "ä", "a\\b", "c:", long.as_str()]
        {
            assert!(!is_name(path), "{path}");
        }
    }

    #[test]
    fn a_word_is_one_thing_or_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Baselines(folder.path().join("home/baselines"));
        let resolve = |word: &str| Baselines::resolve(Some(&kept), Path::new(word));
        assert!(resolve("before").unwrap_err().to_string().contains("no baseline is kept yet"));
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
