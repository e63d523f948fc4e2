//! `measure`: measures built-in operations with a clock.

use std::io::Write;
use std::time::Duration;

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

/// Runs the command. Returns `true` if every operation could be measured.
///
/// # Errors
/// When the arguments are invalid, or the clock cannot be used.
pub fn run(args: &MeasureArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if args.operations.is_empty() {
        return list_operations(args, output);
    }
    check_arguments(args)?;
    let operations = args.operations.iter().map(|name| find_operation(name));
    let operations: Vec<BuiltIn> = operations.collect::<Result<_, _>>()?;
    if !args.sizes.is_empty() && operations.iter().all(|entry| entry.sizes.is_empty()) {
        return Err(usage(
            "--sizes: none of these operations has a size; leave the flag out",
        ));
    }
    let outputs = prepare_outputs(&args.output)?;
    let cpu = choose_cpu(args.cpu)?;
    let (report, clock) = choose_clock(args)?;
    check_counted_time(&clock.id, clock.properties.counts).map_err(failed)?;
    let measurements = measure_operations(args, &operations, &clock, cpu)?;
    let has_failed = |row: &Measurement| matches!(row.outcome, WorkerOutcome::Failed { .. });
    let document = document(args, &report, &clock, &measurements);
    emit(&document, outputs, output)?;
    Ok(!measurements.iter().any(has_failed))
}

/// Rejects errors that are too small, and clocks that are not native or do not count time.
fn check_arguments(args: &MeasureArgs) -> CommandResult {
    if args.error <= DRIFT {
        let least = DRIFT * 100.0;
        return Err(usage(format!(
            "--error: the rate of a clock is known to {least} % at best; allow a larger error"
        )));
    }
    let Some(name) = args.clock.as_deref() else {
        return Ok(());
    };
    if let Some(entry) = timers::find(name) {
        return check_counted_time(name, entry.info.properties.counts).map_err(usage);
    }
    let ids = timers::catalogue().iter().map(|entry| entry.info.id);
    let ids: Vec<&str> = ids.collect();
    Err(usage(match select(&[name.to_owned()], &ids) {
        Err(unknown) if !name.contains(':') => format!("--clock: {unknown}"),
        _ => format!(
            "--clock {}: give the id of one native clock (timermeter list), not a pattern or a clock of another runtime",
            clipped(name, 40)
        ),
    }))
}

/// Rejects clocks whose readings are not times.
fn check_counted_time(id: &str, counts: Option<Counted>) -> Result<(), String> {
    match counts {
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
fn list_operations(args: &MeasureArgs, output: &mut dyn Write) -> CommandResult<bool> {
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
    )?;
    Ok(true)
}

/// The operation of this name; the error suggests a similar name.
fn find_operation(name: &str) -> CommandResult<BuiltIn> {
    operations::find(name).ok_or_else(|| {
        let names: Vec<&str> = operations::ALL.iter().map(|entry| entry.name).collect();
        let near = nearest(name, &names).into_iter().next();
        usage(format!(
            "there is no operation `{}`; {}`timermeter measure` lists all",
            clipped(name, 40),
            near.map(|near| format!("did you mean `{near}`? "))
                .unwrap_or_default()
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
    let default = Goal::default();
    let goal = Goal {
        error: args.error,
        samples: args.samples.unwrap_or(default.samples),
        limit: Duration::from_secs(args.budget),
        seed: args.seed,
        span: Duration::from_nanos(args.time.0 as u64),
        ..default
    };
    let progress = Progress::new(tasks.len());
    let mut measurements = Vec::new();
    for (entry, size) in tasks {
        progress.show_step(&task_name(entry.name, size));
        let outcome = measure_worker::run(&WorkerRequest {
            clock: clock.clone(),
            operation: entry.name.into(),
            size: size.unwrap_or(0),
            instrument: args.instrument,
            goal,
            cpu,
        })?;
        measurements.push(Measurement {
            operation: entry.name.to_owned(),
            size,
            outcome,
        });
        progress.finish_step();
    }
    Ok(measurements)
}

/// The name of an operation with its size, for messages.
fn task_name(operation: &str, size: Option<u64>) -> String {
    size.map_or_else(
        || operation.to_owned(),
        |size| format!("{operation} {size}"),
    )
}

/// An operation with its result.
#[derive(Debug, Serialize)]
struct Measurement {
    operation: String,
    size: Option<u64>,
    #[serde(flatten)]
    outcome: WorkerOutcome,
}

/// The columns of the table: the key in files, the heading, the notation. Those without a heading are only in
/// files.
const COLUMNS: [(&str, &str, Notation); 14] = [
    ("operation", "operation", Significant),
    ("size", "size", Significant),
    ("calls", "calls", Significant),
    ("mean_ns", "mean", Time),
    ("mean_low_ns", "", Time),
    ("mean_high_ns", "", Time),
    ("error_percent", "±%", Fixed(2)),
    ("deviation_ns", "SD", Time),
    ("min_ns", "min", Time),
    ("median_ns", "median", Time),
    ("max_ns", "max", Time),
    ("per_second", "per second", Count),
    ("samples", "", Significant),
    ("failed", "", Significant),
];

impl Measurement {
    /// The cells of all columns.
    fn cells(&self) -> [CellValue; COLUMNS.len()] {
        let (measured, failed) = match &self.outcome {
            WorkerOutcome::Measured(found) => (Some(found), None),
            WorkerOutcome::Failed { reason } => (None, Some(reason.as_str())),
        };
        let figure = |value: fn(&MeasuredOperation) -> f64| measured.map(|it| value(it)).into();
        [
            self.operation.as_str().into(),
            self.size.into(),
            measured.map(|it| it.calls).into(),
            figure(|it| it.mean_ns.value),
            measured.and_then(|it| it.mean_ns.low()).into(),
            measured.and_then(|it| it.mean_ns.high()).into(),
            figure(|it| 100.0 * it.error),
            measured.and_then(|it| it.deviation_ns).into(),
            figure(|it| it.min_ns),
            figure(|it| it.median_ns.value),
            figure(|it| it.max_ns),
            figure(|it| 1e9 / it.mean_ns.value),
            measured.map(|it| it.valid as u64).into(),
            failed.into(),
        ]
    }
}

/// The table: for people with headings and without empty columns, for programs all columns by their keys.
fn table(measurements: &[Measurement], for_people: bool) -> Table<'static> {
    let rows: Vec<_> = measurements.iter().map(Measurement::cells).collect();
    let is_shown = |&at: &usize| {
        let has_cells = || rows.iter().any(|row| row[at] != CellValue::Nothing);
        !for_people || !COLUMNS[at].1.is_empty() && has_cells()
    };
    let shown: Vec<usize> = (0..COLUMNS.len()).filter(is_shown).collect();
    let column = |&at: &usize| {
        let (key, heading, notation) = COLUMNS[at];
        match (for_people, at) {
            (false, _) => TableColumn::left(key),
            (true, 0) => TableColumn {
                folds: true,
                ..TableColumn::left(heading)
            },
            (true, _) => TableColumn::right(heading, notation),
        }
    };
    let mut table = Table::new(shown.iter().map(column).collect());
    for row in rows {
        table.push(shown.iter().map(|&at| row[at].clone()).collect());
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
