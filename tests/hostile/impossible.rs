//! Agents that tell what cannot be: of waits, of wake-ups, of the time that others are held
//! against, of a cost.

use std::process::Command;

use serde_json::Value;

use super::program::program;
use super::run::Run;
use super::skipping::not_installed;

/// What a verb finds out of an agent with this lie, and what it ends with. `None` where there is no
/// Python.
fn asked(verb: &str, lie: &str, args: &[&str]) -> Option<(Value, Option<i32>)> {
    if Command::new("python3").arg("--version").output().is_err() {
        not_installed("there is no python3", "install it");
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/impossible.py");
    let agent = format!("odd=python3 '{script}' {lie}");
    let mut command = Command::new(program());
    command
        .args([verb, "--quick", "--format", "json", "--agent", &agent])
        .args(args);
    let (status, output) = Run::spawn(command).end();
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout);
    Some((
        report.unwrap_or_else(|error| panic!("{lie}: {error}: {status:?}: {reported}")),
        status.code(),
    ))
}

const SHORT: [&str; 5] = ["odd:sleep", "--durations", "1ms", "--timeout", "10"];

#[test]
fn impossible_waits_fail_with_reason() {
    for (lie, words) in [
        ("ends-first", "it ended 100 µs before it began"),
        ("no-cpu", "it computed for -5 ns"),
        ("much-cpu", "it computed for 1000 s"),
        ("more-cpu", "most waits used more CPU time"),
    ] {
        let Some((report, code)) = asked("wait", lie, &SHORT) else {
            return;
        };
        let row = &report["waits"][0];
        assert_eq!(
            (&row["status"], &row["figures"], code),
            (&"failed".into(), &Value::Null, Some(3)),
            "{lie}: {row}"
        );
        let reason = row["reason"].as_str().expect("it has a reason");
        assert!(
            reason.contains("a wait that is impossible") && reason.contains(words),
            "{lie}: {reason}"
        );
    }
    let Some((report, code)) = asked("wait", "none", &SHORT) else {
        return;
    };
    assert_eq!(
        (&report["waits"][0]["status"], code),
        (&"ok".into(), Some(0)),
        "an honest one: {report}"
    );
}

#[test]
fn impossible_wakeups_fail_with_reason() {
    let args = ["odd:sleep", "--every", "2ms", "--timeout", "20"];
    for (lie, words) in [
        ("backwards", "after the wake-up before it"),
        ("alike", "no time passed"),
        ("missed", "periods of 2 ms were missed in"),
    ] {
        let Some((report, code)) = asked("period", lie, &args) else {
            return;
        };
        let row = &report["periods"][0];
        assert_eq!(
            (&row["status"], &row["figures"], code),
            (&"failed".into(), &Value::Null, Some(3)),
            "{lie}: {row}"
        );
        let reason = row["reason"].as_str().expect("it has a reason");
        assert!(
            reason.contains("that is impossible") && reason.contains(words),
            "{lie}: {reason}"
        );
    }
    let Some((report, code)) = asked("period", "none", &args) else {
        return;
    };
    assert_eq!(
        (&report["periods"][0]["status"], code),
        (&"ok".into(), Some(0)),
        "an honest one: {report}"
    );
}

/// By luck it wraps while it is tried, and serves as no reference at all.
#[test]
fn wrapping_reference_is_not_trusted() {
    let Some((report, _)) = asked("probe", "wraps", &["odd:clock"]) else {
        return;
    };
    let row = &report["timers"][0];
    if row["status"] == "failed" {
        assert!(
            row["reason"]
                .as_str()
                .is_some_and(|why| why.contains("cannot serve as a reference")),
            "{row}"
        );
        return;
    }
    // Whether one of a few ten thousand readings in a row meets the wrap is luck; that time is
    // missing over a second is not.
    assert_eq!(
        row["verdicts"]["stable"]["outcome"], "fail",
        "{}",
        row["verdicts"]
    );
    let evidence = row["verdicts"]["stable"]["evidence"]
        .as_str()
        .expect("it says why");
    assert!(
        evidence.contains("went back between two comparisons")
            || evidence.contains("by the kernel's clock"),
        "{evidence}"
    );
    assert_eq!(
        row["quality"]["value"].as_f64(),
        Some(0.0),
        "{}",
        row["quality"]
    );
    let Some((report, _)) = asked("probe", "none", &["odd:clock"]) else {
        return;
    };
    for question in ["monotonic", "stable"] {
        assert_ne!(
            report["timers"][0]["verdicts"][question]["outcome"], "fail",
            "{}",
            report["timers"][0]["verdicts"]
        );
    }
}

/// Neither figure is known to be the true one: the interval holds both.
#[test]
fn reports_cost_longer_than_interval() {
    let Some((report, _)) = asked("probe", "cheap", &["odd:clock"]) else {
        return;
    };
    let row = &report["timers"][0];
    let warned = row["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .any(|warning| warning["code"] == "cost-contradiction");
    assert!(warned, "{row}");
    let cost = &row["cost_ns"];
    let (value, high) = (cost["value"].as_f64(), cost["high"].as_f64());
    assert!(
        value.is_some_and(|value| value < 20.0) && high.is_some_and(|high| high > 100.0),
        "{cost}"
    );
}
