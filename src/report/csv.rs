//! The report as CSV (RFC 4180): one line a timer, flat columns whose names carry their unit; empty is "not determined".

use super::waits;
use crate::model::{Accuracy, Answers, Cost, Distribution, Observations, Report, TimerRow};
use crate::table::{Cell, Column, Format, Table};

type Member = (&'static str, fn(&Report, &TimerRow) -> Cell);

const MEMBERS: &[Member] = &[
    ("id", |_, row| row.id.as_str().into()),
    ("label", |_, row| row.label.as_str().into()),
    ("runtime", |_, row| row.runtime.as_str().into()),
    ("status", |_, row| row.status.name().into()),
    ("reason", |_, row| (&row.reason).into()),
    ("remedy", |_, row| (&row.remedy).into()),
    ("ns_per_tick", |_, row| row.ns_per_tick.into()),
    ("accuracy_kind", |_, row| row.accuracy.map_or(Cell::Nothing, |accuracy| accuracy.kind.name().into())),
    ("accuracy_ns", |_, row| accuracy(row, |accuracy| accuracy.ns)),
    ("accuracy_low_ns", |_, row| accuracy(row, |accuracy| accuracy.low_ns)),
    ("accuracy_high_ns", |_, row| accuracy(row, |accuracy| accuracy.high_ns)),
    ("accuracy_ticks", |_, row| accuracy(row, |accuracy| Some(accuracy.ticks))),
    ("accuracy_cycles", |_, row| accuracy(row, |accuracy| accuracy.cycles)),
    ("cost_median_ns", |_, row| cost(row, |cost| cost.median_ns)),
    ("cost_low_ns", |_, row| cost(row, |cost| cost.low_ns)),
    ("cost_high_ns", |_, row| cost(row, |cost| cost.high_ns)),
    ("cost_median_cycles", |_, row| cost(row, |cost| cost.median_cycles)),
    ("cost_amortised_ns", |_, row| cost(row, |cost| cost.amortised_ns)),
    ("cost_single_median_ns", |_, row| cost(row, |cost| cost.single_median_ns)),
    ("cost_p99_ns", |_, row| cost(row, |cost| cost.p99_ns)),
    ("cost_reference", |_, row| {
        row.cost.as_ref().map_or(Cell::Nothing, |cost| cost.reference.as_str().into())
    }),
    ("spread", |_, row| row.spread.into()),
    ("spread_low", |_, row| row.spread_low.into()),
    ("spread_high", |_, row| row.spread_high.into()),
    ("distribution_modes", |_, row| modes(row)),
    ("distribution_within_ns", |_, row| distribution(row, |costs| Some(costs.within_ns))),
    ("distribution_between_ns", |_, row| distribution(row, |costs| costs.between_ns)),
    ("distribution_tail_share", |_, row| distribution(row, |costs| Some(costs.tail_share))),
    ("quality", |_, row| row.quality.into()),
    ("quality_low", |_, row| row.quality_low.into()),
    ("quality_high", |_, row| row.quality_high.into()),
    ("processes", |_, row| observed(row, |seen| u64::from(seen.processes))),
    ("intervals", |_, row| observed(row, |seen| seen.intervals)),
    ("batched_calls", |_, row| observed(row, |seen| seen.batched_calls)),
    ("single_calls", |_, row| observed(row, |seen| seen.single_calls)),
    ("backward_steps", |_, row| observed(row, |seen| seen.backward_steps)),
    ("monotonic", |_, row| outcome(row, 0)),
    ("thread_safe", |_, row| outcome(row, 1)),
    ("stable", |_, row| outcome(row, 2)),
    ("counts", |_, row| outcome(row, 3)),
    ("declared", |_, row| outcome(row, 4)),
    ("read_path", |_, row| outcome(row, 5)),
    ("warnings", |_, row| {
        row.warnings.iter().map(|warning| warning.code.as_str()).collect::<Vec<_>>().join(" ").into()
    }),
    ("cpu_model", |report, _| (&report.platform.cpu.model).into()),
    ("cycles_from", |report, _| report.frequency.cycles_from.as_str().into()),
    ("cycles_hz", |report, _| report.frequency.cycles_hz.into()),
    ("cycles_hz_low", |report, _| report.frequency.cycles_hz_low.into()),
    ("cycles_hz_high", |report, _| report.frequency.cycles_hz_high.into()),
    ("created", |report, _| report.created.as_str().into()),
    ("legend", |_, row| (&row.legend).into()),
];

/// A header line, then one line a timer in the order of the report; of timers that wait a line a length.
#[must_use]
pub fn render(report: &Report) -> String {
    if !waits::is_read(report) {
        return if report.waits.is_empty() { waits::periods_csv(report) } else { waits::waits_csv(report) };
    }
    let mut table = Table::new(MEMBERS.iter().map(|(name, _)| Column::left(name)).collect());
    report
        .timers
        .iter()
        .for_each(|row| table.push(MEMBERS.iter().map(|(_, cell)| cell(report, row)).collect()));
    table.render(Format::Csv)
}

fn accuracy(row: &TimerRow, figure: fn(&Accuracy) -> Option<f64>) -> Cell {
    row.accuracy.as_ref().and_then(figure).into()
}

fn cost(row: &TimerRow, figure: fn(&Cost) -> Option<f64>) -> Cell {
    row.cost.as_ref().and_then(figure).into()
}

fn distribution(row: &TimerRow, figure: fn(&Distribution) -> Option<f64>) -> Cell {
    row.distribution.as_ref().and_then(figure).into()
}

/// The costs there are, each in nanoseconds with its share, as in `22.5:0.81 41:0.18`.
fn modes(row: &TimerRow) -> Cell {
    let modes = row.distribution.iter().flat_map(|costs| &costs.modes);
    let sound = modes.filter(|mode| (mode.ns + mode.share).is_finite());
    sound.map(|mode| format!("{}:{}", mode.ns, mode.share)).collect::<Vec<_>>().join(" ").into()
}

/// The outcome of one of the verdicts, in their order.
fn outcome(row: &TimerRow, place: usize) -> Cell {
    row.verdicts.as_ref().map_or(Cell::Nothing, |all| all.each()[place].1.in_words().into())
}

fn observed(row: &TimerRow, count: fn(&Observations) -> u64) -> Cell {
    row.observations.as_ref().map_or(Cell::Nothing, |seen| count(seen).to_string().into())
}
