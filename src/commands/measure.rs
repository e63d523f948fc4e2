//! `measure`: measures operations or a command with a clock.

mod command;
mod runner;

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, emit, failed, measure_worker, prepare_outputs, probe, usage};
use crate::cli::MeasureArgs;
use crate::measure::operations::{self, BuiltIn};
use crate::measure::worker::{WorkerOutcome, WorkerRequest};
use crate::measure::{Goal, Instrument, MeasuredOperation};
use crate::messages::{Progress, print_message};
use crate::requests::RunRequest;
use crate::runs::choose_cpu;
use crate::selection::{nearest, select};
use estimators::model::{Assessment, Counted, Platform, Report};
use judgement::choice::clock_figures::DRIFT;
use judgement::choice::{ClockFigures, clock_row};
use reporting::document::Document;
use reporting::report::machine::in_a_line;
use reporting::report::read;
use reporting::table::Notation::{self, Count, Fixed, Significant, Time};
use reporting::table::{CellValue, Table, TableColumn};
use reporting::text::clipped;
use reporting::text::numbers::{percent, time};

/// Runs the command. Returns `true` if every operation or the command could be measured.
///
/// # Errors
/// When the arguments are invalid, the clock cannot be used, or the command fails.
pub fn run(args: &MeasureArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let is_command = !args.command.is_empty();
    if args.operations.is_empty() && !is_command {
        return list_operations(args, output).map(|()| true);
    }
    check_arguments(args)?;
    let entries: Vec<BuiltIn> = args
        .operations
        .iter()
        .map(|name| find_operation(name))
        .collect::<Result<_, _>>()?;
    if !args.sizes.is_empty() && entries.iter().all(|entry| entry.sizes.is_empty()) {
        return Err(usage(
            "--sizes: none of these operations has a size; leave the flag out",
        ));
    }
    let outputs = prepare_outputs(&args.output)?;
    // A command is not bound to a CPU by default, because it may use threads on all CPUs.
    let cpu = match (is_command, args.cpu) {
        (true, None) => None,
        _ => choose_cpu(args.cpu)?,
    };
    let (report, clock) = choose_clock(args)?;
    check_counted_time(&clock.id, clock.properties.counts, is_command).map_err(failed)?;
    let measurements = if is_command {
        vec![command::measure(args, &clock)?]
    } else {
        measure_operations(args, &entries, &clock, cpu)?
    };
    emit(
        &document(args, &report, &clock, &measurements),
        outputs,
        output,
    )?;
    Ok(!measurements
        .iter()
        .any(|row| matches!(row.outcome, WorkerOutcome::Failed { .. })))
}

/// Rejects invalid combinations of arguments.
fn check_arguments(args: &MeasureArgs) -> CommandResult {
    let is_command = !args.command.is_empty();
    let takes_runs = matches!(args.instrument, Instrument::Adaptive | Instrument::Macro);
    if args.error <= DRIFT {
        let least = DRIFT * 100.0;
        return Err(usage(format!(
            "--error: the rate of a clock is known to {least} % at best; allow a larger error"
        )));
    }
    for (is_wrong, why) in [
        (
            is_command && !args.operations.is_empty(),
            "measure either built-in operations or a command, not both",
        ),
        (
            is_command && !takes_runs,
            "--instrument: each run of a command is a single call; use macro",
        ),
    ] {
        if is_wrong {
            return Err(usage(why));
        }
    }
    let Some(name) = args.clock.as_deref() else {
        return Ok(());
    };
    if let Some(entry) = timers::find(name) {
        let counts = entry.info.properties.counts;
        return check_counted_time(name, counts, is_command).map_err(usage);
    }
    let ids: Vec<&str> = timers::catalogue()
        .iter()
        .map(|entry| entry.info.id)
        .collect();
    Err(usage(match select(&[name.to_owned()], &ids) {
        Err(unknown) if !name.contains(':') => format!("--clock: {unknown}"),
        _ => format!(
            "--clock {}: give the id of one native clock (timermeter list), not a pattern or a clock of another runtime",
            clipped(name, 40)
        ),
    }))
}

/// Rejects clocks whose readings are not times and, for commands, clocks that count only the CPU
/// time of this process.
fn check_counted_time(id: &str, counts: Option<Counted>, is_command: bool) -> Result<(), String> {
    match counts {
        Some(Counted::ProcessCpu | Counted::ThreadCpu) if is_command => Err(format!(
            "--clock {id} counts the CPU time of this process, not that of the command: use a clock that counts wall time"
        )),
        Some(Counted::Wall | Counted::ProcessCpu | Counted::ThreadCpu) => Ok(()),
        _ => Err(format!("--clock {id} does not count time")),
    }
}

