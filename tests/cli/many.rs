//! `table` and `compare` with files of reports.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::folder::Folder;
use super::{answer, assert_fails, json, run};
use crate::stored::{EPYC, MBP53, XEON};

const MBP62: &str = "reports/icpe2011-mbp62/2011-03-14/report.json";

/// Writes a copy of the report MBP53 with some replacements, and returns its path.
fn write_changed(folder: &Folder, name: &str, changes: &[(&str, &str)]) -> String {
    let mut text = fs::read_to_string(MBP53).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(folder.file(name), text).unwrap();
    folder.arg(name)
}

#[test]
fn table_skips_unreadable_reports() {
    let folder = Folder::new();
    write_changed(&folder, "good.json", &[]);
    fs::write(folder.file("cut.json"), &fs::read(MBP53).unwrap()[..900]).unwrap();
    fs::create_dir(folder.file("empty")).unwrap();
    let (all, empty) = (folder.arg("."), folder.arg("empty"));
    run(&format!("table {all} {empty}"))
        .code(3)
        .stdout(contains("HRC").and(contains("Quality %")))
        .stderr(contains("cut.json").and(contains("line ")))
        .stderr(contains("there is no report in the folder").and(contains("empty")));
    run(&format!("table {empty}")).code(1).stdout("");
}

#[test]
fn comparison_names_changes() {
    let folder = Folder::new();
    let changes = [("\"id\": \"PCT\"", "\"id\": \"PCT2\"")];
    let lost = write_changed(&folder, "lost.json", &changes);
    run(&format!("compare {MBP53} {lost}"))
        .success()
        .stdout(contains("lost: PCT (absent)"));
    // A condition that holds determines the status, even if another one is undecided.
    run(&format!(
        "compare {MBP53} {lost} --fail-if lost>0 --fail-if cost>5%"
    ))
    .code(3)
    .stdout(contains("a loss of timers: PCT ("));
    let value = answer(&format!("compare {MBP53} {MBP62} --format json"));
    assert_eq!(value["platform"][0]["what"], "CPU", "{value}");
    // Published reports have no processes.
    let ended = run(&format!(
        "compare {MBP53} {MBP62} -f json --fail-if cost>5%"
    ))
    .code(4);
    let value = json(&ended.stderr(contains("not all is decided")));
    assert_eq!(value["exit_status"], 4, "{value}");
    assert_eq!(value["open"].as_array().map(Vec::len), Some(1), "{value}");
}

#[test]
fn compares_several_runs_per_side() {
    let folder = Folder::new();
    let text = fs::read_to_string(EPYC).unwrap();
    let (before, after) = text.split_once("2026-11-21T").unwrap();
    for side in ["old", "new"] {
        fs::create_dir(folder.file(side)).unwrap();
        for year in 2030..2033 {
            let text = format!("{before}{year}-11-21T{after}");
            fs::write(folder.file(&format!("{side}/{year}.json")), text).unwrap();
        }
    }
    let [old, new, one] = ["old", "new", "new/2031.json"].map(|name| folder.arg(name));
    // These reports do not tell the costs of their processes.
    let line = format!("compare {old} -- {new}");
    let undecided = predicate::str::starts_with("too few processes to judge ");
    run(&line).success().stdout(undecided);
    let value = answer(&format!("compare --format json {old} -- {one}"));
    assert_eq!(value["runs"], serde_json::json!([3, 1]), "{value}");
    assert_fails(
        &format!("compare {old} -- {one} {one}"),
        2,
        "is given twice",
    );
    assert_fails(
        &format!("compare {EPYC} {XEON} -- {new}"),
        2,
        "not of the same machine",
    );
    fs::write(folder.file("new/d.json"), "{}").unwrap();
    assert_fails(&line, 1, "d.json");
}
