//! The program without a command: prints in a few lines which clock to use on this machine.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::{CommandResult, emit, failed, machine_document, prepare_outputs, probe, wait};
use crate::assessment::{ClockAnswer, WAIT_NS};
use crate::campaign::sampling::CampaignPlan;
use crate::cli::AnswerArgs;
use crate::model::{Report, WaitRow};
use crate::report::read;
use crate::requests::{RunRequest, WaitRequest};

/// The ids of the measured sleep primitives. Timer slack delays the first but not the second.
const WAITS: [&str; 2] = ["nanosleep", "timerfd"];

/// Runs the command.
///
/// # Errors
/// When no clock can be measured, a report cannot be read, or the output cannot be written.
pub fn run(args: &AnswerArgs, output: &mut dyn Write) -> CommandResult {
    let outputs = prepare_outputs(&args.output)?;
    let (report, waits, waits_measured) = if args.from.is_empty() {
        measure_clocks()?
    } else {
        read_reports(&args.from)?
    };
    let answer = ClockAnswer::from_reports(&report, &waits);
    let lines = answer.lines(&report, waits_measured);
    let document = machine_document(report.node.as_deref(), &answer);
    emit(&document.facts(lines), outputs, output)
}

/// The report of the clocks, the rows of the sleep primitives, and whether sleep primitives were
/// measured now.
type AnswerFigures = (Report, Vec<WaitRow>, bool);

/// Measures the clocks and the sleep primitives of this machine.
fn measure_clocks() -> CommandResult<AnswerFigures> {
    let report = probe::probe_recommendable()?;
    let waits_here =
        |id: &&str| timers::waits::find(id).is_some_and(|entry| entry.availability().is_ok());
    let waits: Vec<&str> = WAITS.into_iter().filter(waits_here).collect();
    let rows = if waits.is_empty() {
        Vec::new()
    } else {
        const SPAN: Duration = Duration::from_millis(300);
        let mut request =
            WaitRequest::new(RunRequest::of(waits.iter().copied()), CampaignPlan::QUICK)
                .of_lengths(vec![WAIT_NS], false);
        request.waits.span = Some(SPAN);
        wait::report(&request)?.waits
    };
    Ok((report, rows, !waits.is_empty()))
}

/// Reads reports from files. Returns the first report with clocks, and the sleep primitives of all
/// reports.
fn read_reports(files: &[PathBuf]) -> CommandResult<AnswerFigures> {
    let reports = files
        .iter()
        .map(|file| read(file))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    let waits: Vec<WaitRow> = WAITS
        .iter()
        .filter_map(|id| {
            reports
                .iter()
                .flat_map(|report| &report.waits)
                .find(|row| row.id == *id)
                .cloned()
        })
        .collect();
    let clocks = reports.into_iter().find(|report| !report.timers.is_empty());
    let clocks = clocks.ok_or_else(|| {
        failed("no report has clocks: `timermeter probe -o report.json` writes one")
    })?;
    Ok((clocks, waits, false))
}
