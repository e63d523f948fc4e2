//! Tests of the built program: its output, its files and its exit status.

#[cfg(unix)]
mod bare_machine;
mod baselines;
#[cfg(target_os = "linux")]
mod counter;
mod everywhere;
mod explain;
pub mod folder;
mod gate;
mod help;
#[cfg(unix)]
mod lost_agents;
mod many;
mod measuring;
mod reports;
mod runtimes;
mod samples;
#[cfg(target_os = "linux")]
mod stored_runs;
mod streams;
#[cfg(unix)]
mod surroundings;
#[cfg(unix)]
mod usage;
#[cfg(target_os = "linux")]
mod waits;
#[cfg(target_os = "linux")]
mod watching;

use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use serde_json::Value;

use crate::program::{self, found, json, printed, program, row, slowdown, words};

/// The program with the words of this line, and with a time limit.
#[track_caller]
fn command(line: &str) -> Command {
    let mut command = Command::from_std(program::command(line));
    // Much longer than a quick probe on a loaded machine, much shorter than an agent that hangs.
    command.timeout(Duration::from_secs(120) * slowdown());
    command
}

/// Runs the program. It must not panic.
#[track_caller]
fn run(line: &str) -> Assert {
    let ended = command(line).assert();
    ended.stderr(predicate::str::contains("panicked").not())
}

/// Runs the program, which succeeds, and returns the JSON that it prints.
#[track_caller]
fn answer(line: &str) -> Value {
    json(&run(line).success())
}

/// Checks that the program ends with this status and has these words in its messages.
#[track_caller]
fn assert_fails(line: &str, status: i32, words: &str) {
    let ended = run(line).code(status);
    ended.stderr(predicate::str::contains(words));
}

/// The rows of a report.
fn rows(report: &Value) -> &[Value] {
    report["timers"].as_array().unwrap()
}
