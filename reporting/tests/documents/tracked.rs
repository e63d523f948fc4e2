//! The formats of services that follow benchmarks: the Bencher Metric Format, and that of
//! github-action-benchmark. Both fit the descriptions of their services, for handmade reports with
//! missing, infinite and hostile values, and hold the figures of the report.

use std::collections::BTreeSet;

use estimators::model::Report;
use reporting::report::render;
use reporting::table::{Format, Style};
use serde_json::Value;

use crate::sample::{
    nothing_determined, report, report_of_periods, report_of_waits, report_without_finite_waits,
};

/// <https://bencher.dev/bmf.json>, and no other members.
const BENCHER: &str = r#"{"type": "object", "patternProperties": {".+": {"type": "object", "patternProperties": {".+": {
    "type": "object", "required": ["value"], "additionalProperties": false, "properties":
    {"value": {"type": "number"}, "lower_value": {"type": "number"}, "upper_value": {"type": "number"}}}}}}}"#;
/// `examples/benchmarkjs` and README of github-action-benchmark: `extra` is not used.
const GITHUB: &str = r#"{"type": "array", "items": {"type": "object", "required": ["name", "unit", "value"],
    "additionalProperties": false, "properties": {"name": {"type": "string", "minLength": 1},
    "unit": {"const": "ns"}, "value": {"type": "number"}, "range": {"type": "string", "pattern": "^± [0-9.e-]+$"}}}}"#;

fn reports() -> [Report; 5] {
    [
        report(),
        nothing_determined(),
        report_of_waits(),
        report_of_periods(),
        report_without_finite_waits(),
    ]
}

fn document(report: &Report, format: Format) -> Value {
    let text = render(report, format, Style::default());
    assert!(text.ends_with('\n'), "{text}");
    serde_json::from_str(&text).expect("JSON")
}

fn assert_fits(schema: &str, document: &Value) {
    let schema = serde_json::from_str(schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}: {document}");
}

#[test]
fn bencher_format_fits_its_schema() {
    for report in reports() {
        let found = document(&report, Format::Bmf);
        assert_fits(BENCHER, &found);
        for (timer, measures) in found.as_object().expect("timers") {
            // The longest name of a benchmark and of a measure that the service takes.
            assert!(timer.chars().count() <= 1024, "{timer}");
            let measures = measures.as_object().expect("measures");
            assert!(measures.keys().all(|key| key.len() <= 64), "{measures:?}");
            for measure in measures.values() {
                let end = |key: &str| measure[key].as_f64();
                let value = end("value");
                assert!(end("lower_value").is_none_or(|low| Some(low) <= value));
                assert!(end("upper_value").is_none_or(|high| Some(high) >= value));
            }
        }
    }
    assert_eq!(
        document(&nothing_determined(), Format::Bmf),
        Value::Object(Default::default())
    );
}

#[test]
fn github_benchmark_has_unique_durations() {
    for report in reports() {
        let found = document(&report, Format::GithubBenchmark);
        assert_fits(GITHUB, &found);
        let names: Vec<&str> = found
            .as_array()
            .expect("benchmarks")
            .iter()
            .filter_map(|benchmark| benchmark["name"].as_str())
            .collect();
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
    }
}

#[test]
fn holds_figures_of_report() {
    let report = report();
    let cost = report.timers[0].cost_ns.expect("a cost");
    let found = document(&report, Format::Bmf);
    let measure = &found[&report.timers[0].id]["cost_ns"];
    let figures = ["value", "lower_value", "upper_value"].map(|key| measure[key].as_f64());
    assert_eq!(figures, [Some(cost.value), cost.low(), cost.high()]);
    let found = document(&report, Format::GithubBenchmark);
    let name = format!("{} cost", report.timers[0].id);
    let mut all = found.as_array().expect("benchmarks").iter();
    let benchmark = all.find(|benchmark| benchmark["name"] == name.as_str());
    assert_eq!(benchmark.expect(&name)["value"], cost.value);
}
