//! `check --sources`: measures every clock source that the kernel offers, in turn, and always
//! restores the current one.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::first_look::first_look;
use super::{CommandError, emit, failed, prepare, tell};
use crate::cli::{CheckArgs, HostArgs};
use crate::document::Document;
use crate::hosts::{children, tool};
use crate::model::{Interval, TimerRow, value_of};
use crate::platform::sources::{SourceFigures, advice, describe_source, log_of_sources};
use crate::platform::{Root, clock_source};
use crate::table::{Notation, Table, TableColumn};

/// The schema of the document.
const SCHEMA: &str = "timermeter.sources.v1";
const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Ids of the clocks measured with each source: the most common clock, with and without the vDSO.
const TIMERS: [&str; 2] = ["monotonic", "monotonic-syscall"];
/// Time limit for reading the log of the kernel.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct SourcesDocument {
    schema: &'static str,
    current: String,
    sources: Vec<MeasuredSource>,
    /// Kernel parameters about clocks on the boot command line.
    parameters: Vec<String>,
    /// Lines about clock sources in the log of the kernel; null if it may not be read.
    log: Option<Vec<String>>,
    advice: String,
}

#[derive(Serialize)]
struct MeasuredSource {
    name: String,
    known: String,
    /// Resolution in nanoseconds; null if it was not or could not be measured.
    resolution_ns: Option<Interval>,
    cost_ns: Option<Interval>,
    /// Largest difference between the clocks of two CPUs in nanoseconds.
    offset_ns: Option<f64>,
    /// The reason why the source could not be measured.
    reason: Option<String>,
}

/// Runs the command. Returns `true` if each source could be measured, or no measurement was
/// requested.
///
/// # Errors
/// When the kernel offers no sources, or may not change them although it was requested.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare(&args.output)?;
    let root = args.root.as_ref().map_or_else(Root::system, Root::at);
    let offered = clock_source(&root);
    let current = offered
        .current
        .filter(|_| !offered.available.is_empty())
        .ok_or_else(|| {
            failed(format!(
                "the clock sources of this kernel are not shown ({CURRENT})"
            ))
        })?;
    let sources = if args.yes {
        measure_sources(&root, &current, &offered.available)?
    } else {
        let names = offered.available.iter();
        names.map(|name| unmeasured(name, None)).collect()
    };
    let figures = sources.iter().map(|found| SourceFigures {
        name: found.name.clone(),
        cost_ns: value_of(found.cost_ns),
        step_ns: value_of(found.resolution_ns),
    });
    let advice = if args.yes {
        advice(&current, &figures.collect::<Vec<_>>())
    } else {
        "as root, `timermeter check --sources --yes` measures each of them, some five seconds each, and sets the present one back".into()
    };
    let found = SourcesDocument {
        schema: SCHEMA,
        current,
        sources,
        parameters: offered.parameters.unwrap_or_default(),
        log: log(),
        advice,
    };
    emit(&document(&found), outputs, output)?;
    Ok(found.sources.iter().all(|source| source.reason.is_none()))
}

/// Restores the clock source when it is dropped.
struct SourceGuard<'a> {
    root: &'a Root,
    to: &'a str,
}

impl Drop for SourceGuard<'_> {
    fn drop(&mut self) {
        match set(self.root, self.to) {
            Ok(()) => children::cancel_setting_restoration(),
            Err(error) => tell(&format_args!(
                "the clock source could not be set back to {}: {error}; as root, `echo {} > {CURRENT}`",
                self.to, self.to
            )),
        }
    }
}

fn file(root: &Root) -> io::Result<PathBuf> {
    root.file(CURRENT)
        .ok_or_else(|| io::Error::other("this system has no such file"))
}

/// Sets the clock source, and checks that the kernel accepted it.
fn set(root: &Root, to: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file(root)?)?;
    file.write_all(format!("{to}\n").as_bytes())?;
    drop(file);
    match root.read_name(CURRENT) {
        Some(now) if now == to => Ok(()),
        now => {
            let now = now.unwrap_or_default();
            Err(io::Error::other(format!("the kernel keeps it at '{now}'")))
        }
    }
}

