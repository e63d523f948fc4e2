//! The formats of what was measured.

use serde::Serialize;

use crate::cli::measure::MeasureArgs;
use crate::commands::measurement::{Measurement, Outcome};
use crate::commands::plain_table;
use crate::measure::worker::Row;
use crate::method::ClockFigures;
use crate::model::Report;
use crate::report::Style;
use crate::report::machine::facts;
use crate::report::table::machine;
use crate::text::numbers::{NOTHING, count, percent, time};
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

    fn cells(measurement: &Measurement) -> [String; 16] {
        let mut cells: [String; 16] = Default::default();
        cells[0].clone_from(&measurement.operation);
        cells[1] = measurement.size.map(|size| size.to_string()).unwrap_or_default();
        match &measurement.outcome {
            Outcome::Measured(row) => {
                let summary = &row.summary;
                cells[2].clone_from(&row.way);
                cells[3] = row.calls.to_string();
                cells[4] = summary.mean_ns.to_string();
                cells[5] = summary.deviation_ns.map(|deviation| deviation.to_string()).unwrap_or_default();
                let numbers =
                    [summary.median_ns, summary.low_ns, summary.high_ns, summary.error, summary.clock_error];
                for (cell, number) in cells[6..].iter_mut().zip(numbers) {
                    *cell = number.to_string();
                }
                cells[11] = summary.variation.to_string();
                cells[12] = (1e9 / summary.mean_ns).to_string();
                cells[13] = summary.samples.to_string();
                cells[14] = summary.disturbed.to_string();
            }
            Outcome::Allocated { instances, bytes } => {
                cells[2] = format!("{instances} allocations of {bytes} bytes");
            }
            Outcome::Failed { reason } => cells[15] = plain(reason),
        }
        cells
    }

    pub(super) fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let rows =
            std::iter::once(COLUMNS.map(str::to_owned)).chain(self.measurements.iter().map(Self::cells));
        for row in rows {
            writer.write_record(row).expect("a vector takes all records of one length");
        }
        let bytes = writer.into_inner().expect("a vector can be flushed");
        self.head(Style::default()) + &String::from_utf8_lossy(&bytes)
    }

    /// A block of columns an operation and way (`index` in gnuplot), the size first: for plots with error bars.
    pub(super) fn gnuplot(&self) -> String {
        let mut out = self.head(Style::default());
        let mut block = None;
        out += "# plot 'FILE' index 0 using 1:2:3 with errorlines\n";
        for measurement in self.measurements {
            let Outcome::Measured(row) = &measurement.outcome else {
                out += &format!("# {}: {}\n", measurement.operation, Self::cells(measurement)[15]);
                continue;
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
        let mut table =
            plain_table(&["operation", "size", "way", "calls", "mean", "±%", "SD", "median", "a second"], 3);
        let mut reasons = Vec::new();
        for measurement in self.measurements {
            let size = measurement.size.map_or_else(|| NOTHING.to_owned(), |size| size.to_string());
            let mut row = vec![measurement.operation.clone(), size];
            match &measurement.outcome {
                Outcome::Measured(found) => {
                    let summary = &found.summary;
                    row.extend([
                        found.way.clone(),
                        found.calls.to_string(),
                        time(Some(summary.mean_ns)),
                        percent(Some(summary.error)),
                        time(summary.deviation_ns),
                        time(Some(summary.median_ns)),
                        count(Some(1e9 / summary.mean_ns)),
                    ]);
                }
                Outcome::Allocated { instances, bytes } => {
                    row.push(format!("{instances} allocations, {bytes} bytes a call"));
                }
                Outcome::Failed { reason } => {
                    row.push(NOTHING.to_owned());
                    reasons.push(format!("{} {}: {reason}", row[0], row[1]));
                }
            }
            table.add_row(row);
        }
        let mut out = self.head(style) + "\n";
        for line in table.lines() {
            out += line.trim_end();
            out.push('\n');
        }
        for reason in reasons {
            hang(&mut out, "", "  ", &reason, style.columns());
        }
        out
    }
}
