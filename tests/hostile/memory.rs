//! Tests well-formed reports of the maximum size.

use std::fs;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::run::Run;

/// The largest permitted peak memory, in kilobytes.
const MOST: u64 = 400_000;

/// The largest number of values in a report, and of timers.
const VALUES: usize = 1 << 20;
const TIMERS: usize = 8_192;

/// Runs the program, which takes at most this many kilobytes.
#[track_caller]
fn within(most: u64, line: &str) -> Assert {
    let mut run = Run::start(line);
    let peak = run.peak();
    assert!(peak < most, "{line}: {peak} kB");
    run.end()
}

/// A report with a number of timers, and a number of empty names of clock sources.
fn report(timers: usize, words: usize) -> String {
    let row = |number| {
        format!(r#"{{"id":"{number:x}","label":"","runtime":"","status":"failed","findings":[]}}"#)
    };
    let rows = (0..timers).map(row).collect::<Vec<_>>().join(",");
    let names = vec![r#""""#; words].join(",");
    format!(
        r#"{{"schema":"timermeter.report.v2","tool":{{"name":"timermeter","version":"0.1.0"}},"created":"2026-11-20T12:00:00Z",
        "platform":{{"cpu":{{"architecture":"x86_64"}},"os":{{"family":"linux"}},"kernel":{{}},"clocksource":{{"available":[{names}]}}}},
        "frequency":{{"cycles_from":"effective"}},
        "settings":{{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5}},"findings":[],"timers":[{rows}]}}"#
    )
}

#[test]
fn largest_reports_take_bounded_memory() {
    let folder = Folder::new();
    let path = folder.arg("large.json");
    fs::write(&path, report(TIMERS, VALUES - 6 * TIMERS)).unwrap();
    let ended = within(MOST, &format!("table {path}"));
    ended.stderr(contains("is not read").or(contains("more than")).not());
}

#[test]
fn rejects_too_many_values() {
    let folder = Folder::new();
    let path = folder.arg("wordy.json");
    fs::write(&path, report(1, 2 * VALUES)).unwrap();
    let ended = within(100_000, &format!("table {path}"));
    ended.code(1).stderr(contains("more than 1048576 values"));
}

#[test]
#[ignore = "long"]
fn many_reports_take_bounded_memory() {
    let folder = Folder::new();
    fs::create_dir(folder.file("reports")).unwrap();
    let text = report(TIMERS, VALUES - 6 * TIMERS);
    let count = (64 << 20) / text.len();
    for number in 0..count {
        let path = folder.file(&format!("reports/{number}.json"));
        fs::write(path, &text).unwrap();
    }
    let (reports, site) = (folder.arg("reports"), folder.arg("site"));
    for (line, refusals) in [
        (format!("table {reports}"), 0),
        (format!("compare {reports}/0.json {reports}/1.json"), 0),
        (format!("publish {reports} -o {site}"), 0),
        (format!("probe --from {reports} -o {site}.html"), 1),
    ] {
        let ended = within(MOST, &line).code(predicate::in_iter([0, 1, 4]));
        let too_large = contains("24 MiB together").count(refusals);
        ended.stderr(contains("values").not().and(too_large));
    }
}
