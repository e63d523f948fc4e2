//! Baselines: reports that `--baseline` stores under a name.

use std::fs;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;

use super::command;
use super::folder::Folder;
use crate::stored::{MBP53, XEON};

/// Runs the program in the folder, with its baselines below `home` in it.
fn run(folder: &Folder, line: &str) -> Assert {
    let mut command = command(line);
    command
        .current_dir(folder.file("."))
        .env("TIMERMETER_HOME", folder.file("home"));
    command.assert().stderr(contains("panicked").not())
}

/// Stores a report as the baseline of this name.
fn store_baseline(folder: &Folder, name: &str) {
    fs::create_dir_all(folder.file("home/baselines")).unwrap();
    fs::copy(XEON, folder.file(&format!("home/baselines/{name}.json"))).unwrap();
}

#[test]
fn compares_machine_with_its_baseline() {
    let folder = Folder::new();
    // A glob, because the program fails for a timer given by name whose resolution a busy machine
    // does not reveal.
    run(&folder, "probe --quick monotonic-coars? --baseline before")
        .success()
        .stderr(contains("timermeter compare before"));
    assert_eq!(
        fs::read_dir(folder.file("home/baselines")).unwrap().count(),
        1
    );
    // Whether a figure changed depends on the machine, so only the compared timer is tested.
    let now = run(&folder, "compare before --format json")
        .success()
        .stderr(contains("probing this machine"));
    now.stdout(contains("monotonic-coarse"));
    run(&folder, "compare before before").success();
    run(&folder, &format!("compare before {XEON}")).success();
}

#[test]
fn distinguishes_baseline_names_from_files() {
    let folder = Folder::new();
    run(&folder, "compare before after")
        .code(2)
        .stderr(contains("no baseline is stored yet"));
    store_baseline(&folder, "before");
    store_baseline(&folder, "after");
    run(&folder, "compare before after").success();
    run(&folder, "compare befor after")
        .code(2)
        .stderr(contains("baselines: after, before"));
    // A word that names only a folder is that folder ...
    fs::create_dir(folder.file("reports")).unwrap();
    fs::copy(XEON, folder.file("reports/report.json")).unwrap();
    run(&folder, "compare reports -- after").success();
    // ... but it is ambiguous if a baseline has the same name.
    store_baseline(&folder, "reports");
    run(&folder, "compare reports -- after")
        .code(2)
        .stderr(contains("./reports for the file"));
    run(&folder, "compare ./reports -- after").success();
    run(&folder, "compare before.json after")
        .code(2)
        .stderr(contains("no file or folder 'before.json'"));
}

#[test]
fn refuses_unusable_baseline_before_probing() {
    let folder = Folder::new();
    for (args, status, words) in [
        ("probe --thorough --baseline a/b", 2, "letters, digits"),
        ("probe --thorough --baseline=-x", 2, "letters, digits"),
        (&format!("compare {MBP53}"), 4, "no native clock"),
        ("probe --thorough --baseline before", 1, "home/baselines"),
    ] {
        if status == 1 {
            fs::write(folder.file("home"), "").unwrap();
        }
        run(&folder, args)
            .code(status)
            .stdout("")
            .stderr(contains(words));
    }
    let mut homeless = command("probe --thorough --baseline before");
    for name in ["TIMERMETER_HOME", "XDG_DATA_HOME", "LOCALAPPDATA", "HOME"] {
        homeless.env_remove(name);
    }
    homeless
        .assert()
        .code(1)
        .stderr(contains("TIMERMETER_HOME"));
}

#[test]
fn failed_probe_keeps_old_baseline() {
    let folder = Folder::new();
    store_baseline(&folder, "before");
    // The program ends after it has prepared the file of the baseline.
    run(&folder, "probe --quick no-such-timer --baseline before").code(2);
    let stored = fs::read(folder.file("home/baselines/before.json")).unwrap();
    assert_eq!(stored, fs::read(XEON).unwrap());
    assert_eq!(
        fs::read_dir(folder.file("home/baselines")).unwrap().count(),
        1,
        "no unfinished file remains"
    );
}
