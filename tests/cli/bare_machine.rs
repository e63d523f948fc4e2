//! The program without `/proc` and `/sys`, if the kernel lets a test set this up. Wrong contents of
//! these files are tested in src/platform/tests.rs.

use std::process::{Command, Stdio};

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::{json, program, words};
use crate::skipping::{emulated, skipped};

#[test]
fn runs_without_proc_and_sys() {
    // Emulated programs find themselves only through /proc.
    if emulated("no worker can be started without /proc") {
        return;
    }
    // Root needs no user namespace; in some containers the kernel lets other users cover nothing.
    let user: &[&str] = match rustix::process::geteuid().is_root() {
        true => &[],
        false => &["--user", "--map-root-user"],
    };
    let hide = "mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec \"$0\" \"$@\"";
    let bare = |program: &str| {
        let mut command = Command::new("unshare");
        command
            .args(user)
            .args(["--mount", "sh", "-c", hide, program]);
        command
    };
    let tried = bare("true").stdin(Stdio::null()).output();
    if !tried.as_ref().is_ok_and(|ended| ended.status.success()) {
        let remedy = "it takes util-linux, and a kernel that lets users make namespaces";
        return skipped(format!("nothing can be hidden: {tried:?}"), remedy);
    }
    // The status is 3 where the machine is busy or its clock is not good.
    let run = |line: &str| -> Value {
        let mut command = bare(program());
        let ended = command.args(words(line)).args(["-f", "json"]).assert();
        let ended = ended.code(predicate::in_iter([0, 3]));
        json(&ended.stderr(contains("panicked").not()))
    };
    let listed = run("list");
    let mut timers = listed.as_array().unwrap().iter();
    assert!(timers.any(|timer| timer["available"] == true), "{listed}");
    let probed = run("probe --quick monotonic");
    let row = &probed["timers"][0];
    assert!(
        row["status"] != "failed" && row["cost_ns"]["value"].is_number(),
        "{row}"
    );
    run("measure pow --samples 2");
    let checked = run("check");
    assert!(checked["platform"]["clocksource"]["current"].is_null());
}
