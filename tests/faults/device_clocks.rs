//! Tests that a clock on a device is read only if the user names it, and at a limited rate
//! (`device.py`).

use serde_json::Value;

use super::{agent_folder, lock_machine, probe, row};
use crate::skipping::lacks;

/// The rate at which a device of an unknown driver may be read.
const MAX_READS_PER_S: usize = 50;

/// Probes the agent with these arguments. Returns the report, and the times in seconds at which the
/// device was read; `None` if the test is skipped.
fn probe_device(limit: &str, args: &[&str]) -> Option<(Value, Vec<f64>)> {
    let _lock = lock_machine();
    if lacks("python3", "python3") {
        return None;
    }
    let folder = tempfile::tempdir().expect("the folder is created");
    let log = folder.path().join("reads");
    std::fs::write(&log, "").expect("the file is written");
    let agent = format!(
        "device=python3 '{}' '{}' {limit}",
        agent_folder().join("device.py").display(),
        log.display()
    );
    let args = [&["--quick", "--agent", &agent], args].concat();
    let (report, _) = probe(&[], &args, &[]);
    let reads = std::fs::read_to_string(&log).expect("the log is readable");
    let reads = reads
        .lines()
        .map(|line| line.parse().expect("each line is a number"));
    Some((report, reads.collect()))
}

/// The largest number of reads in a second.
fn most_in_a_second(reads: &[f64]) -> usize {
    let within = |start: &f64| {
        let later = reads.iter().filter(|time| *time >= start);
        later.filter(|time| **time < start + 1.0).count()
    };
    reads.iter().map(within).max().unwrap_or(0)
}

#[test]
fn named_device_is_read_seldom() {
    let Some((report, reads)) = probe_device("", &["--budget", "2s", "device:phc"]) else {
        return;
    };
    let row = row(&report, "device:phc");
    assert!(most_in_a_second(&reads) <= MAX_READS_PER_S, "{reads:?}");
    assert_eq!(row["status"], "unresolved", "{row}");
    let reason = row["reason"].as_str().expect("the row has a reason");
    assert!(reason.contains("at most 50 times a second"), "{reason}");
    for figure in ["resolution_ns", "amortised_ns", "spread", "quality"] {
        assert!(row[figure].is_null(), "{figure}: {row}");
    }
    assert!(
        row["cost_ns"]["value"].as_f64().is_some_and(|ns| ns > 0.0),
        "{row}"
    );
}

#[test]
fn unnamed_device_is_not_read() {
    // The device does not serve as a reference either.
    if let Some((report, reads)) = probe_device("", &["device:clock"]) {
        assert!(reads.is_empty(), "{reads:?}");
        assert_eq!(row(&report, "device:clock")["status"], "ok");
    }
}

#[test]
fn failed_device_read_is_error() {
    let Some((report, _)) = probe_device("3", &["--budget", "2s", "device:phc"]) else {
        return;
    };
    let row = row(&report, "device:phc");
    assert_eq!(row["status"], "failed", "{row}");
    assert!(
        row["reason"].to_string().contains("Invalid argument"),
        "{row}"
    );
    assert!(row["cost_ns"].is_null(), "{row}");
}
