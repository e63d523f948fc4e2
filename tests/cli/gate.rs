//! `gate`: probes this machine and compares it with baselines that are made by hand from a probe.

use std::fs;
use std::sync::OnceLock;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use serde_json::{Value, json};

use super::folder::Folder;
use super::{assert_fails, printed, run};

/// Writes a changed copy of a report of the clock `monotonic` of this machine, and returns its path. The timer
/// is a glob, because the program fails for a timer given by name whose resolution a busy machine
/// does not reveal.
fn write(folder: &Folder, name: &str, change: impl Fn(&mut Value)) -> String {
    static REPORT: OnceLock<Value> = OnceLock::new();
    let probe = || super::answer("probe --quick monotoni? -f json");
    let mut report = REPORT.get_or_init(probe).clone();
    change(&mut report);
    fs::write(folder.file(name), report.to_string()).unwrap();
    folder.arg(name)
}

/// Runs `gate` until it decides: a busy machine leaves open whether a step is longer.
fn decided(baseline: &str) -> Assert {
    let mut ends = (0..9).map(|_| run(&format!("gate {baseline}")));
    let is_decided = |end: &Assert| !printed(end).contains("open whether ");
    ends.find(is_decided).expect("one of nine probes decides")
}

/// Multiplies the costs in a report, as if each read had taken that many times as long.
fn scale_costs(report: &mut Value, factor: f64) {
    for process in report["timers"][0]["processes"].as_array_mut().unwrap() {
        process["amortised_ns"] = (process["amortised_ns"].as_f64().unwrap() * factor).into();
    }
}

#[test]
fn judges_cost_resolution_trust_and_source() {
    let folder = Folder::new();
    let slower = write(&folder, "slower.json", |report| {
        scale_costs(report, 1e3);
        report["timers"][0]["resolution_ns"] = json!({"value": 1e6, "low": null, "high": null});
    });
    let passed = decided(&slower).success().stderr("");
    let text = printed(&passed);
    let line = text.lines().next().unwrap_or_default();
    assert!(
        line.starts_with("gate: passed: no read costs more than 10 % more (most: monotonic -")
            && line.contains("; no step is more than 10 % longer (most: monotonic ")
            && line.contains("; no clock lost trust; no slower clock source; ")
            && line.ends_with(" s"),
        "{line}"
    );
    let faster = write(&folder, "faster.json", |report| {
        scale_costs(report, 1e-3);
        report["timers"][0]["resolution_ns"] = json!({"value": 1e-3, "low": null, "high": null});
        report["platform"]["kernel"]["release"] = "0.1".into();
    });
    let cost = "gate: failed: a read costs more than 10 % more: monotonic ";
    let step = "; a step is more than 10 % longer: monotonic 0.001000 ns → ";
    let line = starts_with(cost).and(contains(step));
    let line = line.and(contains("; probable cause: kernel 0.1 → "));
    let line = line.and(contains("; no clock lost trust; "));
    let ended = decided(&faster).code(3);
    ended.stdout(line.and(contains("; 1 run, ")));
}

#[test]
fn undecided_within_budget_says_what_decides() {
    let folder = Folder::new();
    // Without instructions the machine may be twice as slow as it was.
    let same = write(&folder, "same.json", |_| ());
    let open = "gate: undecided: open whether a read costs more than 50 % more: monotonic within ";
    let decides = contains(": a larger limit or more runs decide it; ");
    run(&format!("gate {same} --fail-if=cost>50% --budget=1ms"))
        .code(4)
        .stdout(starts_with(open).and(decides));
}

#[test]
fn judges_folder_of_runs() {
    let folder = Folder::new();
    fs::create_dir(folder.file("runs")).unwrap();
    for year in [2030, 2031] {
        write(&folder, &format!("runs/{year}.json"), |report| {
            scale_costs(report, 1e3);
            report["created"] = format!("{year}-01-01T00:00:00Z").into();
        });
    }
    let line = format!("gate {} --fail-if=cost>10% -f json", folder.arg("runs"));
    let found = super::answer(&line);
    assert_eq!(found["runs"][0], 2, "{found}");
    // One damaged report makes the whole baseline unreadable.
    fs::write(folder.file("runs/c.json"), "{}").unwrap();
    let unreadable = contains("c.json").and(contains("not all reports could be read"));
    run(&line).code(1).stdout("").stderr(unreadable);
}

/// A baseline that is undecided in every run would hide that nothing is compared; a misspelt name is wrong
/// usage.
#[test]
fn unreadable_baseline_fails() {
    let folder = Folder::new();
    let whole = write(&folder, "whole.json", |_| ());
    let text = fs::read_to_string(&whole).unwrap();
    fs::write(folder.file("cut.json"), &text[..text.len() / 2]).unwrap();
    fs::create_dir(folder.file("none")).unwrap();
    for (name, status, words) in [
        ("cut.json", 1, "is not a report"),
        ("none", 1, "there is no report in the folder"),
        ("no/such/folder", 2, "there is no"),
    ] {
        let refused = contains(words).and(contains(name));
        let ended = run(&format!("gate {} -f json", folder.arg(name)));
        ended.code(status).stdout("").stderr(refused);
    }
    assert_fails("gate typo", 2, "typo");
    let near = contains("did you mean `monotonic`");
    let ended = run(&format!("gate {whole} --fail-if=cost[monotonc]>5%"));
    ended.code(2).stdout("").stderr(near);
}

#[test]
fn leaves_unlike_baselines_undecided() {
    let folder = Folder::new();
    let other = write(&folder, "other.json", |report| {
        report["platform"]["cpu"]["model"] = "Another CPU".into();
    });
    let hosted = write(&folder, "hosted.json", |report| {
        report["timers"][0]["runtime"] = "java".into();
        report["timers"][0]["id"] = "java:nanoTime".into();
    });
    for (baseline, words) in [(other, "(another CPU)"), (hosted, "no native clock")] {
        let undecided = run(&format!("gate {baseline}")).code(4);
        let undecided = undecided.stdout(starts_with("gate: undecided: ").and(contains(words)));
        assert_eq!(printed(&undecided).lines().count(), 1);
    }
}
