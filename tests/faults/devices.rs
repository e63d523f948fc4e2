//! Tests that reports do not speak of the CPU where the processor of a device reads the clocks
//! (`gpu.py`).

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
    for id in ["gpu:global", "gpu:cycles"] {
        let row = row(&report, id);
        let ghz = row["device"]["cycles_hz"]["value"]
            .as_f64()
            .map(|hz| hz / 1e9);
        assert!(ghz.is_some_and(|ghz| (1.9..2.1).contains(&ghz)), "{row}");
        assert_eq!(row["cost"]["reference"], "cycles", "{row}");
        let [ns, cycles] = ["cost_ns", "cost_cycles"].map(|key| row[key]["value"].as_f64());
        let ratio = cycles.zip(ns).map(|(cycles, ns)| cycles / ns);
        assert!(
            ratio.zip(ghz).is_some_and(|(a, b)| (a - b).abs() < 0.01),
            "{row}"
        );
        assert_eq!(outcome(row, "read_path"), "not applicable");
        assert_eq!(row["verdicts"]["monotonic"]["moves"], 0);
        let threads = &row["verdicts"]["thread_safe"];
        assert_eq!(
            (&threads["pairs"], &threads["pairs_possible"]),
            (&10.into(), &10.into())
        );
        assert!(
            threads["evidence"]
                .to_string()
                .contains("10 of 10 pairs of places"),
            "{row}"
        );
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
