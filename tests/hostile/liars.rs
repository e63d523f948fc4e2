//! Agents that answer, but not the truth, or more than that.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::folder::Folder;
use super::program::program;
use super::run::Run;
use super::skipping::not_installed;

/// `None` where there is no Python.
fn agent(lie: &str) -> Option<String> {
    if Command::new("python3").arg("--version").output().is_err() {
        not_installed("there is no python3", "install it");
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/liar.py");
    Some(format!("liar=python3 '{script}' {lie}"))
}

/// The row of its only timer, or of itself, and the most memory that the program took, in
/// kilobytes.
fn probed(lie: &str) -> Option<(Value, u64)> {
    let (agent, folder) = (agent(lie)?, Folder::new());
    let mut command = Command::new(program());
    command.args([
        "probe",
        "--quick",
        "--timeout",
        "30",
        "--agent",
        &agent,
        "liar:*",
    ]);
    command.args(["--output", &folder.arg("report.json")]);
    let mut run = Run::spawn(command);
    let peak = run.peak();
    let (status, output) = run.end();
    // 3 where the agent could not even introduce itself.
    assert!(matches!(status.code(), Some(0 | 3)), "{output:?}");
    let report = fs::read_to_string(folder.file("report.json")).expect("it is written");
    let report: Value = serde_json::from_str(&report).expect("it is JSON");
    Some((report["timers"][0].clone(), peak))
}

#[test]
fn rejects_reference_with_false_unit() {
    for lie in ["too-short", "too-long", "double"] {
        let Some((row, _)) = probed(lie) else { return };
        assert_eq!(row["status"], "failed", "{lie}: {row}");
        assert!(row["quality"].is_null(), "{lie}: {row}");
        let reason = row["reason"].as_str().expect("it has a reason");
        assert!(
            reason.contains("cannot serve as a reference"),
            "{lie}: {reason}"
        );
    }
    let Some((row, _)) = probed("none") else {
        return;
    };
    assert_ne!(row["status"], "failed", "an honest one: {row}");
}

#[test]
fn rejects_answers_larger_than_asked() {
    for lie in ["endless", "wordy"] {
        let Some((row, peak)) = probed(lie) else {
            return;
        };
        assert_eq!(row["status"], "failed", "{lie}: {row}");
        let reason = row["reason"].as_str().expect("it has a reason");
        assert!(
            reason.contains("`intervals` with more than") && reason.contains("KiB"),
            "{lie}: {reason}"
        );
        assert!(peak < 100_000, "{lie}: {peak} kB");
    }
}

#[test]
fn rejects_too_many_agent_timers() {
    let Some((row, peak)) = probed("crowd") else {
        return;
    };
    assert_eq!(row["status"], "failed", "{row}");
    let reason = row["reason"].as_str().expect("it has a reason");
    assert!(reason.contains("4096"), "{reason}");
    assert!(peak < 100_000, "{peak} kB");
}
