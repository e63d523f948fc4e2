//! `wait`, and other commands with sleep primitives and periodic timers. No test checks a
//! lateness, because it depends on the machine.

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::is_empty;
use serde_json::Value;

use super::folder::Folder;
use super::reports::parse_valid_report;
use super::{answer, found, json, printed, run};

/// Runs `wait` with waits of 100 µs in at most two processes per timer. Returns the report and the result of the run.
#[track_caller]
fn run_wait(flags: &str) -> (Value, Assert) {
    let line = format!("wait --format json --quick 100us --budget 10ms {flags}");
    let assert = run(&line).success();
    (parse_valid_report(&printed(&assert)), assert)
}

fn list<'a>(report: &'a Value, name: &str) -> &'a [Value] {
    report[name].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn measures_periods_and_loops() {
    let run = run("wait --quick --every 2ms nanosleep timerfd -f json");
    let found = parse_valid_report(&printed(&run.success().stderr(is_empty())));
    let rows = list(&found, "periods");
    assert!(
        rows.len() == 2 && list(&found, "waits").is_empty(),
        "{found}"
    );
    for row in rows {
        assert_eq!(
            (&row["status"], &row["period_ns"]),
            (&"ok".into(), &2_000_000.into()),
            "{row}"
        );
        let late = &row["figures"]["lateness"];
        assert!(late["waits"].as_u64() > Some(40), "{row}");
        assert!(late["cpu_ns"]["value"].as_f64() > Some(0.0), "{row}");
    }
}

#[test]
fn rows_have_requested_conditions() {
    let (found, run) = run_wait("nanosleep --slack=7us --policy=other");
    run.stderr("");
    let conditions = &found["waits"][0]["conditions"];
    let set = (&conditions["slack_ns"], &conditions["policy"]);
    assert_eq!(set, (&7_000.into(), &"other".into()), "{found}");
}

#[test]
fn lists_and_checks_sleep_primitives() {
    let all = answer("list -f json");
    for (id, kind) in [
        ("monotonic", "clock"),
        ("nanosleep", "both"),
        ("timerfd", "both"),
    ] {
        assert_eq!(found(&all, "id", id)["kind"], kind);
    }
    let some = printed(&run("list *nanosleep*").success());
    assert!(
        some.contains("wait, wait --every") && !some.contains("probe"),
        "{some}"
    );
    let check = json(&run("check --format json").code(predicate::in_iter([0, 3])));
    for code in ["timer-slack", "idle-states", "high-resolution-timers"] {
        assert!(check.to_string().contains(code), "{code}: {check}");
    }
}

/// The trace of a run gives its report again, in which there is one length besides the floor.
#[test]
fn trace_reproduces_waits() {
    let folder = Folder::new();
    let trace = folder.arg("run.trace");
    let (found, _) = run_wait(&format!("nanosleep --trace {trace}"));
    let lengths = list(&found["waits"][0]["figures"], "lateness").iter();
    let lengths = lengths.filter_map(|late| late["request_ns"].as_u64());
    assert_eq!(lengths.filter(|ns| *ns > 1).collect::<Vec<_>>(), [100_000]);
    let again = answer(&format!("probe --from {trace} --format json"));
    assert_eq!(again["waits"], found["waits"]);
}

/// One wait has other code than one each period, in each language that the report has waits of.
#[test]
fn pick_prints_code_for_one_wait() {
    const KEPT: &str = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-3/report.json";
    for language in ["c", "cpp", "rust"] {
        let once = run(&format!("pick 1ms --sleep --for {language} --from {KEPT}"));
        let every = run(&format!("pick --every 1ms --for {language} --from {KEPT}"));
        let [once, every] = [once, every].map(|run| printed(&run.success()));
        let repeats = [&once, &every].map(|code| code.contains("for (") || code.contains("loop {"));
        assert!(
            repeats == [false, true] && once.contains("operation();"),
            "{once}{every}"
        );
    }
    for wrong in [
        "pick --sleep",
        "pick 1ns --sleep",
        "pick 1ms --sleep --every 1ms",
    ] {
        run(wrong).code(2);
    }
}
