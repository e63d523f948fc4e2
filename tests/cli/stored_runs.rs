//! Stored runs: traces, the reports computed from them, and folders of reports.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, printed, run};

#[test]
fn trace_reproduces_report_bit_for_bit() {
    let folder = Folder::new();
    let (trace, report, again) = (
        folder.arg("run.trace"),
        folder.arg("a.json"),
        folder.arg("b.json"),
    );
    // Two timers, one of which every machine has. They are globs, because the program fails for a timer given by name
    // whose resolution a busy machine does not reveal.
    let files = format!("--trace {trace} --output {report}");
    run(&format!("probe --quick rdts? monotoni? {files} --seed 5")).success();
    let analysed = run(&format!("probe --from {trace} -f json -o {again}")).success();
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
    // Half a trace, and none.
    let bytes = fs::read(&trace).unwrap();
    fs::write(&trace, &bytes[..bytes.len() / 2]).unwrap();
    for (path, words) in [
        (&trace, "damaged"),
        (&folder.arg("none.trace"), "cannot read"),
    ] {
        let refused = contains(words).and(contains(path.as_str()));
        let ended = run(&format!("probe --from {path} -o {}", folder.arg("c.json")));
        ended.code(1).stdout("").stderr(refused);
    }
    assert!(!folder.file("c.json").exists());
}

/// Tests the runs in `reports/` that have a trace.
#[test]
#[ignore = "long"]
fn stored_traces_reproduce_stored_reports() {
    let folders = |path: &Path| fs::read_dir(path).unwrap().flatten().map(|it| it.path());
    let platforms = folders(Path::new("reports")).filter(|path| path.is_dir());
    let mut count = 0;
    for trace in platforms
        .flat_map(|path| folders(&path))
        .map(|run| run.join("run.trace"))
    {
        if !trace.is_file() {
            continue;
        }
        let stored = fs::read_to_string(trace.with_file_name("report.json")).unwrap();
        let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
        let analysed = run(&format!("probe --from {} -f json", trace.display()));
        assert!(
            json(&analysed.success()) == stored,
            "{} gives another report",
            trace.display()
        );
        count += 1;
    }
    assert!(count >= 3, "{count}");
}
