//! Stored runs: traces, the reports computed from them, and folders of reports.

use std::fs;
use std::path::{Path, PathBuf};

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, printed, timermeter};

/// Probes two timers, one of which every machine has. They are globs, because the program fails for
/// a timer given by name whose resolution a busy machine does not reveal.
fn probe(more: &[&str]) -> assert_cmd::assert::Assert {
    let args: Vec<&str> = ["probe", "--quick", "rdts?", "monotoni?"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    timermeter(&args).success()
}

#[test]
fn trace_reproduces_report_bit_for_bit() {
    let folder = Folder::new();
    let (trace, report, again) = (
        folder.arg("run.trace"),
        folder.arg("a.json"),
        folder.arg("b.json"),
    );
    probe(&["--trace", &trace, "--output", &report, "--seed", "5"]);
    let analysed =
        timermeter(&["analyse", &trace, "--format", "json", "--output", &again]).success();
    let first = fs::read_to_string(report).unwrap();
    assert!(first.contains("\"observations\": {"), "{first}");
    assert_eq!(fs::read_to_string(&again).unwrap(), first);
    assert_eq!(printed(&analysed), first);
    timermeter(&["analyse", &trace, "-v"])
        .success()
        .stdout(contains("monotonic").and(contains("seed 5")));
    // `--save` stores the report like that of a run.
    let stored = folder.arg("stored");
    timermeter(&["analyse", &trace, &format!("--save={stored}")])
        .success()
        .stderr(contains("stored in"));
    let read = timermeter(&["table", &stored, "--format", "csv"]).success();
    assert!(printed(&read).contains("monotonic"), "{}", printed(&read));
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
            let analysed =
                timermeter(&["analyse", trace.to_str().unwrap(), "--format", "json"]).success();
            assert!(
                json(&analysed) == stored,
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
    probe(&["--trace", &trace]);
    let bytes = fs::read(&trace).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let report = folder.arg("report.json");
    for (path, words) in [
        (&cut, "damaged"),
        (&folder.arg("none.trace"), "cannot read"),
    ] {
        timermeter(&["analyse", path, "--output", &report])
            .code(1)
            .stdout(predicate::str::is_empty())
            .stderr(contains(words).and(contains(path.as_str())));
    }
    assert!(!Path::new(&report).exists());
}

#[test]
fn refuses_unwritable_output_before_measuring() {
    let folder = Folder::new();
    let (trace, save) = (
        folder.arg("missing/run.trace"),
        folder.arg("missing/reports"),
    );
    for (flag, place) in [("--trace", &trace), ("--save", &save)] {
        // A thorough run of all timers: if the program measured first, the test would time out.
        timermeter(&["probe", "--thorough", &format!("{flag}={place}")])
            .code(1)
            .stderr(contains("there is no folder").and(contains("missing")));
    }
    // A file has the name of the folder.
    let file = folder.arg("file");
    fs::write(&file, "").unwrap();
    timermeter(&["probe", "--thorough", &format!("--save={file}")])
        .code(1)
        .stderr(contains("file"));
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn saved_run_keeps_older_runs() {
    let folder = Folder::new();
    let base = folder.arg("reports");
    for _ in 0..2 {
        probe(&[&format!("--save={base}")]).stderr(contains("stored in"));
    }
    let platforms = listed(Path::new(&base));
    assert_eq!(
        platforms.len(),
        1,
        "one machine, and no unfinished folder: {platforms:?}"
    );
    let runs = listed(&platforms[0]);
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs[1].to_string_lossy().ends_with("-2"), "{runs:?}");
    for run in &runs {
        assert_eq!(
            listed(run),
            [run.join("README.md"), run.join("report.json")]
        );
        let page = fs::read_to_string(run.join("README.md")).unwrap();
        assert!(
            page.contains("| monotonic |") && page.contains("**CPU**: "),
            "{page}"
        );
    }
    let run = runs[0].join("report.json").to_string_lossy().into_owned();
    let table = json(&timermeter(&["table", &run, &base, "--format", "json"]).success());
    assert!(
        table.as_array().is_some_and(|rows| rows.len() >= 3),
        "{table}"
    );
}

/// The sorted paths of the files in a folder.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}
