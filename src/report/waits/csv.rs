//! Timers that wait as CSV: a line a timer, conditions and length; names carry their unit.

use crate::model::{Granularity, Known, PeriodRow, Report, WaitConditions, WaitFigures};
use crate::table::{Cell, Column, Format, Table};

/// What all begin with.
const HEAD: [&str; 10] =
    ["id", "label", "runtime", "slack_ns", "policy", "load", "cpu", "status", "reason", "remedy"];

/// The same of a row.
macro_rules! head {
    ($row:expr) => {{
        let mut head =
            Vec::from([&$row.id, &$row.label, &$row.runtime].map(|text| Cell::from(text.as_str())));
        head.extend(conditions(&$row.conditions));
        head.extend([$row.status.name().into(), (&$row.reason).into(), (&$row.remedy).into()]);
        head
    }};
}

fn columns(own: &[&'static str]) -> Vec<Column> {
    HEAD.iter().chain(own).map(|name| Column { longest: None, ..Column::left(name) }).collect()
}

fn three(known: Option<Known>) -> [Cell; 3] {
    known.map_or([Cell::Nothing, Cell::Nothing, Cell::Nothing], |known| {
        [known.value.into(), known.low.into(), known.high.into()]
    })
}

fn conditions(told: &WaitConditions) -> [Cell; 4] {
    [
        told.slack_ns.map(|ns| ns as f64).into(),
        told.policy.as_str().into(),
        told.load.name().into(),
        told.cpu.map(f64::from).into(),
    ]
}

/// The kind of a granularity, and its length.
fn granularity(of: Option<Granularity>) -> [Cell; 2] {
    match of {
        Some(Granularity::Step(known)) => ["step".into(), known.value.into()],
        Some(Granularity::AtMost(ns)) => ["at-most".into(), ns.into()],
        None => [Cell::Nothing, Cell::Nothing],
    }
}

/// The timers that wait: a line a length; one without a length where there are no figures.
#[must_use]
pub fn waits(report: &Report) -> String {
    const NAMES: &[&str] = &[
        "rounding_kind",
        "rounding_ns",
        "grid_kind",
        "grid_ns",
        "floor_ns",
        "floor_low_ns",
        "floor_high_ns",
        "zero_ns",
        "zero_low_ns",
        "zero_high_ns",
        "proportional_ppm",
        "proportional_low_ppm",
        "proportional_high_ppm",
        "cpu_slope",
        "cpu_slope_low",
        "cpu_slope_high",
        "arm_cancel_ns",
        "arm_cancel_low_ns",
        "arm_cancel_high_ns",
        "request_ns",
        "waits",
        "p50_ns",
        "p50_low_ns",
        "p50_high_ns",
        "p90_ns",
        "p90_low_ns",
        "p90_high_ns",
        "p99_ns",
        "p99_low_ns",
        "p99_high_ns",
        "p999_ns",
        "p999_low_ns",
        "p999_high_ns",
        "max_ns",
        "timers_part_ns",
        "timers_part_low_ns",
        "timers_part_high_ns",
        "early",
        "earliest_ns",
        "cpu_ns",
        "cpu_low_ns",
        "cpu_high_ns",
        "cpu_cycles",
        "spread",
        "quality",
    ];
    let mut table = Table::new(columns(NAMES));
    let none = WaitFigures::default();
    for row in &report.waits {
        let figures = row.figures.as_ref().unwrap_or(&none);
        let mut head = head!(row);
        let steps = figures.steps.first();
        head.extend(granularity(steps.and_then(|steps| steps.rounding)));
        head.extend(granularity(steps.and_then(|steps| steps.grid)));
        for known in [
            figures.floor_ns,
            figures.zero_ns,
            figures.proportional_ppm,
            figures.cpu_slope,
            figures.arm_cancel_ns,
        ] {
            head.extend(three(known));
        }
        for late in &figures.lateness {
            let mut line = head.clone();
            line.extend([(late.request_ns as f64).into(), (late.waits as f64).into()]);
            for known in [late.p50_ns, late.p90_ns, late.p99_ns, late.p999_ns] {
                line.extend(three(known));
            }
            line.push(late.max_ns.into());
            line.extend(three(late.timers_part_ns));
            line.extend([late.early.into(), late.earliest_ns.into()]);
            line.extend(three(late.cpu_ns));
            line.extend([late.cpu_cycles.into(), late.spread.into(), late.quality.into()]);
            table.push(line);
        }
        if figures.lateness.is_empty() {
            table.push(head);
        }
    }
    table.render(Format::Csv)
}

/// The periodic timers.
#[must_use]
pub fn periods(report: &Report) -> String {
    const NAMES: &[&str] = &[
        "period_ns",
        "rate_error_ppm",
        "rate_error_low_ppm",
        "rate_error_high_ppm",
        "jitter_p50_ns",
        "jitter_p50_low_ns",
        "jitter_p50_high_ns",
        "jitter_p99_ns",
        "jitter_p99_low_ns",
        "jitter_p99_high_ns",
        "lateness_p50_ns",
        "lateness_p50_low_ns",
        "lateness_p50_high_ns",
        "lateness_p99_ns",
        "lateness_p99_low_ns",
        "lateness_p99_high_ns",
        "max_ns",
        "expirations",
        "wakeups",
        "missed",
        "missed_reported",
        "stalls",
        "after_stall",
    ];
    let mut table = Table::new(columns(NAMES));
    for row in &report.periods {
        table.push(period(row));
    }
    table.render(Format::Csv)
}

fn period(row: &PeriodRow) -> Vec<Cell> {
    let mut line = head!(row);
    line.push((row.period_ns as f64).into());
    let Some(figures) = &row.figures else { return line };
    for known in [
        figures.rate_error_ppm,
        figures.jitter_p50_ns,
        figures.jitter_p99_ns,
        figures.lateness_p50_ns,
        figures.lateness_p99_ns,
    ] {
        line.extend(three(known));
    }
    line.push(figures.max_ns.into());
    let counts = [
        figures.expirations,
        figures.wakeups,
        figures.missed,
        figures.missed_reported,
        figures.stalls.into(),
    ];
    line.extend(counts.map(|count| Cell::from(count as f64)));
    line.push(figures.policy.map_or(Cell::Nothing, |policy| policy.name().into()));
    line
}
