//! Clocks that lie and machines that get in the way: each fault is survived and named, and no
//! number is wrong for it.
//!
//! What the system does not let a test do is said aloud and passes.

mod lying_clocks;
mod machines;
#[path = "../program/mod.rs"]
mod program;
#[path = "../skipping/mod.rs"]
mod skipping;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use program::program;

/// One of these tests at a time: some of them keep all CPUs busy.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a command is there and answers `--version`; else it is in that package.
fn there_is(command: &str, package: &str) -> bool {
    let found = Command::new(command).arg("--version").output().is_ok();
    if !found {
        skipping::not_installed(
            format!("there is no `{command}`"),
            &format!("install it, as in `apt install {package}`"),
        );
    }
    found
}

/// A quick probe of `timers`, started by `launcher` where there is one: its report, and how it
/// ended.
fn probe(launcher: &[&str], timers: &[&str], variables: &[(&str, &str)]) -> (Value, Output) {
    let timers: Vec<&str> = ["--quick"].iter().chain(timers).copied().collect();
    probe_fully(launcher, &timers, variables)
}

/// The same as thoroughly as `timers`, which may be flags as well, say.
fn probe_fully(launcher: &[&str], timers: &[&str], variables: &[(&str, &str)]) -> (Value, Output) {
    let mut words: Vec<&str> = launcher.to_vec();
    words.extend([program(), "probe", "--quiet", "--format", "json"]);
    words.extend(timers);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).envs(variables.iter().copied());
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", words[0]));
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {} {}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (report, output)
}

fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    let rows = report["timers"].as_array().expect("timers");
    rows.iter()
        .find(|row| row["id"] == id)
        .unwrap_or_else(|| panic!("{id} has no row"))
}

fn outcome<'a>(row: &'a Value, verdict: &str) -> &'a str {
    row["verdicts"][verdict]["outcome"]
        .as_str()
        .unwrap_or_else(|| panic!("no verdict on {verdict}: {row}"))
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults"))
}
