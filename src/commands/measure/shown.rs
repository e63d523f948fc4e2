//! The formats of what was measured.

use serde::Serialize;

use crate::cli::measure::MeasureArgs;
use crate::commands::CommandError;
use crate::document::machine;
use crate::measure::worker::{MeasuredRow, MeasurementOutcome};
use crate::method::ClockFigures;
use crate::model::{Platform, Report};
use crate::report::machine::{facts, in_a_line};
use crate::table::{Format, Notation, Style, Table, TableColumn, Value};
use crate::text::hang;
use crate::text::numbers::{significant, time};

/// The schema of the document.
const SCHEMA: &str = "timermeter.measure.v1";

/// One operation at one size, measured in one way.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measurement {
    pub operation: String,
    /// Null where the operation has no size.
    pub size: Option<u64>,
    #[serde(flatten)]
    pub outcome: MeasurementOutcome,
    /// Of a command, its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Runs>,
}

/// What is known of the runs of a command beside their durations.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Runs {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Runs before the first that was timed.
    pub warmup: u32,
    /// Mean CPU time in programs, in nanoseconds; null where the system does not count it.
    pub user_ns: Option<f64>,
    /// Mean CPU time in the kernel.
    pub system_ns: Option<f64>,
    /// What each run ended with; null where a signal ended it.
    pub exit_codes: Vec<Option<i32>>,
}

impl Measurement {
    /// What it came to, if it did.
    fn row(&self) -> Option<&MeasuredRow> {
        if let MeasurementOutcome::Measured(row) = &self.outcome {
            Some(row)
        } else {
            None
        }
    }

    /// Whether it came to nothing.
    pub(super) fn is_failed(&self) -> bool {
        matches!(self.outcome, MeasurementOutcome::Failed { .. })
    }

    fn cpu_ns(&self) -> [Option<f64>; 2] {
        self.command
            .as_ref()
            .map_or([None; 2], |runs| [runs.user_ns, runs.system_ns])
    }

    fn name(&self) -> String {
        match (self.size, self.command.is_some()) {
            (_, true) => format!("`{}`", self.operation),
            (Some(size), false) => format!("{} {size}", self.operation),
            (None, false) => self.operation.clone(),
        }
    }
}

/// All that was measured.
#[derive(Serialize)]
struct MeasurementsDocument<'a> {
    schema: &'static str,
    platform: &'a Platform,
    clock: &'a ClockFigures,
    error: f64,
    confidence: f64,
    seed: u64,
    measurements: &'a [Measurement],
}

/// What is shown, in all formats.
pub(super) struct ShownMeasurements<'a> {
    pub(super) args: &'a MeasureArgs,
    pub(super) report: &'a Report,
    pub(super) clock: &'a ClockFigures,
    pub(super) measurements: &'a [Measurement],
}

/// Those of the first version first: scripts may count them.
const COLUMNS: [&str; 25] = [
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
];

