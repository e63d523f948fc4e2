//! Tests well-formed reports of the maximum size.

use std::fs;

use super::folder::Folder;
use super::run::Run;

/// The largest permitted peak memory, in kilobytes.
const MOST: u64 = 400_000;

/// The largest number of values in a report, and of timers.
const VALUES: usize = 1 << 20;
const TIMERS: usize = 8_192;

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
    fs::write(
        folder.file("large.json"),
        report(TIMERS, VALUES - 6 * TIMERS),
    )
    .expect("the file is written");
    let mut run = Run::start(&["table", &path]);
    let peak = run.peak();
    let (_, output) = run.end();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(
        !reported.contains("is not read") && !reported.contains("more than"),
        "{reported}"
    );
    assert!(peak < MOST, "{peak} kB");
}

#[test]
fn rejects_too_many_values() {
    let folder = Folder::new();
    let path = folder.arg("wordy.json");
    fs::write(folder.file("wordy.json"), report(1, 2 * VALUES)).expect("the file is written");
    let mut run = Run::start(&["table", &path]);
    let peak = run.peak();
    let (status, output) = run.end();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!(status.code(), Some(1), "{reported}");
    assert!(reported.contains("more than 1048576 values"), "{reported}");
    assert!(peak < 100_000, "{peak} kB");
}

#[test]
#[ignore = "long"]
fn many_reports_take_bounded_memory() {
    let folder = Folder::new();
    fs::create_dir(folder.file("reports")).expect("the folder is created");
    let text = report(TIMERS, VALUES - 6 * TIMERS);
    let count = (64 << 20) / text.len();
    for number in 0..count {
        fs::write(folder.file(&format!("reports/{number}.json")), &text)
            .expect("the file is written");
    }
    let (reports, site, page) = (
        folder.arg("reports"),
        folder.arg("site"),
        folder.arg("page.html"),
    );
    let (first, second) = (folder.arg("reports/0.json"), folder.arg("reports/1.json"));
    for args in [
        &["table", &reports][..],
        &["compare", &first, &second],
        &["publish", &reports, "-o", &site],
        &["probe", "--from", &reports, "-o", &page],
    ] {
        let mut run = Run::start(args);
        let peak = run.peak();
        let (status, output) = run.end();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(!reported.contains("values"), "{args:?}: {reported}");
        assert_eq!(
            reported.contains("24 MiB together"),
            args[1] == "--from",
            "{args:?}: {reported}"
        );
        assert!(
            matches!(status.code(), Some(0 | 1 | 4)),
            "{args:?}: {reported}"
        );
        assert!(peak < MOST, "{args:?}: {peak} kB");
    }
}
