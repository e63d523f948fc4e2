//! `check --tune` on machines whose `/proc` and `/sys` were made up.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, timermeter};

const GOVERNOR: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
const OTHER: &str = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const RATE: &str = "proc/sys/kernel/perf_event_max_sample_rate";
const INTERRUPT: &str = "proc/irq/9/smp_affinity_list";
const RECORD: &str = "run/timermeter/tuned.json";
/// No user may write it, not even root.
const FIXED: &str = "/proc/sys/kernel/ostype";

fn put(folder: &Folder, path: &str, text: &str) {
    let file = folder.file(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A machine of 64 CPUs, as loud as its owner left it.
fn loud() -> Folder {
    let folder = Folder::new();
    put(&folder, "sys/devices/system/cpu/online", "0-63\n");
    for (path, text) in [
        (GOVERNOR, "powersave\n"),
        (OTHER, "powersave\n"),
        (NO_TURBO, "0\n"),
        (RATE, "100000\n"),
        (INTERRUPT, "0-63\n"),
    ] {
        put(&folder, path, text);
    }
    folder
}

fn tune(folder: &Folder, more: &[&str]) -> assert_cmd::assert::Assert {
    timermeter(&[&["check", "--tune", "--root", &folder.arg(".")], more].concat())
}

fn now(folder: &Folder) -> Vec<String> {
    [GOVERNOR, OTHER, NO_TURBO, RATE, INTERRUPT]
        .map(|path| fs::read_to_string(folder.file(path)).unwrap().trim().to_owned())
        .to_vec()
}

fn changes(document: &Value) -> &Vec<Value> {
    document["changes"].as_array().unwrap()
}

#[test]
fn a_plan_changes_nothing() {
    let folder = loud();
    let before = now(&folder);
    let plan = json(&tune(&folder, &["--format", "json"]).success());
    let codes: Vec<&str> = changes(&plan).iter().map(|change| change["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["governor", "governor", "turbo", "sample-rate", "interrupts"]);
    assert!(changes(&plan).iter().all(|change| change["done"].is_null()), "{plan}");
    let text = printed(&tune(&folder, &[]).success());
    assert!(
        text.contains("powersave → performance") && text.contains("and 1 more") && text.contains("ASLR"),
        "{text}"
    );
    assert_eq!(now(&folder), before);
    assert_eq!(folder.names(), ["proc", "sys"]);
}

#[test]
fn what_is_changed_is_set_back_exactly() {
    let folder = loud();
    let before = now(&folder);
    let done = json(&tune(&folder, &["--apply", "--format", "json"]).success());
    assert!(changes(&done).iter().all(|change| change["done"] == true), "{done}");
    let quiet = now(&folder);
    assert_eq!(quiet[..4], ["performance", "performance", "1", "1"]);
    let cpu = done["cpu"].as_u64().unwrap();
    let others = |part: &str| part.split('-').all(|end| end.parse::<u64>().unwrap() != cpu);
    assert!(quiet[4] != before[4] && quiet[4].split(',').all(others), "CPU {cpu} of {}", quiet[4]);
    // Once more, after a part of it was changed: what stood there first is what counts, and which CPU was chosen.
    put(&folder, GOVERNOR, "schedutil\n");
    let again = tune(&folder, &["--apply"]).success().stdout(contains("schedutil → performance"));
    again.stdout(contains(format!("--cpu {cpu}.")));
    tune(&folder, &["--apply"]).success().stdout(contains("Nothing here has to be changed"));
    tune(&folder, &["--undo"]).success().stdout(contains("performance → powersave"));
    assert_eq!(now(&folder), before);
    assert!(!folder.file(RECORD).exists());
    tune(&folder, &["--undo"]).success().stdout(contains("Nothing is changed that could be set back"));
}

#[test]
fn what_cannot_be_changed_is_told_and_the_rest_can_be_undone() {
    if !Path::new(FIXED).exists() {
        return crate::skipping::not_installed("/proc", "mount it");
    }
    let folder = loud();
    fs::remove_file(folder.file(OTHER)).unwrap();
    symlink(FIXED, folder.file(OTHER)).unwrap();
    let before = now(&folder);
    let done = json(&tune(&folder, &["--apply", "--format", "json"]).code(3));
    let failed: Vec<&Value> = changes(&done).iter().filter(|change| change["done"] == false).collect();
    assert!(
        failed.len() == 1 && failed[0]["path"] == format!("/{OTHER}") && failed[0]["reason"].is_string(),
        "{done}"
    );
    assert_eq!(now(&folder)[0], "performance");
    let record: Value = serde_json::from_str(&fs::read_to_string(folder.file(RECORD)).unwrap()).unwrap();
    assert_eq!(record["settings"].as_array().unwrap().len(), 4, "what was not changed is not written down");
    // The one that fails stays; others are set back.
    let kept = fs::read_to_string(folder.file(RECORD)).unwrap();
    fs::remove_file(folder.file(NO_TURBO)).unwrap();
    tune(&folder, &["--undo"]).code(3).stdout(contains("FAILED"));
    put(&folder, NO_TURBO, "1\n");
    tune(&folder, &["--undo"]).success().stdout(contains("1 → 0"));
    assert_eq!(now(&folder), before);
    // What had just been written down when the program was ended.
    put(&folder, RECORD, &kept);
    tune(&folder, &["--undo"]).success();
    assert_eq!(now(&folder), before);
}

#[test]
fn nothing_is_begun_where_nothing_may_be_written() {
    if !Path::new(FIXED).exists() {
        return crate::skipping::not_installed("/proc", "mount it");
    }
    let folder = Folder::new();
    put(&folder, "sys/devices/system/cpu/online", "0\n");
    fs::create_dir_all(folder.file(GOVERNOR).parent().unwrap()).unwrap();
    symlink(FIXED, folder.file(GOVERNOR)).unwrap();
    tune(&folder, &["--apply"])
        .code(1)
        .stdout("")
        .stderr(contains("nothing was changed").and(contains("as root")));
    assert!(!folder.file("run").exists());
}

#[test]
fn records_of_others_are_refused() {
    let folder = loud();
    let before = now(&folder);
    let setting = |path: &str| {
        format!(
            r#"{{"schema": "timermeter.tune.v1", "settings": [{{"code": "x", "path": "{path}", "value": "1"}}]}}"#
        )
    };
    for text in [setting("/etc/passwd"), setting("/sys/../etc/passwd"), "{}".into(), "rubbish".into()] {
        put(&folder, RECORD, &text);
        for flag in ["--undo", "--apply"] {
            tune(&folder, &[flag]).code(1).stderr(contains("nothing was changed"));
        }
    }
    assert_eq!(now(&folder), before);
    timermeter(&["check", "--apply"]).code(2);
    timermeter(&["check", "--tune", "--apply", "--undo"]).code(2);
}
