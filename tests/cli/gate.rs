//! `gate`: probes this machine and compares it with baselines that are made by hand from a probe.

use std::fs;
use std::sync::OnceLock;

use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, run, timermeter};

/// A report of the clock `monotonic` of this machine. The timer is a glob, because the program
/// fails for a timer given by name whose resolution a busy machine does not reveal. The report does
/// not tell whether its processes shared their cores: if it did, a probe whose processes did would
/// be undecided after one whose processes did not.
fn report() -> Value {
    static REPORT: OnceLock<Value> = OnceLock::new();
    let probe = || {
        let mut report = json(&run("probe --quick monotoni? -f json").success());
        for process in report["timers"][0]["processes"].as_array_mut().unwrap() {
            process["core"] = "unknown".into();
        }
        report
    };
    REPORT.get_or_init(probe).clone()
}

/// Writes a changed copy of the report, and returns its path.
fn write(folder: &Folder, name: &str, change: impl Fn(&mut Value)) -> String {
    let mut report = report();
    change(&mut report);
    fs::write(folder.file(name), report.to_string()).unwrap();
    folder.arg(name)
}

/// Multiplies all numbers in a value except shares.
fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Number(number) => *value = (number.as_f64().unwrap() * factor).into(),
        Value::Array(parts) => parts.iter_mut().for_each(|part| scale(part, factor)),
        Value::Object(parts) => parts
            .iter_mut()
            .filter(|(key, _)| *key != "share")
            .for_each(|(_, part)| scale(part, factor)),
        _ => {}
    }
}

/// Multiplies the costs in a report, as if each read had taken that many times as long.
fn scale_costs(report: &mut Value, factor: f64) {
    let row = &mut report["timers"][0];
    for part in [
        "/cost_ns",
        "/cost_cycles",
        "/amortised_ns",
        "/cost/single_median_ns",
        "/cost/p99_ns",
        "/distribution/modes",
    ] {
        row.pointer_mut(part)
            .into_iter()
            .for_each(|part| scale(part, factor));
    }
    for process in row["processes"].as_array_mut().unwrap() {
        for part in ["cost_ns", "amortised_ns", "amortised_cycles"] {
            scale(&mut process[part], factor);
        }
    }
}

#[test]
fn passes_if_no_condition_holds() {
    let folder = Folder::new();
    let baseline = write(&folder, "before.json", |report| scale_costs(report, 4.0));
    let passed = run(&format!("gate {baseline}")).success().stderr("");
    let text = printed(&passed);
    let line = text.lines().next().unwrap_or_default();
    assert!(
        line.starts_with("gate: passed: no read of monotonic costs more than 10 % more (-")
            && line.contains("; no resolution of monotonic rose by more than 10 % (")
            && line.contains("; no clock (monotonic) lost trust; no slower clock source; ")
            && line.ends_with(" s"),
        "{line}"
    );
}

#[test]
fn longer_step_fails_by_default() {
    let folder = Folder::new();
    let baseline = write(&folder, "before.json", |report| {
        scale_costs(report, 4.0);
        scale(&mut report["timers"][0]["resolution_ns"], 1e-4);
    });
    let found = json(&run(&format!("gate {baseline} --format json")).code(3));
    let held = found["conditions"].as_array().expect("a list");
    assert_eq!(held.len(), 1, "{found}");
    let held = held[0].as_str().unwrap_or_default();
    assert!(
        held.starts_with("a resolution of monotonic rose by more than 10 %: monotonic (+"),
        "{held}"
    );
}

