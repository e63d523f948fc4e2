//! Tests that reports do not speak of the CPU where the processor of a device reads the clocks
//! (`gpu.py`).

use reporting::report::checked;
use serde_json::Value;

use super::{FOLDER, lock_machine, outcome, probe, row};
use crate::skipping::lacks;

/// Probes clocks of the agent, whose device makes these declarations. `None` if the
/// test is skipped.
fn probe_device(declared: &str, line: &str) -> Option<Value> {
    let _lock = lock_machine();
    if lacks("python3", "python3") {
        return None;
    }
    let agent = format!("--agent \"gpu=python3 '{FOLDER}/gpu.py' '{declared}'\"");
    Some(probe(&format!("--quick --budget 2s {agent} {line}"), &[]))
}

#[test]
fn cycles_are_those_of_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace").display().to_string();
    let Some(report) = probe_device("cycles,places", &format!("gpu:* --trace {trace}")) else {
        return;
    };
    let number = |row: &Value, key: &str| row[key]["value"].as_f64().unwrap_or(f64::NAN);
    for id in ["gpu:global", "gpu:cycles"] {
        let row = row(&report, id);
        let ghz = number(&row["device"], "cycles_hz") / 1e9;
        let ratio = number(row, "cost_cycles") / number(row, "cost_ns");
        let is_right = (1.9..2.1).contains(&ghz) && (ratio - ghz).abs() < 0.01;
        assert!(is_right, "{row}");
        assert_eq!(row["cost"]["reference"], "cycles", "{row}");
        assert_eq!(outcome(row, "read_path"), "not applicable");
        assert_eq!(row["verdicts"]["monotonic"]["moves"], 0);
        let threads = row["verdicts"]["thread_safe"]["evidence"].to_string();
        assert!(threads.contains("10 of 10 pairs of places"), "{row}");
        assert!(!row.to_string().contains("CPU"), "{row}");
    }
    let event = row(&report, "gpu:event");
    assert!(
        event["device"].is_null() && event["cost"]["reference"] == "global",
        "{event}"
    );
    let again = probe(&format!("--from {trace}"), &[]);
    assert_eq!(again["timers"], report["timers"]);
}

/// Whatever its cycles are, commands read the report.
#[test]
fn impossible_cycles_are_refused() {
    for fault in ["cycles,long-ticks", "cycles,random-cycles"] {
        let Some(report) = probe_device(fault, "gpu:*") else {
            return;
        };
        checked(&report.to_string()).unwrap();
        let cycles = row(&report, "gpu:cycles");
        let is_bad = cycles["reason"].is_string() || cycles["quality"]["value"] == 0.0;
        assert!(is_bad, "{cycles}");
    }
}

#[test]
fn undeclared_cycles_are_unknown() {
    let Some(report) = probe_device("", "gpu:global") else {
        return;
    };
    let row = row(&report, "gpu:global");
    assert!(row["cost_ns"]["value"].is_number(), "{row}");
    assert!(
        row["cost_cycles"].is_null() && row["quality"].is_null(),
        "{row}"
    );
    let finding = &row["findings"].as_array().unwrap()[0];
    assert_eq!(
        (&finding["code"], &finding["values"]["device"]),
        (&"cycles-unknown".into(), &"Test 5000".into()),
        "{row}"
    );
}
