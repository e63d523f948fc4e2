//! Tests that answers are not misleading.

use std::fs;
use std::process::{Command, Output};

use super::folder::Folder;
use super::program::program;
use crate::stored::EPYC;

fn run(args: &[&str]) -> Output {
    Command::new(program())
        .args(args)
        .output()
        .expect("the program starts")
}

fn reported(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn short_command_names_its_clock() {
    let output = run(&["measure", "--", "true"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        reported(&output).matches("probing ").count(),
        1,
        "{}",
        reported(&output)
    );
    assert!(
        reported(&output).contains("--clock") && reported(&output).contains("--from"),
        "{}",
        reported(&output)
    );
}

#[test]
fn states_rule_of_clock_choice() {
    let folder = Folder::new();
    let report = fs::read_to_string(EPYC).expect("the report is readable");
    let mut report: serde_json::Value = serde_json::from_str(&report).expect("the report is JSON");
    report["timers"]
        .as_array_mut()
        .expect("the report has timers")
        .retain(|row| row["id"] == "realtime");
    let path = folder.arg("realtime.json");
    fs::write(&path, report.to_string()).expect("the file is written");
    let output = run(&["measure", "chain", "--from", &path]);
    assert_eq!(output.status.code(), Some(1));
    for words in ["no clock is precise enough", "--clock"] {
        assert!(
            reported(&output).contains(words),
            "{words}: {}",
            reported(&output)
        );
    }
}
