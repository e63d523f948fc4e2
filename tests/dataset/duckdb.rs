//! The questions of deploy/sql, asked of a dataset by DuckDB.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{ROOT, skipping, timermeter};

/// Where `.ci/run` installs it.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/python");

/// Reads the scripts to run as a list, and prints of each the names of the columns and the rows.
const SCRIPT: &str = "\
import datetime, json, sys
import duckdb
views, questions = json.load(sys.stdin)
connection = duckdb.connect()
connection.execute(views)
answers = []
for question in questions:
    found = connection.execute(question)
    answers.append({'columns': [column[0] for column in found.description], 'rows': found.fetchall()})
json.dump(answers, sys.stdout, default=str)
";

/// What was answered.
pub struct Answer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl Answer {
    /// A column of text.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.column(name)
            .map(|value| value.as_str().unwrap_or_else(|| panic!("{name}: {value}")).to_owned())
            .collect()
    }

    /// A column of figures.
    pub fn figures(&self, name: &str) -> Vec<f64> {
        self.column(name).map(|value| value.as_f64().unwrap_or_else(|| panic!("{name}: {value}"))).collect()
    }

    fn column(&self, name: &str) -> impl Iterator<Item = &Value> {
        let at = self.columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("{name}"));
        self.rows.iter().map(move |row| &row[at])
    }
}

/// Python with what is installed for tests.
pub fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", script]).env("PYTHONPATH", PACKAGES);
    command
}

/// Whether it is installed; if not, the test that asks is skipped.
#[track_caller]
pub fn is_missing() -> bool {
    lacks("duckdb")
}

/// Whether Python lacks a package; then the test that asks is skipped.
#[track_caller]
pub fn lacks(package: &str) -> bool {
    if python(&format!("import {package}")).output().is_ok_and(|output| output.status.success()) {
        return false;
    }
    skipping::not_installed(
        format!("`python3` has no {package}"),
        &format!("python3 -m pip install --target target/python {package}"),
    );
    true
}

/// The questions of deploy/sql, by their numbers.
pub fn questions() -> Vec<PathBuf> {
    let folder = Path::new(ROOT).join("deploy/sql");
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = all.filter(|path| path.file_name().unwrap() != "fleet.sql").collect();
    found.sort();
    assert_eq!(found.len(), 10, "{found:?}");
    found
}

/// Asks questions of the dataset `fleet` in `folder`.
pub fn asked(folder: &Path, questions: &[&str]) -> Vec<Answer> {
    let views = fs::read_to_string(Path::new(ROOT).join("deploy/sql/fleet.sql")).unwrap();
    let mut child = python(SCRIPT)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 was there just now");
    let text = serde_json::to_string(&(views, questions)).unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).expect("it reads all");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).expect("answers");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let answer = |answer: &Value| Answer {
        columns: list(&answer["columns"]).iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        rows: list(&answer["rows"]).iter().map(list).collect(),
    };
    answers.iter().map(answer).collect()
}

/// Asks all questions of deploy/sql, of which one reads what `fleet` judges.
pub fn all_asked(folder: &Path) -> Vec<Answer> {
    let judged = timermeter(folder, &["fleet", "fleet", "--format", "json"]);
    assert!(matches!(judged.status.code(), Some(0 | 3)), "{judged:?}");
    fs::write(folder.join("judged.json"), judged.stdout).unwrap();
    let texts: Vec<String> = questions().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    asked(folder, &texts.iter().map(String::as_str).collect::<Vec<_>>())
}
