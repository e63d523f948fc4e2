//! Output and files of `probe`, `list` and `report`, also if a timer is unavailable.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::{fs, io};

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;

use super::folder::Folder;
use super::{answer, assert_fails, json, printed, row, rows, run};
use crate::program::command;
use crate::skipping::skipped;
use crate::stored::XEON;

const SCHEMA: &str = include_str!("../../docs/report.v2.schema.json");

/// Parses a report and checks it against the schema.
#[track_caller]
pub fn parse_valid_report(text: &str) -> serde_json::Value {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let report = serde_json::from_str(text).unwrap();
    let errors = validator
        .iter_errors(&report)
        .map(|error| error.to_string());
    assert_eq!(errors.collect::<Vec<_>>(), [""; 0]);
    report
}

#[test]
fn probe_follows_schema_and_writes_files() {
    let folder = Folder::new();
    let (as_json, markdown) = (folder.arg("x.json"), folder.arg("x.md"));
    fs::write(&as_json, "an older report").unwrap();
    // The status is 3 if the processor lacks one of the timers, or a busy machine does not reveal its
    // resolution.
    let run = run(&format!(
        "probe --quick rdtsc monotonic -f json --seed=7 --cycles=2.8GHz -o {as_json} -o {markdown}"
    ))
    .code(predicate::in_iter([0, 3]));
    let printed = printed(&run.stderr(""));
    assert_eq!(fs::read_to_string(&as_json).unwrap(), printed);
    let report = parse_valid_report(&printed);
    assert_eq!(report["settings"]["profile"], "quick");
    assert_eq!(report["settings"]["seed"], 7);
    assert_eq!(report["frequency"]["cycles_hz"]["value"], 2.8e9);
    assert_eq!(rows(&report).len(), 2);
    for row in rows(&report) {
        let quality = row["quality"]["value"].as_f64();
        assert!(quality.is_some() || row["status"] != "ok", "{row}");
    }
    let text = fs::read_to_string(&markdown).unwrap();
    assert!(
        text.contains("|:-") && text.contains("| monotonic |"),
        "{text}"
    );
    assert_eq!(folder.names(), ["x.json", "x.md"]);
}

#[test]
fn accepts_closed_output() {
    // A reader that takes one line, like `head -1`.
    let mut list = command("list");
    list.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut list = list.spawn().unwrap();
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(1, list.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    assert!(line.contains("timer"), "{line}");
    let ended = list.wait_with_output().unwrap();
    ended.assert().success().stderr("");
    // An output that is closed from the beginning.
    for line in ["list", "table reports -f csv"] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = command(line);
        let ended = command.stdout(writer).stderr(Stdio::piped()).output();
        ended.unwrap().assert().success().stderr("");
    }
}

#[test]
fn reports_unavailable_timer() {
    let listed = answer("list -f json");
    let mut timers = listed.as_array().unwrap().iter();
    let Some(timer) = timers.find(|timer| timer["available"] == false) else {
        let remedy = "run it where one is not, as in a virtual machine without a PMU";
        return skipped("all timers are available here", remedy);
    };
    let id = timer["id"].as_str().unwrap();
    let named = json(&run(&format!("probe --quick --format json {id}")).code(3));
    assert_eq!(rows(&named).len(), 1);
    let unavailable = row(&named, id);
    assert_eq!(unavailable["status"], "unavailable");
    let has_reason = unavailable["reason"].as_str() > Some("");
    assert!(
        has_reason && unavailable["quality"].is_null(),
        "{unavailable}"
    );
    // For a timer that was selected by a glob, the status is 0.
    let glob = format!("{}[{}]", &id[..id.len() - 1], &id[id.len() - 1..]);
    let matched = answer(&format!("probe --quick --format json {glob}"));
    assert_eq!(row(&matched, id)["status"], "unavailable");
}

#[test]
fn several_reports_need_another_format() {
    assert_fails(
        &format!("probe --from {XEON} {XEON} --format csv"),
        2,
        "in this format",
    );
}
