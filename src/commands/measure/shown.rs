//! The formats of what was measured.

use serde::Serialize;

use crate::cli::measure::{MeasureArgs, MeasureFormat};
use crate::commands::CommandError;
use crate::commands::measurement::{Measurement, MeasurementOutcome};
use crate::measure::worker::MeasuredRow;
use crate::method::ClockFigures;
use crate::model::Report;
use crate::report::machine::{facts, in_a_line};
use crate::report::terminal::machine;
use crate::table::{Format, Style, Table, TableColumn, Value};
use crate::text::numbers::time;
use crate::text::{hang, plain};

/// The schema of the document.
const SCHEMA: &str = "timermeter.measure.v1";

/// All that was measured.
#[derive(Serialize)]
pub(super) struct MeasurementsDocument<'a> {
    schema: &'static str,
    platform: &'a crate::model::Platform,
    clock: &'a ClockFigures,
    error: f64,
    confidence: f64,
    seed: u64,
    /// Whole campaigns that intervals are over; null where they are of one.
    campaigns: Option<u32>,
    measurements: &'a [Measurement],
}

/// What is shown, in all formats.
#[derive(Clone, Copy)]
pub(super) struct ShownMeasurements<'a> {
    pub(super) args: &'a MeasureArgs,
    pub(super) report: &'a Report,
    pub(super) clock: &'a ClockFigures,
    pub(super) measurements: &'a [Measurement],
    /// Whether the whole machine stands above the table, and not a line of it.
    pub(super) whole: bool,
}

/// Those of the first version first: scripts may count them.
const COLUMNS: [&str; 26] = [
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
    "min_ns",
    "max_ns",
    "median_low_ns",
    "median_high_ns",
    "user_ns",
    "system_ns",
    "stable",
    "outliers",
    "samples_needed",
    "relative",
];

