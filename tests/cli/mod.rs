//! The built program as scripts meet it: what it prints, what it leaves behind, and its exit
//! status.

#[cfg(unix)]
mod bare_machine;
mod baselines;
mod commands;
#[cfg(target_os = "linux")]
#[cfg(unix)]
mod completions;
mod counter;
mod folder;
#[cfg(target_os = "linux")]
mod interrupt;
mod keep;
#[cfg(unix)]
mod lost_agents;
mod many;
mod measuring;
mod reports;
mod runtimes;
mod screens;
#[cfg(target_os = "linux")]
mod sources;
mod streams;
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

use crate::program::{program, slowdown};

/// Far more than a loaded machine needs for a quick probe, far less than an agent that hangs would
/// take.
fn patience() -> Duration {
    Duration::from_secs(120) * slowdown()
}

/// What a run of the program came to; it never panicked.
#[track_caller]
fn timermeter(args: &[&str]) -> Assert {
    let mut command = Command::new(program());
    let assert = command.args(args).timeout(patience()).assert();
    assert.stderr(predicate::str::contains("panicked").not())
}

/// Standard output of a run, as text.
fn printed(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("it prints UTF-8")
}

/// Standard output of a run, as JSON.
#[track_caller]
fn json(assert: &Assert) -> Value {
    serde_json::from_slice(&assert.get_output().stdout).expect("it prints JSON")
}

/// The rows of a report.
fn rows(report: &Value) -> &[Value] {
    report["timers"].as_array().expect("a report has timers")
}

/// The row of a timer.
#[track_caller]
fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    rows(report)
        .iter()
        .find(|row| row["id"] == id)
        .unwrap_or_else(|| panic!("no row `{id}`: {report}"))
}

/// The timers that `list` names.
fn listed() -> Vec<Value> {
    let list = timermeter(&["list", "--format", "json"]).success();
    json(&list).as_array().expect("a list of timers").clone()
}
