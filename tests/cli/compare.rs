//! `compare`: options before and after `--`, and stored runs as the history.

use std::fs;
use std::path::PathBuf;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, program, run_timeout};

const STORED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fuzz/corpus/report/kept.json"
);

/// Runs `compare` in the folder, with the baselines below `home` in it.
fn compare(folder: &Folder, args: &[&str]) -> Assert {
    let mut command = assert_cmd::Command::new(program());
    command
        .arg("compare")
        .args(args)
        .current_dir(folder.file("."))
        .env("TIMERMETER_HOME", folder.file("home"))
        .timeout(run_timeout());
    command.assert().stderr(contains("panicked").not())
}

/// The numbers of old, new and other runs that a comparison used.
#[track_caller]
fn runs(folder: &Folder, args: &[&str]) -> [u64; 3] {
    let compared = json(&compare(folder, &[args, &["--format", "json"]].concat()).success());
    serde_json::from_value(compared["runs"].clone()).expect("three numbers")
}

/// Stores a report that was made on this day of November, with these changes: pointers to values
/// of the report, and the new values.
fn store(folder: &Folder, file: &str, day: u32, changes: &[(&str, Value)]) {
    let mut report: Value = serde_json::from_str(&fs::read_to_string(STORED).unwrap()).unwrap();
    report["created"] = format!("2026-11-{day:02}T12:00:00Z").into();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = report.pointer_mut(parent).expect("an object");
        parent[key] = value.clone();
    }
    let path = folder.file(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, report.to_string()).unwrap();
}

/// The name of the file of a run that `--save` stores.
fn saved(run: &str) -> String {
    format!("reports/a-cpu/{run}/report.json")
}

#[test]
fn saved_runs_of_same_state_are_history() {
    let folder = Folder::new();
    for (run, day) in [("2026-11-01", 1), ("2026-11-02", 2), ("2026-11-02-2", 3)] {
        store(&folder, &saved(run), day, &[]);
    }
    // The same run again, and a run after the old one, which may be after a change.
    store(&folder, &saved("2026-11-02-3"), 3, &[]);
    store(&folder, &saved("2026-11-09"), 9, &[]);
    store(&folder, &saved("2026-11-05"), 5, &[]);
    store(&folder, "new.json", 10, &[]);
    let old = saved("2026-11-05");
    assert_eq!(runs(&folder, &[&old, "new.json"]), [1, 1, 3]);
    assert_eq!(
        runs(&folder, &[&old, "new.json", "--no-history"]),
        [1, 1, 0]
    );
    let earlier = saved("2026-11-01");
    assert_eq!(
        runs(&folder, &[&old, "--history", &earlier, "--", "new.json"]),
        [1, 1, 1]
    );
    // A run on a side is in no history.
    assert_eq!(runs(&folder, &[&old, &earlier]), [1, 1, 2]);
    assert_eq!(
        runs(&folder, &[&earlier, &old, "--", "new.json"]),
        [2, 1, 2]
    );
    compare(
        &folder,
        &[&old, "new.json", "--no-history", "--history", &earlier],
    )
    .code(2)
    .stderr(contains("cannot be used with"));
    // A copy elsewhere is stored with no other run.
    fs::copy(folder.file(&old), folder.file("old.json")).unwrap();
    assert_eq!(runs(&folder, &["old.json", "new.json"]), [1, 1, 0]);
}

#[test]
fn other_baselines_are_history() {
    let folder = Folder::new();
    for (name, day) in [("first", 1), ("second", 2), ("before", 3), ("after", 4)] {
        store(&folder, &format!("home/baselines/{name}.json"), day, &[]);
    }
    assert_eq!(runs(&folder, &["before", "after"]), [1, 1, 2]);
    assert_eq!(
        runs(&folder, &["first", "second", "--", "after"]),
        [2, 1, 0]
    );
    assert_eq!(
        runs(&folder, &["before", "after", "--no-history"]),
        [1, 1, 0]
    );
    let path = PathBuf::from("home/baselines/second.json");
    assert_eq!(runs(&folder, &[path.to_str().unwrap(), "after"]), [1, 1, 1]);
}

#[test]
fn uses_newest_thirty_runs() {
    let folder = Folder::new();
    for number in 1..=33 {
        let file = saved(&format!("2026-11-01-{number}"));
        let minute = format!("2026-11-01T12:{number:02}:00Z");
        store(&folder, &file, 1, &[("/created", minute.into())]);
    }
    store(&folder, "new.json", 2, &[]);
    assert_eq!(
        runs(&folder, &[&saved("2026-11-01-33"), "new.json"]),
        [1, 1, 30]
    );
    assert_eq!(
        runs(&folder, &[&saved("2026-11-01-3"), "new.json"]),
        [1, 1, 2]
    );
}
