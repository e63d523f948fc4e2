//! `check --sources`: lists the clock sources of the kernel or, with `--yes`, measures each in turn
//! and then restores the current one.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::{
    CommandError, CommandResult, OnNode, emit, failed, machine_document, prepare_outputs, probe,
};
use crate::cli::CheckArgs;
use crate::document::{Document, FindingText};
use crate::findings::apply_rules;
use crate::findings::machine::{RESTORES, RestoreCase};
use crate::hosts::children::{self, TemporarySetting};
use crate::hosts::tool;
use crate::messages::print_message;
use crate::model::{Finding, Interval, TimerRow, value_of};
use crate::platform::sources::{SourceFigures, advice, describe_source, log_of_sources};
use crate::platform::{Root, clock_source, identify_at};
use crate::requests::{ProbeRequest, RunRequest};
use crate::table::{CellValue, Notation, Table, TableColumn};
use crate::text::numbers::short_time;

/// The name of the schema of the document.
const SCHEMA: &str = "timermeter.sources.v1";
/// The file of the kernel with the name of the current clock source.
const CURRENT_SOURCE_PATH: &str =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Ids of the clocks measured with each source: the most common clock, with and without the vDSO.
const TIMERS: [&str; 2] = ["monotonic", "monotonic-syscall"];
/// Time limit for reading the log of the kernel.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);

/// The JSON document of `check --sources`.
#[derive(Serialize)]
struct SourcesDocument {
    schema: &'static str,
    current: String,
    sources: Vec<MeasuredSource>,
    /// The parameters about clocks on the command line of the kernel.
    parameters: Vec<String>,
    /// The lines about clock sources in the kernel log; null if the log cannot be read.
    log: Option<Vec<String>>,
    advice: String,
    /// What a restore from a snapshot does to each source, if the hypervisor may restore this machine.
    findings: Vec<Finding>,
}

/// A clock source with the figures of the clock that the kernel makes of it.
#[derive(Default, Serialize)]
struct MeasuredSource {
    name: String,
    /// A description of the source.
    known: String,
    /// The resolution in nanoseconds; null if it is unknown.
    resolution_ns: Option<Interval>,
    /// An upper limit of the resolution in nanoseconds if it is unknown.
    resolution_at_most_ns: Option<Interval>,
    cost_ns: Option<Interval>,
    /// The largest difference between the readings on the first CPU and on another one, in
    /// nanoseconds: an estimate.
    offset_ns: Option<f64>,
    /// The uncertainty of this difference, in nanoseconds.
    offset_uncertainty_ns: Option<f64>,
    /// The reason why the source could not be measured; null if it was, or was not to be measured.
    reason: Option<String>,
}

impl MeasuredSource {
    /// The resolution, or its upper limit if it is unknown.
    fn step_or_limit_ns(&self) -> Option<f64> {
        value_of(self.resolution_ns.or(self.resolution_at_most_ns))
    }
}

/// Runs the command. Returns `true` unless a source could not be measured.
///
/// # Errors
/// When the kernel shows no clock sources, or the current one cannot be changed although `--yes`
/// requests it.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let root = args.root.as_ref().map_or_else(Root::system, Root::at);
    let offered = clock_source(&root);
    let current = offered
        .current
        .filter(|_| !offered.available.is_empty())
        .ok_or_else(|| {
            failed(format!(
                "this system shows no clock sources ({CURRENT_SOURCE_PATH})"
            ))
        })?;
    let (current, sources) = if args.yes {
        measure_sources(&root, &offered.available)?
    } else {
        let names = offered.available.iter();
        (current, names.map(|name| unmeasured(name, None)).collect())
    };
    let figures = sources.iter().map(|found| SourceFigures {
        name: found.name.clone(),
        cost_ns: value_of(found.cost_ns),
        step_ns: found.step_or_limit_ns(),
    });
    let advice = if args.yes {
        advice(&current, &figures.collect::<Vec<_>>())
    } else {
        "as root, `timermeter check --sources --yes` measures each of them for about five seconds and restores the current one".into()
    };
    let with_cost = |found: &MeasuredSource| match value_of(found.cost_ns) {
        Some(ns) => format!("{} ({})", found.name, short_time(ns)),
        None => found.name.clone(),
    };
    let names: Vec<String> = sources.iter().map(with_cost).collect();
    let restore = RestoreCase(&identify_at(&root, None), &names);
    let found = SourcesDocument {
        schema: SCHEMA,
        findings: apply_rules(RESTORES, &restore),
        current,
        sources,
        parameters: offered.parameters.unwrap_or_default(),
        log: kernel_log(),
        advice,
    };
    emit(&document(&found), outputs, output)?;
    Ok(found.sources.iter().all(|source| source.reason.is_none()))
}

