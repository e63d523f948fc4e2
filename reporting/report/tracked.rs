//! Renders the figures of a report for services that follow benchmarks from commit to commit: the
//! Bencher Metric Format, and the custom format of github-action-benchmark.
//!
//! Formats: <https://bencher.dev/docs/reference/bencher-metric-format/> and
//! <https://github.com/benchmark-action/github-action-benchmark#examples>.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fields::{Field, FieldUnit, Kind, fields_of, rows};
use crate::model::{Interval, Report};
use crate::text::{numbers::significant, plain};

/// A figure in the Bencher Metric Format.
#[derive(Serialize)]
struct BencherFigure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// A figure in the format of github-action-benchmark.
#[derive(Serialize)]
struct Benchmark {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
}

/// The Bencher Metric Format: an object of timers, each an object of figures by their keys.
pub fn bencher(report: &Report) -> String {
    let mut timers = BTreeMap::<String, BTreeMap<&str, BencherFigure>>::new();
    for (timer, field, figure) in figures(report) {
        let measured = BencherFigure {
            value: figure.value,
            lower_value: figure.low(),
            upper_value: figure.high(),
        };
        let all = timers.entry(timer).or_default();
        all.entry(field.key).or_insert(measured);
    }
    text(&timers)
}

/// An array for the tool `customSmallerIsBetter` of github-action-benchmark. It holds the durations,
/// which are better if smaller.
pub fn github_benchmark(report: &Report) -> String {
    let durations = figures(report)
        .into_iter()
        .filter(|(_, field, _)| field.unit == FieldUnit::Nanoseconds);
    let benchmarks = durations.map(|(timer, field, figure)| Benchmark {
        name: format!("{timer} {}", field.column),
        unit: "ns",
        value: figure.value,
        range: figure.ends().map(|(low, high)| {
            let half = (high - figure.value).max(figure.value - low);
            format!("± {}", significant(half, 3))
        }),
    });
    text(&benchmarks.collect::<Vec<_>>())
}

/// The figures that are also metrics, by timer, with the length of a wait.
fn figures(report: &Report) -> Vec<(String, &'static Field, Interval)> {
    let rows = Kind::ALL.into_iter().flat_map(|kind| rows(report, kind));
    rows.flat_map(|row| row.by_length())
        .flat_map(|row| {
            let name = plain(&row.name_with_length());
            let metrics = fields_of(row.kind()).filter(|field| field.metric.is_some());
            let figures = metrics.filter_map(move |field| Some((field, field.figure(row)?)));
            figures.map(move |(field, figure)| (name.clone(), field, figure))
        })
        .filter(|(.., figure)| figure.value.is_finite())
        .collect()
}

fn text(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("all keys are strings") + "\n"
}
