//! Renders a report as OpenMetrics 1.0. Only features that the older text format 0.0.4 shares are
//! used, so that a scraper, the textfile collector of node_exporter and `promtool check metrics`
//! accept the same file. All metrics are gauges in base units.
//!
//! Format: <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use std::fmt::Write;
use std::time::UNIX_EPOCH;

use indexmap::IndexMap;

use crate::fields::{Field, Kind, Row, fields, fields_of, rows};
use crate::model::{Interval, Outcome, Report, Verdicts};
use crate::text::{clipped, plain};

/// The largest length of a label in characters; only labels from a hostile agent are longer.
const MAX_LABEL_CHARS: usize = 100;

/// The units with which metric names may end.
const UNITS: [&str; 3] = ["seconds", "ratio", "hertz"];

/// The document. Values that were not determined are omitted.
pub fn render(report: &Report) -> String {
    let mut metrics = Metrics::default();
    // The label `report` distinguishes files in one folder, because no two samples of a folder may
    // have the same labels.
    let main = Kind::main(report);
    let kind = format!("{main:?}").to_lowercase();
    let run = labels(&[("report", &kind)]);
    add_report(&mut metrics, &run, report);
    for row in Kind::ALL.into_iter().flat_map(|kind| rows(report, kind)) {
        add_row(&mut metrics, row);
    }
    metrics.text()
}

/// Gauges by name. A sample with the labels of an existing sample is dropped, because duplicates
/// make the document invalid.
#[derive(Debug, Default)]
pub struct Metrics(IndexMap<String, MetricFamily>);

#[derive(Debug)]
struct MetricFamily {
    help: String,
    samples: IndexMap<String, f64>,
}

impl Metrics {
    /// Adds a sample, unless `value` is `None` or not finite. `labels` must already be formatted.
    pub fn gauge(&mut self, name: &str, help: &str, labels: &str, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        let family = self.0.entry(name.into()).or_insert_with(|| MetricFamily {
            help: help.into(),
            samples: IndexMap::new(),
        });
        family.samples.entry(labels.into()).or_insert(value);
    }

    /// Adds the value of a field in its base unit, and the ends of its interval if they are known.
    fn add(&mut self, prefix: &str, field: &Field, labels: &str, figure: Option<Interval>) {
        let figure = figure.filter(|figure| figure.value.is_finite());
        let (Some(metric), Some(figure)) = (field.metric, figure) else {
            return;
        };
        let (unit, scale) = field.unit.rules().base_unit;
        let figure = figure.map(|figure| figure / scale);
        let labels = match metric.percentile {
            Some(percentile) => with_label(labels, "percentile", percentile),
            None => labels.to_owned(),
        };
        let name = format!("{prefix}{}", metric.name);
        let help = format!("{}.", field.about);
        self.gauge(&format!("{name}{unit}"), &help, &labels, Some(figure.value));
        for (end, word, figure) in [
            ("low", "Lower", figure.low()),
            ("high", "Upper", figure.high()),
        ] {
            let help = format!("{word} end of the 95 % interval of {name}{unit}.");
            self.gauge(&format!("{name}_{end}{unit}"), &help, &labels, figure);
        }
    }

    /// The text of the document.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (name, family) in &self.0 {
            let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} gauge", family.help);
            let unit = name.rsplit('_').next().unwrap_or_default();
            if UNITS.contains(&unit) {
                let _ = writeln!(out, "# UNIT {name} {unit}");
            }
            for (labels, value) in &family.samples {
                let labels = if labels.is_empty() {
                    String::new()
                } else {
                    format!("{{{labels}}}")
                };
                let _ = writeln!(out, "{name}{labels} {value:?}");
            }
        }
        out + "# EOF\n"
    }
}

/// Formats labels with escaped values of bounded length.
pub fn labels(labels: &[(&str, &str)]) -> String {
    let written = labels.iter().map(|(name, value)| {
        let value = clipped(&plain(value), MAX_LABEL_CHARS)
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    });
    written.collect::<Vec<_>>().join(",")
}

/// Appends a label to formatted labels.
fn with_label(labels_so_far: &str, name: &str, value: &str) -> String {
    format!("{labels_so_far},{}", labels(&[(name, value)]))
}

