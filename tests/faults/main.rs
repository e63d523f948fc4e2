//! Tests with faulty clocks and on restricted machines: timermeter reports each fault and returns
//! no wrong number.
//!
//! A test that the system does not permit is reported as skipped and passes.

#[path = "../hostile/c_compiler.rs"]
mod c_compiler;
mod devices;
mod lying_clocks;
mod machines;
#[path = "../program/mod.rs"]
mod program;
#[path = "../skipping/mod.rs"]
mod skipping;
#[path = "../stored.rs"]
mod stored;
mod wrapped_clock;

use std::process::Command;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;
use serde_json::Value;

use program::{command, found, json, row};

/// Held for writing by a test that keeps all CPUs busy, and for reading by the others.
static MACHINE: RwLock<()> = RwLock::new(());

/// Waits until no test keeps all CPUs busy.
fn lock_machine() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// The report of a probe with these flags and timers, and with these environment variables. Its
/// status is 3 if a timer has no figures.
#[track_caller]
fn probe(line: &str, variables: &[(&str, &str)]) -> Value {
    let mut command = command(&format!("probe --quiet --format json {line}"));
    report(command.envs(variables.iter().copied()))
}

/// The report that a command prints.
#[track_caller]
fn report(command: &mut Command) -> Value {
    json(&command.assert().code(predicate::in_iter([0, 3])))
}

/// The outcome of a verdict in a row, such as `pass`.
fn outcome<'a>(row: &'a Value, verdict: &str) -> &'a str {
    row["verdicts"][verdict]["outcome"]
        .as_str()
        .unwrap_or_else(|| panic!("no verdict on {verdict}: {row}"))
}

/// The folder with the agents of these tests.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults");
