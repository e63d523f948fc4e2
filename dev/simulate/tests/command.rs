//! Tests the command `simulate`: its exit status, and the changes that it plants.

use std::process::{Command, Output};

use serde_json::Value;

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
        "--seed 4 --compare --pairs 5",
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
    let output = simulate("--compare --pairs 50 --format json");
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    for change in outcome["planted"].as_array().unwrap() {
        let [pairs, intervals, covered, wrong] =
            ["pairs", "intervals", "covered", "wrong_sign"].map(|key| change[key].as_u64());
        assert!(
            pairs == Some(10) && intervals > Some(0) && wrong < pairs,
            "{change}"
        );
        assert!(
            2 * covered.unwrap_or(0) > intervals.unwrap_or(0),
            "{change}"
        );
    }
}
