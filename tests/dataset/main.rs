//! Reports in columns: what is written, what becomes of what cannot be read, and whether others read it. The documentation in
//! docs/dataset.md is held to all of that; `TIMERMETER_UPDATE=1` writes it anew.

mod collecting;
mod compacting;
mod documented;
mod duckdb;
#[cfg(unix)]
mod names;
#[path = "../program/mod.rs"]
mod program;
#[path = "../skipping/mod.rs"]
mod skipping;
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use program::program;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Runs the program in `folder`.
fn timermeter(folder: &Path, args: &[&str]) -> Output {
    Command::new(program()).args(args).current_dir(folder).stdin(Stdio::null()).output().expect("it runs")
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// A report that is kept in the repository.
fn kept() -> String {
    std::fs::read_to_string(Path::new(ROOT).join("tests/data/xeon-2026-11-21.json")).expect("a kept report")
}

/// The files below a folder, by their paths in it, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() { folders.push(entry) } else { found.push(entry) }
        }
    }
    found.sort();
    found.iter().map(|file| file.strip_prefix(folder).expect("it is below").to_owned()).collect()
}
