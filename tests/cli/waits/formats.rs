//! One run of `wait` in all formats, and all commands that read its report.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json as json_value};

use super::super::folder::Folder;
use super::super::{json, printed, program, run_timeout, timermeter};
use super::{cell, lengths, list, parse_valid_report, records, row};

/// Replaces what a run measured for waits of 1 ms by fixed figures: both timers are about 60 µs
/// late, and `nanosleep` takes less CPU time than `spin`. The lateness of real waits depends on the
/// load of the machine, and so does the timer that `pick` picks.
fn with_fixed_lateness(mut report: Value) -> Value {
    for (id, cpu_ns) in [("nanosleep", 20_000.0), ("spin", 1_000_000.0)] {
        let rows = report["waits"].as_array_mut().expect("rows");
        let row = rows.iter_mut().find(|row| row["id"] == id).expect(id);
        row["figures"]["steps"] = json_value!([]);
        let lengths = row["figures"]["lateness"].as_array_mut().expect("lengths");
        let late = lengths
            .iter_mut()
            .find(|late| late["request_ns"] == 1_000_000)
            .expect("1 ms");
        late["waits"] = json_value!(600);
        late["early"] = json_value!(0.0);
        late["earliest_ns"] = json_value!(0.0);
        late["p50_ns"] = json_value!({"value": 60_000.0, "low": null, "high": null});
        late["cpu_ns"] = json_value!({"value": cpu_ns, "low": null, "high": null});
        // The upper end of bin 96 is 63 µs.
        late["histogram"] = json_value!({"bins": {"96": 600}});
    }
    report
}

#[test]
fn all_commands_read_stored_run() {
    let folder = Folder::new();
    let names = [
        "r.json",
        "r.csv",
        "r.md",
        "r.txt",
        "r.trace",
        "saved",
        "fixed.json",
    ];
    let [report, csv, page, text, trace, saved, fixed] = names.map(|name| folder.arg(name));
    let save = format!("--save={saved}");
    let mut command = assert_cmd::Command::new(program());
    command.args([
        "wait",
        "nanosleep",
        "spin",
        "--quick",
        "--durations",
        "100us..1ms",
        &save,
    ]);
    command.args([
        "-o", &report, "-o", &csv, "-o", &page, "-o", &text, "--trace", &trace,
    ]);
    command.args(["--baseline", "waits"]);
    let home = folder.file("home");
    let run = command
        .env("TIMERMETER_HOME", &home)
        .timeout(run_timeout())
        .assert()
        .success();
    // Standard error has only the two places where the report was stored: without a terminal there
    // is no progress line, and there are no control sequences.
    let reported = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    assert!(
        reported.lines().all(|line| line.starts_with("stored ")) && reported.lines().count() == 2,
        "{reported}"
    );
    let shown = printed(&run);
    assert!(
        !shown.contains(['\x1b', '\r']) && shown.contains("Lateness by length"),
        "{shown}"
    );
    assert!(
        fs::read_to_string(&text)
            .unwrap()
            .contains("Lateness by length")
    );

    let found = parse_valid_report(&fs::read_to_string(&report).unwrap());
    assert!(
        list(&found, "timers").is_empty() && list(&found, "waits").len() == 2,
        "{found}"
    );
    for id in ["nanosleep", "spin"] {
        let row = row(&found, id);
        assert_eq!(row["status"], "ok", "{row}");
        assert!(
            [100_000, 1_000_000]
                .iter()
                .all(|ns| lengths(row).contains(ns)),
            "{row}"
        );
        let late = list(&row["figures"], "lateness")
            .iter()
            .find(|late| late["request_ns"] == 1_000_000)
            .unwrap();
        assert!(
            late["p50_ns"]["value"].is_number() && late["p999_ns"].is_null(),
            "too few waits for the 99.9th percentile: {late}"
        );
        assert!(!row["figures"]["floor_ns"].is_null(), "{row}");
    }
    assert_eq!(
        (
            &row(&found, "nanosleep")["means"],
            &row(&found, "spin")["means"]
        ),
        (&"blocks".into(), &"spins".into())
    );

    let lines = records(&fs::read_to_string(&csv).unwrap());
    let names = [
        "timer",
        "slack_ns",
        "policy",
        "load",
        "on_cpu",
        "status",
        "request_ns",
        "waits",
        "late_p50_ns",
        "late_max_ns",
        "cpu_ns",
    ];
    assert!(
        names
            .iter()
            .all(|name| cell(&lines[0], name) != "no such column"),
        "{:?}",
        lines[0]
    );
    let reported: usize = list(&found, "waits")
        .iter()
        .flat_map(|row| list(&row["figures"], "lateness"))
        .filter(|late| late["request_ns"] != 1)
        .count();
    assert_eq!(lines.len(), reported);
    let markdown = fs::read_to_string(&page).unwrap();
    assert!(
        markdown.contains("### sleep primitives") && markdown.contains("| nanosleep |"),
        "{markdown}"
    );

    // `analyse` computes the same report from the trace.
    let again = json(&timermeter(&["analyse", &trace, "--format", "json"]).success());
    assert_eq!(again["waits"], found["waits"]);

    let compared = timermeter(&["compare", &report, &report, "--all"]).success();
    assert!(
        printed(&compared).contains("nanosleep at 100 µs"),
        "{}",
        printed(&compared)
    );
    let mut command = assert_cmd::Command::new(program());
    command
        .args(["compare", "waits", &report, "--format", "json"])
        .env("TIMERMETER_HOME", &home);
    let same = json(&command.assert().success());
    let figures = list(&same, "figures");
    assert!(
        figures.len() > 8
            && figures
                .iter()
                .all(|figure| figure["difference"]["value"] == 0.0),
        "{same}"
    );
    assert!(list(&same, "one_sided").is_empty(), "{same}");

    let inspected =
        printed(&timermeter(&["inspect", "nanosleep", "-v", "--from", &report]).success());
    for words in [
        "nanosleep()",
        "How late waits were",
        "Observed over requested time",
        "floor",
    ] {
        assert!(inspected.contains(words), "{words}: {inspected}");
    }
    // The answer from the run itself depends on the load of the machine.
    let pick = |report: &str| {
        let requirement = "--every 1ms --within 900us --share 50% --format json";
        let mut args: Vec<&str> = ["pick", "--from", report].to_vec();
        args.extend(requirement.split(' '));
        timermeter(&args)
    };
    pick(&report).code(predicate::in_iter([0, 3]));
    fs::write(&fixed, with_fixed_lateness(found).to_string()).unwrap();
    let picked = pick(&fixed).success();
    assert_eq!(
        json(&picked)["picked"]["id"],
        "nanosleep",
        "nanosleep takes less CPU time: {}",
        printed(&picked)
    );
    let none = [
        "pick", "--every", "1ms", "--within", "1ns", "--share", "99%", "--from", &fixed,
    ];
    timermeter(&none)
        .code(3)
        .stdout(contains("no timer suffices; the nearest is"));
    let other = [
        "pick", "--every", "30s", "--within", "1s", "--from", &report,
    ];
    timermeter(&other)
        .code(1)
        .stderr(contains("no waits of about 30 s").and(contains("--durations 30s")));
    let html = folder.arg("page.html");
    timermeter(&["report", &report, "-o", &html]).success();
    assert!(fs::read_to_string(&html).unwrap().contains("nanosleep()"));
    timermeter(&["table", &saved])
        .success()
        .stdout(contains("nanosleep"));
}
