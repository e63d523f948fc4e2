//! Two folders of reports as scripts meet them, on simulated fleets whose truth is known.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, program, timermeter};

const NODES: &str = "60";

/// A simulated fleet in a folder.
fn fleet(folder: &Folder, seed: &str) -> [String; 2] {
    let place = folder.arg("fleet");
    timermeter(&["selftest", "--fleet", NODES, "--seed", seed, "--save", &place]).success();
    ["fleet/before", "fleet/after"].map(|name| folder.arg(name))
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn figure<'a>(compared: &'a Value, timer: &str, quantity: &str) -> &'a Value {
    let figures = compared["figures"].as_array().expect("figures");
    let found = figures.iter().find(|figure| figure["timer"] == timer && figure["quantity"] == quantity);
    found.unwrap_or_else(|| panic!("no {quantity} of {timer}"))
}

fn names(of: &Value) -> Vec<&str> {
    of.as_array().expect("a list").iter().filter_map(|node| node["node"].as_str()).collect()
}

#[test]
fn the_comparison_finds_what_is_true_of_simulated_fleets() {
    for seed in ["11", "12"] {
        let args = ["selftest", "--fleet", "40", "--seed", seed, "--format", "json"];
        let found = json(&timermeter(&args).success());
        let share = |of: &Value| of["are"].as_f64().unwrap() / of["of"].as_f64().unwrap();
        let (regressed, unchanged) = (&found["regressed"], &found["unchanged"]);
        assert!(regressed["covered"]["of"].as_u64().unwrap() > 500, "{found}");
        // Broad: shares of some hundred figures, of which those of a fleet are no independent ones.
        assert!(share(&regressed["covered"]) > 0.9 && share(&unchanged["covered"]) > 0.88, "{found}");
        assert!(share(&regressed["told"]) > 0.97, "{found}");
        assert!(share(&unchanged["told"]) < 0.1 && share(&found["steps"]) < 0.1, "{found}");
        assert!(share(&found["fell"]) > 0.9 && share(&found["false_nodes"]) < 0.02, "{found}");
    }
}

#[test]
fn a_regression_is_found_and_whoever_fell_is_named() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "5");
    let truth: Value =
        serde_json::from_str(&fs::read_to_string(folder.file("fleet/truth.json")).unwrap()).unwrap();
    let compared = json(&timermeter(&["compare", &before, &after, "--format", "json"]).success());
    assert_eq!(compared["nodes"]["both"], 60);
    for timer in truth["regressed"].as_array().unwrap().iter().filter_map(Value::as_str) {
        if timer == "perf-cycles" {
            // Few nodes of so small a fleet have it.
            continue;
        }
        let cost = figure(&compared, timer, "cost");
        assert_eq!(cost["verdict"], "worse", "{cost}");
        let percent = cost["percent"].as_f64().unwrap();
        assert!((6.0..10.0).contains(&percent), "{cost}");
    }
    assert_eq!(figure(&compared, "rdtsc", "accuracy")["verdict"], "noise");
    let fell = truth["nodes"].as_array().unwrap().iter().filter(|node| node["fell"] == "after");
    let fell: Vec<&str> = fell.map(|node| node["name"].as_str().unwrap()).collect();
    assert!(!fell.is_empty());
    assert!(fell.iter().all(|node| names(&compared["unlike"]).contains(node)), "{fell:?}");
    let text = printed(&timermeter(&["compare", &before, &after]).success());
    assert!(text.starts_with("clock source: tsc → hpet (it fell) on 1 of 60 nodes"), "{text}");
    assert!(text.contains("kernel: 6.1.0-28-amd64 → 6.12.9-1-amd64 on all 60 nodes"), "{text}");
    let markdown = printed(&timermeter(&["compare", &before, &after, "--format", "markdown"]).success());
    assert!(markdown.contains("| monotonic-syscall | cost |"), "{markdown}");
    timermeter(&["compare", &before, &after, "--fail-if", "cost[monotonic]>5%"])
        .code(3)
        .stdout(contains("condition holds: cost[monotonic]>5% (monotonic)"));
    timermeter(&["compare", &before, &after, "--fail-if", "cost[rdtsc*]>5%"]).success();
    timermeter(&["compare", &before, &after, "--fail-if", "trust<0"]).code(3);
    let itself = json(&timermeter(&["compare", &before, &before, "--format", "json"]).success());
    assert_eq!((&itself["worse"], &itself["better"]), (&Value::from(0), &Value::from(0)), "{itself}");
}

#[test]
fn bad_reports_lose_no_other_node() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "6");
    let [old, new] = [files(&before), files(&after)];
    // One cut off, one that is no report, one of 1970, one that is called as another, and one that is gone.
    let text = fs::read_to_string(&new[0]).unwrap();
    fs::write(&new[0], &text[..text.len() / 2]).unwrap();
    fs::write(Path::new(&after).join("notes.json"), "{}").unwrap();
    let text = fs::read_to_string(&new[1]).unwrap();
    fs::write(&new[1], text.replacen("\"2026-", "\"1970-", 1)).unwrap();
    let twin = Path::new(&after).join(new[2].file_stem().unwrap());
    fs::create_dir(&twin).unwrap();
    fs::copy(&new[2], twin.join("report.json")).unwrap();
    fs::remove_file(&old[3]).unwrap();
    let cut = new[0].file_name().unwrap().to_str().unwrap().to_owned();
    let name = new[2].file_stem().unwrap().to_str().unwrap().to_owned();
    let told = timermeter(&["compare", &before, &after, "--format", "json"])
        .code(4)
        .stderr(contains("notes.json").and(contains("no report")))
        .stderr(contains(cut))
        .stderr(contains(format!("called {name}: their reports are called by their files")))
        .stderr(contains("1 of 58 nodes has a new report that says it was made before the old one: its clock was set wrong"));
    let compared = json(&told);
    // The old report of the doubled name goes by its file too, and so does one of the two new ones.
    let nodes = &compared["nodes"];
    assert_eq!(
        [&nodes["both"], &nodes["only_old"], &nodes["only_new"]],
        [58, 1, 2].map(Value::from).each_ref()
    );
    assert_eq!(figure(&compared, "monotonic", "cost")["verdict"], "worse");
}

