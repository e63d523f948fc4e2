//! `measure -- COMMAND`: measures commands.

use std::fs;

use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, timermeter};

/// A stored report, so that no clock is probed.
const STORED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/xeon-2026-11-21.json"
);

/// Measures with a clock of the stored report and these arguments.
fn measure(more: &[&str]) -> assert_cmd::assert::Assert {
    timermeter(
        &[
            &[
                "measure",
                "--clock",
                "monotonic",
                "--from",
                STORED,
                "--error",
                "50%",
            ],
            more,
        ]
        .concat(),
    )
}

/// Measures like [`measure`] and returns the JSON document.
fn measure_as_json(more: &[&str]) -> Value {
    json(&measure(&[&["--format", "json"], more].concat()).success())
}

/// Checks that a measurement with these arguments ends with this status, prints nothing on standard
/// output, and prints `word` on standard error.
#[track_caller]
fn assert_refused(more: &[&str], status: i32, word: &str) {
    measure(more).code(status).stdout("").stderr(contains(word));
}

#[test]
fn each_command_run_is_a_sample() {
    let found = measure_as_json(&["--samples", "4", "--", "sleep", "0.002"]);
    assert_eq!(found["schema"], "timermeter.measure.v1");
    let one = &found["measurements"][0];
    let [min, median, max] = [&one["min_ns"], &one["median_ns"]["value"], &one["max_ns"]]
        .map(|figure| figure.as_f64().unwrap());
    assert!(2e6 <= min && min <= median && median <= max, "{one}");
    assert_eq!(one["valid"], 4);
    assert!(
        one["user_ns"].as_f64().unwrap() + one["system_ns"].as_f64().unwrap() > 0.0,
        "{one}"
    );
    assert_eq!(
        (&one["operation"], &one["calls"]),
        (&"sleep 0.002".into(), &1.into())
    );
    let args = ["--samples", "4", "--", "sleep", "0.002"];
    let text = printed(&measure(&args).success());
    assert!(
        text.contains("user") && text.contains("sleep 0.002"),
        "{text}"
    );
    let csv = printed(&measure(&[&["--format", "csv"], &args[..]].concat()).success());
    assert!(csv.contains("\nsleep 0.002,,1,"), "{csv}");
}

#[test]
fn cpu_time_belongs_to_the_command() {
    let work = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done";
    let user_ns = |command: &[&str]| {
        let found = measure_as_json(&[&["--samples", "3", "--"], command].concat());
        found["measurements"][0]["user_ns"].as_f64().unwrap()
    };
    assert!(user_ns(&["sh", "-c", work]) > user_ns(&["sleep", "0.05"]));
}

#[test]
fn warmup_runs_are_not_timed() {
    let folder = Folder::new();
    let log = folder.arg("log");
    let write = format!("echo run >> {log}");
    measure(&["--samples", "3", "--warmup", "2", "--", "sh", "-c", &write]).success();
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5);
}

#[test]
fn failing_command_ends_measurement() {
    let failing = ["--", "sh", "-c", "exit 7"];
    assert_refused(&failing, 1, "exit status: 7");
    // The second run fails, because the folder of the first run exists.
    let folder = Folder::new();
    let made = folder.arg("made");
    assert_refused(
        &["--samples", "3", "--warmup", "0", "--", "mkdir", &made],
        1,
        "failed",
    );
}
