//! `pick` and `measure`.

use predicates::prelude::*;
use predicates::str::contains;

use super::{json, printed, program, run_timeout, timermeter};
use crate::skipping::not_installed;

/// A stored report of a machine without clock problems.
fn stored_report() -> &'static str {
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/xeon-2026-11-21.json"
    )
}

/// Checks that a run ends with this status, prints nothing on standard output, and prints `word` on
/// standard error.
#[track_caller]
fn assert_refused(args: &[&str], status: i32, word: &str) {
    timermeter(args)
        .code(status)
        .stdout(predicate::str::is_empty())
        .stderr(contains(word));
}

#[test]
fn rejects_impossible_requirements() {
    assert_refused(
        &["pick", "1ms", "--error", "1%", "--rate", "10000/s"],
        2,
        "10000 times a second",
    );
    assert_refused(
        &["pick", "1ms", "--error", "1%", "--needs", "wings"],
        2,
        "no-slew",
    );
    assert_refused(
        &[
            "pick",
            "1ms",
            "--error",
            "1%",
            "--from",
            "/no/such/report.json",
        ],
        1,
        "/no/such/report.json",
    );
}

#[test]
fn rejects_impossible_measurements() {
    assert_refused(&["measure", "multiplyy"], 2, "did you mean `multiply`");
    assert_refused(&["measure", "multiply", "--", "true"], 2, "not both");
    assert_refused(&["measure", "multiply", "--sizes", "10"], 2, "--sizes");
    assert_refused(
        &[
            "measure",
            "--from",
            stored_report(),
            "--clock",
            "monotonic",
            "--",
            "/no/such/command",
        ],
        1,
        "/no/such/command",
    );
    assert_refused(
        &[
            "measure",
            "--from",
            stored_report(),
            "--clock",
            "monotonic",
            "--limit",
            "1",
            "--",
            "sleep",
            "100",
        ],
        1,
        "--limit",
    );
    assert_refused(
        &[
            "measure",
            "--from",
            stored_report(),
            "--clock",
            "monotonic",
            "--",
            "false",
        ],
        1,
        "failed",
    );
    assert_refused(
        &["measure", "--clock", "thread-cputime", "--", "true"],
        2,
        "not that of the command",
    );
    assert_refused(
        &["measure", "--instrument", "discrete", "--", "true"],
        2,
        "use macro",
    );
    assert_refused(
        &["measure", "multiply", "--clock", "java:nanoTime"],
        2,
        "another runtime",
    );
    assert_refused(
        &["measure", "multiply", "--clock", "monotonc"],
        2,
        "did you mean `monotonic`",
    );
    assert_refused(
        &["measure", "multiply", "--clock", "mono*"],
        2,
        "not a pattern",
    );
    assert_refused(
        &["measure", "multiply", "--clock", "perf-cycles"],
        2,
        "does not count time",
    );
    assert_refused(&["measure-worker", "{}"], 2, "not a request");
}

#[test]
fn picks_clock_from_report() {
    let kept = stored_report();
    let picked = |report: &str, more: &[&str]| {
        let args = [
            "pick", "250ns", "--error", "5%", "--format", "json", "--from", report,
        ];
        json(&timermeter(&[&args[..], more].concat()))
    };
    let wall = picked(kept, &[]);
    assert_eq!(wall["schema"], "timermeter.pick.v1");
    assert!(
        ["instant", "monotonic"].contains(&wall["picked"]["id"].as_str().unwrap()),
        "{wall}"
    );
    assert!(wall["picked"]["plan"]["error"].as_f64().unwrap() <= 0.05);
    assert!(
        wall["others"]
            .as_array()
            .unwrap()
            .iter()
            .all(|other| !other["reason"].as_str().unwrap().is_empty())
    );
    let thread = picked(kept, &["--counts", "thread"]);
    let thread_clocks = [
        "thread-cputime",
        "thread-cputime-syscall",
        "perf-task-clock",
    ];
    assert!(
        thread_clocks.contains(&thread["picked"]["id"].as_str().unwrap()),
        "{thread}"
    );
    let none = picked(kept, &["--counts", "thread", "--needs", "threads"]);
    // No clock meets both requirements, so the nearest one is named.
    assert!(
        none["picked"].is_null() && none["nearest"]["id"].is_string(),
        "{none}"
    );
    let args = ["pick", "250ns", "--error", "5%", "--from", kept];
    timermeter(&[&args[..], &["--counts", "thread", "--needs", "threads"]].concat())
        .code(3)
        .stdout(contains("no timer suffices"));
    timermeter(&[&args[..], &["--runtime", "perl"]].concat())
        .code(1)
        .stderr(contains("`perl`"));
}

