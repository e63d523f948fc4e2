//! Tests of comparisons of small reports, by topic.

mod conditions;
mod families;
mod platforms;
mod trust;
mod verdicts;

use super::{
    ChangeCondition, ChangeVerdict, ComparedFigure, Comparison, Decision, NothingInCommon,
};
use crate::document::{Document, Render};
use crate::model::{
    Cost, Interval, Observations, Properties, ReadsBy, Report, Resolution, ResolutionKind, Status,
    TimerRow,
};
use crate::table::{Format, Style};

const EMPTY: &str = r#"{"schema":"timermeter.report.v2","tool":{"name":"timermeter","version":"0.1.0"},
    "created":"2026-11-20T12:00:00Z",
    "platform":{"cpu":{"architecture":"x86_64","microcode":"0x1"},"os":{"family":"linux"},"kernel":{"release":"6.1"},
        "clocksource":{"current":"tsc","available":["tsc","hpet"]}},
    "frequency":{"cycles_from":"effective","cycles_hz":{"value":3e9,"low":null,"high":null}},
    "settings":{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5},
    "findings":[],"timers":[]}"#;

/// A timer with a Quality in percent (± 0.1 points) and a cost in nanoseconds (± 1 %).
fn timer(id: &str, quality: f64, cost: f64) -> TimerRow {
    let mut row = TimerRow::unmeasured(id, id, "native", Status::Ok);
    let quality = [quality, quality - 0.1, quality + 0.1].map(|percent| percent / 100.0);
    row.quality = Some(Interval::with_ends(
        quality[0],
        Some((quality[1], quality[2])),
    ));
    row.cost_ns = Some(Interval::with_ends(cost, Some((cost * 0.99, cost * 1.01))));
    row.cost = Some(Cost {
        single_median_ns: None,
        p90_ns: None,
        longest_ns: None,
        p99_ns: None,
        follows: None,
        reference: "rdtsc".into(),
    });
    row.resolution = Some(Resolution {
        ticks: 10.0,
        cycles: None,
        kind: ResolutionKind::Resolved,
    });
    row.resolution_ns = Some(Interval::with_ends(10.0, Some((9.9, 10.1))));
    row.spread = Some(Interval::unbounded(0.99));
    row.properties = Some(Properties {
        reads_by: Some(ReadsBy::Vdso),
        ..Properties::default()
    });
    row.observations = Some(Observations {
        processes: 25,
        disturbed_processes: 0,
        discarded_processes: 0,
        dropped_windows: std::collections::BTreeMap::new(),
        intervals: 0,
        batched_calls: 0,
        single_calls: 0,
        backward_steps: 0,
        reference_resolution_ns: None,
        resolution_rule: None,
    });
    row
}

fn report(timers: Vec<TimerRow>) -> Report {
    Report {
        timers,
        ..crate::report::parse(EMPTY, "empty").unwrap()
    }
}

fn compared(old: &Report, new: &Report) -> Result<Comparison, NothingInCommon> {
    Comparison::between(&[old], &[new])
}

fn failed(id: &str) -> TimerRow {
    let mut row = TimerRow::unmeasured(id, id, "native", Status::Failed);
    row.reason = Some("the process crashed".into());
    row
}

/// A comparison in which `a` is unchanged, `b` is worse, `c` fails, `gone` is missing and `new` is
/// added.
fn sample() -> Comparison {
    let old = report(vec![
        timer("a", 45.0, 20.0),
        timer("b", 40.0, 50.0),
        timer("c", 30.0, 99.0),
        timer("gone", 9.0, 9.0),
    ]);
    let new = report(vec![
        timer("a", 45.05, 20.1),
        timer("b", 35.0, 75.0),
        failed("c"),
        timer("new", 9.0, 9.0),
    ]);
    compared(&old, &new).unwrap()
}

/// The verdict on a quantity of the first timer that has it.
fn verdict_of(comparison: &Comparison, quantity: &str) -> ChangeVerdict {
    let found = comparison
        .figures
        .iter()
        .find(|compared| compared.quantity == quantity);
    found.expect("both reports have the quantity").verdict
}

/// Whether a condition holds.
fn met(condition: &str, comparison: &Comparison) -> bool {
    matches!(decide(condition, comparison), Decision::Holds(_))
}

fn decide(condition: &str, comparison: &Comparison) -> Decision {
    let condition: ChangeCondition = condition.parse().unwrap_or_else(|error| panic!("{error}"));
    condition.decide(comparison)
}

/// The reason why a condition is open.
fn open(condition: &str, comparison: &Comparison) -> Option<String> {
    match decide(condition, comparison) {
        Decision::Open(why) => Some(why),
        _ => None,
    }
}

fn render(comparison: &Comparison, format: Format, style: Style) -> String {
    let mut text = Vec::new();
    let document = comparison.add_to(Document::new(()), false);
    document.write(format, style, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn table(comparison: &Comparison) -> String {
    render(comparison, Format::Table, Style::default())
}

fn markdown(comparison: &Comparison) -> String {
    render(comparison, Format::Markdown, Style::default())
}
