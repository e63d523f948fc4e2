//! Checks the OpenMetrics output of handmade reports with unusual values. Prometheus's tool
//! `promtool` checks this output and the alert rules.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use timermeter::model::{
    Interval, Lateness, PeriodFigures, PeriodRow, Report, RowHead, Status, WaitConditions,
    WaitFigures, WaitRow,
};
use timermeter::report::render;
use timermeter::table::{Format, Style};

use crate::sample::{nothing_determined, report};
use crate::skipping;

fn rendered(report: &Report) -> String {
    render(report, Format::OpenMetrics, Style::default())
}

/// A figure whose interval has no known upper end.
fn figure(value: f64) -> Option<Interval> {
    Some(Interval {
        value,
        low: 0.9 * value,
        high: f64::INFINITY,
    })
}

/// A report with three rows of one sleep primitive, two of which have equal conditions, and a
/// periodic timer.
fn report_of_waits() -> Report {
    let lateness = Lateness {
        request_ns: 1_000_000,
        waits: 500,
        with_others: false,
        p50_ns: figure(55_000.0),
        p90_ns: None,
        p99_ns: figure(71_000.5),
        p999_ns: None,
        max_ns: 1.25e6,
        uncertainty_ns: 60.0,
        timers_part_ns: None,
        early: 0.002,
        earliest_ns: 40.0,
        cpu_ns: figure(2_100.0),
        cpu_cycles: None,
        error_ns: 55_000.0,
        spread: None,
        quality: None,
        histogram: Default::default(),
    };
    let head = |id: &str| RowHead {
        id: id.into(),
        label: id.into(),
        runtime: "native".into(),
        status: Status::Ok,
        ..RowHead::default()
    };
    let row = |slack_ns| WaitRow {
        head: head("nanosleep"),
        conditions: WaitConditions {
            slack_ns,
            policy: "other".into(),
            ..WaitConditions::default()
        },
        means: Default::default(),
        figures: Some(WaitFigures {
            floor_ns: figure(53_000.0),
            lateness: vec![lateness.clone()],
            proportional_ppm: figure(12.0),
            ..WaitFigures::default()
        }),
    };
    let period = PeriodRow {
        head: head("timerfd"),
        conditions: WaitConditions::default(),
        period_ns: 10_000_000,
        figures: Some(PeriodFigures {
            rate_error_ppm: figure(-0.3),
            jitter_p99_ns: figure(8_000.0),
            missed: 3,
            expirations: 900,
            ..PeriodFigures::default()
        }),
    };
    let waits = vec![row(Some(50_000)), row(Some(50_000)), row(None)];
    Report {
        timers: Vec::new(),
        waits,
        periods: vec![period],
        ..report()
    }
}

/// A report of a real run, which has verdicts.
fn stored_report() -> Report {
    let file = "reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json";
    timermeter::report::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

#[test]
fn metrics_of_clocks() {
    insta::assert_snapshot!(rendered(&report()));
}

#[test]
fn waits_and_periods() {
    insta::assert_snapshot!(rendered(&report_of_waits()));
}

#[test]
fn undetermined_figures_are_omitted() {
    let text = rendered(&nothing_determined());
    let figures = ["_cost_", "_quality_", "_spread_", "NaN", "ntp"];
    assert_eq!(
        figures.map(|figure| text.contains(figure)),
        [false; 5],
        "{text}"
    );
    assert!(
        text.contains("status=\"failed\"") && text.ends_with("# EOF\n"),
        "{text}"
    );
}

#[test]
fn omits_impossible_start_time() {
    for (created, reported) in [
        (
            "1970-01-01T00:00:07Z",
            Some("timermeter_report_timestamp_seconds{report=\"clocks\"} 7.0\n"),
        ),
        ("1969-12-31T23:59:59Z", None),
        ("yesterday", None),
    ] {
        let text = rendered(&Report {
            created: created.into(),
            ..report()
        });
        assert_eq!(text.contains("_timestamp_"), reported.is_some(), "{text}");
        assert!(text.contains(reported.unwrap_or_default()), "{text}");
    }
}

#[test]
fn metric_families_are_grouped_without_duplicates() {
    for text in [rendered(&report()), rendered(&report_of_waits())] {
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let labels = |sample: &&str| sample.rsplit_once(' ').map(|(labels, _)| labels.to_owned());
        let distinct: BTreeSet<_> = samples.iter().map(labels).collect();
        assert_eq!(distinct.len(), samples.len());
        let mut names: Vec<&str> = samples
            .iter()
            .filter_map(|sample| sample.split('{').next())
            .collect();
        names.dedup();
        assert_eq!(
            names.len(),
            names.iter().collect::<BTreeSet<_>>().len(),
            "{names:?}"
        );
    }
}

/// Runs promtool with `input`. Returns whether it succeeded, and its output; `None` if it is not
/// installed.
fn promtool(arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/prometheus");
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(folder);
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        skipping::not_installed(
            "promtool is missing",
            "install it, as with `apt install prometheus`",
        );
        return None;
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let ended = child.wait_with_output().unwrap();
    let reported = [ended.stdout, ended.stderr].concat();
    Some((
        ended.status.success(),
        String::from_utf8_lossy(&reported).into_owned(),
    ))
}

#[test]
fn promtool_accepts_the_metrics() {
    for text in [
        report(),
        stored_report(),
        report_of_waits(),
        nothing_determined(),
    ]
    .map(|report| rendered(&report))
    {
        let Some((accepted, reported)) = promtool(&["check", "metrics"], &text) else {
            return;
        };
        assert!(accepted && reported.is_empty(), "{reported}\n{text}");
    }
    // A wrong document fails, so that the check above can fail.
    let wrong = "# TYPE a_ms gauge\na_ms 1\n";
    assert!(promtool(&["check", "metrics"], wrong).is_some_and(|(accepted, _)| !accepted));
}

#[test]
#[ignore = "long"]
fn alert_rules_pass_their_tests() {
    for arguments in [
        &["check", "rules", "timermeter.rules.yml"],
        &["test", "rules", "timermeter.rules.test.yml"],
    ] {
        let Some((accepted, reported)) = promtool(arguments, "") else {
            return;
        };
        assert!(accepted, "{reported}");
    }
}

/// The names of metrics in a text.
fn metric_names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with("timermeter_"))
        .collect()
}

#[test]
fn alerts_use_existing_metrics() {
    let written = rendered(&stored_report()) + &rendered(&report()) + &rendered(&report_of_waits());
    let existing: BTreeSet<&str> = metric_names(&written);
    let rules =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/prometheus/timermeter.rules.yml");
    let rules = fs::read_to_string(rules).unwrap();
    let unknown: Vec<_> = metric_names(&rules)
        .difference(&existing)
        .copied()
        .collect();
    assert!(
        metric_names(&rules).len() >= 8 && unknown.is_empty(),
        "{unknown:?}"
    );
}
