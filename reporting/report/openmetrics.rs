//! The report as metrics: OpenMetrics 1.0, kept to what the older text format 0.0.4 says in the
//! same way, so that a scraper, the textfile collector of node_exporter and
//! `promtool check metrics` take the same file. All are gauges, in base units.
//!
//! [The format](https://prometheus.io/docs/specs/om/open_metrics_spec/).

use std::fmt::Write;
use std::time::UNIX_EPOCH;

use indexmap::IndexMap;

use super::waits::{each_length, is_read};
use crate::fields::{Field, Kind, Metric, Row, Ticked, Waited, of_kind};
use crate::model::{
    Outcome, PeriodRow, Platform, ProvenanceKind, Report, Status, TimerRow, Verdicts,
    WaitConditions, WaitRow,
};
use crate::text::{clipped, plain};

/// Characters of a label at most: none is longer but those of a hostile agent.
const LONGEST: usize = 100;

/// Units that names may end in.
const UNITS: [&str; 3] = ["seconds", "ratio", "hertz"];

const NS: f64 = 1e9;
const PPM: f64 = 1e6;

/// The document. What was not determined is left out.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut metrics = Metrics::default();
    let run = labels(&[("report", kind(report))]);
    of_run(&mut metrics, &run, report);
    of_platform(&mut metrics, &run, &report.platform);
    report
        .timers
        .iter()
        .for_each(|row| of_timer(&mut metrics, row));
    report
        .waits
        .iter()
        .for_each(|row| of_wait(&mut metrics, row));
    report
        .periods
        .iter()
        .for_each(|row| of_period(&mut metrics, row));
    metrics.text()
}

/// What a report is of: files of all three may lie side by side, and no two samples may have the
/// same labels.
fn kind(report: &Report) -> &'static str {
    match report.waits.is_empty() {
        _ if is_read(report) => "clocks",
        false => "waits",
        true => "periods",
    }
}

/// Gauges by name. A sample whose labels are there already is left out: one would spoil the whole
/// document.
#[derive(Debug, Default)]
pub struct Metrics(IndexMap<String, Family>);

#[derive(Debug)]
struct Family {
    help: String,
    samples: IndexMap<String, f64>,
}

impl Metrics {
    /// Adds a sample; nothing where `value` is none or no number. `labels` are written already.
    pub fn gauge(&mut self, name: &str, help: &str, labels: &str, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        if !self.0.contains_key(name) {
            self.0.insert(
                name.into(),
                Family {
                    help: help.into(),
                    samples: IndexMap::new(),
                },
            );
        }
        self.0[name].samples.entry(labels.into()).or_insert(value);
    }

