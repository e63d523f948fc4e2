//! The formats of what was measured.

use serde::Serialize;

use crate::cli::measure::MeasureArgs;
use crate::commands::measurement::{Measurement, Outcome};
use crate::measure::worker::Row;
use crate::method::ClockFigures;
use crate::model::Report;
use crate::report::machine::facts;
use crate::report::terminal::machine;
use crate::table::{Cell, Column, Format, Notation, Style, Table};
use crate::text::numbers::{NOTHING, time};
use crate::text::{hang, plain};

/// The schema of the document.
const SCHEMA: &str = "timermeter.measure.v1";

/// All that was measured.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    platform: &'a crate::model::Platform,
    clock: &'a ClockFigures,
    error: f64,
    confidence: f64,
    seed: u64,
    measurements: &'a [Measurement],
}

/// What is shown, in all formats.
pub(super) struct Shown<'a> {
    pub(super) args: &'a MeasureArgs,
    pub(super) report: &'a Report,
    pub(super) clock: &'a ClockFigures,
    pub(super) measurements: &'a [Measurement],
}

const COLUMNS: [&str; 16] = [
    "operation",
    "size",
    "way",
    "calls",
    "mean_ns",
    "deviation_ns",
    "median_ns",
    "low_ns",
    "high_ns",
    "error",
    "clock_error",
    "variation",
    "per_second",
    "samples",
    "disturbed",
    "reason",
];

impl Shown<'_> {
    pub(super) fn document(&self) -> Document<'_> {
        Document {
            schema: SCHEMA,
            platform: &self.report.platform,
            clock: self.clock,
            error: self.args.error,
            confidence: self.args.confidence,
            seed: self.args.seed,
            measurements: self.measurements,
        }
    }

    /// Who the machine is and how it was measured, as lines that begin with `#`.
    fn head(&self, style: Style) -> String {
        let mut head = facts(&self.report.platform, &self.report.frequency);
        let clock = self.clock;
        let step = format!("{}{}", if clock.resolved { "" } else { "≤ " }, time(Some(clock.step_ns)));
        head.push((
            "clock",
            format!("{}, step {step}, a read takes {}", clock.id, time(Some(clock.cost_ns))),
        ));
        let goal = format!(
            "{} % of the clock at {} % confidence; intervals hold what the samples vary by, too",
            self.args.error * 100.0,
            self.args.confidence * 100.0
        );
        head.push(("error", goal));
        machine(&head, style)
    }

    pub(super) fn csv(&self) -> String {
        let mut table = Table::new(COLUMNS.map(Column::left).to_vec());
        for measurement in self.measurements {
            let mut row = vec![measurement.operation.as_str().into(), whole(measurement.size)];
            match &measurement.outcome {
                Outcome::Measured(found) => {
                    let summary = &found.summary;
                    row.extend([found.way.as_str().into(), whole(Some(found.calls))]);
                    row.extend([
                        summary.mean_ns.into(),
                        summary.deviation_ns.into(),
                        summary.median_ns.into(),
                        summary.low_ns.into(),
                        summary.high_ns.into(),
                        summary.error.into(),
                        summary.clock_error.into(),
                        summary.variation.into(),
                        (1e9 / summary.mean_ns).into(),
                    ]);
                    row.extend([whole(Some(summary.samples)), whole(Some(summary.disturbed))]);
                }
                Outcome::Allocated { instances, bytes } => {
                    row.push(format!("{instances} allocations of {bytes} bytes").into());
                }
                Outcome::Failed { reason } => {
                    row.resize(COLUMNS.len() - 1, Cell::Nothing);
                    row.push(reason.as_str().into());
                }
            }
            table.push(row);
        }
        self.head(Style::default()) + &table.render(Format::Csv)
    }

    /// A block of columns an operation and way (`index` in gnuplot), the size first: for plots with error bars.
    pub(super) fn gnuplot(&self) -> String {
        let mut out = self.head(Style::default());
        let mut block = None;
        out += "# plot 'FILE' index 0 using 1:2:3 with errorlines\n";
        for measurement in self.measurements {
            let row = match &measurement.outcome {
                Outcome::Measured(row) => row,
                Outcome::Failed { reason } => {
                    out += &format!("# {}: {}\n", measurement.operation, plain(reason));
                    continue;
                }
                Outcome::Allocated { .. } => continue,
            };
            let name = format!("{} {}", measurement.operation, row.way);
            if block.as_ref() != Some(&name) {
                let gap = if block.is_some() { "\n\n" } else { "" };
                out += &format!("{gap}# {name}\n# size mean_ns deviation_ns low_ns high_ns calls\n");
                block = Some(name);
            }
            let summary = &row.summary;
            let deviation = summary.deviation_ns.unwrap_or(f64::NAN);
            let size = measurement.size.unwrap_or(0);
            let Row { calls, .. } = row.as_ref();
            out += &format!(
                "{size} {} {deviation} {} {} {calls}\n",
                summary.mean_ns, summary.low_ns, summary.high_ns
            );
        }
        out
    }

    pub(super) fn table(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::left("operation"),
            Column::left("size"),
            Column::left("way"),
            Column::written("calls"),
            Column::right("mean", Notation::Time),
            Column::right("±%", Notation::Fixed(2)),
            Column::right("SD", Notation::Time),
            Column::right("median", Notation::Time),
            Column::right("a second", Notation::Count),
        ]);
        let mut reasons = Vec::new();
        for measurement in self.measurements {
            let mut row = vec![measurement.operation.as_str().into(), whole(measurement.size)];
            match &measurement.outcome {
                Outcome::Measured(found) => {
                    let summary = &found.summary;
                    row.extend([found.way.as_str().into(), whole(Some(found.calls))]);
                    row.extend([
                        summary.mean_ns.into(),
                        Cell::percent(Some(summary.error)),
                        summary.deviation_ns.into(),
                        summary.median_ns.into(),
                        (1e9 / summary.mean_ns).into(),
                    ]);
                }
                Outcome::Allocated { instances, bytes } => {
                    row.push(format!("{instances} allocations, {bytes} bytes a call").into());
                }
                Outcome::Failed { reason } => {
                    let size = measurement.size.map_or_else(|| NOTHING.to_owned(), |size| size.to_string());
                    reasons.push(format!("{} {size}: {reason}", measurement.operation));
                }
            }
            table.push(row);
        }
        let mut out = self.head(style) + "\n" + &table.render(Format::Table);
        for reason in reasons {
            hang(&mut out, "", "  ", &reason, style.columns());
        }
        out
    }
}

/// A number with all its digits, in every format.
fn whole(number: Option<impl ToString>) -> Cell {
    number.map_or(Cell::Nothing, |number| number.to_string().into())
}
