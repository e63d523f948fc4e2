//! `pick` and `measure`.

use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use serde_json::Value;

use super::runtimes::without_path;
use super::{answer, assert_fails, json, program, run};
use crate::stored::{MBP53, XEON};

#[test]
fn impossible_requests_are_refused() {
    let published = format!("pick 1ms --error 5% --from {MBP53}");
    for (line, status, words) in [
        ("pick 1ms --rate 0/s", 2, "as in 10000/s"),
        ("pick 1ms --from /no/such/file", 1, "/no/such/file"),
        ("pick 1ms --runtime cobol", 2, "java, dotnet, python"),
        (&published, 1, "published"),
        (&published, 1, "dotnet, java"),
        ("measure multiplyy", 2, "did you mean `multiply`"),
        ("measure multiply --sizes 10", 2, "--sizes"),
        (
            "measure multiply --clock java:nanoTime",
            2,
            "another runtime",
        ),
        (
            "measure multiply --clock monotonc",
            2,
            "did you mean `monotonic`",
        ),
        ("measure multiply --clock mono*", 2, "not a pattern"),
        (
            "measure multiply --clock perf-cycles",
            2,
            "does not count time",
        ),
        ("measure-worker {}", 2, "not a request"),
    ] {
        let refused = run(line).code(status).stdout("");
        refused.stderr(contains(words));
    }
}

#[test]
fn picks_clock_from_report() {
    let wall = json(&run(&format!(
        "pick 250ns --error 5% -f json --from {XEON}"
    )));
    assert_eq!(wall["schema"], "timermeter.pick.v1");
    assert_eq!(wall["picked"]["id"], "monotonic", "{wall}");
    assert!(wall["picked"]["plan"]["error"].as_f64().unwrap() <= 0.05);
    let mut others = wall["others"].as_array().unwrap().iter();
    assert!(others.all(|other| !other["reason"].as_str().unwrap().is_empty()));
    run(&format!("pick 250ns --error 0.06% --from {XEON}"))
        .code(3)
        .stdout(contains("no clock is within 0.0600 %"));
    assert_fails(
        &format!("pick 250ns --runtime perl --from {XEON}"),
        1,
        "`perl`",
    );
}

#[test]
fn picks_clock_of_other_runtime() {
    let agent = format!("other={} agent monotonic", program());
    let line = format!("pick 10ms --error 5% -f json --runtime other --agent '{agent}'");
    let found = answer(&line);
    let of_other = |candidate: &Value| candidate["id"].as_str().unwrap().starts_with("other:");
    let mut others = found["others"].as_array().unwrap().iter();
    assert!(
        of_other(&found["picked"]) && others.all(of_other),
        "{found}"
    );
    without_path("pick 1ms --error 5% --runtime java")
        .code(3)
        .stdout(contains("no clock is within").and(contains("install")));
}

#[test]
fn picks_clock_from_published_report() {
    for (runtime, id) in [("java", "NANO"), ("dotnet", ".STO")] {
        let line = format!("pick 1ms --error 5% --from {MBP53} -f json --runtime {runtime}");
        assert_eq!(answer(&line)["picked"]["id"], id);
    }
}

#[test]
fn operations_are_measured_in_all_formats() {
    let run = |format: &str| {
        let flags = "--sizes 10,100 --error 50% --samples 3 --budget 60 --clock instant";
        run(&format!(
            "measure clone sort {flags} --from {XEON} -f {format}"
        ))
        .success()
    };
    let found = json(&run("json"));
    let rows = found["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    let mean = |row: &Value| row["mean_ns"]["value"].as_f64().unwrap();
    assert!(rows.iter().all(|row| mean(row) > 0.0), "{found}");
    let takes_longer = mean(&rows[3]) > mean(&rows[2]);
    assert!(takes_longer, "a longer sort takes longer: {found}");
    run("table").stdout(contains("sort"));
    let csv = starts_with("operation,size,calls,mean_ns,");
    run("csv").stdout(csv.and(contains("\nclone,10,")));
}
