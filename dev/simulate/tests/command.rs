//! Tests the command `simulate`: the width of its tables, its exit status, and wrong usage.

use std::process::{Command, Output};

use serde_json::Value;

fn simulate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simulate"))
        .args(args)
        .env("COLUMNS", "80")
        .output()
        .expect("it starts")
}

#[test]
fn tables_fit_eighty_columns() {
    for args in [
        &["--count", "4", "--quick"][..],
        &["--waits", "--count", "4", "--quick"],
    ] {
        let text = String::from_utf8(simulate(args).stdout).expect("it prints text");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(
            text.lines().count() > 2 && widest <= Some(80),
            "{args:?}: {text}"
        );
    }
}

#[test]
fn status_agrees_with_outcome() {
    for args in [&["--seed", "2"][..], &["--seed", "3", "--waits"]] {
        let output = simulate(&[args, &["--quick", "--count", "40", "--format", "json"]].concat());
        let outcome: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
        assert_eq!(
            output.status.code(),
            Some(if outcome["passed"] == true { 0 } else { 1 }),
            "{outcome}"
        );
        assert_eq!(
            outcome["failures"].as_array().is_some_and(Vec::is_empty),
            outcome["passed"] == true
        );
    }
}

#[test]
fn wrong_usage_is_refused() {
    for args in [&["--count", "0"][..], &["--waits", "--per-kind", "5"]] {
        assert_eq!(simulate(args).status.code(), Some(2), "{args:?}");
    }
}
