//! Tests `table --columns all` as CSV, the queries of deploy/sql over it, and `check --from` a folder:
//! reports of a fleet of 200 nodes, with planted outliers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;
use serde_json::{Value, json};

use crate::program::{command, printed};
use crate::skipping;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const TIMERS: [&str; 4] = ["monotonic", "rdtsc", "monotonic-syscall", "perf-cycles"];
const QUERIES: [&str; 6] = [
    "fit",
    "clock-source",
    "cost-outliers",
    "trust",
    "missing",
    "since",
];
/// The types of columns.
type Types = BTreeMap<String, String>;
/// Reads a view and a list of queries, and prints the rows of each query, and the types of all columns of
/// the CSV as DuckDB and pandas read them.
const SCRIPT: &str = "\
import json, sys
import duckdb, pandas
view, queries = json.load(sys.stdin)
connection = duckdb.connect()
connection.execute(view)
answers = [connection.execute(query).fetchall() for query in queries]
types = {row[0]: row[1] for row in connection.execute('DESCRIBE clocks').fetchall()}
kinds = {name: str(kind) for name, kind in pandas.read_csv('clocks.csv').dtypes.items()}
json.dump([answers, types, kinds], sys.stdout, default=str)
";

/// The report of a node on a day, made of a stored one. Costs of nodes differ by up to 1 %; all other
/// differences are planted.
fn report(base: &Value, name: &str, day: usize) -> Value {
    let mut report = base.clone();
    let (group, number) = name.split_once('-').unwrap();
    let number: usize = number.parse().unwrap();
    report["node"] = json!(name);
    report["created"] = json!(format!("2026-11-{day}T12:{number:02}:00Z"));
    let platform = &mut report["platform"];
    platform["cpu"]["model"] = json!(match group {
        "a" => "AMD EPYC 9R14",
        _ => "Intel Xeon 8488C",
    });
    platform["kernel"]["release"] = json!(match (group, day) {
        ("c", 20) => "6.6.1",
        ("c", _) => "6.12.9",
        ("d", _) => "5.10.0",
        _ => "6.1.0",
    });
    // What is bad about the clock, what its read costs as many times, and by which path it is read.
    let (source, mut times, path) = match (name, day) {
        ("a-03", 21) | ("c-08", 20) => ("hpet", 30.0, "system-call"),
        ("a-11", 21) => ("tsc", 2.0, "trapped"),
        ("b-07", 21) => ("tsc", 5.0, "user-mode"),
        _ if group == "d" => ("kvm-clock", 3.0, "system-call"),
        // It costs more, but is fit.
        ("a-07", 21) => ("tsc", 1.6, "user-mode"),
        _ => ("tsc", 1.0, "user-mode"),
    };
    platform["clocksource"]["current"] = json!(source);
    times *= 1.0 + 0.002 * ((number * 7 % 11) as f64 - 5.0);
    for row in report["timers"].as_array_mut().unwrap() {
        let id = row["id"].as_str().unwrap().to_owned();
        let times = match &*id {
            "monotonic" => times,
            "monotonic-syscall" if group == "c" && day == 21 => 1.08,
            _ => 1.0,
        };
        if id == "monotonic" {
            row["verdicts"]["read_path"]["path"] = json!(path);
        }
        if let ("b-05", "rdtsc") | ("b-09", "monotonic") = (name, &*id) {
            row["verdicts"]["stable"]["outcome"] = json!("fail");
            row["verdicts"]["stable"]["offset_ppm"] = json!(1e4);
            row["verdicts"]["stable"]["evidence"] = json!("it is fast");
        }
        for key in ["value", "low", "high"] {
            if let Some(ns) = row["cost_ns"][key].as_f64() {
                row["cost_ns"][key] = json!(ns * times);
            }
        }
    }
    report
}

/// A folder with the reports of four groups of 50 nodes, of one of them also those of the day before, and
/// `nodes.csv`, which lists one node more.
fn nodes() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let kept = fs::read_to_string(Path::new(ROOT).join("tests/data/xeon-2026-11-21.json"));
    let mut base: Value = serde_json::from_str(&kept.unwrap()).unwrap();
    let rows = base["timers"].as_array_mut().unwrap();
    rows.retain(|row| TIMERS.iter().any(|id| row["id"] == *id));
    fs::create_dir(folder.path().join("run")).unwrap();
    let mut names = "node\nc-99\n".to_owned();
    for group in ["a", "b", "c", "d"] {
        for number in 0..50 {
            let name = format!("{group}-{number:02}");
            names += &format!("{name}\n");
            for day in if group == "c" { 20..=21 } else { 21..=21 } {
                let path = folder.path().join(format!("run/{name}-{day}.json"));
                let text = report(&base, &name, day).to_string();
                fs::write(path, text).unwrap();
            }
        }
    }
    fs::write(folder.path().join("nodes.csv"), names).unwrap();
    folder
}

