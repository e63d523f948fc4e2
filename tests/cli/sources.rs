//! `check --sources` with a simulated `/sys`: the clocks are those of this machine, but the
//! settings of the clock source are files in a temporary folder.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{json, program, run, timermeter};

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
    run(&format!("check --sources --root {root}"))
        .success()
        .stdout(contains("--sources --yes"));
    assert_eq!(current_source(&folder), "hpet");
    let done = run(&format!(
        "check --sources --yes --root {root} --format json"
    ));
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

/// A run that has set another source.
fn changed_by_run(folder: &Folder) -> Child {
    let mut command = Command::new(program());
    command
        .args(["check", "--sources", "--yes", "--root", &folder.arg(".")])
        .stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    while current_source(folder) != "tsc" {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it changed anything"
        );
        thread::sleep(Duration::from_millis(2));
    }
    child
}

/// Waits until neither a run nor its guard holds the lock on the source.
fn wait_for_lock(folder: &Folder) {
    let source = fs::File::open(folder.file(CURRENT)).unwrap();
    while timers::os::files::lock(&source).is_err() {
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn restores_source_after_sigkill() {
    let folder = simulated_sys("hpet\n", "tsc hpet\n");
    let mut child = changed_by_run(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    // The guard process restores it when the program is gone, and holds the lock until then.
    wait_for_lock(&folder);
    assert_eq!(current_source(&folder), "hpet");
}

#[test]
fn rejects_second_run_at_once() {
    let folder = simulated_sys("hpet\n", "tsc hpet\n");
    let mut child = changed_by_run(&folder);
    timermeter(&["check", "--sources", "--yes", "--root", &folder.arg(".")])
        .code(1)
        .stderr(contains("nothing was changed").and(contains("another process has locked it")));
    child.wait().unwrap();
    assert_eq!(current_source(&folder), "hpet");
}

/// What someone else chose meanwhile stays, whether the run goes on to its end, is interrupted or
/// killed.
#[test]
#[cfg(unix)]
fn leaves_source_chosen_meanwhile() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [None, Some(Signal::INT), Some(Signal::KILL)] {
        let folder = simulated_sys("hpet\n", "tsc hpet acpi_pm\n");
        let mut child = changed_by_run(&folder);
        fs::write(folder.file(CURRENT), "acpi_pm\n").unwrap();
        if let Some(signal) = signal {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        child.wait().unwrap();
        wait_for_lock(&folder);
        assert_eq!(current_source(&folder), "acpi_pm", "{signal:?}");
    }
}

#[test]
#[cfg(unix)]
fn restores_source_after_interrupt() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = simulated_sys("hpet\n", "tsc hpet\n");
    let mut child = changed_by_run(&folder);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_for_lock(&folder);
    assert_eq!(current_source(&folder), "hpet");
}

#[test]
fn reports_machine_without_sources() {
    let folder = Folder::new();
    timermeter(&["check", "--sources", "--root", &folder.arg(".")])
        .code(1)
        .stderr(contains("shows no clock sources"));
    run("check --yes")
        .code(2)
        .stderr(contains("--sources").or(contains("required")));
}
