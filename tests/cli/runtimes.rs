//! `--runtime` where the runtimes are not installed, and `agent-check`.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

use super::{PATIENCE, PROGRAM, timermeter};

/// A run that finds no program at all.
fn without_programs(args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::new(PROGRAM);
    command.args(args).env("PATH", "/nowhere").env_remove("JAVA_HOME").timeout(PATIENCE).assert()
}

#[test]
fn a_runtime_that_is_missing_is_one_line_that_says_how_to_get_it() {
    let list = without_programs(&["list", "--format", "json", "--runtime", "all"]).code(0);
    let listed: Vec<Value> = serde_json::from_slice(&list.get_output().stdout).expect("JSON");
    for id in ["java:*", "dotnet:*", "python:*", "node:*"] {
        let row = listed.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no `{id}`"));
        assert_eq!(row["available"], false, "{row}");
        assert!(row["remedy"].as_str().is_some_and(|remedy| remedy.contains("install")), "{row}");
    }
    // Asked for by name, it is missed.
    let probe = ["probe", "--quick", "--format", "json", "--runtime", "java,node", "java:nanoTime"];
    let report = without_programs(&probe).code(3);
    let report: Value = serde_json::from_slice(&report.get_output().stdout).expect("JSON");
    assert_eq!(super::row(&report, "java:*")["status"], "unavailable");
    assert_eq!(super::rows(&report).len(), 2, "{report}");
}

#[test]
fn agent_check_tells_what_is_wrong() {
    let good = format!("{PROGRAM} agent monotonic");
    timermeter(&["agent-check", &good]).code(0).stdout(predicate::str::contains("It speaks the protocol."));
    let gone = timermeter(&["agent-check", "/no/such/program"]).code(3);
    gone.stdout(predicate::str::contains("FAIL  hello").and(predicate::str::contains("/no/such/program")));
    let hello = r#"{\"protocol\":1,\"runtime\":{\"name\":\"sh\",\"version\":\"1\"},\"timers\":[{\"id\":\"a\",\"label\":\"A\",\"reference\":true}],\"ops\":[\"intervals\",\"batches\",\"readings\"]}"#;
    let deaf = format!(
        "sh -c 'read -r x; echo \"{hello}\"; while read -r x; do echo \"{{\\\"readings\\\":[1,2,3]}}\"; done'"
    );
    timermeter(&["agent-check", &deaf]).code(3).stdout(
        predicate::str::contains("pass  hello")
            .and(predicate::str::contains("pass  readings of a"))
            .and(predicate::str::contains("FAIL  count 0: there are 3 values, not 0"))
            .and(predicate::str::contains("FAIL  an op that does not exist"))
            .and(predicate::str::contains("pass  end of input")),
    );
}
