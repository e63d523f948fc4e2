//! The program without `/proc` and `/sys`, and with little memory, if the kernel lets a test set
//! this up. Wrong contents of these files are tested in src/platform/tests.rs.

use std::process::{Command, Stdio};

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::{json, program, words};
use crate::skipping::{emulated, skipped};

/// The requirements of the tests: they hide files from a program and limit its memory.
const REQUIREMENTS: &str = "it takes util-linux, and a kernel that lets users make namespaces";

/// Runs the program with the command `wrapper` in front, whose status is 0, or 3 where the machine
/// is busy or its clock is not good. It must print JSON and must not panic.
#[track_caller]
fn run_wrapped(wrapper: &str, line: &str) -> Value {
    let mut command = Command::new("env");
    command.args(words(wrapper)).arg(program());
    let ended = command
        .args(words(line))
        .args(["--format", "json"])
        .assert();
    let ended = ended.code(predicate::in_iter([0, 3]));
    json(&ended.stderr(contains("panicked").not()))
}

/// Whether this machine can run a program with a wrapper; if not, the test is reported as skipped.
fn is_usable(wrapper: &str) -> bool {
    let mut command = Command::new("env");
    command.args(words(wrapper)).arg("true");
    let tried = command.stdin(Stdio::null()).output();
    let is_usable = tried.as_ref().is_ok_and(|ended| ended.status.success());
    if !is_usable {
        skipped(
            format!("{wrapper:?} cannot run a program: {tried:?}"),
            REQUIREMENTS,
        );
    }
    is_usable
}

/// Checks that the timer was measured. On a busy machine its resolution may be unknown.
#[track_caller]
fn assert_measured(report: &Value) {
    let row = &report["timers"][0];
    assert!(
        row["status"] == "ok" || row["status"] == "unresolved",
        "{row}"
    );
    assert!(row["cost_ns"]["value"].is_number(), "{row}");
}

#[test]
fn runs_without_proc_and_sys() {
    // Emulated programs find themselves only through /proc.
    if emulated("no worker can be started without /proc") {
        return;
    }
    // Root needs no user namespace; in some containers the kernel lets other users cover nothing.
    let user = match rustix::process::geteuid().is_root() {
        true => "",
        false => "--user --map-root-user",
    };
    let hide = "mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
    let wrapper = format!("unshare {user} --mount sh -c '{hide}'");
    if !is_usable(&wrapper) {
        return;
    }
    let run = |line: &str| run_wrapped(&wrapper, line);
    let listed = run("list");
    let mut timers = listed.as_array().expect("a list").iter();
    assert!(timers.any(|timer| timer["available"] == true), "{listed}");
    assert_measured(&run("probe --quick monotonic"));
    run("measure pow --samples 2");
    let checked = run("check");
    for code in ["clock-source", "load", "steal"] {
        let mut findings = checked["findings"].as_array().expect("findings").iter();
        let found = findings.find(|finding| finding["code"] == code);
        assert_eq!(found.expect(code)["severity"], "unknown", "{code}");
    }
    assert!(checked["platform"]["clocksource"]["current"].is_null());
    assert!(checked["platform"]["load"].is_null());
}

#[test]
fn runs_in_128_megabytes() {
    if emulated("the emulator alone takes more than 128 MiB") {
        return;
    }
    // The limit is on address space, of which a program needs more than of memory.
    let wrapper = "prlimit --as=134217728";
    if !is_usable(wrapper) {
        return;
    }
    run_wrapped(wrapper, "check");
    run_wrapped(wrapper, "measure pow --samples 2");
    let timers = "monotonic realtime instant thread-cputime monotonic-syscall";
    let probed = run_wrapped(wrapper, &format!("probe --quick {timers}"));
    assert_measured(&probed);
    let reasons = probed["timers"].as_array().expect("timers").iter();
    let mut reasons = reasons.map(|row| row["reason"].to_string());
    assert!(!reasons.any(|why| why.contains("cannot start")), "{probed}");
}
