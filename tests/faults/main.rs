//! Tests with faulty clocks and on restricted machines: timermeter reports each fault and returns
//! no wrong number.
//!
//! A test that the system does not permit is reported as skipped and passes.

#[path = "../hostile/c_compiler.rs"]
mod c_compiler;
mod devices;
mod drawn_libraries;
mod lying_clocks;
mod machines;
#[path = "../program/mod.rs"]
mod program;
#[path = "../skipping/mod.rs"]
mod skipping;
#[allow(dead_code, reason = "other tests use the other reports")]
#[path = "../stored.rs"]
mod stored;
mod wrapped_clock;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use serde_json::Value;

use program::program;

/// Held for writing by a test that keeps all CPUs busy, and for reading by the others.
static MACHINE: RwLock<()> = RwLock::new(());

/// Waits until no test keeps all CPUs busy.
fn lock_machine() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a quick probe of `timers` with these environment variables, started by the command
/// `launcher` unless that is empty. Returns the report and the output of the process.
fn probe_quickly(
    launcher: &[&str],
    timers: &[&str],
    variables: &[(&str, &str)],
) -> (Value, Output) {
    let timers: Vec<&str> = ["--quick"].iter().chain(timers).copied().collect();
    probe(launcher, &timers, variables)
}

/// Runs a probe with these arguments, which are timers and flags; otherwise like [`probe_quickly`].
fn probe(launcher: &[&str], args: &[&str], variables: &[(&str, &str)]) -> (Value, Output) {
    let mut words: Vec<&str> = launcher.to_vec();
    words.extend([program(), "probe", "--quiet", "--format", "json"]);
    words.extend(args);
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

/// The row of a timer in a report.
fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    let rows = report["timers"].as_array().expect("the report has timers");
    rows.iter()
        .find(|row| row["id"] == id)
        .unwrap_or_else(|| panic!("{id} has no row"))
}

/// The outcome of a verdict in a row, such as `pass`.
fn outcome<'a>(row: &'a Value, verdict: &str) -> &'a str {
    row["verdicts"][verdict]["outcome"]
        .as_str()
        .unwrap_or_else(|| panic!("no verdict on {verdict}: {row}"))
}

/// The folder with the agents of these tests.
fn agent_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults"))
}