fn query(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(format!("deploy/sql/{name}.sql"))).unwrap()
}

fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    // `.ci/run` installs the packages there.
    let packages = format!("{ROOT}/target/python");
    command.args(["-c", script]).env("PYTHONPATH", packages);
    command
}

#[track_caller]
fn lacks_packages() -> bool {
    let imported = python("import duckdb, pandas").output();
    if imported.is_ok_and(|output| output.status.success()) {
        return false;
    }
    skipping::not_installed(
        "`python3` has no duckdb or no pandas",
        "python3 -m pip install --target target/python duckdb pandas",
    );
    true
}

/// What `SCRIPT` prints for all queries, in a folder with `clocks.csv`.
fn answers(folder: &Path) -> (Vec<Vec<Value>>, Types, Types) {
    let mut child = python(SCRIPT)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    let asked = json!([query("csv"), QUERIES.map(query)]);
    serde_json::to_writer(input, &asked).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The nodes whose clock is not fit: one of each kind, and a whole group.
fn unfit() -> Vec<String> {
    let group = (0..50).map(|number| format!("d-{number:02}"));
    let single = ["a-03", "a-11", "b-07", "b-09"].map(str::to_owned);
    single.into_iter().chain(group).collect()
}

#[test]
fn check_names_unfit_nodes() {
    let folder = nodes();
    let check = |line: &str| command(line).current_dir(folder.path()).assert();
    assert!(include_str!("../../README.md").contains("`check --from RUN`"));
    let all = printed(&check("check --from run").code(3));
    let lines: Vec<&str> = all.lines().collect();
    let named = lines
        .iter()
        .filter_map(|line| line.split_once(": not fit: "));
    let (named, reasons): (Vec<&str>, Vec<&str>) = named.unzip();
    assert_eq!(named, unfit());
    assert_eq!(lines[54], "a-00: fit");
    assert_eq!(lines[200..], ["54 not fit, 0 not known, 146 fit"]);
    for (reason, words) in reasons.into_iter().zip([
        "the clock source is hpet",
        "a read of CLOCK_MONOTONIC traps to the hypervisor and takes ",
        "a read of CLOCK_MONOTONIC takes 13",
        "CLOCK_MONOTONIC as the C library gives it is 1.00 % fast",
        "a read of CLOCK_MONOTONIC is a system call and takes ",
    ]) {
        assert!(reason.starts_with(words), "{reason}");
    }
    check("check --from run/a-00-21.json run/a-07-21.json").code(0);
    fs::write(folder.path().join("broken.json"), "{").unwrap();
    let broken = check("check --from run/a-00-21.json broken.json").code(3);
    broken.stderr(predicate::str::contains("'broken.json' is not a report"));
}

#[test]
fn queries_find_planted_outliers() {
    if lacks_packages() {
        return;
    }
    let folder = nodes();
    let mut table = command("table run -o clocks.csv --columns all");
    let done = table.current_dir(folder.path()).assert();
    done.success().stdout("");
    let (found, types, kinds) = answers(folder.path());
    for (rows, names) in found.iter().zip([
        json!(unfit()),
        json!(["a-03", "b-05", "b-09"]),
        json!(["a-07", "a-11", "b-07"]),
        json!(["b-05", "b-09"]),
        json!(["c-99"]),
    ]) {
        let named: Vec<&Value> = rows.iter().map(|row| &row[0]).collect();
        assert_eq!(json!(named), names);
    }
    let changed = found[5].iter().filter(|row| row[2] == "tsc");
    let changed: Vec<Value> = changed
        .map(|row| json!([row[3], row[4], row[6], row[9]]))
        .collect();
    assert_eq!(changed, [json!(["monotonic-syscall", "6.6.1", 49, 8.0])]);
    // Numbers are numbers, also where a column is empty or whole.
    for (key, kind) in kinds {
        let is_number = ["float64", "int64"].contains(&&*kind);
        assert!(is_number || !key.ends_with("_ns"), "{key}: {kind}");
    }
    for (key, kind) in [
        ("cost_ns", "DOUBLE"),
        ("cpu_family", "BIGINT"),
        ("date", "DATE"),
    ] {
        assert_eq!(types[key], kind, "{key}");
    }
}
