//! Tests the command `simulate`: its exit status, and the changes that it plants.

use std::process::{Command, Output};

use serde_json::{Map, Value};

fn simulate(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simulate"))
        .args(line.split(' '))
        .output()
        .unwrap()
}

#[test]
fn status_agrees_with_outcome() {
    for line in [
        "--seed 2 --quick --count 40",
        "--seed 3 --quick --count 40 --waits",
        "--seed 4 --compare --count 5",
        "--seed 5 --trust --count 4",
    ] {
        let output = simulate(&format!("{line} --format json"));
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        let passed = outcome["passed"] == true;
        let status = output.status.code();
        assert_eq!(status, Some(i32::from(!passed)), "{outcome}");
        let failures = outcome["failures"].as_array().unwrap();
        assert_eq!(failures.is_empty(), passed, "{outcome}");
    }
}

/// The interval of a clock with a planted change contains it far more often than not, so the
/// changes are planted where `compare` looks for them.
#[test]
fn intervals_contain_planted_changes() {
    let output = simulate("--compare --count 50 --format json");
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kinds = outcome["kinds"].as_object().unwrap().values();
    let planted: Vec<&Value> = kinds
        .filter(|kind| kind["figures"].as_object() != Some(&Map::new()))
        .collect();
    assert_eq!(planted.len(), 6);
    for change in planted {
        let wrong = &change["answers"]["wrong sign"];
        assert!(
            wrong["of"] == 10 && wrong["yes"].as_u64() < Some(10),
            "{change}"
        );
        let found = &change["figures"]["change, points"];
        let [covered, intervals] = ["covered", "intervals"].map(|key| found[key].as_u64().unwrap());
        assert!(intervals > 0 && 2 * covered > intervals, "{change}");
    }
}