impl ShownMeasurements<'_> {
    /// In the format of the arguments.
    ///
    /// # Errors
    /// Never, unless JSON cannot hold it.
    pub(super) fn render(&self, style: Style) -> Result<String, CommandError> {
        Ok(match self.args.format {
            Format::Json => crate::commands::pretty(&self.document())? + "\n",
            Format::Csv => self.head(Style::default()) + &self.csv().render(Format::Csv),
            _ => {
                let head = if self.args.verbose {
                    self.head(style)
                } else {
                    self.head_in_short(style)
                };
                head + "\n" + &self.table(style).on_terminal(style, &|_| "") + &self.remarks(style)
            }
        })
    }

    fn document(&self) -> MeasurementsDocument<'_> {
        MeasurementsDocument {
            schema: SCHEMA,
            platform: &self.report.platform,
            clock: self.clock,
            error: self.args.error,
            confidence: self.args.confidence,
            seed: self.args.seed,
            measurements: self.measurements,
        }
    }

    /// The runs of the command, where one was measured.
    fn runs(&self) -> Option<(&MeasuredRow, &Runs)> {
        let first = self.measurements.first()?;
        first.row().zip(first.command.as_ref())
    }

    /// Who the machine is and how it was measured, as lines that begin with `#`.
    fn head(&self, style: Style) -> String {
        let mut head = facts(&self.report.platform, &self.report.frequency);
        let clock = self.clock;
        let [step, read] = [clock.step_ns, clock.cost_ns].map(|ns| time(Some(ns)));
        let at_most = if clock.resolved { "" } else { "≤ " };
        head.push((
            "clock",
            format!("{}, step {at_most}{step}, a read takes {read}", clock.id),
        ));
        let intervals = if self.measurements.iter().any(|one| one.command.is_some()) {
            "intervals hold what the runs vary by, too, within this campaign"
        } else {
            "intervals are of this campaign and hold what its samples vary by, not what another run finds"
        };
        let (error, confidence) = (self.args.error * 100.0, self.args.confidence * 100.0);
        head.push((
            "error",
            format!("{error} % of the clock at {confidence} % confidence; {intervals}"),
        ));
        if let Some((row, runs)) = self.runs() {
            let (count, warmup) = (row.summary.samples, runs.warmup);
            head.push((
                "runs",
                format!("{count} of the command; {warmup} before, not timed"),
            ));
        }
        machine(&head, style)
    }

    /// The same in two lines.
    fn head_in_short(&self, style: Style) -> String {
        let mut out = String::new();
        hang(
            &mut out,
            "# ",
            "#   ",
            &in_a_line(self.report),
            style.columns(),
        );
        let clock = self.clock;
        let [step, read] = [clock.step_ns, clock.cost_ns].map(|ns| time(Some(ns)));
        let at_most = if clock.resolved { "" } else { "at most " };
        let runs = self
            .runs()
            .map(|(row, _)| format!("{} runs", row.summary.samples));
        let runs = runs.unwrap_or_else(|| "of this campaign".to_owned());
        let (error, confidence) = (self.args.error * 100.0, self.args.confidence * 100.0);
        let told = format!(
            "{}: {at_most}{step} steps, {read} a read · {error} % at {confidence} % confidence · {runs}",
            clock.id
        );
        hang(&mut out, "# ", "#   ", &told, style.columns());
        out
    }

    /// The columns that the terminal has room for.
    fn table(&self, style: Style) -> Table<'static> {
        let commands = self.measurements.iter().any(|one| one.command.is_some());
        let mut wide = if commands {
            self.of_commands()
        } else {
            self.of_operations()
        };
        if !wide.fits(style) {
            // The last is not worth a line that folds.
            wide.columns.pop();
        }
        wide
    }

    fn of_operations(&self) -> Table<'static> {
        let mut table = Table::new(vec![
            TableColumn::left("operation"),
            TableColumn::left("size"),
            TableColumn::left("way"),
            TableColumn::written("calls"),
            TableColumn::right("mean", Notation::Time),
            TableColumn::right("±%", Notation::Fixed(2)),
            TableColumn::right("SD", Notation::Time),
            TableColumn::right("median", Notation::Time),
            TableColumn::right("a second", Notation::Count),
        ]);
        for measurement in self.measurements {
            let mut row = vec![
                measurement.operation.as_str().into(),
                whole(measurement.size),
            ];
            match &measurement.outcome {
                MeasurementOutcome::Measured(found) => {
                    let summary = &found.summary;
                    row.extend([found.way.as_str().into(), whole(Some(found.calls))]);
                    row.extend([
                        summary.mean_ns.into(),
                        Value::from(100.0 * summary.error),
                        summary.deviation_ns.into(),
                        summary.median_ns.into(),
                        (1e9 / summary.mean_ns).into(),
                    ]);
                }
                MeasurementOutcome::Allocated { instances, bytes } => {
                    row.push(format!("{instances} allocations, {bytes} bytes a call").into());
                }
                MeasurementOutcome::Failed { .. } => {}
            }
            table.push(row);
        }
        table
    }

    fn of_commands(&self) -> Table<'static> {
        let mut columns = vec![TableColumn {
            folds: true,
            ..TableColumn::left("command")
        }];
        let headings = ["mean", "SD", "min", "max", "user", "system", "median"];
        columns.extend(headings.map(|heading| TableColumn::right(heading, Notation::Time)));
        columns.insert(2, TableColumn::right("±%", Notation::Fixed(2)));
        let mut table = Table::new(columns);
        for measurement in self.measurements {
            let mut row = vec![measurement.operation.as_str().into()];
            if let Some(MeasuredRow { summary, .. }) = measurement.row() {
                row.extend([summary.mean_ns.into(), Value::from(100.0 * summary.error)]);
                row.extend([
                    summary.deviation_ns.into(),
                    summary.min_ns.into(),
                    summary.max_ns.into(),
                ]);
                row.extend(measurement.cpu_ns().map(Value::from));
                row.push(summary.median_ns.into());
            }
            table.push(row);
        }
        table
    }

    fn csv(&self) -> Table<'static> {
        let mut table = Table::new(COLUMNS.map(TableColumn::left).to_vec());
        for measurement in self.measurements {
            let mut row = vec![
                measurement.operation.as_str().into(),
                whole(measurement.size),
            ];
            match &measurement.outcome {
                MeasurementOutcome::Measured(found) => {
                    let (summary, stability) = (&found.summary, &found.stability);
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
                    row.extend([Value::Nothing, summary.min_ns.into(), summary.max_ns.into()]);
                    row.extend([summary.median_low_ns.into(), summary.median_high_ns.into()]);
                    row.extend(measurement.cpu_ns().map(Value::from));
                    row.extend([
                        whole(Some(stability.stable)),
                        whole(Some(stability.outliers)),
                    ]);
                    row.push(whole(stability.samples_needed));
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
        table
    }

    /// What is not stable, and why something could not be measured.
    fn remarks(&self, style: Style) -> String {
        let mut out = String::new();
        let mut say = |one: &Measurement, text: &str| {
            hang(
                &mut out,
                "",
                "  ",
                &format!("{}: {text}", one.name()),
                style.columns(),
            );
        };
        for one in self.measurements {
            let Some(row) = one.row() else { continue };
            let codes = one.command.iter().flat_map(|runs| &runs.exit_codes);
            let failed = codes.filter(|code| **code != Some(0)).count();
            if failed > 0 {
                say(
                    one,
                    &format!("{failed} of {} runs failed", row.summary.samples),
                );
            }
            if let Some(text) = self.remark(row) {
                say(one, &text);
            }
        }
        for one in self.measurements {
            if let MeasurementOutcome::Failed { reason } = &one.outcome {
                say(one, reason);
            }
        }
        if out.is_empty() {
            out
        } else {
            format!("\n{out}")
        }
    }

    /// What keeps a measurement from being as good as was asked for.
    fn remark(&self, row: &MeasuredRow) -> Option<String> {
        let (stability, summary) = (&row.stability, &row.summary);
        let mut parts = Vec::new();
        if let Some(share) = stability.deviation.filter(|_| !stability.stable) {
            parts.push(format!(
                "not stable, the SD is {} % of the mean",
                significant(share * 100.0, 2)
            ));
        }
        // In thousands of runs some always do.
        if 20 * stability.outliers > summary.samples {
            parts.push(format!(
                "{} of {} lie far off",
                stability.outliers, summary.samples
            ));
        }
        if stability.slow_start {
            parts.push("the first was slow (more --warmup?)".into());
        }
        let goal = self.args.error * 100.0;
        if let Some(needed) = stability
            .samples_needed
            .filter(|needed| *needed > summary.samples)
        {
            parts.push(format!(
                "known to ±{} %; some {} --samples would make it ±{goal} %",
                significant(summary.error * 100.0, 2),
                roughly(needed)
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// With two digits.
fn roughly(number: usize) -> usize {
    let unit = 10_usize
        .pow((number as f64).log10() as u32)
        .div_ceil(10)
        .max(1);
    number.div_ceil(unit) * unit
}

/// A number with all its digits, in every format.
fn whole(number: Option<impl ToString>) -> Value {
    number.map_or(Value::Nothing, |number| number.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::roughly;

    #[test]
    fn counts_are_told_with_two_digits() {
        assert_eq!(
            [2, 99, 104, 8_575, 100_000].map(roughly),
            [2, 99, 110, 8_600, 100_000]
        );
    }
}
