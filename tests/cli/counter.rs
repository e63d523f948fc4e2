//! `check --counter` on this machine: tests the form of the output, because the figures depend on
//! the machine.

use predicates::str::contains;

use super::{json, timermeter};

#[test]
fn answer_is_consistent() {
    let assert = timermeter(&["check", "--counter", "--format", "json"]);
    let status = assert.get_output().status.code();
    if status == Some(1) {
        // A machine without such a counter, or one that may not be read.
        assert.stderr(contains("the counter cannot be read here"));
        return;
    }
    let answer = json(&assert);
    assert_eq!(answer["schema"], "timermeter.counter.v1");
    let summary = answer["summary"].as_array().expect("lines");
    assert_eq!(summary.len(), 5, "{summary:?}");
    let verdict = answer["verdict"].as_str();
    let is_readable = matches!(verdict, Some("safe" | "until-moved"));
    assert_eq!(status, Some(if is_readable { 0 } else { 3 }), "{verdict:?}");
    let findings = answer["findings"].as_array().expect("findings");
    let has_problem = findings
        .iter()
        .any(|finding| finding["severity"] == "problem");
    assert_eq!(has_problem, verdict == Some("unsafe"), "{findings:?}");
    assert_eq!(answer.get("snippets").is_some(), is_readable);
    for recipe in answer["recipes"].as_array().expect("recipes") {
        let processes = recipe["processes"].as_u64();
        assert!(
            recipe["median_ppm"].is_number() || recipe["without"].as_u64() == processes,
            "{recipe}"
        );
    }
}

#[test]
fn recipe_finds_rate_or_reason() {
    for id in [
        "redis",
        "valkey",
        "valkey-9.1.0",
        "declared",
        "converging",
        "quanta",
        "two-windows",
        "kernel",
    ] {
        let assert = timermeter(&["counter-recipe", id]);
        let output = assert.get_output();
        if output.status.success() {
            let ns: f64 = String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse()
                .expect("a number");
            assert!(ns >= 0.0, "{id}: {ns}");
        } else {
            assert_eq!(output.status.code(), Some(1), "{id}");
            assert!(!output.stderr.is_empty(), "{id}");
        }
    }
    timermeter(&["counter-recipe", "guessing"])
        .code(2)
        .stderr(contains("no recipe"));
}