    /// A field in its base unit, and the ends of its interval.
    fn of_field(&mut self, field: &Field, metric: Metric, labels: &str, row: &Row) {
        let scale = match (metric.unit, field.key.ends_with("_ppm")) {
            ("seconds", _) => NS,
            ("ratio", true) => PPM,
            _ => 1.0,
        };
        let Some(figure) = field.figure(row).filter(|figure| figure.value.is_finite()) else {
            return;
        };
        let figure = figure.map(|figure| figure / scale);
        let Metric {
            name, unit, help, ..
        } = metric;
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!("_{unit}")
        };
        self.gauge(
            &format!("{name}{unit}"),
            &format!("{help}."),
            labels,
            Some(figure.value),
        );
        for (end, called, figure) in [
            ("low", "Lower", figure.low()),
            ("high", "Upper", figure.high()),
        ] {
            let help = format!("{called} end of the 95 % interval of {name}{unit}.");
            self.gauge(&format!("{name}_{end}{unit}"), &help, labels, figure);
        }
    }

    /// The document.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (name, family) in &self.0 {
            let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} gauge", family.help);
            if let Some(unit) = UNITS
                .iter()
                .find(|unit| name.ends_with(&format!("_{unit}")))
            {
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

/// Labels as they are written, harmless and of bounded length.
#[must_use]
pub fn labels(of: &[(&str, &str)]) -> String {
    let written = of.iter().map(|(name, value)| {
        let value = clipped(&plain(value), LONGEST)
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    });
    written.collect::<Vec<_>>().join(",")
}

fn with(own: &str, name: &str, value: &str) -> String {
    format!("{own},{}", labels(&[(name, value)]))
}

fn seconds(ns: u64) -> String {
    (ns as f64 / NS).to_string()
}

fn flag(holds: bool) -> Option<f64> {
    Some(if holds { 1.0 } else { 0.0 })
}

fn of_run(metrics: &mut Metrics, run: &str, report: &Report) {
    let began = humantime::parse_rfc3339_weak(&report.created).ok();
    let began = began
        .and_then(|began| began.duration_since(UNIX_EPOCH).ok())
        .map(|since| since.as_secs_f64());
    let help = "When the measurement began, by the clock of the machine.";
    metrics.gauge("timermeter_report_timestamp_seconds", help, run, began);
    let provenance = match report.provenance.kind {
        ProvenanceKind::Measured => "measured",
        ProvenanceKind::Published => "published",
    };
    let told = [
        ("version", &*report.tool.version),
        ("profile", &report.settings.profile),
        ("provenance", provenance),
    ];
    let told = format!("{run},{}", labels(&told));
    let told = report
        .node
        .iter()
        .fold(told, |told, node| with(&told, "node", node));
    metrics.gauge(
        "timermeter_report_info",
        "How the report was made.",
        &told,
        Some(1.0),
    );
    for warning in &report.warnings {
        let help = "What worsens the figures of the whole report.";
        metrics.gauge(
            "timermeter_report_caveat",
            help,
            &with(run, "code", &warning.code),
            Some(1.0),
        );
    }
    let frequency = &report.frequency;
    let help = "Rate of the time stamp counter.";
    metrics.gauge(
        "timermeter_tsc_frequency_hertz",
        help,
        run,
        frequency.tsc_hz,
    );
    let help = "Rate at which the core ran.";
    metrics.gauge(
        "timermeter_core_frequency_hertz",
        help,
        run,
        crate::model::value_of(frequency.effective_hz),
    );
}

fn of_platform(metrics: &mut Metrics, run: &str, platform: &Platform) {
    let current = platform.clocksource.current.as_deref();
    let or_none = |text: &Option<String>| text.clone().unwrap_or_default();
    let told = labels(&[
        ("cpu", &or_none(&platform.cpu.model)),
        ("architecture", &platform.cpu.architecture),
        ("microcode", &or_none(&platform.cpu.microcode)),
        ("kernel", &or_none(&platform.kernel.release)),
        ("os", &or_none(&platform.os.name)),
        ("hypervisor", &or_none(&platform.hypervisor)),
        ("clocksource", current.unwrap_or_default()),
    ]);
    let help = "The machine; a label is empty where it did not tell.";
    metrics.gauge(
        "timermeter_platform_info",
        help,
        &format!("{run},{told}"),
        Some(1.0),
    );
    let available = platform.clocksource.available.iter().map(String::as_str);
    for source in current.into_iter().chain(available) {
        let help = "Whether this clock source is the one that the kernel uses; 0 for others that it could use.";
        let labels = with(run, "clocksource", source);
        metrics.gauge(
            "timermeter_clocksource_selected",
            help,
            &labels,
            flag(Some(source) == current),
        );
    }
    let help = "Share of the time in which a hypervisor ran others while this machine had something to run.";
    metrics.gauge("timermeter_steal_ratio", help, run, platform.steal_share);
    let Some(ntp) = &platform.ntp else { return };
    let gauges = [
        (
            "synchronised",
            "Whether the clock is kept synchronised.",
            flag(ntp.synchronised),
        ),
        (
            "slewing",
            "Whether an offset is being slewed in.",
            flag(ntp.slewing),
        ),
        (
            "rate_ratio",
            "What the clock is sped up by, all trims together.",
            Some(ntp.rate_ppm / PPM),
        ),
        (
            "offset_seconds",
            "Offset that is still to be slewed in.",
            Some(ntp.offset_ns as f64 / NS),
        ),
        (
            "estimated_error_seconds",
            "Error of the clock as its time service estimates it.",
            Some(ntp.estimated_error_us as f64 / 1e6).filter(|_| ntp.synchronised),
        ),
    ];
    for (name, help, value) in gauges {
        metrics.gauge(&format!("timermeter_ntp_{name}"), help, run, value);
    }
}

fn status(metrics: &mut Metrics, name: &str, own: &str, status: Status) {
    let help = "How the characterisation ended: 1 for the status that holds.";
    metrics.gauge(name, help, &with(own, "status", status.name()), Some(1.0));
}

/// The gauges of a row: those that are of one length with the labels of that, all others with those
/// of the timer.
fn of_row(metrics: &mut Metrics, row: &Row, kind: Kind, own: &str, of_length: &str) {
    for field in of_kind(kind) {
        let Some(metric) = field.metric else { continue };
        let labels = if metric.of_length { of_length } else { own };
        match metric.percentile {
            Some(percentile) => {
                metrics.of_field(field, metric, &with(labels, "percentile", percentile), row)
            }
            None => metrics.of_field(field, metric, labels, row),
        }
    }
}

fn of_timer(metrics: &mut Metrics, row: &TimerRow) {
    let own = labels(&[("timer", &row.id), ("runtime", &row.runtime)]);
    status(metrics, "timermeter_timer_status", &own, row.status);
    of_row(metrics, &Row::Clock(row), Kind::Clocks, &own, &own);
    for answer in row.verdicts.iter().flat_map(Verdicts::answers) {
        let value = match answer.outcome {
            Outcome::Pass => Some(1.0),
            Outcome::Fail => Some(0.0),
            Outcome::NotApplicable | Outcome::NotTested => None,
        };
        let help = "Whether a question of trust was passed; absent where it was not tested or does not apply.";
        let labels = with(&own, "question", answer.question.name());
        metrics.gauge("timermeter_timer_trusted", help, &labels, value);
    }
}

fn under(id: &str, runtime: &str, conditions: &WaitConditions) -> String {
    labels(&[
        ("timer", id),
        ("runtime", runtime),
        ("policy", &conditions.policy),
        ("load", conditions.load.name()),
        (
            "slack_seconds",
            &conditions.slack_ns.map(seconds).unwrap_or_default(),
        ),
        (
            "cpu",
            &conditions
                .cpu
                .map(|cpu| cpu.to_string())
                .unwrap_or_default(),
        ),
    ])
}

fn of_wait(metrics: &mut Metrics, row: &WaitRow) {
    let own = under(&row.id, &row.runtime, &row.conditions);
    status(metrics, "timermeter_wait_status", &own, row.status);
    each_length(row, |late| {
        let length = late.map_or_else(String::new, |late| seconds(late.request_ns));
        let of_length = with(&own, "length_seconds", &length);
        let row = Row::Wait(Waited {
            row,
            late,
            conditions: "",
        });
        of_row(metrics, &row, Kind::Waits, &own, &of_length);
    });
}

fn of_period(metrics: &mut Metrics, row: &PeriodRow) {
    let own = under(&row.id, &row.runtime, &row.conditions);
    let own = with(&own, "period_seconds", &seconds(row.period_ns));
    status(metrics, "timermeter_period_status", &own, row.status);
    of_row(
        metrics,
        &Row::Period(Ticked {
            row,
            conditions: "",
        }),
        Kind::Periods,
        &own,
        &own,
    );
}

#[cfg(test)]
mod tests {
    use super::{Metrics, labels};

    #[test]
    fn labels_are_escaped_harmless_and_bounded() {
        assert_eq!(labels(&[("a", "x\"y\\z\nw\u{1b}[31m")]), r#"a="x\"y\\z w""#);
        assert!(labels(&[("a", &"x".repeat(1000))]).chars().count() <= 105);
    }

    #[test]
    fn no_sample_comes_twice_and_none_without_a_number() {
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
