//! `measure`: operations, each in a fresh process, by any clock of the registry.

use std::io::Write;

use serde::Serialize;

use super::{CommandError, command_run, terminal_style, trial};
use crate::cli::measure::{InstrumentName, MeasureArgs, MeasureFormat};
use crate::measure::operations::{self, Entry};
use crate::measure::worker::{Instrument, Reply, Request, Row};
use crate::method::{ClockFigures, Wish};
use crate::report::figures::{NOTHING, percent, time};
use crate::report::machine::facts;
use crate::report::table::machine;
use crate::report::{Report, Style};
use crate::units::Nanos;

/// The schema of the document.
const SCHEMA: &str = "timermeter.measure.v1";

/// All that was measured.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    platform: &'a crate::report::Platform,
    clock: &'a ClockFigures,
    error: f64,
    confidence: f64,
    seed: u64,
    measurements: &'a [Measurement],
}

/// One operation at one size, measured in one way.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measurement {
    pub operation: String,
    /// Null where the operation has no size.
    pub size: Option<u64>,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(super) enum Outcome {
    Measured(Box<Row>),
    Allocated { instances: f64, bytes: f64 },
    Failed { reason: String },
}

/// Runs the command. Returns whether all that was asked for could be measured.
///
/// # Errors
/// When something is asked for that does not exist or makes no sense, or a command fails.
pub fn run(args: &MeasureArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    if args.operations.is_empty() && args.command.is_empty() {
        return list(output).map(|()| true);
    }
    if !args.operations.is_empty() && !args.command.is_empty() {
        return Err(CommandError::Usage("measure either built-in operations or a command, not both".into()));
    }
    Wish::new(Nanos(1.0), args.error, args.confidence)
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let entries = args.operations.iter().map(|name| entry(name)).collect::<Result<Vec<_>, _>>()?;
    if !args.sizes.is_empty() && entries.iter().all(|entry| entry.sizes.is_empty()) {
        return Err(CommandError::Usage("--sizes: none of these operations has a size".into()));
    }
    if args.instrument == InstrumentName::Allocations && !cfg!(feature = "allocations") {
        return Err(CommandError::Failed(
            "this program does not count allocations; build it with: cargo build --release --features allocations".into(),
        ));
    }
    let cpu = trial::cpu(args.cpu)?;
    let timers: Vec<String> = args.clock.iter().cloned().collect();
    let report = trial::report(args.from.as_deref(), &timers)?;
    let clock = trial::clock(&report, args.clock.as_deref())?;
    let measurements = if args.command.is_empty() {
        operate(args, &entries, &clock, cpu)?
    } else {
        vec![command_run::measure(args, &clock)?]
    };
    let shown = Shown { args, report: &report, clock: &clock, measurements: &measurements };
    match args.format {
        MeasureFormat::Json => writeln!(output, "{}", super::pretty(&shown.document())?)?,
        MeasureFormat::Csv => output.write_all(shown.csv().as_bytes())?,
        MeasureFormat::Gnuplot => output.write_all(shown.gnuplot().as_bytes())?,
        MeasureFormat::Table => output.write_all(shown.table(terminal_style()).as_bytes())?,
    }
    output.flush()?;
    Ok(!measurements.iter().any(|measurement| matches!(measurement.outcome, Outcome::Failed { .. })))
}

fn list(output: &mut dyn Write) -> Result<(), CommandError> {
    for Entry { name, about, sizes } in operations::ALL {
        let sizes = sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let sizes = if sizes.is_empty() { String::new() } else { format!(" (sizes {sizes})") };
        writeln!(output, "{name:<16}{about}{sizes}")?;
    }
    Ok(output.flush()?)
}

pub(super) fn entry(name: &str) -> Result<Entry, CommandError> {
    operations::find(name).ok_or_else(|| {
        let near = operations::ALL
            .iter()
            .map(|entry| (strsim::jaro_winkler(name, entry.name), entry.name))
            .filter(|(likeness, _)| *likeness > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let shown = crate::report::text::clipped(name, 40);
        CommandError::Usage(match near {
            Some((_, near)) => format!("there is no operation `{shown}`; did you mean `{near}`?"),
            None => format!("there is no operation `{shown}`; `timermeter measure` lists them, and a command goes behind `--`"),
        })
    })
}

fn operate(
    args: &MeasureArgs,
    entries: &[Entry],
    clock: &ClockFigures,
    cpu: Option<u32>,
) -> Result<Vec<Measurement>, CommandError> {
    let mut measurements = Vec::new();
    for entry in entries {
        let sizes = match (entry.sizes.is_empty(), args.sizes.is_empty()) {
            (true, _) => vec![None],
            (false, true) => entry.sizes.iter().copied().map(Some).collect(),
            (false, false) => args.sizes.iter().copied().map(Some).collect(),
        };
        for size in sizes {
            let request = Request {
                clock: clock.clone(),
                operation: entry.name.into(),
                size: size.unwrap_or(0),
                instrument: instrument(args),
                error: args.error,
                confidence: args.confidence,
                samples: args.samples,
                limit_ns: args.limit * 1_000_000_000,
                cpu,
                seed: args.seed,
            };
            let add =
                |outcome| measurements.push(Measurement { operation: entry.name.into(), size, outcome });
            outcomes(trial::run(&request)?).into_iter().for_each(add);
        }
    }
    Ok(measurements)
}

fn instrument(args: &MeasureArgs) -> Instrument {
    match args.instrument {
        InstrumentName::Adaptive => Instrument::Adaptive,
        InstrumentName::Throughput => Instrument::Throughput { span_ns: args.time.0 as u64 },
        InstrumentName::Discrete => Instrument::Discrete,
        InstrumentName::Allocations => Instrument::Allocations,
        InstrumentName::Micro => Instrument::Micro,
        InstrumentName::Macro => Instrument::Macro,
    }
}

fn outcomes(reply: Reply) -> Vec<Outcome> {
    match reply {
        Reply::Measured(rows) => rows.into_iter().map(|row| Outcome::Measured(Box::new(row))).collect(),
        Reply::Allocated { instances, bytes } => vec![Outcome::Allocated { instances, bytes }],
        Reply::Failed(reason) => vec![Outcome::Failed { reason }],
        Reply::Rehearsed(_) => vec![Outcome::Failed { reason: "its process answered something else".into() }],
    }
}

/// What is shown, in all formats.
struct Shown<'a> {
    args: &'a MeasureArgs,
    report: &'a Report,
    clock: &'a ClockFigures,
    measurements: &'a [Measurement],
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
    fn document(&self) -> Document<'_> {
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
            Outcome::Failed { reason } => cells[15] = crate::report::text::plain(reason),
        }
        cells
    }

    fn csv(&self) -> String {
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
    fn gnuplot(&self) -> String {
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

    fn table(&self, style: Style) -> String {
        let mut table = super::plain_table(
            &["operation", "size", "way", "calls", "mean", "±%", "SD", "median", "a second"],
            3,
        );
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
                        crate::report::figures::count(Some(1e9 / summary.mean_ns)),
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
            crate::report::text::hang(&mut out, "", "  ", &reason, style.columns());
        }
        out
    }
}
