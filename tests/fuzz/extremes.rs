//! Tests reports of sleep primitives and periodic timers with extreme figures. A report with an
//! impossible figure is rejected with its place; every verb prints figures that are only absurd.

use reporting::report::parse;
use serde_json::{Value, json};

/// A valid report.
const REPORT: &str = include_str!("corpus/report/waits.json");

/// The text of the report with these values changed.
fn changed(changes: &[(&str, Value)]) -> String {
    let mut report: Value = serde_json::from_str(REPORT).unwrap();
    for (place, value) in changes {
        let found = report.pointer_mut(place);
        *found.unwrap_or_else(|| panic!("no {place}")) = value.clone();
    }
    report.to_string()
}

#[test]
fn impossible_figures_are_refused_with_place() {
    let late = |key: &str| format!("/waits/0/figures/lateness/0/{key}");
    let figure = |key: &str| format!("/waits/0/figures/{key}");
    for (place, value, words) in [
        (
            late("early"),
            json!(1.5),
            "'nanosleep 1 ms': early is 1.5; it has to be from 0 to 1",
        ),
        (late("max_ns"), json!(1e19), "late_max_ns is 1e19"),
        (late("request_ns"), json!(u64::MAX), "request_ns"),
        (
            figure("steps/0/rounding"),
            json!({"step": {"value": 0.0}}),
            "rounding_ns is 0.0; it has to be from 0.000000001 to 1e18",
        ),
        (
            figure("steps/0/grid"),
            json!({"at-most": -1.0}),
            "grid_ns is -1.0",
        ),
        (
            "/periods/1/figures/lateness/max_ns".into(),
            json!(-1e19),
            "'timerfd 1 ms': late_max_ns is -1e19",
        ),
        (
            "/periods/1/id".into(),
            json!("nanosleep"),
            "two periodic timers are 'nanosleep 1 ms'; names are unique",
        ),
    ] {
        let error = parse(&changed(&[(&place, value)]), "r.json").expect_err(&place);
        let error = error.to_string();
        assert!(error.contains(words), "{place}: {error}");
    }
    let row = r#"{"id":"a","label":"","runtime":"","conditions":{"slack_ns":0,"policy":"","load":"none"},"means":"blocks","status":"failed","findings":[]}"#;
    let crowd = format!("\"waits\":[{}]", vec![row; 9_000].join(","));
    let text = changed(&[("/waits", json!([]))]).replace("\"waits\":[]", &crowd);
    let error = parse(&text, "r.json")
        .expect_err("too many rows")
        .to_string();
    assert!(error.contains("more than 8192 timers"), "{error}");
}
