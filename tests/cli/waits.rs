//! `wait`, `period`, and other commands with sleep primitives and periodic timers. No test checks a
//! lateness, because it depends on the machine.

mod agents;
mod formats;

use std::fs;
use std::process::{Command, Stdio};

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, program, timermeter};
use crate::skipping::skipped;

const SCHEMA: &str = include_str!("../../docs/report.v2.schema.json");
/// Flags of a short run: at most two processes per timer, and no long waits.
const SHORT: [&str; 5] = ["--quick", "--durations", "100us", "--for", "10ms"];

/// Parses a report and checks it against the schema.
#[track_caller]
fn parse_valid_report(text: &str) -> Value {
    let schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let report = serde_json::from_str(text).expect("a report is JSON");
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    report
}

/// Runs `wait` with waits of 100 µs and `args`. Returns the report and the result of the run.
#[track_caller]
fn run_wait(args: &[&str], status: impl ExpectedStatus) -> (Value, Assert) {
    let assert = timermeter(&[&["wait", "--format", "json"], &SHORT[..], args].concat());
    let assert = status.check(assert);
    (parse_valid_report(&printed(&assert)), assert)
}

/// One exit status, or two possible ones.
trait ExpectedStatus {
    fn check(self, assert: Assert) -> Assert;
}

impl ExpectedStatus for i32 {
    fn check(self, assert: Assert) -> Assert {
        assert.code(self)
    }
}

impl ExpectedStatus for [i32; 2] {
    fn check(self, assert: Assert) -> Assert {
        assert.code(predicate::in_iter(self))
    }
}

fn list<'a>(report: &'a Value, name: &str) -> &'a [Value] {
    report[name].as_array().map_or(&[], Vec::as_slice)
}

#[track_caller]
fn row<'a>(report: &'a Value, id: &str) -> &'a Value {
    let found = list(report, "waits").iter().find(|row| row["id"] == id);
    found.unwrap_or_else(|| panic!("no row `{id}`: {report}"))
}

/// The lengths of the waits in a row, without those of 1 ns for the floor.
fn lengths(row: &Value) -> Vec<u64> {
    let all = list(&row["figures"], "lateness")
        .iter()
        .filter_map(|late| late["request_ns"].as_u64());
    all.filter(|ns| *ns > 1).collect()
}

/// The records of a CSV file, each cell with the name of its column.
#[track_caller]
fn records(text: &str) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .expect("names")
        .iter()
        .map(str::to_owned)
        .collect();
    let record = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.expect("a cell for each name");
        names
            .iter()
            .cloned()
            .zip(record.iter().map(str::to_owned))
            .collect()
    };
    reader.records().map(record).collect()
}

fn cell<'a>(record: &'a [(String, String)], name: &str) -> &'a str {
    record
        .iter()
        .find(|(column, _)| column == name)
        .map_or("no such column", |(_, cell)| cell)
}

#[test]
fn measures_periods_and_loops() {
    let folder = Folder::new();
    let [report, csv, page] = ["p.json", "p.csv", "p.md"].map(|name| folder.arg(name));
    let args = [
        "period",
        "--quick",
        "--every",
        "2ms",
        "nanosleep",
        "timerfd",
        "-o",
        &report,
        "-o",
        &csv,
        "-o",
        &page,
    ];
    let shown = timermeter(&args).success().stderr(is_empty());
    assert!(
        printed(&shown).contains("A period of 2 ms"),
        "{}",
        printed(&shown)
    );
    let found = parse_valid_report(&fs::read_to_string(&report).unwrap());
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
        assert!(
            row["figures"]["wakeups"].as_u64() > Some(40) && row["figures"]["stalls"] != 0,
            "{row}"
        );
    }
    let reported = |id: &str| {
        let row = rows
            .iter()
            .find(|row| row["id"] == id)
            .expect("it is there");
        row["figures"]["missed_reported"]
            .as_u64()
            .expect("a number")
    };
    // Each stall takes longer than three periods. A loop of waits cannot report missed periods.
    assert!(
        reported("timerfd") > 0 && reported("nanosleep") == 0,
        "{found}"
    );
    let lines = records(&fs::read_to_string(&csv).unwrap());
    assert_eq!(lines.len(), 2);
    assert!(
        ["rate_error_ppm", "jitter_p99_ns", "after_stall"]
            .iter()
            .all(|name| cell(&lines[0], name) != "no such column")
    );
    assert!(
        lines
            .iter()
            .all(|line| cell(line, "request_ns") == "2000000.0"),
        "{lines:?}"
    );
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .contains("### periodic timers")
    );
    timermeter(&["compare", &report, &report, "--all"])
        .success()
        .stdout(contains("timerfd every 2 ms"));
}

