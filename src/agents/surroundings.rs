//! Defines where built-in agents and their compilers run: in their private folder, without the
//! environment variables that change which code they run. Neither the folder in which the user
//! happens to be nor the shell then decides what is measured.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use timers::agents::Runtime;

/// The environment variables that name the current folder and that of temporary files. A compiler
/// that is killed leaves its temporary files, and the private folder is removed with them.
const FOLDER_VARIABLES: [&str; 4] = ["PWD", "TMPDIR", "TMP", "TEMP"];

/// The current folder of a process, and how its environment differs from that of this program.
#[derive(Debug)]
pub struct Surroundings {
    folder: PathBuf,
    /// Variables with their values; those without a value are removed.
    variables: Vec<(&'static str, Option<OsString>)>,
}

impl Surroundings {
    /// The surroundings in `folder` of the agents of a runtime.
    pub fn new(runtime: &Runtime, folder: &Path) -> Self {
        let fill = |value: &str| match value.strip_prefix("$here/") {
            Some(below) => folder.join(below).into(),
            None => value.into(),
        };
        let own = runtime
            .variable_changes()
            .map(|(name, value)| (name, value.map(fill)));
        let folders = FOLDER_VARIABLES.map(|name| (name, Some(folder.into())));
        let all = own.chain(folders);
        Self {
            folder: folder.into(),
            variables: all.collect(),
        }
    }

    /// The current folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets a command run in these surroundings.
    pub fn apply(&self, command: &mut Command) {
        command.current_dir(&self.folder);
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

/// The variables in the environment of this process that the agents of a runtime do not get.
pub fn removed_variables(runtime: &Runtime) -> impl Iterator<Item = &'static str> {
    runtime
        .variable_changes()
        .filter(|(name, value)| value.is_none() && std::env::var_os(name).is_some())
        .map(|(name, _)| name)
}

/// Fills in the first of these placeholders that a word contains.
pub(super) fn fill<'a>(
    word: &str,
    values: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
) -> OsString {
    for (name, value) in values {
        if let Some((before, after)) = word.split_once(name) {
            let mut filled = OsString::from(before);
            filled.push(value);
            filled.push(after);
            return filled;
        }
    }
    word.into()
}
