//! `pick` and `measure`.

use std::fs;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, program, run, run_timeout, timermeter};
use crate::stored::{MBP53, XEON};

/// Checks that each command line ends with this status, prints nothing on standard output, and
/// prints these words on standard error.
#[track_caller]
fn assert_refused(cases: &[(&str, i32, &str)]) {
    for (line, status, words) in cases {
        let refused = run(line).code(*status).stdout("");
        refused.stderr(contains(*words));
    }
}

#[test]
fn rejects_impossible_requirements() {
    let published = format!("pick 1ms --error 5% --from {MBP53}");
    assert_refused(&[
        ("pick 1ms --rate 0/s", 2, "as in 10000/s"),
        ("pick 1ms --error 200%", 2, "less than 100 %"),
        ("pick 1ms --from /no/such/file", 1, "/no/such/file"),
        ("pick 1ms --runtime cobol", 2, "java, dotnet, python"),
        (&published, 1, "published"),
        (&published, 1, "dotnet, java"),
    ]);
}

#[test]
fn rejects_impossible_measurements() {
    let stored = |command: &str| format!("measure --from {XEON} --clock monotonic {command}");
    assert_refused(&[
        ("measure multiplyy", 2, "did you mean `multiply`"),
        ("measure multiply -- true", 2, "not both"),
        ("measure multiply --sizes 10", 2, "--sizes"),
        ("measure multiply --error 0.01%", 2, "0.05 % at best"),
        (&stored("-- /no/such/command"), 1, "/no/such/command"),
        (&stored("--budget 1 -- sleep 100"), 1, "--budget"),
        (&stored("-- false"), 1, "exit status: 1"),
        (
            "measure --clock thread-cputime -- true",
            2,
            "not that of the command",
        ),
        ("measure --instrument discrete -- true", 2, "use macro"),
        (
            "measure multiply --clock java:nanoTime",
            2,
            "another runtime",
        ),
        (
            "measure multiply --clock monotonc",
            2,
            "did you mean `monotonic`",
        ),
        ("measure multiply --clock mono*", 2, "not a pattern"),
        (
            "measure multiply --clock perf-cycles",
            2,
            "does not count time",
        ),
        ("measure-worker {}", 2, "not a request"),
    ]);
}

#[test]
fn picks_clock_from_report() {
    let kept = XEON;
    let picked = |report: &str, more: &[&str]| {
        let args = [
            "pick", "250ns", "--error", "5%", "--format", "json", "--from", report,
        ];
        json(&timermeter(&[&args[..], more].concat()))
    };
    let wall = picked(kept, &[]);
    assert_eq!(wall["schema"], "timermeter.pick.v1");
    assert!(
        ["instant", "monotonic"].contains(&wall["picked"]["id"].as_str().unwrap()),
        "{wall}"
    );
    assert!(wall["picked"]["plan"]["error"].as_f64().unwrap() <= 0.05);
    assert!(
        wall["others"]
            .as_array()
            .unwrap()
            .iter()
            .all(|other| !other["reason"].as_str().unwrap().is_empty())
    );
    let args = ["pick", "250ns", "--error", "5%", "--from", kept];
    timermeter(&["pick", "250ns", "--error", "0.06%", "--from", kept])
        .code(3)
        .stdout(contains("no clock is within 0.0600 %"));
    timermeter(&[&args[..], &["--runtime", "perl"]].concat())
        .code(1)
        .stderr(contains("`perl`"));
}

#[test]
fn picks_clock_of_other_runtime() {
    let agent = format!("other={} agent monotonic", program());
    let args = [
        "pick",
        "10ms",
        "--error",
        "5%",
        "--format",
        "json",
        "--runtime",
        "other",
        "--agent",
    ];
    let found = json(&timermeter(&[&args[..], &[&agent]].concat()).success());
    let of_other = |candidate: &Value| candidate["id"].as_str().unwrap().starts_with("other:");
    assert!(of_other(&found["picked"]), "{found}");
    assert!(
        found["others"].as_array().unwrap().iter().all(of_other),
        "{found}"
    );
    let mut without_java = assert_cmd::Command::new(program());
    without_java.args(["pick", "1ms", "--error", "5%", "--runtime", "java"]);
    let nothing = without_java
        .env("PATH", "/nowhere")
        .env_remove("JAVA_HOME")
        .timeout(run_timeout())
        .assert();
    nothing
        .code(3)
        .stdout(contains("no clock is within").and(contains("install")));
}

