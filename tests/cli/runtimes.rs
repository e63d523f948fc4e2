//! `--runtime` with installed and missing runtimes.

use assert_cmd::assert::Assert;
use predicates::prelude::*;

use super::{command, found, json, row, rows, run};
use crate::skipping::skipped;

/// Runs the program with a PATH that has no programs.
pub fn without_path(line: &str) -> Assert {
    let mut command = command(line);
    command.env("PATH", "/nowhere").env_remove("JAVA_HOME");
    command.assert()
}

#[test]
fn missing_runtime_message_names_package() {
    let listed = json(&without_path("list -f json --runtime all").code(0));
    for id in ["java:*", "dotnet:*", "python:*", "node:*"] {
        let row = found(&listed, "id", id);
        assert_eq!(row["available"], false, "{row}");
        assert!(row["remedy"].to_string().contains("install"), "{row}");
    }
    // A missing runtime that was given by name sets status 3. The name of a clock asks for its
    // runtime.
    for (asked, count) in [
        ("--runtime java,node java:nanoTime", 2),
        ("java:nanoTime", 1),
        ("System.nanoTime", 1),
    ] {
        let report = json(&without_path(&format!("probe --quick -f json {asked}")).code(3));
        assert_eq!(row(&report, "java:*")["status"], "unavailable", "{asked}");
        assert_eq!(rows(&report).len(), count, "{report}");
    }
}

#[test]
fn python_is_probed() {
    // The status is 3 if the machine is too busy, or the runtime is not installed.
    let timers = "python:perf_counter_ns python:time";
    let probe = run(&format!("probe --quick -f json --runtime python {timers}"));
    let report = json(&probe.code(predicate::in_iter([0, 3])));
    if rows(&report)[0]["id"] == "python:*" {
        skipped(rows(&report)[0]["reason"].to_string(), "install Python");
        return;
    }
    assert_eq!(rows(&report).len(), 2, "{report}");
    for row in rows(&report) {
        let runtime = row["runtime"].as_str().unwrap_or_default();
        assert!(runtime.contains(" 3"), "{row}");
        let quality = row["quality"]["value"].as_f64();
        match row["status"].as_str() {
            Some("ok") => assert!(quality.is_some_and(|it| (0.0..=1.0).contains(&it)), "{row}"),
            Some("unresolved" | "failed") => assert!(row["reason"].is_string(), "{row}"),
            _ => panic!("{row}"),
        }
    }
    // `time` returns seconds since 1970 as a double, whose mantissa has steps of 2⁻²² s until 2038. How it
    // rounds: tests/edges.rs.
    let time = row(&report, "python:time");
    assert_eq!(time["ns_per_tick"], 1e9 / f64::from(1 << 22), "{time}");
}
