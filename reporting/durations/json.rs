//! Reads the JSON of hyperfine, Criterion, google/benchmark and pytest-benchmark, and arrays of
//! numbers.

use clap::ValueEnum;
use indexmap::IndexMap;
use serde_json::Value;

use super::{DurationSeries, TimeUnit, WrittenNumber};
use crate::statistics::mean;
use crate::text::json_error;

/// Reads all series of a document; `column` is a time of google/benchmark, `unit` that of an array.
///
/// # Errors
/// When it is no JSON.
pub(super) fn parse(
    text: &str,
    column: Option<&str>,
    unit: Option<TimeUnit>,
) -> Result<Vec<DurationSeries>, String> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| format!("is not valid JSON: {}", json_error(&error)))?;
    let mut found = Vec::new();
    let mut add = |source, unit, name: &Value, times: &Value, calls: &[f64]| {
        found.extend(numbers(times).map(|times| DurationSeries {
            name: name.as_str().unwrap_or_default().into(),
            ..DurationSeries::of(source, unit, &times, calls)
        }));
    };
    let list = |key: &str| document[key].as_array().into_iter().flatten();
    let none = &Value::Null;
    add("JSON", unit.unwrap_or(TimeUnit::Ns), none, &document, &[]);
    for result in list("results") {
        let (command, times) = (&result["command"], &result["times"]);
        add("hyperfine", TimeUnit::S, command, times, &[]);
    }
    let mut runs = IndexMap::<String, Vec<&Value>>::new();
    for benchmark in list("benchmarks") {
        let (name, data) = (&benchmark["name"], &benchmark["stats"]["data"]);
        let calls = benchmark["stats"]["iterations"].as_f64().unwrap_or(1.0);
        let calls = vec![calls; data.as_array().map_or(0, Vec::len)];
        add("pytest-benchmark", TimeUnit::S, name, data, &calls);
        if benchmark["time_unit"].is_string() && benchmark["run_type"] != "aggregate" {
            runs.entry(name.to_string()).or_default().push(benchmark);
        }
    }
    for runs in runs.values() {
        let of = |key: &str| runs.iter().map(|run| run[key].clone()).collect::<Vec<_>>();
        let calls: Vec<f64> = of("iterations").iter().filter_map(Value::as_f64).collect();
        let unit = TimeUnit::from_str(runs[0]["time_unit"].as_str().unwrap_or_default(), true);
        let times = Value::Array(of(column.unwrap_or("real_time")));
        if let (Ok(unit), true) = (unit, calls.len() == runs.len()) {
            add("google/benchmark", unit, &runs[0]["name"], &times, &calls);
        }
    }
    // Criterion writes whole batches.
    add("Criterion", TimeUnit::Ns, none, &document["times"], &[]);
    if let (Some(calls), [batches]) = (numbers(&document["iters"]), found.as_mut_slice()) {
        let calls: Vec<f64> = calls.iter().map(|number| number.value).collect();
        batches.calls_differ = calls.iter().any(|number| *number != calls[0]);
        batches.calls = mean(calls).unwrap_or(1.0);
    }
    Ok(found)
}

/// The numbers of an array; `None` if it is none, or holds anything else.
fn numbers(value: &Value) -> Option<Vec<WrittenNumber>> {
    let parse = |item: &Value| WrittenNumber::parse(&item.as_number()?.to_string());
    value.as_array()?.iter().map(parse).collect()
}