#[test]
fn further_probes_confirm_condition_that_holds() {
    let folder = Folder::new();
    let baseline = write(&folder, "before.json", |report| scale_costs(report, 0.25));
    let args = ["gate", &baseline, "--fail-if", "cost>10%", "--fail-if"];
    timermeter(&[&args[..], &["cost[mono*]<-10%"]].concat())
        .code(3)
        .stdout(
            starts_with("gate: failed: a read costs more than 10 % more: monotonic (+")
                .and(contains("; no read of mono* costs more than 10 % less ("))
                .and(contains("; 3 runs, ")),
        )
        .stderr("");
    // Without time for further probes, the first one decides, unless the machine is so busy that
    // its time sufficed for one process only.
    let found = json(&run(&format!("gate {baseline} --budget 1ms --format json")));
    assert_eq!(found["runs"][1], 1, "{found}");
    let (sentences, words) = match found["exit_status"].as_u64() {
        Some(3) => (
            &found["conditions"],
            "a read of monotonic costs more than 10 % more: monotonic (+",
        ),
        _ => (
            &found["open"],
            "open whether a read of monotonic costs more than 10 % more: monotonic without intervals, from a single process",
        ),
    };
    let first = sentences[0].as_str();
    assert!(
        first.is_some_and(|first| first.starts_with(words)),
        "{found}"
    );
}

#[test]
fn probes_only_clocks_of_conditions() {
    let folder = Folder::new();
    let baseline = write(&folder, "before.json", |report| {
        scale_costs(report, 4.0);
        report["timers"][0]["cost"]["reference"] = "realtime".into();
        for id in ["realtime", "times"] {
            let mut row = report["timers"][0].clone();
            row["id"] = id.into();
            report["timers"].as_array_mut().unwrap().push(row);
        }
    });
    let args = ["gate", &baseline, "--format", "json", "--fail-if"];
    let probed = |condition: &str| {
        let found = json(&timermeter(&[&args[..], &[condition]].concat()));
        let figures = found["figures"].as_array().unwrap().iter();
        let costs = figures.filter(|figure| figure["quantity"] == "cost");
        let timers = costs.map(|figure| figure["timer"].as_str().unwrap().to_owned());
        let mut timers: Vec<String> = timers.collect();
        timers.sort_unstable();
        timers
    };
    assert_eq!(probed("cost[monotonic]>10%"), ["monotonic", "realtime"]);
    assert_eq!(probed("cost>10%"), ["monotonic", "realtime", "times"]);
}

#[test]
fn judges_folder_of_runs() {
    let folder = Folder::new();
    fs::create_dir(folder.file("runs")).unwrap();
    for (name, year) in [("a", "2030"), ("b", "2031")] {
        write(&folder, &format!("runs/{name}.json"), |report| {
            scale_costs(report, 4.0);
            let created = report["created"].as_str().unwrap();
            report["created"] = (year.to_owned() + &created[4..]).into();
        });
    }
    let args = ["gate", &folder.arg("runs"), "--fail-if", "cost>10%"];
    let found = json(&timermeter(&[&args[..], &["--format", "json"]].concat()).success());
    assert_eq!(found["runs"][0], 2, "{found}");
    assert_eq!(found["exit_status"], 0, "{found}");
    assert!(
        found["passed"][0]
            .as_str()
            .is_some_and(|passed| passed.starts_with("no read costs more than 10 % more (")),
        "{found}"
    );
    // One damaged report makes the whole baseline unreadable.
    fs::write(folder.file("runs/c.json"), "{}").unwrap();
    timermeter(&args)
        .code(1)
        .stdout("")
        .stderr(contains("c.json").and(contains("not all reports could be read")));
    fs::remove_file(folder.file("runs/c.json")).unwrap();
    write(&folder, "runs/c.json", |report| {
        report["created"] = "2032-01-01T00:00:00Z".into();
        report["platform"]["clocksource"]["current"] = "hpet".into();
    });
    timermeter(&args)
        .code(2)
        .stdout("")
        .stderr(contains("not of the same machine"));
}

