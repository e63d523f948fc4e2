//! Skips tests that lack a tool or a certain machine. A skipped test passes with a message. In
//! strict mode, a missing tool fails the test.

#![allow(dead_code, reason = "not all test programs use all of it")]

use std::io::Write;
use std::panic::Location;

/// If this variable is set and not empty, a test fails without its tool.
const STRICT: &str = "TIMERMETER_TESTS_STRICT";

/// Returns whether a program of this name is on the PATH.
#[must_use]
pub fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Returns whether the test lacks a program, which a package of Debian brings. If so, the test is
/// skipped, or fails in strict mode.
#[track_caller]
#[must_use]
pub fn lacks(program: &str, package: &str) -> bool {
    let lacking = !is_installed(program);
    if lacking {
        not_installed(
            format!("there is no `{program}`"),
            &format!("install it, as in `apt install {package}`"),
        );
    }
    lacking
}

/// Skips the test because a tool is not installed, or fails it in strict mode.
#[track_caller]
pub fn not_installed(lacking: impl AsRef<str>, remedy: &str) {
    let strict = std::env::var_os(STRICT).is_some_and(|value| !value.is_empty());
    assert!(
        !strict,
        "{}; {remedy}, or unset {STRICT} to skip the test",
        lacking.as_ref()
    );
    skipped(lacking, remedy);
}

/// Prints which test is skipped, for which reason, and a remedy. Writes to standard error directly,
/// because the test runner shows the output of `eprintln!` only for failed tests.
#[track_caller]
pub fn skipped(lacking: impl AsRef<str>, remedy: &str) {
    // The runner names threads after their tests, unless it uses only one thread.
    let thread = std::thread::current();
    let place = Location::caller().to_string();
    let test = thread
        .name()
        .filter(|name| *name != "main")
        .unwrap_or(&place);
    let lacking = lacking
        .as_ref()
        .trim()
        .lines()
        .collect::<Vec<_>>()
        .join(" ");
    let line = format!("skipped: {test}: {lacking}; {remedy}\n");
    // One write, because other tests write at the same time. The test also passes if standard error
    // is closed.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Returns whether an emulator runs the tests. If so, prints that the test is skipped because of
/// `limit`, by which the emulator differs from a real system.
#[track_caller]
#[must_use]
pub fn emulated(limit: &str) -> bool {
    let emulator = timers::os::emulator();
    if let Some(emulator) = &emulator {
        skipped(
            format!("under {emulator} {limit}"),
            "run it on a processor of this kind",
        );
    }
    emulator.is_some()
}