#[test]
fn picks_clock_from_published_report() {
    let args = ["pick", "1ms", "--error", "5%", "--from", MBP53];
    for (runtime, id) in [("java", "NANO"), ("dotnet", ".STO")] {
        let args = [&args[..], &["--format", "json", "--runtime", runtime]].concat();
        assert_eq!(json(&timermeter(&args).success())["picked"]["id"], id);
    }
}

#[test]
fn operations_are_measured_in_all_formats() {
    let args = [
        "measure",
        "clone",
        "sort",
        "--sizes",
        "10,100",
        "--error",
        "50%",
        "--samples",
        "3",
        "--budget",
        "60",
    ];
    let run = |more: &[&str]| {
        timermeter(&[&args[..], &["--clock", "instant", "--from", XEON], more].concat())
    };
    let found = json(&run(&["--format", "json"]).success());
    let rows = found["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["mean_ns"]["value"].as_f64().unwrap() > 0.0),
        "{found}"
    );
    let mean = |at: usize| rows[at]["mean_ns"]["value"].as_f64().unwrap();
    assert!(mean(3) > mean(2), "a longer sort takes longer: {found}");
    let table = printed(&run(&[]).success());
    assert!(table.contains("sort"), "{table}");
    let csv = printed(&run(&["--format", "csv"]).success());
    assert!(
        csv.starts_with("operation,size,calls,mean_ns,") && csv.contains("\nclone,10,"),
        "{csv}"
    );
}

#[test]
fn counts_allocations() {
    let args = [
        "measure",
        "clone",
        "--sizes",
        "1000",
        "--instrument",
        "allocations",
        "--clock",
        "instant",
    ];
    let found =
        json(&timermeter(&[&args[..], &["--from", XEON, "--format", "json"]].concat()).success());
    let row = &found["measurements"][0];
    assert_eq!(
        (row["instances"].as_f64(), row["bytes"].as_f64()),
        (Some(1.0), Some(1000.0)),
        "{row}"
    );
}

/// Measures a command with a clock of the stored report.
fn measure_command(more: &[&str]) -> Assert {
    let line = ["measure", "--clock", "monotonic", "--from", XEON];
    timermeter(&[&line[..], &["--error", "50%", "-f", "json"], more].concat())
}

#[test]
fn each_command_run_is_a_sample() {
    let found = json(&measure_command(&["--samples", "4", "--", "sleep", "0.002"]).success());
    assert_eq!(found["schema"], "timermeter.measure.v1");
    let one = &found["measurements"][0];
    let [min, median, max] = [&one["min_ns"], &one["median_ns"]["value"], &one["max_ns"]]
        .map(|figure| figure.as_f64().unwrap());
    assert!(2e6 <= min && min <= median && median <= max, "{one}");
    assert_eq!(one["valid"], 4);
    assert_eq!(
        (&one["operation"], &one["calls"]),
        (&"sleep 0.002".into(), &1.into())
    );
}

#[test]
fn cpu_time_belongs_to_the_command() {
    let work = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done";
    let user_ns = |command: &[&str]| {
        let found = json(&measure_command(
            &[&["--samples", "3", "--"], command].concat(),
        ));
        found["measurements"][0]["user_ns"].as_f64().unwrap()
    };
    assert!(user_ns(&["sh", "-c", work]) > user_ns(&["sleep", "0.05"]));
}

#[test]
fn first_run_is_not_timed() {
    let folder = Folder::new();
    let log = folder.arg("log");
    let write = format!("echo run >> {log}");
    let found = json(&measure_command(&["--samples", "3", "--", "sh", "-c", &write]).success());
    assert_eq!(found["measurements"][0]["valid"], 3);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 4);
}

#[test]
fn failing_run_ends_measurement() {
    // The second run fails, because the folder of the first run exists.
    let folder = Folder::new();
    let made = folder.arg("made");
    measure_command(&["--samples", "3", "--", "mkdir", &made])
        .code(1)
        .stdout("")
        .stderr(contains("failed"));
}
