//! Tests `table --columns all` as CSV, the queries of deploy/sql over it, and `check --from` a folder:
//! reports of a fleet of 200 nodes, with planted outliers.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::assert::OutputAssertExt;
use serde_json::{Value, json};

use crate::program::{command, json as parsed, printed};
use crate::skipping;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The folder in which `.ci/run` installs Python packages.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/python");
const TIMERS: [&str; 4] = ["monotonic", "rdtsc", "monotonic-syscall", "perf-cycles"];
const QUERIES: [&str; 6] = [
    "fit",
    "clock-source",
    "cost-outliers",
    "since",
    "trust",
    "missing",
];
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
    let (group, number) = name.split_once('-').expect("a name is group and number");
    let number: usize = number.parse().expect("a number");
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
    for row in report["timers"].as_array_mut().expect("there are timers") {
        let id = row["id"].as_str().expect("the row has an id").to_owned();
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
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the folder is created");
    let kept = fs::read_to_string(Path::new(ROOT).join("tests/data/xeon-2026-11-21.json"));
    let mut base: Value = serde_json::from_str(&kept.expect("it is readable")).expect("JSON");
    let rows = base["timers"].as_array_mut().expect("there are timers");
    rows.retain(|row| TIMERS.iter().any(|id| row["id"] == *id));
    fs::create_dir(folder.path().join("run")).expect("the folder is created");
    let mut names = "node\nc-99\n".to_owned();
    for group in ["a", "b", "c", "d"] {
        for number in 0..50 {
            let name = format!("{group}-{number:02}");
            names += &format!("{name}\n");
            for day in if group == "c" { 20..=21 } else { 21..=21 } {
                let path = folder.path().join(format!("run/{name}-{day}.json"));
                let text = report(&base, &name, day).to_string();
                fs::write(path, text).expect("the file is written");
            }
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
fn answers(folder: &Path) -> Value {
    let mut child = python(SCRIPT)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let text = json!([query("csv"), QUERIES.map(query)]).to_string();
    let mut input = child.stdin.take().expect("stdin is a pipe");
    input
        .write_all(text.as_bytes())
        .expect("python3 reads stdin");
    drop(input);
    let output = child.wait_with_output().expect("python3 exits");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

/// The nodes whose clock is not fit: one of each kind, and a whole group.
fn unfit() -> BTreeSet<String> {
    let group = (0..50).map(|number| format!("d-{number:02}"));
    let single = ["a-03", "a-11", "b-07", "b-09"].map(str::to_owned);
    group.chain(single).collect()
}

#[test]
fn check_names_unfit_nodes() {
    let folder = nodes();
    let check = |line: &str| command(line).current_dir(folder.path()).assert();
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("it is readable");
    assert!(readme.contains("`check --from RUN`"));
    let all = printed(&check("check --from run").code(3));
    let lines: Vec<&str> = all.lines().collect();
    let named = lines
        .iter()
        .filter_map(|line| Some(line.split_once(": not fit: ")?.0.to_owned()));
    assert_eq!(named.collect::<BTreeSet<_>>(), unfit());
    assert!(
        lines[53].starts_with("d-49: not fit") && lines[54] == "a-00: fit",
        "{all}"
    );
    assert_eq!(lines[200..], ["54 not fit, 0 not known, 146 fit"]);
    for (line, reason) in [
        (lines[0], "the clock source is hpet"),
        (
            lines[1],
            "a read of CLOCK_MONOTONIC traps to the hypervisor and takes ",
        ),
        (lines[2], "a read of CLOCK_MONOTONIC takes 13"),
        (
            lines[3],
            "CLOCK_MONOTONIC as the C library gives it is 1.00 % fast",
        ),
        (lines[4], "a read of CLOCK_MONOTONIC is a system call"),
    ] {
        assert!(line.contains(reason), "{line}");
    }
    // The verdicts on one report and on many are the same.
    for (name, status) in [("a-03-21", 3), ("a-04-21", 0)] {
        let one = parsed(&check(&format!("check -f json --from run/{name}.json")));
        let files = format!("run/{name}.json run/a-00-21.json");
        let many = parsed(&check(&format!("check -f json --from {files}")).code(status));
        let mut machines = many.as_array().expect("an array").iter();
        let found = machines.find(|it| name.starts_with(it["node"].as_str().expect("a name")));
        for key in ["fit", "fit_reason"] {
            assert_eq!(one["assessment"][key], found.expect("the machine")[key]);
        }
    }
    fs::write(folder.path().join("broken.json"), "{").expect("the file is written");
    let broken = check("check --from run/a-00-21.json broken.json").code(3);
    let told = String::from_utf8_lossy(&broken.get_output().stderr);
    assert!(told.contains("'broken.json' is not a report"), "{told}");
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
    let found = answers(folder.path());
    let rows = |name: &str| {
        let at = QUERIES.iter().position(|it| *it == name).expect("a query");
        found[0][at].as_array().expect("rows").clone()
    };
    let beginnings = |name: &str, cells: usize| -> Vec<Value> {
        let rows = rows(name).into_iter();
        rows.map(|row| json!(row.as_array().expect("cells")[..cells]))
            .collect()
    };
    let fit = rows("fit").into_iter();
    let named = fit.map(|row| row[0].as_str().expect("a name").to_owned());
    assert_eq!(named.collect::<BTreeSet<_>>(), unfit());
    assert_eq!(
        beginnings("clock-source", 4),
        [
            json!(["a-03", "clock source", "hpet", "tsc"]),
            json!(["b-05", "trust in rdtsc", "no", "yes"]),
            json!(["b-09", "trust in monotonic", "no", "yes"])
        ]
    );
    let outliers = ["a-07", "a-11", "b-07"].map(|name| json!([name, "monotonic"]));
    assert_eq!(beginnings("cost-outliers", 2), outliers);
    let mut change = rows("since");
    change.retain(|row| row[2] == "tsc");
    assert_eq!(change.len(), 1, "{change:?}");
    let cells = [3, 4, 5, 6, 9].map(|cell| change[0][cell].clone());
    assert_eq!(
        json!(cells),
        json!(["monotonic-syscall", "6.6.1", "6.12.9", 49, 8.0])
    );
    let fast = ["b-05", "b-09"].map(|name| json!([name]));
    assert_eq!(beginnings("trust", 1), fast);
    assert_eq!(rows("missing"), [json!(["c-99"])]);
    // Numbers are numbers, also where a column is empty or whole.
    for (key, kind) in found[2].as_object().expect("types") {
        let is_number = ["float64", "int64"].contains(&kind.as_str().expect("a type"));
        assert!(
            is_number || !key.ends_with("_ns") && !key.ends_with("_hz"),
            "{key}: {kind}"
        );
    }
    for (key, kind) in [
        ("cost_ns", "DOUBLE"),
        ("resolution_ns", "DOUBLE"),
        ("cpu_family", "BIGINT"),
        ("fit", "VARCHAR"),
        ("date", "DATE"),
    ] {
        assert_eq!(found[1][key], kind, "{key}");
    }
}
