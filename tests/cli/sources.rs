//! `check --sources` with a simulated `/sys`: the clocks are those of this machine, but the
//! settings of the clock source are files in a temporary folder.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, timermeter};
use crate::program::program;

const CURRENT: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

/// A folder with the files of the clock source.
fn simulated_sys(current: &str, available: &str) -> Folder {
    let folder = Folder::new();
    for (path, text) in [(CURRENT, current), (AVAILABLE, available)] {
        let file = folder.file(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

/// The name of the current clock source in the folder.
fn current_source(folder: &Folder) -> String {
    fs::read_to_string(folder.file(CURRENT))
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn measures_each_source_and_restores() {
    let folder = simulated_sys("hpet\n", "tsc hpet\n");
    let root = folder.arg(".");
    timermeter(&["check", "--sources", "--root", &root])
        .success()
        .stdout(contains("--sources --yes"));
    assert_eq!(current_source(&folder), "hpet");
    let done = timermeter(&[
        "check",
        "--sources",
        "--yes",
        "--root",
        &root,
        "--format",
        "json",
    ]);
    let document = json(&done);
    assert_eq!(
        (document["schema"].as_str(), document["current"].as_str()),
        (Some("timermeter.sources.v1"), Some("hpet"))
    );
    let sources = document["sources"].as_array().unwrap();
    let names: Vec<&str> = sources
        .iter()
        .filter_map(|source| source["name"].as_str())
        .collect();
    assert_eq!(names, ["tsc", "hpet"], "{document}");
    // A busy machine may give a reason instead of a cost.
    assert!(
        sources
            .iter()
            .all(|source| source["cost_ns"].is_object() != source["reason"].is_string()),
        "{document}"
    );
    assert_eq!(current_source(&folder), "hpet");
}

#[test]
fn restores_source_after_sigkill() {
    let folder = simulated_sys("hpet\n", "tsc hpet\n");
    let mut command = Command::new(program());
    command
        .args(["check", "--sources", "--yes", "--root", &folder.arg(".")])
        .stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    while current_source(&folder) != "tsc" {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it changed anything"
        );
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // The guard process restores it when the program is gone.
    while current_source(&folder) != "hpet" {
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn reports_machine_without_sources() {
    let folder = Folder::new();
    timermeter(&["check", "--sources", "--root", &folder.arg(".")])
        .code(1)
        .stderr(contains("shows no clock sources"));
    timermeter(&["check", "--yes"])
        .code(2)
        .stderr(contains("--sources").or(contains("required")));
}
