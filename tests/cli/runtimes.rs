//! `--runtime` with installed and missing runtimes, and with an agent that breaks the protocol.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

use super::{json, program, row, rows, run_timeout, timermeter};
use crate::skipping::skipped;

/// Runs the program with a PATH that has no programs.
fn run_without_path(args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::new(program());
    command
        .args(args)
        .env("PATH", "/nowhere")
        .env_remove("JAVA_HOME")
        .timeout(run_timeout())
        .assert()
}

#[test]
fn missing_runtime_message_names_package() {
    let list = run_without_path(&["list", "--format", "json", "--runtime", "all"]).code(0);
    let listed: Vec<Value> = serde_json::from_slice(&list.get_output().stdout).expect("JSON");
    for id in ["java:*", "dotnet:*", "python:*", "node:*"] {
        let row = listed
            .iter()
            .find(|row| row["id"] == id)
            .unwrap_or_else(|| panic!("no `{id}`"));
        assert_eq!(row["available"], false, "{row}");
        assert!(
            row["remedy"]
                .as_str()
                .is_some_and(|remedy| remedy.contains("install")),
            "{row}"
        );
    }
    // A missing runtime that was given by name sets status 3.
    let probe = [
        "probe",
        "--quick",
        "--format",
        "json",
        "--runtime",
        "java,node",
        "java:nanoTime",
    ];
    let report = run_without_path(&probe).code(3);
    let report: Value = serde_json::from_slice(&report.get_output().stdout).expect("JSON");
    assert_eq!(row(&report, "java:*")["status"], "unavailable");
    assert_eq!(rows(&report).len(), 2, "{report}");
    // The name of a clock asks for its runtime.
    for name in ["java:nanoTime", "System.nanoTime"] {
        let probe = ["probe", "--quick", "--format", "json", name];
        let report = run_without_path(&probe).code(3);
        let report: Value = serde_json::from_slice(&report.get_output().stdout).expect("JSON");
        assert_eq!(row(&report, "java:*")["status"], "unavailable", "{name}");
        assert_eq!(rows(&report).len(), 1, "{report}");
    }
}

/// Probes the timers of a runtime, given by id and legend. Returns the report; `None` if the
/// runtime is not installed.
#[track_caller]
fn probe_runtime(runtime: &str, timers: &[(&str, Option<&str>)]) -> Option<Value> {
    let mut args = vec!["probe", "--quick", "--format", "json", "--runtime", runtime];
    args.extend(timers.iter().map(|(id, _)| *id));
    // The status is 3 if the machine is too busy, or the runtime is not installed.
    let report = json(&timermeter(&args).code(predicate::in_iter([0, 3])));
    let all = format!("{runtime}:*");
    if let Some(missing) = rows(&report).iter().find(|row| row["id"] == *all) {
        let text = |key: &str| {
            missing[key]
                .as_str()
                .unwrap_or_else(|| panic!("no {key}: {missing}"))
        };
        skipped(format!("{runtime}: {}", text("reason")), text("remedy"));
        return None;
    }
    assert_eq!(rows(&report).len(), timers.len(), "{report}");
    for (id, legend) in timers {
        let row = row(&report, id);
        assert_eq!(row["legend"].as_str(), *legend, "{row}");
        assert_consistent(row);
    }
    Some(report)
}

/// Checks that the row of a timer of a runtime is consistent: it names the runtime with its
/// version, and has figures or a reason.
#[track_caller]
fn assert_consistent(row: &Value) {
    let (name, version) = row["runtime"]
        .as_str()
        .and_then(|runtime| runtime.rsplit_once(' '))
        .expect("both");
    assert!(
        !name.is_empty() && version.starts_with(|c: char| c.is_ascii_digit()),
        "{row}"
    );
    let above_zero = |value: &Value| value.as_f64().is_some_and(|value| value > 0.0);
    match row["status"].as_str() {
        Some("ok") => {
            assert!(
                above_zero(&row["resolution_ns"]["value"]) && above_zero(&row["cost_ns"]["value"]),
                "{row}"
            );
            assert!(
                row["quality"]["value"]
                    .as_f64()
                    .is_some_and(|quality| (0.0..=1.0).contains(&quality)),
                "{row}"
            );
        }
        Some("unresolved" | "failed") => assert!(row["reason"].is_string(), "{row}"),
        _ => panic!("{row}"),
    }
}

#[test]
fn python_is_probed() {
    let Some(report) = probe_runtime(
        "python",
        &[("python:perf_counter_ns", None), ("python:time", None)],
    ) else {
        return;
    };
    let time = row(&report, "python:time");
    // `time` returns seconds since 1970 as a double, whose mantissa has steps of 2⁻²² s until 2038.
    // CPython divides nanoseconds as a double, whose mantissa has steps of 256 ns until 2043; on a
    // coarser clock the resolution is that of the clock. A busy machine may leave both possible: the
    // value is then the smaller one, and the interval includes the other. An interval of 95 % misses
    // the step by chance, three times as wide hardly ever.
    const MANTISSA_NS: f64 = 1e9 / (1 << 22) as f64;
    const NANOSECONDS_NS: f64 = 256.0;
    assert_eq!(time["ns_per_tick"], MANTISSA_NS, "{time}");
    if time["status"] == "ok" {
        let end = |end: &str| time["resolution_ns"][end].as_f64().expect("an interval");
        let most = 3.0 * end("high") - 2.0 * end("value");
        assert!(
            most >= NANOSECONDS_NS && end("value") >= 0.97 * MANTISSA_NS,
            "{time}"
        );
    }
}

#[test]
fn answer_that_breaks_protocol_is_named() {
    let hello = r#"{\"protocol\":1,\"runtime\":{\"name\":\"sh\",\"version\":\"1\"},\"timers\":[{\"id\":\"a\",\"label\":\"A\",\"ns_per_tick\":1,\"reference\":true}],\"ops\":[\"intervals\",\"batches\",\"readings\"]}"#;
    let deaf = format!(
        "sh -c 'read -r x; echo \"{hello}\"; while read -r x; do echo \"{{\\\"values\\\":[1,2]}}\"; done'"
    );
    timermeter(&["probe", "--quick", "--agent", &deaf, "sh:a"])
        .code(3)
        .stdout(
            predicate::str::contains("malformed reply to `")
                .and(predicate::str::contains("got `{\"values\":[1,2]}`")),
        );
}
