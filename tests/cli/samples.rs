//! `samples` on the files of other tools in the corpus of the fuzz tests.

use std::fs;

use serde_json::Value;

use super::folder::Folder;
use super::{answer, assert_fails, run};

const FOLDER: &str = "tests/fuzz/corpus/durations";

/// The step of a counter of 24 MHz, in nanoseconds.
const STEP_NS: f64 = 125.0 / 3.0;

fn series(file: &str) -> Value {
    let found = answer(&format!("samples {FOLDER}/{file} -f json"));
    found["series"][0].clone()
}

#[test]
fn finds_step_in_each_format() {
    let files = ["hyperfine.json", "sample.json", "google.json", "lines.txt"];
    for file in files {
        let found = series(file);
        let step = &found["step_ns"];
        let [low, high] = ["low", "high"].map(|end| step[end].as_f64().unwrap_or(f64::NAN));
        assert!(low <= STEP_NS && STEP_NS <= high, "{file}: {found}");
    }
}

#[test]
fn reads_named_column_with_unit() {
    let file = format!("{FOLDER}/times.csv");
    assert_fails(&format!("samples {file}"), 1, "run, latency_us, note");
    for column in ["2", "latency_us"] {
        let found = &answer(&format!("samples {file} --column {column} -f json"))["series"][0];
        assert_eq!(found["source"], "text, in us");
        assert_eq!(found["median_ns"], 1041.0);
    }
    assert_fails(&format!("samples {file} --column 3"), 1, "'a, b' in row 2");
}

#[test]
fn unreadable_files_are_named() {
    assert_fails("samples nowhere.json", 1, "cannot read 'nowhere.json'");
    let read = format!("samples {FOLDER}/lines.txt README.md");
    assert_fails(&read, 3, "'README.md' has the columns");
    let folder = Folder::new();
    fs::write(folder.file("long.txt"), "1\n1e300\n").unwrap();
    assert_fails(
        &format!("samples {}", folder.arg("long.txt")),
        1,
        "more than 31 years",
    );
    run("samples").code(2);
}