/// The clock source, which is restored when this value is dropped.
struct RestoredSource(TemporarySetting);

impl Drop for RestoredSource {
    fn drop(&mut self) {
        if let Err(error) = self.0.restore() {
            let source = self.0.original();
            print_message(&format_args!(
                "the clock source could not be restored to {source}: {error}; run as root: `echo {source} > {CURRENT_SOURCE_PATH}`",
            ));
        }
    }
}

/// Measures the clocks with each source in turn, and restores the current one, which is returned
/// too.
fn measure_sources(root: &Root, all: &[String]) -> CommandResult<(String, Vec<MeasuredSource>)> {
    let nothing_changed = |why: &dyn std::fmt::Display| {
        failed(format!(
            "nothing was changed, because '{CURRENT_SOURCE_PATH}' cannot be changed for a while: {why}"
        ))
    };
    let path = root
        .file(CURRENT_SOURCE_PATH)
        .ok_or_else(|| nothing_changed(&"this system has no such file"))?;
    let setting = TemporarySetting::lock(&path).map_err(|error| nothing_changed(&error))?;
    let mut source = RestoredSource(setting);
    let mut found = Vec::new();
    for name in all {
        if children::interrupted() {
            return Err(CommandError::Interrupted);
        }
        let row = match source.0.set(name) {
            Ok(()) => measure_clock(root, name),
            Err(error) => Err(failed(format!("it cannot be set: {error}"))),
        };
        found.push(match row {
            Err(CommandError::Interrupted) => return Err(CommandError::Interrupted),
            Err(error) => unmeasured(name, Some(error.to_string())),
            Ok(row) => from_row(name, row),
        });
    }
    Ok((source.0.original().to_owned(), found))
}

/// Measures the clock while the kernel uses the named source.
fn measure_clock(root: &Root, name: &str) -> CommandResult<TimerRow> {
    let report = probe::report(&ProbeRequest::quick(RunRequest::of(TIMERS)))?;
    let now = root.read_name(CURRENT_SOURCE_PATH).unwrap_or_default();
    if now != name {
        return Err(failed(format!(
            "the kernel replaced it with '{now}' while it was measured"
        )));
    }
    report
        .timers
        .into_iter()
        .find(|row| row.id == TIMERS[0])
        .ok_or_else(|| failed("it was not measured"))
}

/// The figures of a clock source from the row of the clock.
fn from_row(name: &str, row: TimerRow) -> MeasuredSource {
    let verdicts = row.verdicts.as_ref();
    let offset = verdicts.and_then(|verdicts| verdicts.thread_safe.largest_offset());
    let unknown = || "its cost could not be measured".to_owned();
    MeasuredSource {
        resolution_ns: row.resolution_ns,
        resolution_at_most_ns: row.resolution_at_most_ns,
        cost_ns: row.cost_ns,
        offset_ns: offset.map(|offset| offset.ns.abs()),
        offset_uncertainty_ns: offset.map(|offset| offset.uncertainty_ns),
        reason: match row.cost_ns {
            Some(_) => None,
            None => Some(row.head.reason.unwrap_or_else(unknown)),
        },
        ..unmeasured(name, None)
    }
}

