//! OpenMetrics 1.0. Only features that the older text format 0.0.4 shares are used, so that a
//! scraper, the textfile collector of node_exporter and `promtool check metrics` accept the same
//! file. All metrics are gauges in base units.
//!
//! Format: <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use std::fmt::Write;
use std::iter;
use std::time::UNIX_EPOCH;

use indexmap::IndexMap;

use crate::fields::{Field, FieldSource, Kind, LabelOf, Row, all_rows, fields, fields_of};
use crate::text::{clipped, plain};
use estimators::model::{Outcome, Report, Verdicts};

/// The largest length of a label in characters; only labels from a hostile agent are longer.
const MAX_LABEL_CHARS: usize = 100;

/// The units with which metric names may end.
const UNITS: [&str; 3] = ["seconds", "ratio", "hertz"];

/// The document. Values that were not determined are omitted.
pub fn render(report: &Report) -> String {
    let mut metrics = Metrics::default();
    add_report(&mut metrics, report);
    for row in all_rows(report) {
        add_row(&mut metrics, row);
    }
    metrics.text()
}

/// Labels with escaped values of bounded length.
#[derive(Clone, Debug, Default)]
struct Labels(String);

impl Labels {
    fn with(&self, name: &str, value: &str) -> Self {
        let value = clipped(&plain(value), MAX_LABEL_CHARS);
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let separator = if self.0.is_empty() { "" } else { "," };
        Self(format!("{}{separator}{name}=\"{value}\"", self.0))
    }

    /// Adds the fields that are labels of a gauge, with their values in base units.
    fn with_fields<'a>(
        &self,
        of: LabelOf,
        fields: impl Iterator<Item = &'static Field>,
        source: impl Into<FieldSource<'a>> + Copy,
    ) -> Self {
        let labels =
            fields.filter_map(|field| Some((field, field.label.filter(|it| it.0 == of)?.1)));
        labels.fold(self.clone(), |labels, (field, name)| {
            match field.figure(source) {
                Some(figure) => {
                    let (_, scale) = field.unit.rules().base_unit;
                    labels.with(name, &(figure.value / scale).to_string())
                }
                None => labels.with(name, field.value(source).as_text()),
            }
        })
    }
}

/// Gauges by name. A sample with the labels of an existing sample is dropped, because duplicates
/// make the document invalid.
#[derive(Debug, Default)]
struct Metrics(IndexMap<String, MetricFamily>);

#[derive(Debug)]
struct MetricFamily {
    help: String,
    samples: IndexMap<String, f64>,
}

impl Metrics {
    /// Adds a sample, unless `value` is `None` or not finite.
    fn gauge(&mut self, name: &str, help: &str, labels: &Labels, value: impl Into<Option<f64>>) {
        let Some(value) = value.into().filter(|value| value.is_finite()) else {
            return;
        };
        let family = self.0.entry(name.into()).or_insert_with(|| MetricFamily {
            help: help.into(),
            samples: IndexMap::new(),
        });
        family.samples.entry(labels.0.clone()).or_insert(value);
    }

    /// Adds the value of a field in its base unit, and the ends of its interval if they are known.
    fn add<'a>(
        &mut self,
        prefix: &str,
        field: &Field,
        labels: &Labels,
        source: impl Into<FieldSource<'a>>,
    ) {
        let (Some(metric), Some(figure)) = (field.metric, field.figure(source)) else {
            return;
        };
        let (unit, scale) = field.unit.rules().base_unit;
        let labels = match metric.percentile {
            Some(percentile) => labels.with("percentile", percentile),
            None => labels.clone(),
        };
        let name = format!("{prefix}{}", metric.name);
        let of = "end of the 95 % interval of";
        let about = match metric.percentile {
            Some(_) => metric.name,
            None => field.about,
        };
        for (end, help, value) in [
            ("", format!("{about}."), Some(figure.value)),
            ("_low", format!("Lower {of} {name}{unit}."), figure.low()),
            ("_high", format!("Upper {of} {name}{unit}."), figure.high()),
        ] {
            let value = value.filter(|_| figure.value.is_finite());
            self.gauge(
                &format!("{name}{end}{unit}"),
                &help,
                &labels,
                value.map(|value| value / scale),
            );
        }
    }

    /// The text of the document.
    fn text(&self) -> String {
        let mut out = String::new();
        for (name, family) in &self.0 {
            let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} gauge", family.help);
            let unit = name.rsplit('_').next().unwrap_or_default();
            if UNITS.contains(&unit) {
                let _ = writeln!(out, "# UNIT {name} {unit}");
            }
            for (labels, value) in &family.samples {
                let _ = match labels.as_str() {
                    "" => writeln!(out, "{name} {value:?}"),
                    labels => writeln!(out, "{name}{{{labels}}} {value:?}"),
                };
            }
        }
        out + "# EOF\n"
    }
}

