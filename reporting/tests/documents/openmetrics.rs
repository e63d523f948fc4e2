//! Checks the OpenMetrics output of handmade reports with unusual values. Prometheus's tool
//! `promtool` checks this output and the alert rules.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use estimators::model::Report;
use reporting::format::{Format, Render, Style};

use crate::sample::{nothing_determined, report, report_of_periods, report_of_waits};
use crate::skipping;

fn rendered(report: &Report) -> String {
    report.rendered(Format::OpenMetrics, Style::default())
}

#[test]
fn metrics_of_clocks() {
    insta::assert_snapshot!(rendered(&report()));
}

#[test]
fn undetermined_figures_are_omitted() {
    let text = rendered(&nothing_determined());
    let figures = ["_cost_", "_quality_", "_spread_", "NaN", "ntp"];
    let written = figures.map(|figure| text.contains(figure));
    assert_eq!(written, [false; 5], "{text}");
    let is_whole = text.contains("status=\"failed\"") && text.ends_with("# EOF\n");
    assert!(is_whole, "{text}");
}

#[test]
fn omits_impossible_start_time() {
    for created in ["1969-12-31T23:59:59Z", "yesterday"] {
        let mut report = report();
        report.created = created.to_owned();
        let text = rendered(&report);
        assert!(!text.contains("_timestamp_"), "{text}");
    }
}

/// Runs promtool with `input`. Returns whether it succeeded, and its output; `None` if it is not
/// installed.
fn promtool(arguments: &[&str], input: &str) -> Option<(bool, String)> {
    if skipping::lacks("promtool", "prometheus") {
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/prometheus");
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(folder);
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let ended = child.wait_with_output().unwrap();
    let reported = [ended.stdout, ended.stderr].concat();
    Some((
        ended.status.success(),
        String::from_utf8_lossy(&reported).into_owned(),
    ))
}

#[test]
fn promtool_accepts_the_metrics() {
    for report in [
        report(),
        report_of_periods(),
        report_of_waits(),
        nothing_determined(),
    ] {
        let text = rendered(&report);
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
    let written =
        rendered(&report_of_periods()) + &rendered(&report()) + &rendered(&report_of_waits());
    let rules = include_str!("../../../deploy/prometheus/timermeter.rules.yml");
    let (existing, used) = (metric_names(&written), metric_names(rules));
    assert!(used.len() >= 8 && used.is_subset(&existing), "{used:?}");
}