/// The clock to measure with, and the report that its figures are from: the clock of `--clock`, or
/// else the one that `pick` would pick.
fn choose_clock(args: &MeasureArgs) -> CommandResult<(Report, ClockFigures)> {
    let report = match (&args.from, &args.clock) {
        (Some(path), _) => read(path).map_err(failed)?,
        (None, Some(id)) => probe::report(&RunRequest::of([id]))?,
        (None, None) => {
            print_message(
                &"probing clocks to choose one; --clock names a clock, --from a report with the figures of clocks",
            );
            probe::probe_recommendable()?
        }
    };
    let id = match &args.clock {
        Some(id) => id.clone(),
        None => {
            let picked = report.assessment.to_time.clone();
            let none = || {
                failed(
                    "no clock is precise enough for an operation of 250 ns: choose a clock with --clock",
                )
            };
            picked.ok_or_else(none)?
        }
    };
    let row =
        clock_row(&report, &id).ok_or_else(|| failed(format!("the report has no timer `{id}`")))?;
    let clock = ClockFigures::from_row(row, &report.platform)
        .map_err(|why| failed(format!("--clock {id}: {why}")))?;
    Ok((report, clock))
}

/// Prints the built-in operations.
fn list_operations(args: &MeasureArgs, output: &mut dyn Write) -> CommandResult {
    let descriptions: Vec<(&str, String)> = operations::ALL
        .iter()
        .map(|BuiltIn { name, about, sizes }| {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            let sizes = match sizes.as_slice() {
                [] => String::new(),
                sizes => format!(" (sizes {})", sizes.join(", ")),
            };
            (*name, format!("{about}{sizes}"))
        })
        .collect();
    emit(
        &Document::new(&descriptions).facts(descriptions.clone()),
        prepare_outputs(&args.output)?,
        output,
    )
}

/// The operation of this name; the error suggests a similar name.
fn find_operation(name: &str) -> CommandResult<BuiltIn> {
    operations::find(name).ok_or_else(|| {
        let names: Vec<&str> = operations::ALL.iter().map(|entry| entry.name).collect();
        let near = nearest(name, &names).into_iter().next();
        usage(format!(
            "there is no operation `{}`; {}`timermeter measure` lists all, and a command must follow `--`",
            clipped(name, 40),
            near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()
        ))
    })
}

/// Measures each operation at each of its sizes, each in a fresh process.
fn measure_operations(
    args: &MeasureArgs,
    entries: &[BuiltIn],
    clock: &ClockFigures,
    cpu: Option<u32>,
) -> CommandResult<Vec<Measurement>> {
    let mut tasks: Vec<(&BuiltIn, Option<u64>)> = Vec::new();
    for entry in entries {
        match (entry.sizes, args.sizes.as_slice()) {
            ([], _) => tasks.push((entry, None)),
            (defaults, []) => tasks.extend(defaults.iter().map(|size| (entry, Some(*size)))),
            (_, requested) => tasks.extend(requested.iter().map(|size| (entry, Some(*size)))),
        }
    }
    let progress = Progress::new(tasks.len());
    let mut measurements = Vec::new();
    for (entry, size) in tasks {
        progress.show_step(&task_name(entry.name, size));
        let outcome = measure_worker::run(&WorkerRequest {
            clock: clock.clone(),
            operation: entry.name.into(),
            size: size.unwrap_or(0),
            instrument: args.instrument,
            goal: goal(args),
            cpu,
        })?;
        measurements.push(Measurement {
            operation: entry.name.to_owned(),
            size,
            outcome,
            user_ns: None,
            system_ns: None,
        });
        progress.finish_step();
    }
    Ok(measurements)
}

/// The goal of the measurement by the arguments.
fn goal(args: &MeasureArgs) -> Goal {
    let default = Goal::default();
    Goal {
        error: args.error,
        samples: args.samples.unwrap_or(default.samples),
        limit: std::time::Duration::from_secs(args.budget),
        seed: args.seed,
        span: std::time::Duration::from_nanos(args.time.0 as u64),
        ..default
    }
}

/// The name of an operation with its size, for messages.
fn task_name(operation: &str, size: Option<u64>) -> String {
    size.map_or_else(
        || operation.to_owned(),
        |size| format!("{operation} {size}"),
    )
}

/// An operation or command with its result.
#[derive(Clone, Debug, Serialize)]
struct Measurement {
    /// The name of the operation, or the command line.
    operation: String,
    size: Option<u64>,
    #[serde(flatten)]
    outcome: WorkerOutcome,
    /// Mean CPU time in user mode of the command and its waited-for children, in nanoseconds.
    user_ns: Option<f64>,
    /// Mean CPU time in the kernel of the command and its waited-for children, in nanoseconds.
    system_ns: Option<f64>,
}

impl Measurement {
    /// A cell with a value of the result; empty if nothing was measured.
    fn cell<V: Into<CellValue>>(&self, value: impl FnOnce(&MeasuredOperation) -> V) -> CellValue {
        match &self.outcome {
            WorkerOutcome::Measured(measured) => value(measured).into(),
            _ => CellValue::Nothing,
        }
    }
}

/// A column: its key in CSV, its heading, its notation, and the function that computes a cell.
type MeasuredColumn = (
    &'static str,
    &'static str,
    Notation,
    fn(&Measurement) -> CellValue,
);