impl ShownMeasurements<'_> {
    fn document(&self) -> MeasurementsDocument<'_> {
        MeasurementsDocument {
            schema: SCHEMA,
            platform: &self.report.platform,
            clock: self.clock,
            error: self.args.error,
            confidence: self.args.confidence,
            seed: self.args.seed,
            campaigns: self.args.campaigns,
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
            "{} % of the clock at {} % confidence; {}",
            self.args.error * 100.0,
            self.args.confidence * 100.0,
            self.intervals()
        );
        head.push(("error", goal));
        if let Some((row, runs)) =
            self.measurements.first().and_then(|one| one.row().zip(one.command.as_ref()))
        {
            let order = if self.measurements.len() > 1 { ", in rounds of random order" } else { "" };
            let runs =
                format!("{} of each command{order}; {} before, not timed", row.summary.samples, runs.warmup);
            head.push(("runs", runs));
        }
        machine(&head, style)
    }

    /// The same in two lines.
    fn head_in_short(&self, style: Style) -> String {
        let mut out = format!("# {}\n", in_a_line(self.report, style.columns().saturating_sub(2)));
        let clock = self.clock;
        let most = if clock.resolved { "" } else { "at most " };
        let runs = self.measurements.iter().find_map(|one| one.row().filter(|_| one.command.is_some()));
        let runs = match (runs, self.args.campaigns) {
            (Some(row), _) => format!("{} runs", row.summary.samples),
            (None, Some(campaigns)) => format!("over {campaigns} campaigns"),
            (None, None) => "of this campaign (--campaigns)".to_owned(),
        };
        let told = format!(
            "{}: {most}{} steps, {} a read · {} % at {} % confidence · {runs}",
            clock.id,
            time(Some(clock.step_ns)),
            time(Some(clock.cost_ns)),
            self.args.error * 100.0,
            self.args.confidence * 100.0,
        );
        hang(&mut out, "# ", "#   ", &told, style.columns());
        out
    }

    /// What the intervals are of.
    fn intervals(&self) -> String {
        let of_commands = self.measurements.iter().any(|one| one.command.is_some());
        match self.args.campaigns {
            Some(campaigns) => format!("intervals are over {campaigns} campaigns and hold what these differ by"),
            None if of_commands => "intervals hold what the runs vary by, too, within this campaign".into(),
            None => "intervals are of this campaign and hold what its samples vary by, not what another run finds (--campaigns)".into(),
        }
    }

    fn csv(&self) -> String {
        let mut table = Table::new(COLUMNS.map(TableColumn::left).to_vec());
        for measurement in self.measurements {
            let mut row = vec![measurement.operation.as_str().into(), whole(measurement.size)];
            match &measurement.outcome {
                MeasurementOutcome::Measured(found) => {
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
                    row.extend([
                        whole(Some(summary.samples)),
                        whole(Some(summary.disturbed)),
                        Value::Nothing,
                    ]);
                    let runs = measurement.command.as_ref();
                    row.extend([summary.min_ns.into(), summary.max_ns.into()]);
                    row.extend([summary.median_low_ns.into(), summary.median_high_ns.into()]);
                    row.extend([
                        runs.and_then(|runs| runs.user_ns).into(),
                        runs.and_then(|runs| runs.system_ns).into(),
                    ]);
                    let stability = &found.stability;
                    row.extend([whole(Some(stability.stable)), whole(Some(stability.outliers))]);
                    row.push(whole(stability.samples_needed));
                    row.push(measurement.relative().map(|relative| relative.ratio).into());
                }
                MeasurementOutcome::Allocated { instances, bytes } => {
                    row.push(format!("{instances} allocations of {bytes} bytes").into());
                }
                MeasurementOutcome::Failed { reason } => {
                    row.resize(COLUMNS.len() - 1, Value::Nothing);
                    row.push(reason.as_str().into());
                }
            }
            table.push(row);
        }
        self.head(Style::default()) + &table.render(Format::Csv)
    }

    /// A block of columns an operation and way (`index` in gnuplot), the size first: for plots with error bars.
    fn gnuplot(&self) -> String {
        let mut out = self.head(Style::default());
        let mut block = None;
        out += "# plot 'FILE' index 0 using 1:2:3 with errorlines\n";
        for measurement in self.measurements {
            let row = match &measurement.outcome {
                MeasurementOutcome::Measured(row) => row,
                MeasurementOutcome::Failed { reason } => {
                    out += &format!("# {}: {}\n", measurement.operation, plain(reason));
                    continue;
                }
                MeasurementOutcome::Allocated { .. } => continue,
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
            let MeasuredRow { calls, .. } = row.as_ref();
            out += &format!(
                "{size} {} {deviation} {} {} {calls}\n",
                summary.mean_ns, summary.low_ns, summary.high_ns
            );
        }
        out
    }

    /// In a format.
    ///
    /// # Errors
    /// Never, unless JSON cannot hold it.
    pub(super) fn render(&self, format: MeasureFormat, style: Style) -> Result<String, CommandError> {
        let whole = |format: Format| if self.args.standalone { format.standalone() } else { format };
        Ok(match format {
            MeasureFormat::Table => {
                let table = self.table(style);
                let head = if self.whole { self.head(style) } else { self.head_in_short(style) };
                head + "\n" + &table.on_terminal(style, &|_| "") + &self.remarks(style)
            }
            MeasureFormat::Json => crate::commands::pretty(&self.document())? + "\n",
            MeasureFormat::Csv => self.csv(),
            MeasureFormat::Gnuplot => self.gnuplot(),
            MeasureFormat::Markdown => self.columns(true).render(Format::Markdown),
            MeasureFormat::Html => self.columns(true).render(whole(Format::Html)),
            MeasureFormat::Latex => self.columns(true).render(whole(Format::Latex)),
        })
    }
}

/// A number with all its digits, in every format.
pub(super) fn whole(number: Option<impl ToString>) -> Value {
    number.map_or(Value::Nothing, |number| number.to_string().into())
}