/// A baseline that is undecided in every run would hide that nothing is compared.
#[test]
fn unreadable_baseline_fails() {
    let folder = Folder::new();
    let whole = write(&folder, "whole.json", |_| ());
    let text = fs::read_to_string(&whole).unwrap();
    for (name, text) in [
        ("cut.json", &text[..text.len() / 2]),
        ("empty.json", ""),
        ("newer.json", &text.replace("report.v2", "report.v3")),
        ("binary.json", "\u{1f}\u{8b}\0\0"),
    ] {
        fs::write(folder.file(name), text).unwrap();
    }
    fs::create_dir(folder.file("none")).unwrap();
    fs::create_dir(folder.file("damaged")).unwrap();
    fs::write(folder.file("damaged/a.json"), "{").unwrap();
    fs::write(folder.file("damaged/b.json"), "{").unwrap();
    for (name, words) in [
        ("cut.json", "is not a report"),
        ("empty.json", "is not a report"),
        ("newer.json", "timermeter.report.v3"),
        ("binary.json", "is not a report"),
        ("none", "there is no report in the folder"),
        ("damaged", "no report could be read"),
    ] {
        for format in ["table", "json"] {
            timermeter(&["gate", &folder.arg(name), "--format", format])
                .code(1)
                .stdout("")
                .stderr(contains(words).and(contains(name)));
        }
    }
}

/// A misspelt name is wrong usage, not an undecided condition, which CI may tolerate.
#[test]
fn missing_baseline_is_wrong_usage() {
    let folder = Folder::new();
    let present = write(&folder, "present.json", |_| ());
    for name in ["typo", "absent.json", "no/such/folder"] {
        for args in [&["gate", name][..], &["compare", name, &present]] {
            timermeter(args)
                .code(2)
                .stdout("")
                .stderr(contains("there is n").and(contains(name)));
        }
    }
}

#[test]
fn leaves_unlike_baselines_undecided() {
    let folder = Folder::new();
    let other = write(&folder, "other.json", |report| {
        report["platform"]["cpu"]["model"] = "Another CPU".into();
    });
    let unknown = write(&folder, "unknown.json", |report| {
        for part in ["model", "vendor", "family", "model_number"] {
            report["platform"]["cpu"][part] = Value::Null;
        }
    });
    let hosted = write(&folder, "hosted.json", |report| {
        report["timers"][0]["runtime"] = "java".into();
        report["timers"][0]["id"] = "java:nanoTime".into();
    });
    for (baseline, words) in [
        (other.as_str(), "another CPU: Another CPU"),
        (&unknown, "does not name its CPU"),
        (&hosted, "no native clock"),
        ("reports/icpe2011-mbp53", "published"),
    ] {
        let undecided = run(&format!("gate {baseline}"))
            .code(4)
            .stdout(starts_with("gate: undecided: ").and(contains(words)));
        assert_eq!(printed(&undecided).lines().count(), 1);
    }
    let found = json(&run(&format!("gate {other} --format json")).code(4));
    assert_eq!(found["exit_status"], 4, "{found}");
    assert!(
        found["open"][0]
            .as_str()
            .is_some_and(|why| why.contains("another CPU")),
        "{found}"
    );
}

#[test]
fn rejects_wrong_usage_before_probing() {
    let folder = Folder::new();
    let baseline = write(&folder, "before.json", |_| ());
    run(&format!("gate {baseline} --fail-if cost[monotonc]>5%"))
        .code(2)
        .stdout("")
        .stderr(contains("did you mean `monotonic`"));
    for field in ["quality<-1", "spread<-0.05"] {
        run(&format!("gate {baseline} --fail-if {field}"))
            .code(2)
            .stdout("")
            .stderr(contains("'cost>10%'").and(contains("'resolution>10%'")));
    }
}

#[test]
fn unresolved_timer_is_not_lost() {
    let folder = Folder::new();
    let with = |status: &str| {
        let name = format!("{status}.json");
        write(&folder, &name, |report| add_timer(report, status))
    };
    let old = with("ok");
    for (status, code) in [("failed", 3), ("unavailable", 3), ("unresolved", 0)] {
        timermeter(&["compare", "--fail-if=lost>0", &old, &with(status)]).code(code);
    }
}

/// Adds the timer `times` with this status to a report.
fn add_timer(report: &mut Value, status: &str) {
    let mut row = report["timers"][0].clone();
    row["id"] = "times".into();
    row["status"] = status.into();
    if status != "ok" {
        row["resolution_ns"] = Value::Null;
        row["quality"] = Value::Null;
        row["reason"] = "no figures".into();
    }
    report["timers"].as_array_mut().unwrap().push(row);
}