#[test]
fn fleets_of_other_nodes_are_compared_as_two_samples() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "7");
    for (at, (old, new)) in files(&before).iter().zip(&files(&after)).enumerate() {
        fs::remove_file(if at % 2 == 0 { old } else { new }).unwrap();
    }
    let compared = json(&timermeter(&["compare", &before, &after, "--format", "json"]).success());
    assert_eq!(compared["nodes"]["both"], 0);
    let cost = figure(&compared, "monotonic-syscall", "cost");
    assert_eq!(cost["design"], "two_samples");
    let ends: Vec<f64> =
        cost["percent_interval"].as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
    assert!(ends[0] < 8.0 && 8.0 < ends[1], "{cost}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "8");
    fs::create_dir(folder.file("empty")).unwrap();
    let empty = folder.arg("empty");
    timermeter(&["compare", &before, &empty]).code(4).stderr(contains("there is no report in the folder"));
    timermeter(&["compare", &empty, &after]).code(4).stdout(predicate::str::is_empty());
    let one = files(&after)[0].display().to_string();
    timermeter(&["compare", &one, &after]).code(2).stderr(contains("name two folders"));
    // Nothing is written over.
    let place = folder.arg("fleet");
    timermeter(&["selftest", "--fleet", "3", "--save", &place]).code(1).stderr(contains("is there already"));
    timermeter(&["selftest", "--save", &place]).code(2);
    timermeter(&["selftest", "--fleet", "0"]).code(2);
    let nowhere = folder.arg("no/where");
    timermeter(&["selftest", "--fleet", "3", "--save", &nowhere]).code(1).stderr(contains("cannot keep"));
    assert_eq!(folder.names(), ["empty", "fleet"].map(Into::<std::ffi::OsString>::into));
}

/// The judge ends with 3 where something stands out, and with 0 where nothing does.
#[test]
fn the_judge_of_a_fleet_says_by_its_status_whether_something_stands_out() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "5");
    let truth: Value =
        serde_json::from_str(&fs::read_to_string(folder.file("fleet/truth.json")).unwrap()).unwrap();
    let judged = json(&timermeter(&["fleet", &after, "--format", "json"]).code(3));
    let findings = judged["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    let found: Vec<&str> = names(&judged["odd"]);
    let is_sound = |node: &&Value| {
        let faults = ["fell", "drifts", "lacks", "offset_ns"];
        faults.iter().all(|fault| node[fault].is_null()) && node["restless"] == false
    };
    let nodes = truth["nodes"].as_array().unwrap();
    let name = |node: &Value| node["name"].as_str().unwrap().to_owned();
    for node in nodes.iter().filter(|node| !node["fell"].is_null()) {
        assert!(found.contains(&name(node).as_str()), "{node}");
    }
    let text = printed(&timermeter(&["fleet", &after]).code(3));
    assert!(text.contains("clock source, 1 node: `hpet`"), "{text}");
    // Without the nodes that have a fault.
    for node in nodes.iter().filter(|node| !is_sound(node)) {
        fs::remove_file(Path::new(&before).join(name(node) + ".json")).unwrap();
    }
    let judged = json(&timermeter(&["fleet", &before, "--format", "json"]).success());
    assert!(judged["nodes"].as_u64().unwrap() > 40, "{judged}");
    assert_eq!(
        (&judged["findings"], &judged["odd"]),
        (&Value::from(Vec::<Value>::new()), &Value::from(Vec::<Value>::new()))
    );
    timermeter(&["fleet", &before]).success().stdout(contains("nothing stands out"));
    // What cannot be read is told, and is no finding.
    fs::write(Path::new(&before).join("cut.json"), "{").unwrap();
    let judged =
        json(&timermeter(&["fleet", &before, "--format", "json"]).code(3).stderr(contains("cut.json")));
    assert_eq!(judged["findings"].as_array().map(Vec::len), Some(0));
}

#[test]
fn screens_of_fleets_fit_the_terminal() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "9");
    for (columns, all) in [(80, false), (80, true), (120, true)] {
        let mut command = Command::new(program());
        command.args(["compare", &before, &after]).args(all.then_some("--all"));
        let text = printed(&command.env("COLUMNS", columns.to_string()).assert().success());
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(widest.chars().count() <= columns, "{columns}: {widest}");
    }
}

/// What stands in a simulated report is what a report is.
#[test]
fn simulated_reports_keep_to_the_schema() {
    let folder = Folder::new();
    let [before, after] = fleet(&folder, "10");
    let schema = serde_json::from_str(include_str!("../../docs/report.v1.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let all = [files(&before), files(&after), files(&folder.arg("fleet/midway"))].concat();
    assert_eq!(all.len(), 180);
    for file in all {
        let report: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        if let Err(error) = validator.validate(&report) {
            panic!("{}: {error}", file.display());
        }
    }
}