/// A clock source without figures.
fn unmeasured(name: &str, reason: Option<String>) -> MeasuredSource {
    MeasuredSource {
        name: name.to_owned(),
        known: describe_source(name),
        reason,
        ..MeasuredSource::default()
    }
}

/// The lines about clock sources in the kernel log; `None` if the log cannot be read.
fn kernel_log() -> Option<Vec<String>> {
    let program = tool::find(&["dmesg"])?;
    let mut command = std::process::Command::new(program);
    command.arg("--notime");
    tool::run_within(LOG_TIMEOUT, command)
        .ok()
        .map(|log| log_of_sources(&log))
}

/// The document with a table of the sources.
fn document(found: &SourcesDocument) -> Document<'_, OnNode<'_, &SourcesDocument>> {
    let mut table = Table::new(vec![
        TableColumn::left("source"),
        TableColumn::right("resolution", Notation::Time),
        TableColumn::right("cost", Notation::Time),
        TableColumn::right("between CPUs (ns)", Notation::HalfWidth),
        TableColumn {
            folds: true,
            ..TableColumn::left("what it is")
        },
    ]);
    for source in &found.sources {
        let description = match &source.reason {
            Some(reason) => format!("{}; not measured: {reason}", source.known),
            None => source.known.clone(),
        };
        table.push(vec![
            source.name.as_str().into(),
            CellValue::bounded(source.step_or_limit_ns(), source.resolution_ns.is_none()),
            value_of(source.cost_ns).into(),
            match (source.offset_ns, source.offset_uncertainty_ns) {
                (Some(ns), Some(half)) => Interval::around(ns, half).into(),
                (ns, _) => ns.into(),
            },
            description.into(),
        ]);
    }
    let mut facts = vec![("current", found.current.clone())];
    if !found.parameters.is_empty() {
        facts.push(("kernel parameters", found.parameters.join(" ")));
    }
    match found.log.as_deref() {
        None => facts.push((
            "kernel log",
            "cannot be read; as root, `dmesg | grep -i -e tsc -e clocksource` prints it".into(),
        )),
        Some([]) => facts.push(("kernel log", "no lines about clock sources".into())),
        Some(lines) => facts.extend(lines.iter().map(|line| ("kernel log", line.clone()))),
    }
    machine_document(None, found)
        .table(table)
        .facts(facts)
        .note(found.advice.as_str())
        .findings(found.findings.iter().map(FindingText::from))
}

#[cfg(test)]
mod tests {
    use super::{SCHEMA, SourcesDocument, document, from_row};
    use crate::document::Render;
    use crate::report::parse;
    use crate::table::{Format, Style};

    /// The row of a report with an offset of -5 ± 45 ns between its CPUs.
    const REPORT: &str = include_str!("../../tests/fuzz/corpus/report/kept.json");

    #[test]
    fn offset_between_cpus_has_uncertainty() {
        let report = parse(REPORT, "kept.json").expect("a report");
        let row = report.timers.into_iter().find(|row| row.id == "monotonic");
        let found = SourcesDocument {
            schema: SCHEMA,
            current: "tsc".into(),
            sources: vec![from_row("tsc", row.expect("it has this clock"))],
            parameters: Vec::new(),
            log: None,
            advice: String::new(),
            findings: Vec::new(),
        };
        for (format, text) in [
            (Format::Table, " 5 ± 45 "),
            (Format::Json, "\"offset_uncertainty_ns\": 45.0"),
        ] {
            let mut printed = Vec::new();
            let written = document(&found).write(format, Style::default(), &mut printed);
            written.expect("it can be printed");
            let printed = String::from_utf8(printed).expect("UTF-8");
            assert!(printed.contains(text), "{printed}");
        }
    }
}
