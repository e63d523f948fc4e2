//! The program without a command: prints in a few lines which clock to use on this machine.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::{CommandResult, emit, failed, machine_document, prepare_outputs, probe, wait};
use crate::cli::AnswerArgs;
use crate::requests::RunRequest;
use estimators::model::Report;
use judgement::assessment::{ClockAnswer, WAIT_NS};
use reporting::report::read;

/// The ids of the measured sleep primitives. Timer slack delays the first but not the second.
const WAITS: [&str; 2] = ["nanosleep", "timerfd"];

/// Runs the command.
///
/// # Errors
/// When no clock can be measured, a report cannot be read, or the output cannot be written.
pub fn run(args: &AnswerArgs, output: &mut dyn Write) -> CommandResult {
    let outputs = prepare_outputs(&args.output)?;
    let report = match args.from.is_empty() {
        true => measure()?,
        false => read_reports(&args.from)?,
    };
    let answer = ClockAnswer::from_report(&report);
    let document = machine_document(report.node.as_deref(), &answer);
    emit(&document.facts(answer.lines(&report)), outputs, output)
}

/// Measures the clocks and the sleep primitives of this machine.
fn measure() -> CommandResult<Report> {
    let mut report = probe::probe_recommendable()?;
    let is_here =
        |id: &&str| timers::waits::find(id).is_some_and(|entry| entry.availability().is_ok());
    let waits: Vec<&str> = WAITS.into_iter().filter(is_here).collect();
    if !waits.is_empty() {
        const SPAN: Duration = Duration::from_millis(300);
        let mut request = RunRequest::of(waits).waiting(vec![WAIT_NS], false);
        request.plan.span = Some(SPAN);
        report.waits = wait::report(&request)?.waits;
    }
    Ok(report)
}

/// Reads reports from files. Returns the first report with clocks, with the sleep primitives of all.
fn read_reports(files: &[PathBuf]) -> CommandResult<Report> {
    let reports: Result<Vec<Report>, _> = files.iter().map(|file| read(file)).collect();
    let reports = reports.map_err(failed)?;
    let rows = reports.iter().flat_map(|report| &report.waits);
    let first = |id: &str| rows.clone().find(|row| row.id == id).cloned();
    let waits = WAITS.into_iter().filter_map(first).collect();
    let clocks = reports.iter().find(|report| !report.timers.is_empty());
    let clocks = clocks.ok_or_else(|| {
        failed("no report has clocks: `timermeter probe -o report.json` writes one")
    })?;
    Ok(Report {
        waits,
        ..clocks.clone()
    })
}
