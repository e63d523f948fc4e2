//! Tests agents with wrong or oversized answers: their timers fail with the reason.

use predicates::prelude::*;
use serde_json::Value;

use super::program::{command, found, json};
use super::run::Run;
use super::skipping::lacks;

/// Runs a verb with an agent that gives this wrong answer. Returns the row of its last timer, or of
/// the agent itself, and the peak memory of the program in kilobytes. `None` without Python.
fn run_with_lie(verb: &str, lie: &str) -> Option<(Value, u64)> {
    if lacks("python3", "python3") {
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/liar.py");
    let flags = "--quick --timeout=30 --format json liar:* --agent";
    let mut command = command(&format!("{verb} {flags}"));
    command.arg(format!("liar=python3 '{script}' {lie}"));
    let timers = match verb {
        "probe" => "timers",
        "wait" => "waits",
        _ => "periods",
    };
    let mut run = Run::spawn(command);
    let peak = run.peak();
    // The status is 3 if the agent did not answer `hello`.
    let report = json(&run.end().code(predicate::in_iter([0, 3])));
    let row = [timers, "timers"]
        .into_iter()
        .find_map(|key| report[key].as_array()?.last());
    Some((row.unwrap().clone(), peak))
}

#[test]
fn wrong_answers_fail_with_reason() {
    for (verb, lie, words) in [
        ("probe", "too-short", "cannot serve as a reference"),
        ("probe", "double", "cannot serve as a reference"),
        ("probe", "endless", "`intervals` with more than"),
        ("probe", "crowd", "4096"),
        ("wait", "ends-first", "-100000 ns between two readings"),
        ("wait --every 2ms", "backwards", "between two readings"),
    ] {
        let Some((row, peak)) = run_with_lie(verb, lie) else {
            return;
        };
        assert_eq!(row["status"], "failed", "{lie}: {row}");
        assert!(
            row["quality"].is_null() && row["figures"].is_null(),
            "{lie}: {row}"
        );
        let reason = row["reason"].as_str().unwrap();
        assert!(reason.contains(words), "{lie}: {reason}");
        assert!(peak < 100_000, "{lie}: {peak} kB");
    }
}

#[test]
fn honest_agents_do_not_fail() {
    for verb in ["probe", "wait"] {
        let Some((row, _)) = run_with_lie(verb, "none") else {
            return;
        };
        assert_ne!(row["status"], "failed", "{row}");
    }
}

/// A clock that jumps between two CPUs is at fault, not the host.
#[test]
fn waits_by_jumping_clock_are_kept() {
    let Some((row, _)) = run_with_lie("wait", "jumps") else {
        return;
    };
    assert_eq!(row["status"], "ok", "{row}");
    let findings = &row["findings"];
    found(findings, "code", "clock-steps-back");
    assert!(!findings.to_string().contains("returns-early"), "{row}");
}

#[test]
fn growth_with_calls_is_named() {
    let Some((row, _)) = run_with_lie("probe", "grows") else {
        return;
    };
    assert_eq!(
        (&row["id"], &row["status"]),
        (&"liar:grown".into(), &"unresolved".into()),
        "{row}"
    );
    let finding = found(&row["findings"], "code", "grows-with-calls");
    let growth = &finding["values"]["growth"]["value"];
    assert!((9e4..1.1e5).contains(&growth.as_f64().unwrap()), "{growth}");
}

/// If the reference wraps during the first check, it is rejected as a reference.
#[test]
fn wrapping_reference_is_not_trusted() {
    let Some((row, _)) = run_with_lie("probe", "wraps") else {
        return;
    };
    if row["status"] == "failed" {
        let reason = row["reason"].to_string();
        assert!(reason.contains("cannot serve as a reference"), "{row}");
        return;
    }
    // Consecutive readings meet the wrap only by chance, but over a second time is always missing.
    let stable = &row["verdicts"]["stable"];
    assert_eq!(stable["outcome"], "fail", "{row}");
    let evidence = stable["evidence"].to_string();
    let reasons = ["went back between two comparisons", "by the kernel's clock"];
    assert!(
        reasons.iter().any(|reason| evidence.contains(reason)),
        "{evidence}"
    );
    assert_eq!(row["quality"]["value"].as_f64(), Some(0.0), "{row}");
}
