//! Tests the verdicts on clocks that have one fault each, in virtual time (`clocks.py`).

use serde_json::Value;

use super::skipping::{lacks, skipped};
use super::{FOLDER, found, lock_machine, outcome, probe, row};

/// Probes the clock of `clocks.py` with this fault. Returns its row; `None` if the test is skipped.
fn probe_clock(fault: &str) -> Option<Value> {
    let _lock = lock_machine();
    if lacks("python3", "python3") {
        return None;
    }
    let id = format!("faulty:{fault}");
    // A quick probe takes too few readings to observe one step in 100 000 readings.
    let quick = if fault == "backstep" { "" } else { "--quick" };
    let agent = format!("--agent \"faulty=python3 '{FOLDER}/clocks.py'\"");
    let report = probe(&format!("{quick} {agent} {id}"), &[]);
    let row = row(&report, &id).clone();
    // On a machine that is busy all the time, no clock can be measured.
    if let Some(reason) = row["reason"]
        .as_str()
        .filter(|reason| reason.starts_with("too much interference"))
    {
        skipped(reason, "repeat it while fewer other programs run");
        return None;
    }
    Some(row)
}

/// Asserts that the clock with this fault fails this verdict with evidence that contains
/// `reported`, and that its Quality is 0 or unknown.
fn assert_fails_verdict(fault: &str, verdict: &str, reported: &str) {
    let Some(row) = probe_clock(fault) else {
        return;
    };
    assert_eq!(outcome(&row, verdict), "fail", "{row}");
    let evidence = row["verdicts"][verdict]["evidence"].as_str().unwrap();
    assert!(evidence.contains(reported), "{evidence}");
    // A clock without a resolution has no Quality.
    let quality = &row["quality"];
    assert!(quality.is_null() || quality["value"] == 0.0, "{row}");
    found(&row["findings"], "code", "wrong");
}

#[test]
fn sound_clock_passes_verdicts() {
    let Some(row) = probe_clock("sound") else {
        return;
    };
    for verdict in ["monotonic", "stable"] {
        assert_eq!(outcome(&row, verdict), "pass", "{row}");
    }
    for verdict in ["counts", "declared"] {
        assert!(["pass", "fail"].contains(&outcome(&row, verdict)), "{row}");
    }
    assert_ne!(outcome(&row, "thread_safe"), "fail", "{row}");
    assert!(
        row["quality"]["value"]
            .as_f64()
            .is_some_and(|quality| quality > 0.0),
        "{row}"
    );
    // The cost is 60 to 61 virtual nanoseconds. If the frequency of the real core varies little, it
    // is unknown whether the cost follows the frequency, and the interval covers both cases.
    let cost = |key: &str| {
        row["cost_ns"][key]
            .as_f64()
            .unwrap_or_else(|| panic!("no {key}: {row}"))
    };
    let (low, high) = (cost("low"), cost("high"));
    assert!(low <= 1.02 * 60.5 && 0.98 * 60.5 <= high, "{low} to {high}");
    assert!((low..=high).contains(&cost("value")), "{row}");
}

#[test]
fn detects_rare_backward_step() {
    assert_fails_verdict("backstep", "monotonic", "stepped backwards");
}

#[test]
fn detects_clock_behind_on_cpu() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skipped("there is only one CPU", "run it on a machine with two CPUs");
        return;
    }
    let Some(row) = probe_clock("behind") else {
        return;
    };
    assert_eq!(row["quality"]["value"], 0.0, "{row}");
    assert_eq!(outcome(&row, "thread_safe"), "fail", "{row}");
    let offsets = row["verdicts"]["thread_safe"]["offsets"].as_array();
    let last = offsets.and_then(|all| all.last()).unwrap();
    let [ns, uncertainty] = ["ns", "uncertainty_ns"].map(|key| last[key].as_f64().expect(key));
    assert!(
        (ns + 500.0).abs() <= uncertainty && uncertainty < 400.0,
        "{last}"
    );
}

#[test]
fn detects_drifting_clock() {
    assert_fails_verdict("drift", "stable", "faster than its reference");
}

#[test]
fn detects_freezing_clock() {
    // Whether the jumps or the rate show it depends on which phase of it the comparisons meet.
    assert_fails_verdict("freeze", "stable", " its reference ");
}
