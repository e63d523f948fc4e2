//! Reports that are well formed and as large as may be.

use std::fs;
use std::time::Duration;

use super::folder::Folder;
use super::run::Run;

/// Kilobytes.
const MOST: u64 = 400_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// A report with these timers, and with as many names of clock sources as there is room for.
fn report(timers: usize, bytes: usize) -> String {
    let row =
        |number| format!(r#"{{"id":"{number:x}","label":"","runtime":"","status":"failed","warnings":[]}}"#);
    let rows = (0..timers).map(row).collect::<Vec<_>>().join(",");
    let around = 1_000 + rows.len();
    let names = vec![r#""""#; bytes.saturating_sub(around) / 3].join(",");
    format!(
        r#"{{"schema":"timermeter.report.v1","tool":{{"name":"timermeter","version":"0.1.0"}},"created":"2026-11-20T12:00:00Z",
        "platform":{{"cpu":{{"architecture":"x86_64"}},"os":{{"family":"linux"}},"kernel":{{}},"clocksource":{{"available":[{names}]}}}},
        "frequency":{{"cycles_from":"effective"}},
        "settings":{{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5}},"warnings":[],"timers":[{rows}]}}"#
    )
}

#[test]
fn the_largest_reports_that_are_read_take_a_bounded_memory() {
    let folder = Folder::new();
    let (path, page) = (folder.arg("large.json"), folder.arg("page.html"));
    fs::write(folder.file("large.json"), report(8_192, 10 << 20)).expect("there is room");
    for args in [
        &["table", &path][..],
        &["compare", &path, &path],
        &["inspect", "x", "--from", &path],
        &["report", &path, "-o", &page],
    ] {
        let mut run = Run::start(args);
        let peak = run.peak();
        let (_, output) = run.end(PATIENCE);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("is not read") && !told.contains("more than"), "{args:?}: {told}");
        assert!(peak < MOST, "{args:?}: {peak} kB");
    }
}

#[test]
fn more_timers_than_any_run_has_are_refused() {
    let folder = Folder::new();
    let path = folder.arg("crowd.json");
    fs::write(folder.file("crowd.json"), report(20_000, 0)).expect("there is room");
    let (status, output) = Run::start(&["table", &path]).end(PATIENCE);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(status.code(), Some(1), "{told}");
    assert!(told.contains("more than 8192 timers"), "{told}");
}