/// Adds the gauges of the whole report. `run` holds the labels that identify the report.
fn add_report(metrics: &mut Metrics, run: &str, report: &Report) {
    let start = humantime::parse_rfc3339_weak(&report.created).ok();
    let start = start.and_then(|start| start.duration_since(UNIX_EPOCH).ok());
    metrics.gauge(
        "timermeter_report_timestamp_seconds",
        "Start of the measurement, by the clock of the machine.",
        run,
        start.map(|since_1970| since_1970.as_secs_f64()),
    );
    let labels_of = |keys: &[&str]| {
        let texts = fields()
            .iter()
            .filter(|field| keys.contains(&field.key))
            .map(|field| {
                let label = match field.key {
                    "tool_version" => "version",
                    "clock_source" => "clocksource",
                    key => key,
                };
                labels(&[(label, field.value(report).as_text())])
            });
        std::iter::once(run.to_owned())
            .chain(texts)
            .collect::<Vec<_>>()
            .join(",")
    };
    let origin = labels_of(&["node", "tool_version", "profile", "provenance"]);
    metrics.gauge(
        "timermeter_report_info",
        "Version, profile and origin of the report.",
        &origin,
        Some(1.0),
    );
    for finding in &report.findings {
        metrics.gauge(
            "timermeter_report_caveat",
            "A finding about the whole report, by its code.",
            &with_label(run, "code", &finding.code),
            Some(1.0),
        );
    }
    let machine = labels_of(&[
        "cpu",
        "architecture",
        "microcode",
        "kernel",
        "os",
        "hypervisor",
        "clock_source",
    ]);
    metrics.gauge(
        "timermeter_platform_info",
        "The machine; a label is empty if the value is unknown.",
        &machine,
        Some(1.0),
    );
    let source = &report.platform.clocksource;
    for name in source.current.iter().chain(&source.available) {
        metrics.gauge(
            "timermeter_clocksource_selected",
            "1 for the clock source that the kernel uses; 0 for other available clock sources.",
            &with_label(run, "clocksource", name),
            Some(f64::from(u8::from(Some(name) == source.current.as_ref()))),
        );
    }
    for field in fields() {
        metrics.add("timermeter_", field, run, field.figure(report));
    }
}

/// Adds the gauges of a row.
fn add_row(metrics: &mut Metrics, row: Row) {
    let prefix = match row.kind() {
        Kind::Clocks => "timermeter_timer_",
        Kind::Waits => "timermeter_wait_",
        Kind::Periods => "timermeter_period_",
    };
    let seconds = |ns: u64| (ns as f64 / 1e9).to_string();
    let mut row_labels = labels(&[("timer", row.id()), ("runtime", row.runtime())]);
    if let Some(conditions) = row.conditions() {
        row_labels = format!(
            "{row_labels},{}",
            labels(&[
                ("policy", &conditions.policy),
                (
                    "slack_seconds",
                    &conditions.slack_ns.map(seconds).unwrap_or_default()
                ),
                (
                    "cpu",
                    &conditions
                        .cpu
                        .map(|cpu| cpu.to_string())
                        .unwrap_or_default()
                ),
            ])
        );
    }
    if let Some(period) = row.request_ns() {
        row_labels = with_label(&row_labels, "period_seconds", &seconds(period));
    }
    metrics.gauge(
        &format!("{prefix}status"),
        "1 for the status of the characterisation.",
        &with_label(&row_labels, "status", row.status().name()),
        Some(1.0),
    );
    for field in fields_of(row.kind()) {
        let figure_of_row = field.figure(row);
        metrics.add(prefix, field, &row_labels, figure_of_row);
        for (row, late) in row
            .by_length()
            .iter()
            .filter_map(|row| Some((row, row.lateness()?)))
        {
            let length_labels =
                with_label(&row_labels, "length_seconds", &seconds(late.request_ns));
            metrics.add(
                prefix,
                field,
                &length_labels,
                field.figure(*row).filter(|_| figure_of_row.is_none()),
            );
        }
    }
    let verdicts = row.clock().and_then(|row| row.verdicts.as_ref());
    for answer in verdicts.into_iter().flat_map(Verdicts::answers) {
        let value = match answer.outcome {
            Outcome::Pass => Some(1.0),
            Outcome::Fail => Some(0.0),
            Outcome::NotApplicable | Outcome::NotTested => None,
        };
        metrics.gauge(
            &format!("{prefix}trusted"),
            "1 if the timer passed the question of trust, 0 if it failed; absent if it was not tested or does not apply.",
            &with_label(&row_labels, "question", answer.question.name()),
            value,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Metrics, labels};

    #[test]
    fn labels_are_escaped_and_bounded() {
        assert_eq!(labels(&[("a", "x\"y\\z\nw\u{1b}[31m")]), r#"a="x\"y\\z w""#);
        assert!(labels(&[("a", &"x".repeat(1000))]).chars().count() <= 105);
    }

    #[test]
    fn samples_are_unique_numbers() {
        let mut metrics = Metrics::default();
        for (labels, value) in [
            ("a=\"1\"", Some(1e-9)),
            ("a=\"1\"", Some(2.0)),
            ("", None),
            ("", Some(f64::NAN)),
        ] {
            metrics.gauge("x_seconds", "Help.", labels, value);
        }
        let text = "# HELP x_seconds Help.\n# TYPE x_seconds gauge\n# UNIT x_seconds seconds\nx_seconds{a=\"1\"} 1e-9\n# EOF\n";
        assert_eq!(metrics.text(), text);
    }
}
