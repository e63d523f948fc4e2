//! Agents that are not there, die, hang or send malformed replies: reported in a row, while all
//! other timers are measured.

use predicates::prelude::*;
use serde_json::Value;

use super::{json, row, slowdown, timermeter};

/// A good introduction with one timer.
const HELLO: &str = r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true}],"ops":["intervals","batches","readings"]}"#;

/// The row of a timer that failed, with all of `words` in its reason.
#[track_caller]
fn failed(report: &Value, id: &str, words: &[&str]) {
    let row = row(report, id);
    assert_eq!(row["status"], "failed", "{row}");
    let reason = row["reason"].as_str().unwrap_or_default();
    assert!(
        words.iter().all(|word| reason.contains(word)),
        "`{reason}` does not say {words:?}"
    );
    assert!(row["quality"].is_null() && row["cost"].is_null(), "{row}");
}

/// The native timer beside the agents: a busy machine may leave it without a step or without a
/// quiet moment, but nothing of what the agents did reached it.
#[track_caller]
fn untouched(report: &Value) {
    let row = row(report, "monotonic");
    let crowded = row["reason"]
        .as_str()
        .is_some_and(|reason| reason.contains("too much interference"));
    assert!(
        row["status"] == "ok" || row["status"] == "unresolved" || crowded,
        "{row}"
    );
}

/// `NAME=sh -c '…'`; the script holds no single quote.
fn shell(name: &str, script: &str) -> String {
    format!("{name}=sh -c '{script}'")
}

/// Seconds in which the native timer answers.
fn patient(seconds: u32) -> String {
    (seconds * slowdown()).to_string()
}

#[test]
fn agents_that_do_not_introduce_themselves() {
    let prose = shell("prose", "read -r line; echo good morning; sleep 1000");
    let dead = shell("dead", "echo no licence >&2; exit 7");
    let args = [
        "probe",
        "--quick",
        "--format",
        "json",
        "--timeout",
        "20",
        "monotonic",
    ];
    let agents = [
        "--agent",
        "gone=/no/such/program -v",
        "--agent",
        &prose,
        "--agent",
        &dead,
    ];
    let args: Vec<&str> = args.into_iter().chain(agents).collect();
    let report = json(&timermeter(&args).code(3).stderr(predicate::str::is_empty()));
    failed(&report, "gone:*", &["cannot start", "/no/such/program"]);
    failed(&report, "prose:*", &["good morning"]);
    failed(&report, "dead:*", &["status 7", "no licence"]);
    untouched(&report);
}

#[test]
fn an_agent_that_hangs_at_once() {
    let hangs = shell("hangs", "sleep 1000");
    let seconds = patient(1);
    let args = [
        "probe",
        "--quick",
        "--format",
        "json",
        "--timeout",
        &seconds,
        "monotonic",
        "--agent",
        &hangs,
    ];
    let report = json(&timermeter(&args).code(3));
    failed(&report, "hangs:*", &[&format!("in time ({seconds} s")]);
    untouched(&report);
}

#[test]
fn agent_fails_after_valid_introduction() {
    let hello = HELLO.replace('"', "\\\"");
    let greets = format!("read -r line; echo \"{hello}\"; read -r line");
    let dies = shell("dies", &format!("{greets}; exit 4"));
    let hangs = shell("hangs", &format!("{greets}; sleep 1000"));
    let seconds = patient(2);
    let args = [
        "probe",
        "--quick",
        "--format",
        "json",
        "--timeout",
        &seconds,
        "monotonic",
        "hangs:a",
        "dies:a",
    ];
    let args: Vec<&str> = args
        .into_iter()
        .chain(["--agent", &dies, "--agent", &hangs])
        .collect();
    let report = json(&timermeter(&args).code(3));
    failed(&report, "dies:a", &["status 4"]);
    failed(&report, "hangs:a", &[&format!("in time ({seconds} s")]);
    untouched(&report);
}

#[test]
fn missing_agents_timers_are_accepted() {
    let args = [
        "probe",
        "--quick",
        "--format",
        "json",
        "--agent",
        "gone=/no/such/program",
        "gone:clock",
    ];
    let report = json(&timermeter(&args).code(3));
    failed(&report, "gone:*", &["cannot start"]);
    assert_eq!(super::rows(&report).len(), 1);
    timermeter(&["list", "--agent", "gone=/no/such/program"]).code(3);
}

#[test]
fn unreadable_agent_timers_keep_rows() {
    let missing = r#","unavailable":[{"id":"b","label":"B","reason":"no such clock","remedy":"buy one"},{"id":"a","label":"A again","reason":"x"}],"ops""#;
    let hello = HELLO.replace(",\"ops\"", missing).replace('"', "\\\"");
    let agent = shell(
        "other",
        &format!("read -r line; echo \"{hello}\"; read -r line"),
    );
    let list =
        json(&timermeter(&["list", "--format", "json", "--agent", &agent, "other:*"]).success());
    let reported: Vec<(&str, bool)> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|timer| {
            (
                timer["id"].as_str().unwrap_or_default(),
                timer["available"] == true,
            )
        })
        .collect();
    assert_eq!(reported, [("other:a", true), ("other:b", false)]);
    let probe =
        json(&timermeter(&["probe", "--format", "json", "--agent", &agent, "other:b"]).code(3));
    let row = row(&probe, "other:b");
    assert_eq!(row["status"], "unavailable", "{row}");
    assert_eq!(
        (&row["reason"], &row["remedy"]),
        (&"no such clock".into(), &"buy one".into())
    );
    assert_eq!(row["runtime"], "sh 1");
}
