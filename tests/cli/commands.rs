//! Commands that are measured, several of them against each other.

use std::fs;

use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, timermeter};

/// A report that was kept: nothing is probed.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/xeon-2026-11-21.json");

fn measure(more: &[&str]) -> assert_cmd::assert::Assert {
    timermeter(&[&["measure", "--clock", "monotonic", "--from", KEPT, "--error", "50%"], more].concat())
}

fn found(more: &[&str]) -> Value {
    json(&measure(&[&["--format", "json"], more].concat()).success())
}

#[track_caller]
fn refused(more: &[&str], status: i32, word: &str) {
    measure(more).code(status).stdout("").stderr(contains(word));
}

#[test]
fn commands_are_held_against_the_fastest() {
    let folder = Folder::new();
    let (slow, fast) = ("sh -c 'sleep 0.05; exit 0'", "sleep 0.002");
    let exports =
        ["md", "html", "csv", "json", "txt", "tex", "dat"].map(|ending| folder.arg(&format!("a.{ending}")));
    let mut args = vec!["--samples", "4", "--command", slow, "--command", fast];
    exports.iter().for_each(|path| args.extend(["--export", path]));
    let text = printed(&measure(&args).success());
    // A busy machine may not show it.
    let told = ["`sleep 0.002` ran ", "cannot be told apart"].iter().any(|words| text.contains(words));
    assert!(told && text.contains("`sh -c "), "{text}");
    let words = [
        "relative",
        "<table",
        "\nsleep 0.002,,runs,1,",
        "timermeter.measure.v1",
        "# runs ",
        "tabular",
        "# plot",
    ];
    for (path, word) in exports.iter().zip(words) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(word), "{path} lacks {word}: {text}");
    }
    let document: Value = serde_json::from_str(&fs::read_to_string(&exports[3]).unwrap()).unwrap();
    let [slow, fast] = [0, 1].map(|at| &document["measurements"][at]);
    let relative = |one: &Value, end: &str| one["command"]["relative"][end].as_f64().unwrap();
    assert_eq!(relative(fast, "ratio"), 1.0);
    assert!(relative(slow, "ratio") > 1.0 && relative(slow, "low") < relative(slow, "ratio"), "{slow}");
    for one in [slow, fast] {
        let (summary, runs) = (&one["summary"], &one["command"]);
        let [min, median, max] = ["min_ns", "median_ns", "max_ns"].map(|key| summary[key].as_f64().unwrap());
        assert!(min <= median && median <= max, "{summary}");
        assert_eq!((&summary["samples"], &runs["exit_codes"]), (&4.into(), &serde_json::json!([0, 0, 0, 0])));
        assert!(runs["user_ns"].as_f64().unwrap() + runs["system_ns"].as_f64().unwrap() > 0.0, "{runs}");
        assert!(one["stability"]["deviation"].is_number(), "{one}");
    }
}

#[test]
fn cpu_time_is_that_of_the_command() {
    let work = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done";
    let found =
        found(&["--samples", "3", "--command", &format!("sh -c '{work}'"), "--command", "sleep 0.05"]);
    let [works, sleeps] = [0, 1].map(|at| &found["measurements"][at]["command"]["user_ns"]);
    assert!(works.as_f64().unwrap() > sleeps.as_f64().unwrap(), "{found}");
}

/// What ran writes a letter each.
fn letters(folder: &Folder, run: impl Fn(&dyn Fn(&str) -> String)) -> String {
    let log = folder.arg("log");
    run(&|letter| format!("sh -c 'echo {letter} >> {log}'"));
    fs::read_to_string(&log).unwrap().replace('\n', "")
}

#[test]
fn each_run_is_prepared() {
    let folder = Folder::new();
    let ran = letters(&folder, |write| {
        let (prepare, command) = (write("p"), write("c"));
        measure(&["--samples", "3", "--warmup", "2", "--prepare", &prepare, "--command", &command]).success();
    });
    assert_eq!(ran, "pc".repeat(5));
}

#[test]
fn commands_take_turns_in_random_order() {
    let folder = Folder::new();
    let ran = letters(&folder, |write| {
        let commands = ["a", "b"].map(write);
        let prepares = ["A", "B"].map(write);
        let mut args = vec!["--samples", "12", "--warmup", "0"];
        commands.iter().for_each(|command| args.extend(["--command", command]));
        prepares.iter().for_each(|prepare| args.extend(["--prepare", prepare]));
        measure(&args).success();
    });
    let rounds: Vec<&str> = (0..12).map(|round| &ran[4 * round..4 * round + 4]).collect();
    assert!(ran.len() == 48 && rounds.iter().all(|round| ["AaBb", "BbAa"].contains(round)), "{ran}");
    assert!(rounds.contains(&"AaBb") && rounds.contains(&"BbAa"), "always in the same order: {ran}");
}

#[test]
fn failures_end_it_unless_they_are_ignored() {
    let failing = ["--samples", "3", "--command", "true", "--command", "sh -c 'exit 7'"];
    refused(&failing, 1, "exit status: 7");
    refused(&failing, 1, "--ignore-failure");
    let found = found(&[&failing[..], &["--ignore-failure"]].concat());
    assert_eq!(found["measurements"][1]["command"]["exit_codes"], serde_json::json!([7, 7, 7]));
    let text = printed(&measure(&[&failing[..], &["--ignore-failure"]].concat()).success());
    assert!(text.contains("3 of 3 runs failed"), "{text}");
    refused(&["--prepare", "false", "--ignore-failure", "--", "true"], 1, "--prepare: `false` failed");
    refused(&["--prepare", "/no/such/program", "--", "true"], 1, "/no/such/program");
    // What the first run leaves behind is in the way of the next.
    let folder = Folder::new();
    let made = folder.arg("made");
    refused(&["--samples", "3", "--", "mkdir", &made], 1, "failed");
}

#[test]
fn flags_that_do_not_fit() {
    refused(&["--warmup", "3", "multiply"], 2, "--warmup is about commands");
    refused(&["--prepare", "true", "multiply"], 2, "--prepare is about commands");
    refused(&["--ignore-failure"], 2, "--ignore-failure is about commands");
    refused(&["multiply", "--command", "true"], 2, "not both");
    let prepared = ["--command", "true", "--prepare", "true", "--prepare", "true"];
    refused(&prepared, 2, "once for each");
    refused(&["--export", "a.yaml", "--", "true"], 2, ".md, .html");
    refused(&["--export", "/no/such/folder/a.md", "--", "true"], 1, "/no/such/folder");
    refused(&["--command", "a | b"], 2, "sh -c");
    refused(&["--command", ""], 2, "there is no command");
    refused(&["multiply and more"], 2, "--command");
}