#[test]
fn each_condition_set_has_row() {
    // Conditions that are given twice, or are equal, are measured once.
    let same = [
        "nanosleep",
        "--slack",
        "default,1ns,1ns",
        "--load",
        "none,none",
    ];
    let (found, run) = run_wait(&same, 0);
    assert!(run.get_output().stderr.is_empty());
    let slacks: Vec<Option<u64>> = list(&found, "waits")
        .iter()
        .map(|row| row["conditions"]["slack_ns"].as_u64())
        .collect();
    assert!(
        slacks.contains(&Some(1)) && slacks.len() == 2 - usize::from(slacks == [Some(1)]),
        "{slacks:?}"
    );
    let (found, _) = run_wait(&["nanosleep", "--load", "none,same-cpu", "--cpu", "all"], 0);
    let rows = list(&found, "waits");
    let cpus: std::collections::BTreeSet<Option<u64>> = rows
        .iter()
        .map(|row| row["conditions"]["cpu"].as_u64())
        .collect();
    assert!(
        !cpus.contains(&None) && rows.len() == 2 * cpus.len(),
        "{found}"
    );
    assert!(
        rows.iter()
            .filter(|row| row["conditions"]["load"] == "same-cpu")
            .count()
            == cpus.len(),
        "{found}"
    );
    assert!(
        found["settings"]["cpu"].is_null(),
        "several CPUs were measured"
    );
}

#[test]
fn late_wait_ends_run() {
    let (found, run) = run_wait(&["nanosleep", "--break", "1ns"], 3);
    run.stderr(contains("stopped: nanosleep returned").and(contains("late from a wait of")));
    assert_eq!(row(&found, "nanosleep")["status"], "ok");
    run_wait(&["nanosleep", "--break", "50s"], 0)
        .1
        .stderr(is_empty());
}

#[test]
fn forbidden_policy_row_names_remedy() {
    let (found, _) = run_wait(&["nanosleep", "--policy", "fifo:80"], [0, 3]);
    let row = row(&found, "nanosleep");
    match row["status"].as_str() {
        Some("ok") => assert_eq!(row["conditions"]["policy"], "fifo:80"),
        _ => assert!(
            row["remedy"]
                .as_str()
                .is_some_and(|remedy| remedy.contains("CAP_SYS_NICE")),
            "{row}"
        ),
    }
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout == b"0\n");
    let without: &[&str] = match root {
        true => &[
            "prlimit",
            "--rtprio=0:0",
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ],
        false => &["prlimit", "--rtprio=0:0"],
    };
    let tried = Command::new(without[0])
        .args(&without[1..])
        .args([program(), "--version"])
        .stdout(Stdio::null())
        .status();
    if !tried.is_ok_and(|status| status.success()) {
        skipped(
            format!("{without:?} cannot start the program"),
            "it takes util-linux, and a folder that all may read",
        );
        return;
    }
    let args = [
        "wait",
        "--format",
        "json",
        "nanosleep",
        "--policy",
        "other,fifo:80",
    ];
    let run = assert_cmd::Command::new(without[0])
        .args(&without[1..])
        .arg(program())
        .args(args)
        .args(SHORT)
        .assert();
    let found = parse_valid_report(&printed(&run.code(3).stderr(is_empty())));
    let reported: Vec<[&Value; 2]> = list(&found, "waits")
        .iter()
        .map(|row| [&row["conditions"]["policy"], &row["status"]])
        .collect();
    assert_eq!(
        reported,
        [["other", "ok"], ["fifo:80", "unavailable"]],
        "{found}"
    );
    let refused = &found["waits"][1];
    let says = |what: &str, words: &str| {
        assert!(
            refused[what].as_str().unwrap_or_default().contains(words),
            "{refused}"
        )
    };
    says("reason", "SCHED_FIFO");
    says("reason", "not permitted");
    says("remedy", "CAP_SYS_NICE");
    // The timer was selected by a glob, so the status is 0.
    let table = ["wait", "nano*", "--policy", "fifo:80"];
    let run = assert_cmd::Command::new(without[0])
        .args(&without[1..])
        .arg(program())
        .args(table)
        .args(SHORT)
        .assert();
    run.code(0)
        .stdout(contains("No timer could be characterised").and(contains("rtprio")));
}

