//! Tests `table --columns all` as CSV, and the queries of deploy/sql over it. The
//! reports are from 60 nodes on two days, with planted outliers.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::assert::OutputAssertExt;
use serde_json::{Value, json};

use crate::program::command;
use crate::skipping;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The folder in which `.ci/run` installs Python packages.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/python");
const TIMERS: [&str; 4] = ["monotonic", "rdtsc", "monotonic-syscall", "perf-cycles"];
const QUERIES: [&str; 6] = [
    "clock-source",
    "cost-outliers",
    "since",
    "trust",
    "kernels",
    "missing",
];
/// Reads a view and a list of queries, and prints the rows of each query.
const SCRIPT: &str = "\
import json, sys
import duckdb
view, queries = json.load(sys.stdin)
connection = duckdb.connect()
connection.execute(view)
json.dump([connection.execute(query).fetchall() for query in queries], sys.stdout, default=str)
";

fn kept() -> Value {
    let path = Path::new(ROOT).join("tests/data/xeon-2026-11-21.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the stored report is readable"))
        .expect("the text is JSON")
}

/// The report of a node on a day. Costs of nodes differ by up to 1 %; all other differences are
/// planted.
fn report(base: &Value, group: char, number: usize, day: usize) -> Value {
    let mut report = base.clone();
    let name = format!("{group}-{number:02}");
    report["node"] = json!(name);
    report["created"] = json!(format!("2026-11-{day}T12:{number:02}:00Z"));
    let platform = &mut report["platform"];
    platform["cpu"]["model"] = json!(if group == 'a' {
        "AMD EPYC 9R14"
    } else {
        "Intel Xeon 8488C"
    });
    platform["kernel"]["release"] = json!(match (group, day) {
        ('c', 20) => "6.6.1",
        ('c', _) => "6.12.9",
        _ => "6.1.0",
    });
    let is = |planted: &str| day == 21 && name == planted;
    if is("a-03") {
        platform["clocksource"]["current"] = json!("hpet");
    }
    for row in report["timers"]
        .as_array_mut()
        .expect("the report has timers")
    {
        let id = row["id"].as_str().expect("the row has an id").to_owned();
        let mut times = 1.0 + 0.002 * ((number * 7 % 11) as f64 - 5.0);
        if is("a-07") && id == "monotonic" {
            times *= 1.6;
        }
        if group == 'c' && day == 21 && id.ends_with("-syscall") {
            times *= 1.08;
        }
        if is("b-05") && id == "rdtsc" {
            row["verdicts"]["stable"]["outcome"] = json!("fail");
            row["verdicts"]["stable"]["evidence"] = json!("it drifts by 40 ppm");
            row["quality"] = json!({"value": 0.0, "low": 0.0, "high": 0.0});
        }
        for key in ["value", "low", "high"] {
            if let Some(ns) = row["cost_ns"][key].as_f64() {
                row["cost_ns"][key] = json!(ns * times);
            }
        }
    }
    report
}

/// A folder with the reports of three groups of 20 nodes on two days. `nodes.csv` lists one node
/// more.
fn nodes() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the folder is created");
    let mut base = kept();
    let is_kept = |row: &Value| TIMERS.iter().any(|id| row["id"] == *id);
    base["timers"]
        .as_array_mut()
        .expect("the report has timers")
        .retain(is_kept);
    let run = folder.path().join("run");
    fs::create_dir(&run).expect("the folder is created");
    let mut names = "node\nc-99\n".to_owned();
    for (group, number) in ['a', 'b', 'c']
        .into_iter()
        .flat_map(|group| (0..20).map(move |n| (group, n)))
    {
        names += &format!("{group}-{number:02}\n");
        for day in [20, 21] {
            let text = report(&base, group, number, day).to_string();
            fs::write(run.join(format!("{group}-{number:02}-{day}.json")), text)
                .expect("the file is written");
        }
    }
    fs::write(folder.path().join("nodes.csv"), names).expect("the file is written");
    folder
}

fn query(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(format!("deploy/sql/{name}.sql")))
        .expect("the query is readable")
}

fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", script]).env("PYTHONPATH", PACKAGES);
    command
}

#[track_caller]
fn lacks_duckdb() -> bool {
    if python("import duckdb")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return false;
    }
    skipping::not_installed(
        "`python3` has no duckdb",
        "python3 -m pip install --target target/python duckdb",
    );
    true
}

/// The rows that DuckDB returns for queries over the table of `deploy/sql/csv.sql`, in `folder`.
fn answers(folder: &Path, queries: &[String]) -> Vec<Vec<Value>> {
    let mut child = python(SCRIPT)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let text = json!([query("csv"), queries]).to_string();
    child
        .stdin
        .take()
        .expect("stdin is a pipe")
        .write_all(text.as_bytes())
        .expect("python3 reads stdin");
    let output = child.wait_with_output().expect("python3 exits");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

#[test]
fn queries_find_planted_outliers() {
    if lacks_duckdb() {
        return;
    }
    let folder = nodes();
    let mut table = command("table run -o clocks.csv --columns all");
    let done = table.current_dir(folder.path()).assert();
    done.success().stdout("");
    let found = answers(folder.path(), &QUERIES.map(query));
    let found: BTreeMap<&str, &Vec<Value>> = QUERIES.into_iter().zip(&found).collect();
    let beginnings = |name: &str, cells: usize| -> Vec<Value> {
        found[name]
            .iter()
            .map(|row| json!(row.as_array().expect("a row is an array")[..cells]))
            .collect()
    };
    assert_eq!(
        beginnings("clock-source", 4),
        [
            json!(["a-03", "clock source", "hpet", "tsc"]),
            json!(["b-05", "trust in rdtsc", "no", "yes"])
        ]
    );
    assert_eq!(
        beginnings("cost-outliers", 2),
        [json!(["a-07", "monotonic"])]
    );
    let [change] = found["since"].as_slice() else {
        panic!("{:?}", found["since"])
    };
    assert_eq!(
        (
            &change[0], &change[3], &change[4], &change[5], &change[6], &change[9]
        ),
        (
            &json!("Intel Xeon 8488C (Rocket Lake) family 6 model 167 x86_64"),
            &json!("monotonic-syscall"),
            &json!("6.6.1"),
            &json!("6.12.9"),
            &json!(20),
            &json!(8.0)
        )
    );
    assert_eq!(
        found["trust"].as_slice(),
        [json!([
            "b-05",
            "rdtsc",
            "pass",
            "pass",
            "fail",
            "it drifts by 40 ppm"
        ])]
    );
    // One CPU has three kernels and the other has one; three clocks each.
    assert_eq!(found["kernels"].len(), 12, "{:?}", found["kernels"]);
    assert_eq!(found["missing"].as_slice(), [json!(["c-99"])]);
}
