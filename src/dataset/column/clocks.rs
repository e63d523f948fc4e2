//! What differs from clock to clock.

use super::{Column, Source, clock, column, shown};
use crate::dataset::value::{Type, Value};
use crate::model::{Accuracy, BriefRow, BriefVerdicts, Outcome, Properties};
use crate::tabulation::{Column as Shown, Row};

macro_rules! outcome {
    ($name:literal, $about:literal, $question:ident) => {
        clock($name, Type::Text, $about, |row| verdict(row, |verdicts| verdicts.$question.outcome))
    };
}

pub(super) fn columns() -> Vec<Column> {
    let mut columns = vec![
        shown(Shown::Timer),
        shown(Shown::Label),
        shown(Shown::Runtime),
        declared(
            "family",
            "What it reads: `cpu-counter`, `system-clock`, `cpu-time`, `perf-event`, `other`",
            |of| of.family.map(|family| family.name()),
        ),
        declared(
            "counted",
            "What it claims to count: `wall`, `process-cpu`, `thread-cpu`, `thread-cycles`, `something-else`",
            |of| of.counts.map(|counted| counted.name()),
        ),
        declared(
            "reads_by",
            "How it is meant to be read: `instruction`, `vdso`, `system-call`, `other`",
            |of| of.reads_by.map(|way| way.name()),
        ),
        shown(Shown::Status),
        shown(Shown::Reason),
    ];
    columns.extend(figures());
    columns.extend(trust());
    columns.push(shown(Shown::Warnings));
    columns
}

fn figures() -> Vec<Column> {
    vec![
        shown(Shown::Accuracy),
        clock("accuracy_low_ns", Type::Figure, "Lower end of its 95 % interval", |row| {
            step(row, |a| a.low_ns)
        }),
        clock("accuracy_high_ns", Type::Figure, "Upper end of its 95 % interval", |row| {
            step(row, |a| a.high_ns)
        }),
        shown(Shown::AccuracyCycles),
        clock(
            "accuracy_kind",
            Type::Text,
            "`resolved`, or `at_most` where the step is no longer than that",
            |row| row.accuracy.as_ref().map(|step| step.kind.name()).into(),
        ),
        clock("ns_per_tick", Type::Figure, "Nanoseconds in a tick", |row| row.ns_per_tick.into()),
        shown(Shown::Cost),
        shown(Shown::CostLow),
        shown(Shown::CostHigh),
        shown(Shown::CostCycles),
        shown(Shown::Amortised),
        shown(Shown::P99),
        clock("cost_reference", Type::Text, "The timer that timed the invocations", |row| {
            row.cost.as_ref().map(|cost| &cost.reference).into()
        }),
        shown(Shown::Spread),
        shown(Shown::SpreadLow),
        shown(Shown::SpreadHigh),
        clock("quality", Type::Figure, "Quality, 0 to 1", |row| row.quality.into()),
        clock("quality_low", Type::Figure, "Lower end of its 95 % interval", |row| row.quality_low.into()),
        clock("quality_high", Type::Figure, "Upper end of its 95 % interval", |row| row.quality_high.into()),
        clock("quality_printed", Type::Figure, "Quality as a publication prints it, 0 to 1", |row| {
            row.printed_quality.into()
        }),
        clock("processes", Type::Count, "Fresh processes that measured it", |row| {
            row.observations.as_ref().map(|seen| seen.processes).into()
        }),
        clock("single_calls", Type::Count, "Single invocations that were timed", |row| {
            row.observations.as_ref().map(|seen| seen.single_calls).into()
        }),
    ]
}

fn trust() -> Vec<Column> {
    vec![
        shown(Shown::Trust),
        outcome!(
            "monotonic",
            "Whether it is monotonic: `pass`, `fail`, `not applicable`, `not tested`",
            monotonic
        ),
        outcome!("thread_safe", "Whether it is monotonic from thread to thread: likewise", thread_safe),
        outcome!("stable", "Whether it keeps its rate, without jumps: likewise", stable),
        outcome!("counts", "Whether it counts what it claims to: likewise", counts),
        outcome!("declared", "Whether it does what its platform declares: likewise", declared),
        outcome!("read_path", "Whether its reads go the way that they should: likewise", read_path),
        clock(
            "answered_by",
            Type::Text,
            "Who answers a read: `user-mode`, `system-call`, `trapped`",
            |row| {
                row.verdicts
                    .as_ref()
                    .and_then(|verdicts| verdicts.read_path.path)
                    .map(|path| path.name())
                    .into()
            },
        ),
        clock(
            "offset_max_ns",
            Type::Figure,
            "Largest difference of this clock between the first CPU and another, without sign",
            |row| furthest(row).map(|offset| offset.ns.abs()).into(),
        ),
        clock("offset_uncertainty_ns", Type::Figure, "The true difference lies within this of that", |row| {
            furthest(row).map(|offset| offset.uncertainty_ns.abs()).into()
        }),
        clock("rate_offset_ppm", Type::Figure, "How much faster than the reference it ran", |row| {
            row.verdicts.as_ref().and_then(|verdicts| verdicts.stable.offset_ppm).into()
        }),
        clock(
            "rate_offset_uncertainty_ppm",
            Type::Figure,
            "The true figure lies within this of that",
            |row| row.verdicts.as_ref().and_then(|verdicts| verdicts.stable.offset_uncertainty_ppm).into(),
        ),
        clock("jumps", Type::Count, "Windows in which it gained more than can be explained", |row| {
            row.verdicts.as_ref().and_then(|verdicts| verdicts.stable.jumps).into()
        }),
        clock("freezes", Type::Count, "Windows in which it lost more than that", |row| {
            row.verdicts.as_ref().and_then(|verdicts| verdicts.stable.freezes).into()
        }),
    ]
}

/// What is declared of it; nothing in reports of older versions.
fn declared(name: &'static str, about: &'static str, of: fn(&Properties) -> Option<&'static str>) -> Column {
    let value = move |row: &Row| match row {
        Row::Clock(row) => row.properties.as_ref().and_then(of).into(),
        _ => Value::Nothing,
    };
    column(name, Type::Text, about, Source::Row(Box::new(value)))
}

fn step(row: &BriefRow, figure: fn(&Accuracy) -> Option<f64>) -> Value {
    row.accuracy.as_ref().and_then(figure).into()
}

fn verdict(row: &BriefRow, of: fn(&BriefVerdicts) -> Outcome) -> Value {
    row.verdicts.as_ref().map(|verdicts| of(verdicts).in_words()).into()
}

fn furthest(row: &BriefRow) -> Option<&crate::model::CpuOffset> {
    row.verdicts.as_ref()?.thread_safe.furthest()
}
