//! Stored runs: traces, the reports computed from them, and folders of reports.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, printed, run};

/// Probes two timers, one of which every machine has. They are globs, because the program fails for
/// a timer given by name whose resolution a busy machine does not reveal.
fn probe(more: &str) {
    run(&format!("probe --quick rdts? monotoni? {more}")).success();
}

#[test]
fn trace_reproduces_report_bit_for_bit() {
    let folder = Folder::new();
    let (trace, report, again) = (
        folder.arg("run.trace"),
        folder.arg("a.json"),
        folder.arg("b.json"),
    );
    probe(&format!("--trace {trace} --output {report} --seed 5"));
    let analysed = run(&format!(
        "probe --from {trace} --format json --output {again}"
    ))
    .success();
    let first = fs::read_to_string(report).unwrap();
    assert!(first.contains("\"observations\": {"), "{first}");
    assert_eq!(fs::read_to_string(&again).unwrap(), first);
    assert_eq!(printed(&analysed), first);
    run(&format!("probe --from {trace} -v"))
        .success()
        .stdout(contains("monotonic").and(contains("quick")));
    // `--save` stores the report like that of a run.
    let stored = folder.arg("stored");
    run(&format!("probe --from {trace} --save={stored}"))
        .success()
        .stderr(contains("stored in"));
    run(&format!("table {stored} --format csv"))
        .success()
        .stdout(contains("monotonic"));
}

/// Tests the runs in `reports/` that have a trace.
#[test]
#[ignore = "long"]
fn stored_traces_reproduce_stored_reports() {
    let runs = fs::read_dir("reports")
        .unwrap()
        .flatten()
        .filter(|platform| platform.path().is_dir());
    let runs = runs.flat_map(|platform| fs::read_dir(platform.path()).unwrap().flatten());
    let traces = runs
        .map(|run| run.path().join("run.trace"))
        .filter(|trace| trace.is_file());
    let count = traces
        .map(|trace| {
            let stored = fs::read_to_string(trace.with_file_name("report.json")).unwrap();
            let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
            let analysed = run(&format!("probe --from {} -f json", trace.display()));
            assert!(
                json(&analysed.success()) == stored,
                "{} gives another report",
                trace.display()
            );
        })
        .count();
    assert!(count >= 3, "{count}");
}

#[test]
fn refuses_unusable_trace() {
    let folder = Folder::new();
    let (trace, cut) = (folder.arg("run.trace"), folder.arg("cut.trace"));
    probe(&format!("--trace {trace}"));
    let bytes = fs::read(&trace).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let report = folder.arg("report.json");
    for (path, words) in [
        (&cut, "damaged"),
        (&folder.arg("none.trace"), "cannot read"),
    ] {
        run(&format!("probe --from {path} --output {report}"))
            .code(1)
            .stdout("")
            .stderr(contains(words).and(contains(path.as_str())));
    }
    assert!(!Path::new(&report).exists());
}