/// Adds the gauges of the whole report.
fn add_report(metrics: &mut Metrics, report: &Report) {
    // The label `report` distinguishes files in one folder, because no two samples of a folder may
    // have the same labels.
    let main = format!("{:?}", Kind::main(report)).to_lowercase();
    let run = Labels::default().with("report", &main);
    let start = humantime::parse_rfc3339_weak(&report.created).ok();
    let start = start.and_then(|start| start.duration_since(UNIX_EPOCH).ok());
    metrics.gauge(
        "timermeter_report_timestamp_seconds",
        "Start of the measurement, by the clock of the machine.",
        &run,
        start.map(|since_1970| since_1970.as_secs_f64()),
    );
    metrics.gauge(
        "timermeter_report_info",
        "Version, profile and origin of the report.",
        &run.with_fields(LabelOf::Report, fields().iter(), report),
        1.0,
    );
    for finding in &report.findings {
        metrics.gauge(
            "timermeter_report_caveat",
            "A finding about the whole report, by its code.",
            &run.with("code", &finding.code),
            1.0,
        );
    }
    metrics.gauge(
        "timermeter_platform_info",
        "The machine; a label is empty if the value is unknown.",
        &run.with_fields(LabelOf::Platform, fields().iter(), report),
        1.0,
    );
    let source = &report.platform.clocksource;
    for name in source.current.iter().chain(&source.available) {
        metrics.gauge(
            "timermeter_clocksource_selected",
            "1 for the clock source that the kernel uses; 0 for other available clock sources.",
            &run.with("clocksource", name),
            f64::from(u8::from(Some(name) == source.current.as_ref())),
        );
    }
    for field in fields() {
        metrics.add("timermeter_", field, &run, report);
    }
}

/// Adds the gauges of a row, and of a sleep primitive those of each length.
fn add_row(metrics: &mut Metrics, row: Row) {
    let (prefix, length) = match row.kind() {
        Kind::Clocks => ("timermeter_timer_", ""),
        Kind::Waits => ("timermeter_wait_", "length_seconds"),
        Kind::Periods => ("timermeter_period_", "period_seconds"),
    };
    let labels = Labels::default().with_fields(LabelOf::Timer, fields_of(row.kind()), row);
    let labels_of = |one: Row| match one.request_ns() {
        Some(ns) => labels.with(length, &(ns as f64 / 1e9).to_string()),
        None => labels.clone(),
    };
    metrics.gauge(
        &format!("{prefix}status"),
        "1 for the status of the characterisation.",
        &labels_of(row).with("status", row.status().name()),
        1.0,
    );
    for field in fields_of(row.kind()) {
        let is_of_length = field.figure(row).is_none();
        for one in iter::once(row).chain(row.by_length().into_iter().filter(|_| is_of_length)) {
            metrics.add(prefix, field, &labels_of(one), one);
        }
    }
    let verdicts = row.clock().and_then(|row| row.verdicts.as_ref());
    for answer in verdicts.into_iter().flat_map(Verdicts::answers) {
        let outcomes = [Outcome::Fail, Outcome::Pass];
        let value = outcomes.iter().position(|it| *it == answer.outcome);
        metrics.gauge(
            &format!("{prefix}trusted"),
            "1 if the timer passed the question of trust, 0 if it failed; absent if it was not tested or does not apply.",
            &labels.with("question", answer.question.name()),
            value.map(|it| it as f64),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Labels, Metrics};

    #[test]
    fn labels_are_escaped_and_bounded() {
        let labels = |value: &str| Labels::default().with("a", value).0;
        assert_eq!(labels("x\"y\\z\nw\u{1b}[31m"), r#"a="x\"y\\z w""#);
        assert!(labels(&"x".repeat(1000)).chars().count() <= 105);
    }

    #[test]
    fn samples_are_unique_numbers() {
        let (mut metrics, a) = (Metrics::default(), Labels::default().with("a", "1"));
        for (labels, value) in [
            (&a, Some(1e-9)),
            (&a, Some(2.0)),
            (&Labels::default(), None),
            (&Labels::default(), Some(f64::NAN)),
        ] {
            metrics.gauge("x_seconds", "Help.", labels, value);
        }
        let text = "# HELP x_seconds Help.\n# TYPE x_seconds gauge\n# UNIT x_seconds seconds\nx_seconds{a=\"1\"} 1e-9\n# EOF\n";
        assert_eq!(metrics.text(), text);
    }
}
