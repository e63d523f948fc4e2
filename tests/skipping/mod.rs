//! A test that lacks what it needs passes, and says so. Where all tools should be there, a lack of
//! one is a failure.

use std::io::Write;
use std::panic::Location;

/// Where this is set and not empty, a test whose tool is not installed fails.
const STRICT: &str = "TIMERMETER_TESTS_STRICT";

/// A tool is not installed: skips the test, or fails it where that is asked for.
#[track_caller]
#[allow(dead_code, reason = "not each program of tests needs a tool")]
pub fn not_installed(lacking: impl AsRef<str>, remedy: &str) {
    let strict = std::env::var_os(STRICT).is_some_and(|value| !value.is_empty());
    assert!(
        !strict,
        "{}; {remedy}, or unset {STRICT} to skip the test",
        lacking.as_ref()
    );
    skipped(lacking, remedy);
}

/// The machine is another one than the test needs: says which test is skipped, for what it lacks,
/// and how to get that. It writes to standard error itself: what `eprintln!` prints is kept by the
/// test runner, which shows it for tests that fail only.
#[track_caller]
#[allow(
    dead_code,
    reason = "not each program of tests needs a certain machine"
)]
pub fn skipped(lacking: impl AsRef<str>, remedy: &str) {
    // The runner calls threads after their tests, unless there is one thread only.
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
    // In one piece, as others write too. Where standard error is closed, the test still passes.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Whether an emulator of a processor carries out these tests, which does something else than the
/// system that this one is about: says which test is skipped, and what that is.
#[track_caller]
#[must_use]
#[allow(
    dead_code,
    reason = "not each program of tests is about what an emulator changes"
)]
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