#[test]
fn rejects_invalid_arguments() {
    let assert_refused = |args: &[&str], words: &[&str]| {
        let mut assert = timermeter(args).code(2).stdout(is_empty());
        for word in words {
            assert = assert.stderr(contains(*word));
        }
    };
    assert_refused(
        &["wait", "--durations", "-1ms"],
        &["--durations", "not above zero"],
    );
    assert_refused(&["wait", "--durations", "0"], &["--durations", "no unit"]);
    assert_refused(&["wait", "--durations", "0ms"], &["zero"]);
    assert_refused(&["wait", "--durations", "1ns"], &["floor", "2ns or more"]);
    assert_refused(&["wait", "--durations", "1e300s"], &["too large"]);
    assert_refused(&["wait", "--durations", "2min"], &["min"]);
    assert_refused(&["wait", "--durations", "61s"], &["a minute"]);
    assert_refused(
        &["wait", "--durations", "1ms..1us"],
        &["ends before it begins"],
    );
    assert_refused(&["wait", "--durations", "1ms,,2ms"], &["--durations"]);
    assert_refused(&["wait", "--for", "-1s"], &["--for"]);
    assert_refused(&["wait", "--for", "0"], &["--for"]);
    assert_refused(&["wait", "--break", "0us"], &["--break", "zero"]);
    assert_refused(&["wait", "--slack", "1h"], &["--slack", "default"]);
    assert_refused(&["wait", "--slack", "-1ns"], &["--slack"]);
    assert_refused(&["wait", "--policy", "fifo:100"], &["1 to 99"]);
    assert_refused(&["wait", "--policy", "deadline"], &["fifo:80"]);
    assert_refused(&["wait", "--load", "heavy"], &["same-cpu"]);
    assert_refused(
        &["wait", "nanosleep", "--cpu", "999"],
        &["--cpu 999", "no CPU 999"],
    );
    assert_refused(&["wait", "--cpu", "-1"], &["number of a CPU", "all"]);
    assert_refused(
        &["wait", "--quick", "--thorough"],
        &["--quick", "--thorough"],
    );
    assert_refused(&["wait", "--timeout", "0"], &["--timeout"]);
    assert_refused(
        &["wait", "nanosleap"],
        &["`nanosleap`", "did you mean `nanosleep`"],
    );
    assert_refused(&["wait", "nothing*"], &["no timer matches `nothing*`"]);
    assert_refused(
        &["wait", "monotonic"],
        &["`monotonic`", "timermeter probe monotonic"],
    );
    assert_refused(
        &["probe", "nanosleep"],
        &["`nanosleep`", "timermeter wait nanosleep"],
    );
    assert_refused(&["period", "--every", "0s"], &["--every"]);
    assert_refused(&["period", "--every", "-1ms"], &["--every"]);
    assert_refused(&["period", "--every", "10ns"], &["1us to 60s"]);
    assert_refused(&["period", "--every", "1e9s"], &["--every"]);
    assert_refused(
        &["pick", "--every", "1ms", "--within", "2ms"],
        &["need not wait"],
    );
    assert_refused(
        &[
            "pick", "--every", "1ms", "--within", "1us", "--share", "100%",
        ],
        &["--share"],
    );
    assert_refused(
        &[
            "pick", "--every", "1ms", "--within", "1us", "--rate", "100/s",
        ],
        &["--rate"],
    );
    let missing = ["wait", "--quick", "--trace", "/no/such/folder/h.txt"];
    timermeter(&missing)
        .code(1)
        .stdout(is_empty())
        .stderr(contains("/no/such/folder"));
}

#[test]
fn lists_and_checks_sleep_primitives() {
    let all = super::listed();
    let kind = |id: &str| {
        all.iter()
            .find(|timer| timer["id"] == id)
            .map(|timer| timer["kind"].clone())
    };
    assert_eq!(kind("monotonic"), Some("clock".into()));
    assert_eq!(
        [kind("nanosleep"), kind("timerfd")],
        [
            Some("waits-and-ticks".into()),
            Some("waits-and-ticks".into())
        ]
    );
    // Timers of other systems are listed with the reason.
    let unavailable = all
        .iter()
        .filter(|timer| timer["kind"] != "clock" && timer["available"] == false);
    assert!(unavailable.into_iter().all(|timer| {
        timer["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    }));
    let some = printed(&timermeter(&["list", "*nanosleep*"]).success());
    assert!(
        some.contains("wait, period") && !some.contains("probe"),
        "{some}"
    );
    let check = json(&timermeter(&["check", "--format", "json"]).code(predicate::in_iter([0, 3])));
    for code in ["timer-slack", "idle-states", "high-resolution-timers"] {
        assert!(check.to_string().contains(code), "{code}: {check}");
    }
}

#[test]
fn measures_only_requested_lengths() {
    let args = [
        "wait",
        "nanosleep",
        "--quick",
        "--durations",
        "1ms",
        "--format",
        "json",
    ];
    let report = json(&timermeter(&args).success());
    let lengths = report["waits"][0]["figures"]["lateness"]
        .as_array()
        .expect("it waited")
        .iter();
    let lengths: Vec<_> = lengths
        .filter_map(|late| late["request_ns"].as_u64())
        .filter(|ns| *ns > 1)
        .collect();
    assert_eq!(lengths, [1_000_000]);
}

#[test]
fn inspect_and_pick_measure_without_report() {
    let folder = Folder::new();
    let figures = folder.arg("figures");
    let shown = printed(&timermeter(&["inspect", "nanosleep", "-v", "--svg", &figures]).success());
    assert!(shown.contains("How late waits were"), "{shown}");
    let names: Vec<_> = fs::read_dir(&figures)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        names.len() >= 2 && names.iter().any(|name| name == "nanosleep-lateness.svg"),
        "{names:?}"
    );
    for name in &names {
        let svg = fs::read_to_string(folder.file("figures").join(name)).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"),
            "{name:?}"
        );
    }
}