/// The columns of the table. Columns without a heading are only in CSV and JSON.
const COLUMNS: [MeasuredColumn; 18] = [
    ("operation", "operation", Significant, |row| {
        row.operation.as_str().into()
    }),
    ("size", "size", Significant, |row| row.size.into()),
    ("calls", "calls", Significant, |row| row.cell(|it| it.calls)),
    ("mean_ns", "mean", Time, |row| {
        row.cell(|it| it.mean_ns.value)
    }),
    ("mean_low_ns", "", Time, |row| {
        row.cell(|it| it.mean_ns.low())
    }),
    ("mean_high_ns", "", Time, |row| {
        row.cell(|it| it.mean_ns.high())
    }),
    ("error_percent", "±%", Fixed(2), |row| {
        row.cell(|it| 100.0 * it.error)
    }),
    ("deviation_ns", "SD", Time, |row| {
        row.cell(|it| it.deviation_ns)
    }),
    ("min_ns", "min", Time, |row| row.cell(|it| it.min_ns)),
    ("median_ns", "median", Time, |row| {
        row.cell(|it| it.median_ns.value)
    }),
    ("max_ns", "max", Time, |row| row.cell(|it| it.max_ns)),
    ("per_second", "per second", Count, |row| {
        row.cell(|it| 1e9 / it.mean_ns.value)
    }),
    ("user_ns", "user", Time, |row| row.user_ns.into()),
    ("system_ns", "system", Time, |row| row.system_ns.into()),
    ("samples", "", Significant, |row| {
        row.cell(|it| it.valid as u64)
    }),
    ("allocations", "allocations", Significant, |row| {
        match row.outcome {
            WorkerOutcome::Allocated { instances, .. } => instances.into(),
            _ => CellValue::Nothing,
        }
    }),
    ("bytes", "bytes", Significant, |row| match row.outcome {
        WorkerOutcome::Allocated { bytes, .. } => bytes.into(),
        _ => CellValue::Nothing,
    }),
    ("failed", "", Significant, |row| match &row.outcome {
        WorkerOutcome::Failed { reason } => reason.as_str().into(),
        _ => CellValue::Nothing,
    }),
];

/// The table. For people it has headings and no empty columns, for programs all columns with their
/// keys.
fn table(measurements: &[Measurement], for_people: bool) -> Table<'static> {
    let is_known = |column: &&MeasuredColumn| {
        let mut cells = measurements.iter().map(column.3);
        !for_people || !column.1.is_empty() && cells.any(|cell| cell != CellValue::Nothing)
    };
    let columns: Vec<&MeasuredColumn> = COLUMNS.iter().filter(is_known).collect();
    let headings = columns
        .iter()
        .map(|&&(key, heading, notation, _)| match (for_people, key) {
            (false, _) => TableColumn::left(key),
            (true, "operation") => TableColumn {
                folds: true,
                ..TableColumn::left(heading)
            },
            (true, _) => TableColumn::right(heading, notation),
        });
    let mut table = Table::new(headings.collect());
    for row in measurements {
        table.push(columns.iter().map(|column| (column.3)(row)).collect());
    }
    table
}

/// The JSON document: all measurements with their conditions.
#[derive(Serialize)]
struct Measurements<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    platform: &'a Platform,
    /// What follows from the report of the clock.
    assessment: &'a Assessment,
    clock: &'a ClockFigures,
    instrument: Instrument,
    error: f64,
    seed: u64,
    measurements: &'a [Measurement],
}

/// The document with the table and the conditions of the measurements.
fn document<'a>(
    args: &MeasureArgs,
    report: &'a Report,
    clock: &'a ClockFigures,
    measurements: &'a [Measurement],
) -> Document<'a, Measurements<'a>> {
    let at_most = if clock.resolved { "" } else { "at most " };
    let [step, read] = [clock.step_ns, clock.cost_ns].map(|ns| time(Some(ns)));
    let error = percent(Some(args.error));
    let document = Document::new(Measurements {
        schema: "timermeter.measure.v1",
        node: report.node.as_deref(),
        platform: &report.platform,
        assessment: &report.assessment,
        clock,
        instrument: args.instrument,
        error: args.error,
        seed: args.seed,
        measurements,
    });
    let mut document = document.paragraphs(report.assessment.warnings())
    .conditions([
        ("machine", in_a_line(report)),
        ("clock", format!("{}: {at_most}{step} steps, {read} a read", clock.id)),
        (
            "goal",
            format!("{error} % at 95 % confidence; the intervals are of this campaign only; another run may differ by more"),
        ),
    ])
    .table(table(measurements, true))
    .data_table(table(measurements, false));
    for row in measurements {
        let name = task_name(&row.operation, row.size);
        document = match &row.outcome {
            WorkerOutcome::Failed { reason } => document.note(format!("{name}: {reason}")),
            WorkerOutcome::Measured(figures) if figures.error > args.error => {
                document.note(format!(
                    "{name}: the mean is known only to ±{} %; more --samples narrow this",
                    percent(Some(figures.error))
                ))
            }
            _ => document,
        };
    }
    document
}