fn measure_sources(
    root: &Root,
    current: &str,
    all: &[String],
) -> Result<Vec<MeasuredSource>, CommandError> {
    let place = file(root).map_err(failed)?;
    if let Err(error) = OpenOptions::new().write(true).open(&place) {
        return Err(failed(format!(
            "nothing was changed: '{CURRENT}': {error}; run it as root, on the machine itself, where containers may not"
        )));
    }
    let set_back = SourceGuard { root, to: current };
    // The guard process restores the source if this process is killed.
    children::restore_setting_at_end(&place, current).map_err(|error| {
        failed(format!(
            "nothing was changed, as it could not be set back: {error}"
        ))
    })?;
    let mut found = Vec::new();
    for name in all {
        if children::interrupted() {
            return Err(CommandError::Interrupted);
        }
        let row = match set(root, name) {
            Ok(()) => measure_clock(root, name),
            Err(error) => Err(failed(format!("the kernel does not accept it: {error}"))),
        };
        found.push(match row {
            Err(CommandError::Interrupted) => return Err(CommandError::Interrupted),
            Err(error) => unmeasured(name, Some(error.to_string())),
            Ok(row) => from_row(name, row),
        });
    }
    drop(set_back);
    Ok(found)
}

/// Measures the clock while the kernel uses the named source.
fn measure_clock(root: &Root, name: &str) -> Result<TimerRow, CommandError> {
    let report = first_look(&TIMERS.map(str::to_owned), &HostArgs::default())?;
    let now = root.read_name(CURRENT).unwrap_or_default();
    if now != name {
        return Err(failed(format!(
            "the kernel replaced it with '{now}' while it was measured"
        )));
    }
    let row = report.timers.into_iter().find(|row| row.id == TIMERS[0]);
    row.ok_or_else(|| failed("it was not measured"))
}

fn from_row(name: &str, row: TimerRow) -> MeasuredSource {
    let offsets = row.verdicts.iter();
    let offsets = offsets.flat_map(|verdicts| &verdicts.thread_safe.offsets);
    let offset_ns = offsets.map(|offset| offset.ns.abs()).max_by(f64::total_cmp);
    let unknown = || "its cost could not be measured".to_owned();
    MeasuredSource {
        resolution_ns: row.step_or_limit_ns(),
        cost_ns: row.cost_ns,
        offset_ns,
        reason: match row.cost_ns {
            Some(_) => None,
            None => Some(row.head.reason.unwrap_or_else(unknown)),
        },
        ..unmeasured(name, None)
    }
}

fn unmeasured(name: &str, reason: Option<String>) -> MeasuredSource {
    MeasuredSource {
        name: name.to_owned(),
        known: describe_source(name),
        resolution_ns: None,
        cost_ns: None,
        offset_ns: None,
        reason,
    }
}

/// Lines about clock sources in the log of the kernel; `None` if it may not be read.
fn log() -> Option<Vec<String>> {
    let program = tool::find(&["dmesg"])?;
    tool::run_within(LOG_TIMEOUT, &program, &["--notime"])
        .ok()
        .map(|log| log_of_sources(&log))
}

fn document(found: &SourcesDocument) -> Document<'_, &SourcesDocument> {
    let mut table = Table::new(vec![
        TableColumn::left("source"),
        TableColumn::right("resolution", Notation::Time),
        TableColumn::right("cost", Notation::Time),
        TableColumn::right("between CPUs", Notation::Time),
        TableColumn {
            folds: true,
            ..TableColumn::left("what it is")
        },
    ]);
    for source in &found.sources {
        let what = match &source.reason {
            Some(reason) => format!("{}; not measured: {reason}", source.known),
            None => source.known.clone(),
        };
        table.push(vec![
            source.name.as_str().into(),
            value_of(source.resolution_ns).into(),
            value_of(source.cost_ns).into(),
            source.offset_ns.into(),
            what.into(),
        ]);
    }
    let mut facts = vec![("present", found.current.clone())];
    if !found.parameters.is_empty() {
        facts.push(("started with", found.parameters.join(" ")));
    }
    match found.log.as_deref() {
        None => facts.push((
            "kernel's log",
            "may not be read here; as root, `dmesg | grep -i -e tsc -e clocksource` prints it"
                .into(),
        )),
        Some([]) => facts.push(("kernel's log", "no line about it".into())),
        Some(lines) => facts.extend(lines.iter().map(|line| ("kernel's log", line.clone()))),
    }
    Document::new(found)
        .table(table)
        .facts(facts)
        .note(found.advice.as_str())
}
