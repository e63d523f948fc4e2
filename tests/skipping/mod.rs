//! A test that lacks what it needs passes, and says so.

use std::io::Write;
use std::panic::Location;

/// Says which test is skipped, for what it lacks, and how to get that. It writes to standard error itself: what `eprintln!`
/// prints is kept by the test runner, which shows it for tests that fail only.
#[track_caller]
pub fn skipped(lacking: impl AsRef<str>, remedy: &str) {
    // The runner calls threads after their tests, unless there is one thread only.
    let thread = std::thread::current();
    let place = Location::caller().to_string();
    let test = thread.name().filter(|name| *name != "main").unwrap_or(&place);
    let lacking = lacking.as_ref().trim().lines().collect::<Vec<_>>().join(" ");
    let line = format!("skipped: {test}: {lacking}; {remedy}\n");
    // In one piece, as others write too. Where nobody hears it, the test still passes.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