#[test]
fn picks_clock_of_other_runtime() {
    assert_refused(
        &["pick", "1ms", "--error", "1%", "--runtime", "cobol"],
        2,
        "java, dotnet, python",
    );
    let agent = format!("other={} agent monotonic", program());
    let args = [
        "pick",
        "10ms",
        "--error",
        "5%",
        "--format",
        "json",
        "--runtime",
        "other",
        "--agent",
    ];
    let found = json(&timermeter(&[&args[..], &[&agent]].concat()).success());
    let of_other =
        |candidate: &serde_json::Value| candidate["id"].as_str().unwrap().starts_with("other:");
    assert!(of_other(&found["picked"]), "{found}");
    assert!(
        found["others"].as_array().unwrap().iter().all(of_other),
        "{found}"
    );
    let mut without_java = assert_cmd::Command::new(program());
    without_java.args(["pick", "1ms", "--error", "5%", "--runtime", "java"]);
    let nothing = without_java
        .env("PATH", "/nowhere")
        .env_remove("JAVA_HOME")
        .timeout(run_timeout())
        .assert();
    nothing
        .code(3)
        .stdout(contains("no timer suffices").and(contains("install")));
}

#[test]
fn picks_clock_from_published_report() {
    let report = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/reports/icpe2011-mbp53/2011-03-14/report.json"
    );
    let args = ["pick", "1ms", "--error", "5%", "--from", report];
    assert_refused(&args, 1, "published");
    assert_refused(&args, 1, "dotnet, java");
    for (runtime, id) in [("java", "NANO"), ("dotnet", ".STO")] {
        let args = [
            &args[..],
            &[
                "--format",
                "json",
                "--needs",
                "monotonic",
                "--runtime",
                runtime,
            ],
        ]
        .concat();
        assert_eq!(json(&timermeter(&args).success())["picked"]["id"], id);
    }
}

#[test]
fn operations_are_measured_in_all_formats() {
    let args = [
        "measure",
        "clone",
        "sort",
        "--sizes",
        "10,100",
        "--error",
        "50%",
        "--samples",
        "3",
        "--limit",
        "60",
    ];
    let run = |more: &[&str]| {
        timermeter(
            &[
                &args[..],
                &["--clock", "instant", "--from", stored_report()],
                more,
            ]
            .concat(),
        )
    };
    let found = json(&run(&["--format", "json"]).success());
    let rows = found["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["mean_ns"]["value"].as_f64().unwrap() > 0.0),
        "{found}"
    );
    let mean = |at: usize| rows[at]["mean_ns"]["value"].as_f64().unwrap();
    assert!(mean(3) > mean(2), "a longer sort takes longer: {found}");
    let table = printed(&run(&[]).success());
    assert!(table.contains("sort"), "{table}");
    let csv = printed(&run(&["--format", "csv"]).success());
    assert!(
        csv.starts_with("operation,size,calls,mean_ns,") && csv.contains("\nclone,10,"),
        "{csv}"
    );
}

#[test]
fn counts_allocations_where_supported() {
    if !cfg!(feature = "allocations") {
        assert_refused(
            &["measure", "clone", "--instrument", "allocations"],
            1,
            "--features allocations",
        );
        not_installed(
            "this build does not count allocations",
            "test with --features allocations",
        );
        return;
    }
    let args = [
        "measure",
        "clone",
        "--sizes",
        "1000",
        "--instrument",
        "allocations",
        "--clock",
        "instant",
    ];
    let found = json(
        &timermeter(&[&args[..], &["--from", stored_report(), "--format", "json"]].concat())
            .success(),
    );
    let row = &found["measurements"][0];
    assert_eq!(
        (row["instances"].as_f64(), row["bytes"].as_f64()),
        (Some(1.0), Some(1000.0)),
        "{row}"
    );
}
