//! Wrong usage: reported on standard error with a remedy, before anything is measured.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, printed, timermeter};
use crate::skipping::skipped;

/// Checks that a run ends with status 2, prints nothing on standard output, and prints all of
/// `words` on standard error.
#[track_caller]
fn assert_refused(args: &[&str], words: &[&str]) {
    let mut assert = timermeter(args).code(2).stdout(predicate::str::is_empty());
    for word in words {
        assert = assert.stderr(contains(*word));
    }
}

#[test]
fn suggests_similar_timer() {
    assert_refused(
        &["probe", "monotonc"],
        &["`monotonc`", "did you mean `monotonic`"],
    );
    assert_refused(
        &["probe", "--quick", "monotonic", "rdtcs"],
        &["`rdtcs`", "`rdtsc`"],
    );
    assert_refused(&["list", "monotonc"], &["`monotonc`", "`monotonic`"]);
}

#[test]
fn rejects_unmatched_glob() {
    assert_refused(&["probe", "nothing*"], &["no timer matches `nothing*`"]);
    assert_refused(&["probe", "cobol:*"], &["no timer matches `cobol:*`"]);
    assert_refused(&["probe", "mono[tonic"], &["`mono[tonic`"]);
}

#[test]
fn rejects_invalid_values() {
    assert_refused(
        &["probe", "--cycles", "fast"],
        &["`fast` is not a frequency", "2.8GHz"],
    );
    assert_refused(&["probe", "--cycles", "2.8"], &["--cycles"]);
    assert_refused(&["probe", "--cycles", "-1GHz"], &["-1GHz"]);
    assert_refused(&["probe", "--seed", "many"], &["many", "--seed"]);
    assert_refused(&["probe", "--seed", "-1"], &["-1", "--seed"]);
    assert_refused(&["probe", "--timeout", "0"], &["--timeout"]);
    assert_refused(&["probe", "--timeout", "-3"], &["-3", "--timeout"]);
    assert_refused(&["probe", "--format", "xml"], &["xml", "markdown"]);
    assert_refused(&["probe", "--agent", ""], &["there is no command"]);
    assert_refused(&["probe", "--agent", "java 'x"], &["quote as in a shell"]);
}

#[test]
fn rejects_quick_with_thorough() {
    assert_refused(
        &["probe", "--quick", "--thorough"],
        &["--quick", "--thorough"],
    );
}

#[test]
fn rejects_missing_cpu() {
    assert_refused(
        &["probe", "--quick", "--cpu", "4096", "monotonic"],
        &["--cpu 4096"],
    );
    assert_refused(&["check", "--cpu", "4096"], &["--cpu 4096"]);
}

#[test]
fn nominal_cycles_need_declared_frequency() {
    let platform = json(&timermeter(&["platform", "--format", "json"]).success());
    let nominal = &platform["frequency"]["nominal_hz"];
    if nominal.is_null() {
        assert_refused(
            &["probe", "--quick", "--cycles", "nominal", "monotonic"],
            &["nominal", "2.8GHz"],
        );
    } else {
        skipped(
            format!("this machine declares a nominal frequency, {nominal} Hz"),
            "run it on one that does not",
        );
    }
}

#[test]
fn rejects_unknown_flag() {
    timermeter(&["--jsn"]).code(2).stderr(contains("Usage:"));
}

#[test]
fn prints_help_and_version() {
    let help = printed(&timermeter(&["probe", "--help"]).success());
    assert!(
        help.contains("Examples:") && help.contains("Exit status:"),
        "{help}"
    );
    let help = printed(&timermeter(&["check", "--help"]).success());
    assert!(
        help.contains("Exit status 3: done, and a finding is a problem"),
        "{help}"
    );
    timermeter(&["--version"])
        .success()
        .stdout(contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn refuses_output_in_missing_folder() {
    let folder = Folder::new();
    let good = folder.arg("good.json");
    let bad = folder.arg("missing/report.json");
    // A thorough run of all timers: if the program measured first, the test would time out.
    timermeter(&["probe", "--thorough", "--output", &good, "--output", &bad])
        .code(1)
        .stdout(predicate::str::is_empty())
        .stderr(contains("there is no folder").and(contains("missing")));
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn refuses_unknown_file_ending() {
    let folder = Folder::new();
    assert_refused(
        &["probe", "--output", &folder.arg("report.xml")],
        &["report.xml", ".json"],
    );
    assert_refused(&["probe", "--output", &folder.arg("report")], &[".json"]);
    assert_refused(
        &[
            "table",
            &folder.arg("report.json"),
            "--output",
            &folder.arg("q.xlsx"),
        ],
        &["q.xlsx", ".parquet"],
    );
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn wrong_name_leaves_no_file() {
    let folder = Folder::new();
    assert_refused(
        &["probe", "monotonc", "--output", &folder.arg("report.json")],
        &["monotonic"],
    );
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let shown = timermeter(&["completions", shell]).code(0);
        let text = String::from_utf8(shown.get_output().stdout.clone()).unwrap();
        assert!(text.contains("TIMERMETER_COMPLETE"), "{shell}: {text}");
    }
    let folder = Folder::new();
    timermeter(&["completions", "--man", &folder.arg("man")]).success();
    for page in [
        "timermeter.1",
        "timermeter-explain.1",
        "timermeter-agent-check.1",
    ] {
        let page = fs::read_to_string(folder.file("man").join(page)).unwrap();
        assert!(
            page.contains("\n.TP\n") && page.contains("Exit status"),
            "{page}"
        );
    }
    assert_refused(&["completions", "tcsh"], &["tcsh", "bash"]);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn missing_parquet_names_the_feature() {
    let folder = Folder::new();
    let report = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/xeon-2026-11-21.json"
    );
    for args in [["--format", "parquet"], ["--output", "t.parquet"]] {
        timermeter(&[&["table", report], &args[..]].concat())
            .code(1)
            .stdout(predicate::str::is_empty())
            .stderr(contains("--features parquet"));
    }
    assert!(folder.names().is_empty());
}
