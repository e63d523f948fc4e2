//! `timermeter` without a command: prints in a few lines which clock to use on this machine.

use std::io::Write;
use std::path::PathBuf;

use super::first_look::{first_look, first_waits};
use super::hosts::is_here;
use super::{CommandError, emit, failed, prepare};
use crate::cli::{AnswerArgs, HostArgs};
use crate::document::Document;
use crate::findings::machine;
use crate::method::ClockAnswer;
use crate::method::answer::WAIT_NS;
use crate::model::{Platform, Report, Severity, WaitRow};
use crate::report::read;

/// Ids of the measured clocks. Of each list, the first clock that this system has is measured: a
/// portable clock, the counter of the CPU with ordered reads, and the counter without ordering.
const CLOCKS: [&[&str]; 3] = [
    &["monotonic", "instant"],
    &["rdtsc-lfence", "cntvct-isb", "rdtime-fence"],
    &["rdtsc", "cntvct", "rdtime"],
];
/// Ids of the measured sleep primitives. The timer slack applies to the first but not to the
/// second.
const WAITS: [&str; 2] = ["nanosleep", "timerfd"];
/// Smallest relative change of the core's frequency during the measurement that is reported.
/// *Judgement*.
const MIN_FREQUENCY_CHANGE: f64 = 0.03;

/// Runs the command.
///
/// # Errors
/// When no clock can be measured, a report cannot be read, or the output cannot be written.
pub fn run(args: &AnswerArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    let outputs = prepare(&args.output)?;
    let (report, waits, waited) = if args.from.is_empty() {
        measure_clocks()?
    } else {
        read_reports(&args.from)?
    };
    let answer = ClockAnswer::from_reports(&report, &waits, disturbances(&report));
    let lines = answer.lines(report.platform.os.family == "linux", waited);
    emit(&Document::new(&answer).facts(lines), outputs, output)
}

/// The report of the clocks, the rows of the waits, and whether any waits were measured.
type Measured = (Report, Vec<WaitRow>, bool);

fn measure_clocks() -> Result<Measured, CommandError> {
    let clocks: Vec<String> = CLOCKS
        .iter()
        .filter_map(|any| any.iter().find(|id| is_here(id)))
        .map(|id| (*id).to_owned())
        .collect();
    let report = first_look(&clocks, &HostArgs::default())?;
    let waits_here =
        |id: &&str| timers::waits::find(id).is_some_and(|entry| entry.availability().is_ok());
    let waits: Vec<&str> = WAITS.into_iter().filter(waits_here).collect();
    let waited = if waits.is_empty() {
        Vec::new()
    } else {
        first_waits(&waits, WAIT_NS)?.waits
    };
    Ok((report, waited, !waits.is_empty()))
}

/// Reads the answer's input from files: the first report with clocks, and the waits of all reports.
fn read_reports(files: &[PathBuf]) -> Result<Measured, CommandError> {
    let reports = files.iter().map(|file| read(file));
    let reports = reports.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let waits: Vec<WaitRow> = WAITS
        .iter()
        .filter_map(|id| {
            let mut rows = reports.iter().flat_map(|report| &report.waits);
            rows.find(|row| row.id == *id).cloned()
        })
        .collect();
    let clocks = reports.into_iter().find(|report| !report.timers.is_empty());
    let clocks = clocks.ok_or_else(|| {
        failed("no report has clocks: `timermeter probe -o report.json` writes one that does")
    })?;
    Ok((clocks, waits, false))
}

/// The causes of worse results on this machine at present, with their size if it is known.
fn disturbances(report: &Report) -> Vec<String> {
    let platform: &Platform = &report.platform;
    let findings = machine::judge(platform);
    // The clock source has a line of its own in the answer.
    let problems = findings.iter().filter(|finding| {
        finding.severity == Severity::Problem
            && !["clock-source", "tsc"].contains(&finding.code.as_str())
    });
    let mut disturbances: Vec<String> = problems
        .map(|finding| match (finding.code.as_str(), &platform.load) {
            ("load", Some(load)) => format!("load {:.1}", load.one_minute),
            ("steal", _) => {
                let share = platform.steal_share.unwrap_or_default();
                format!("{:.0} % stolen", 100.0 * share)
            }
            (code, _) => code.replace('-', " "),
        })
        .collect();
    if let Some(hertz) = report.frequency.cycles() {
        let moved = (hertz.high - hertz.low) / hertz.value;
        if moved > MIN_FREQUENCY_CHANGE {
            disturbances.push(format!("frequency moves by {:.0} %", 100.0 * moved));
        }
    }
    disturbances
}
