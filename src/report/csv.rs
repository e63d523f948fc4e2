//! The report as CSV (RFC 4180): one line a timer, flat columns whose names carry their unit; empty is "not determined".

use crate::model::{Accuracy, Cost, Distribution, Observations, Report, TimerRow};
use crate::text::escape::csv as text;

type Column = (&'static str, fn(&Report, &TimerRow) -> String);

const COLUMNS: &[Column] = &[
    ("id", |_, row| text(&row.id)),
    ("label", |_, row| text(&row.label)),
    ("runtime", |_, row| text(&row.runtime)),
    ("status", |_, row| row.status.name().to_owned()),
    ("reason", |_, row| row.reason.as_deref().map(text).unwrap_or_default()),
    ("remedy", |_, row| row.remedy.as_deref().map(text).unwrap_or_default()),
    ("ns_per_tick", |_, row| number(row.ns_per_tick)),
    ("accuracy_kind", |_, row| {
        row.accuracy.map(|accuracy| accuracy.kind.name()).unwrap_or_default().to_owned()
    }),
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
    ("cost_reference", |_, row| row.cost.as_ref().map(|cost| text(&cost.reference)).unwrap_or_default()),
    ("spread", |_, row| number(row.spread)),
    ("spread_low", |_, row| number(row.spread_low)),
    ("spread_high", |_, row| number(row.spread_high)),
    ("distribution_modes", |_, row| modes(row)),
    ("distribution_within_ns", |_, row| distribution(row, |costs| Some(costs.within_ns))),
    ("distribution_between_ns", |_, row| distribution(row, |costs| costs.between_ns)),
    ("distribution_tail_share", |_, row| distribution(row, |costs| Some(costs.tail_share))),
    ("quality", |_, row| number(row.quality)),
    ("quality_low", |_, row| number(row.quality_low)),
    ("quality_high", |_, row| number(row.quality_high)),
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
        text(&row.warnings.iter().map(|warning| warning.code.as_str()).collect::<Vec<_>>().join(" "))
    }),
    ("cpu_model", |report, _| report.platform.cpu.model.as_deref().map(text).unwrap_or_default()),
    ("cycles_from", |report, _| text(&report.frequency.cycles_from)),
    ("cycles_hz", |report, _| number(report.frequency.cycles_hz)),
    ("cycles_hz_low", |report, _| number(report.frequency.cycles_hz_low)),
    ("cycles_hz_high", |report, _| number(report.frequency.cycles_hz_high)),
    ("created", |report, _| text(&report.created)),
    ("legend", |_, row| row.legend.as_deref().map(text).unwrap_or_default()),
];

/// A header line, then one line a timer in the order of the report.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut write =
        |record: Vec<String>| writer.write_record(record).expect("a vector takes all records of one length");
    write(COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect());
    for row in &report.timers {
        write(COLUMNS.iter().map(|(_, cell)| cell(report, row)).collect());
    }
    let bytes = writer.into_inner().expect("a vector can be flushed");
    String::from_utf8(bytes).expect("only text was written")
}

fn number(figure: Option<f64>) -> String {
    figure.filter(|figure| figure.is_finite()).map(|figure| figure.to_string()).unwrap_or_default()
}

fn accuracy(row: &TimerRow, figure: fn(&Accuracy) -> Option<f64>) -> String {
    number(row.accuracy.as_ref().and_then(figure))
}

fn cost(row: &TimerRow, figure: fn(&Cost) -> Option<f64>) -> String {
    number(row.cost.as_ref().and_then(figure))
}

fn distribution(row: &TimerRow, figure: fn(&Distribution) -> Option<f64>) -> String {
    number(row.distribution.as_ref().and_then(figure))
}

/// The costs there are, each in nanoseconds with its share, as in `22.5:0.81 41:0.18`.
fn modes(row: &TimerRow) -> String {
    let modes = row.distribution.iter().flat_map(|costs| &costs.modes);
    let sound = modes.filter(|mode| (mode.ns + mode.share).is_finite());
    text(&sound.map(|mode| format!("{}:{}", mode.ns, mode.share)).collect::<Vec<_>>().join(" "))
}

/// The outcome of one of the verdicts, in their order.
fn outcome(row: &TimerRow, place: usize) -> String {
    row.verdicts.as_ref().map_or_else(String::new, |all| all.each()[place].1.in_words().to_owned())
}

fn observed(row: &TimerRow, count: fn(&Observations) -> u64) -> String {
    row.observations.as_ref().map(|seen| count(seen).to_string()).unwrap_or_default()
}
