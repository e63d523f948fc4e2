//! `check --sources`: every clock source that the kernel offers, measured one after the other; the
//! one that was there is set back whatever happens.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::first_look::first_look;
use super::{CommandError, failed, tell, terminal_style};
use crate::cli::CheckArgs;
use crate::hosts::{children, tool};
use crate::model::{Interval, Path, TimerRow, value_of};
use crate::platform::{Root, clock_source};
use crate::report::WholeFile;
use crate::suitability::sources::{
    SourceFigures, advice, described, is_read_by_system_calls, log_of_sources,
};
use crate::table::{Format, Style};
use crate::text::numbers::time;
use crate::text::{hang, plain};

/// The schema of the document.
const SCHEMA: &str = "timermeter.sources.v1";
const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Holds the source that is to be set back, as long as it is not.
const RECORD: &str = "/run/timermeter/clock-source";
const AS_ROOT: &str = "run it as root, on the machine itself, where containers may not";
/// What is looked at of each: the clock that most programs read, and the same past the vDSO.
const TIMERS: [&str; 2] = ["monotonic", "monotonic-syscall"];
/// The kernel's log is short.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct SourcesDocument {
    schema: &'static str,
    current: String,
    sources: Vec<MeasuredSource>,
    /// What the kernel was started with about clocks.
    parameters: Vec<String>,
    /// What its log says; null where it may not be read.
    log: Option<Vec<String>>,
    /// Reads a second that `cpu_share` is told for, and where they are from.
    reads_a_second: u64,
    reads_from: ReadsFrom,
    advice: String,
}

/// Where a number of reads a second is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ReadsFrom {
    /// The command line.
    Given,
    /// The kernel, which counted those of all programs.
    Counted,
    /// Nothing tells them.
    Assumed,
}

/// Reads a second where nothing tells them.
const ASSUMED_READS: u64 = 100_000;
/// How long they are counted.
const COUNTED: Duration = Duration::from_secs(1);

/// Reads a second of all programs that go by `current`: as they were given, as the kernel counts
/// them, or some.
fn reads(given: Option<u64>, current: &str) -> (u64, ReadsFrom) {
    let counted = || {
        let calls = is_read_by_system_calls(current)
            .then(|| timers::clock_calls(COUNTED).ok())
            .flatten();
        calls.map(|calls| (calls.round() as u64, ReadsFrom::Counted))
    };
    let given = given.map(|reads| (reads, ReadsFrom::Given));
    given
        .or_else(counted)
        .unwrap_or((ASSUMED_READS, ReadsFrom::Assumed))
}

#[derive(Serialize)]
struct MeasuredSource {
    name: String,
    known: String,
    /// Null where it was not measured, and where it could not be.
    resolution_ns: Option<Interval>,
    cost_ns: Option<Interval>,
    /// In user mode, or by what.
    path: Option<String>,
    /// How far the clock of one CPU is from that of another at most, in nanoseconds.
    offset_ns: Option<f64>,
    /// What reading it as often as asked takes of a CPU.
    cpu_share: Option<f64>,
    /// Why it could not be measured.
    reason: Option<String>,
}

/// Runs the command. Returns whether each source could be measured, where that was asked for.
///
/// # Errors
/// When there are none, or nothing may be changed though it was asked for.
pub(super) fn run(args: &CheckArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let root = args.root.as_ref().map_or_else(Root::system, Root::at);
    let offered = clock_source(&root);
    let current = offered
        .current
        .clone()
        .filter(|_| !offered.available.is_empty());
    let current = current.ok_or_else(|| {
        failed(format!(
            "the clock sources of this kernel are not shown ({CURRENT})"
        ))
    })?;
    let allowed = writable(&root);
    let measures = match (&allowed, args.yes) {
        (Err(error), true) => {
            return Err(failed(format!(
                "nothing was changed: '{CURRENT}': {error}; {AS_ROOT}"
            )));
        }
        (Err(_), false) => false,
        (Ok(()), true) => true,
        (Ok(()), false) => agreed(offered.available.len())?,
    };
    let (reads_a_second, reads_from) = reads(args.reads, &current);
    let sources = if measures {
        measured(&root, &current, &offered.available, reads_a_second)?
    } else {
        offered
            .available
            .iter()
            .map(|name| unmeasured(name, None))
            .collect()
    };
    let figures: Vec<SourceFigures> = sources
        .iter()
        .map(|found| SourceFigures {
            name: found.name.clone(),
            cost_ns: value_of(found.cost_ns),
            step_ns: value_of(found.resolution_ns),
        })
        .collect();
    let advice = match measures {
        true => advice(&current, &figures),
        false => "as root, `timermeter check --sources --yes` measures each of them, some five seconds each, and sets the present one back".into(),
    };
    let whole = sources.iter().all(|found| found.reason.is_none());
    let document = SourcesDocument {
        schema: SCHEMA,
        current,
        sources,
        parameters: offered.parameters.unwrap_or_default(),
        log: log(),
        reads_a_second,
        reads_from,
        advice,
    };
    match args.output.format {
        Format::Json => writeln!(output, "{}", super::pretty(&document)?)?,
        _ => output.write_all(page(&document, terminal_style()).as_bytes())?,
    }
    output.flush()?;
    Ok(whole)
}

/// Asks the user, which needs a terminal.
fn agreed(count: usize) -> Result<bool, CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::Usage(
            "the clock source of the whole machine would be changed: say --yes".into(),
        ));
    }
    let mut error = io::stderr();
    write!(
        error,
        "All programs of this machine go by each of {count} clock sources for some five seconds. Measure them? [y/N] "
    )?;
    error.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("y"))
}

/// Sets the source back when it is dropped, however that comes.
struct SetBack<'a> {
    root: &'a Root,
    to: &'a str,
}

impl Drop for SetBack<'_> {
    fn drop(&mut self) {
        match set(self.root, self.to) {
            Ok(()) => children::let_settings_go(),
            Err(error) => tell(&format_args!(
                "the clock source could not be set back to {}: {error}; as root, `echo {} > {CURRENT}`",
                self.to, self.to
            )),
        }
        forget(self.root);
    }
}

/// Writes down the present source before it is changed. One that an earlier run, which was killed,
/// did not set back stays written down.
fn remember(root: &Root, current: &str) -> Result<(), String> {
    let record = file(root, RECORD).map_err(|error| error.to_string())?;
    if let Some(earlier) = root.name(RECORD).filter(|earlier| earlier != current) {
        tell(&format_args!(
            "a run that was killed did not set the clock source back to {earlier}: as root, `echo {earlier} > {CURRENT}`"
        ));
        return Ok(());
    }
    let folder = record.parent().unwrap_or(&record);
    fs::create_dir_all(folder).map_err(|error| format!("'{}': {error}", folder.display()))?;
    let file = WholeFile::prepare(&record).map_err(|error| error.to_string())?;
    file.commit(format!("{current}\n").as_bytes())
        .map_err(|error| error.to_string())
}

/// Removes what is written down once the source is as it was.
fn forget(root: &Root) {
    let Ok(record) = file(root, RECORD) else {
        return;
    };
    if root.name(RECORD) == root.name(CURRENT)
        && let Err(error) = fs::remove_file(&record)
    {
        tell(&format_args!(
            "'{}' cannot be removed: {error}",
            record.display()
        ));
    }
}

fn file(root: &Root, path: &str) -> io::Result<PathBuf> {
    root.file(path)
        .ok_or_else(|| io::Error::other("this system has no such file"))
}

/// Whether the source could be changed; it is not.
fn writable(root: &Root) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(file(root, CURRENT)?)
        .map(drop)
}

/// Changes the source, and looks whether the kernel took it.
fn set(root: &Root, to: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file(root, CURRENT)?)?;
    file.write_all(format!("{to}\n").as_bytes())?;
    drop(file);
    match root.name(CURRENT) {
        Some(now) if now == to => Ok(()),
        now => Err(io::Error::other(format!(
            "the kernel keeps it at {}",
            now.as_deref().unwrap_or("nothing")
        ))),
    }
}

fn measured(
    root: &Root,
    current: &str,
    all: &[String],
    reads: u64,
) -> Result<Vec<MeasuredSource>, CommandError> {
    let place = file(root, CURRENT).map_err(failed)?;
    remember(root, current).map_err(|why| {
        failed(format!(
            "nothing was changed, as the present source could not be written down: {why}; {AS_ROOT}"
        ))
    })?;
    let set_back = SetBack { root, to: current };
    children::keep_setting(&place, current).map_err(|error| {
        failed(format!(
            "nothing was changed, as it could not be set back: {error}"
        ))
    })?;
    let mut found = Vec::new();
    for name in all {
        if children::interrupted() {
            return Err(CommandError::Interrupted);
        }
        found.push(one(root, name, reads)?);
    }
    drop(set_back);
    Ok(found)
}

fn one(root: &Root, name: &str, reads: u64) -> Result<MeasuredSource, CommandError> {
    if let Err(error) = set(root, name) {
        return Ok(unmeasured(
            name,
            Some(format!("the kernel does not take it: {error}")),
        ));
    }
    let ids = TIMERS.map(str::to_owned);
    let report = match first_look(&ids, &[], None) {
        Err(CommandError::Interrupted) => return Err(CommandError::Interrupted),
        Err(error) => return Ok(unmeasured(name, Some(error.to_string()))),
        Ok(report) => report,
    };
    // The kernel may have given it up meanwhile.
    let still = root.name(CURRENT);
    if still.as_deref() != Some(name) {
        let now = still.unwrap_or_else(|| "none".into());
        return Ok(unmeasured(
            name,
            Some(format!(
                "the kernel gave it up while it was measured, for {now}"
            )),
        ));
    }
    let row = report.timers.iter().find(|row| row.id == TIMERS[0]);
    Ok(row.map_or_else(
        || unmeasured(name, Some("it was not measured".into())),
        |row| of_row(name, row, reads),
    ))
}

fn of_row(name: &str, row: &TimerRow, reads: u64) -> MeasuredSource {
    let verdicts = row.verdicts.as_ref();
    let path = verdicts
        .and_then(|verdicts| verdicts.read_path.path)
        .map(|path| match path {
            Path::UserMode => "in user mode (vDSO)".to_owned(),
            _ => "by the kernel".to_owned(),
        });
    let offsets = verdicts.map(|verdicts| {
        verdicts
            .thread_safe
            .offsets
            .iter()
            .map(|offset| offset.ns.abs())
    });
    MeasuredSource {
        resolution_ns: row.resolution_ns,
        cost_ns: row.cost_ns,
        path,
        offset_ns: offsets.and_then(|offsets| offsets.max_by(f64::total_cmp)),
        cpu_share: row.cost_ns.map(|cost| cost.value * 1e-9 * reads as f64),
        reason: row.cost_ns.is_none().then(|| {
            row.reason
                .clone()
                .unwrap_or_else(|| "its cost could not be told".into())
        }),
        ..unmeasured(name, None)
    }
}

fn unmeasured(name: &str, reason: Option<String>) -> MeasuredSource {
    MeasuredSource {
        name: name.to_owned(),
        known: described(name),
        resolution_ns: None,
        cost_ns: None,
        path: None,
        offset_ns: None,
        cpu_share: None,
        reason,
    }
}

/// What the kernel's log says of clock sources; none where it may not be read.
fn log() -> Option<Vec<String>> {
    let program = tool::find(&["dmesg"])?;
    tool::run_within(PATIENCE, &program, &["--notime"])
        .ok()
        .map(|log| log_of_sources(&log))
}

fn page(document: &SourcesDocument, style: Style) -> String {
    let mut out = String::new();
    let margin = " ".repeat(14);
    let say = |out: &mut String, first: &str, text: &str| {
        hang(
            out,
            &format!("{first:<14}"),
            &margin,
            &plain(text),
            style.columns(),
        );
    };
    for found in &document.sources {
        let is_current = found.name == document.current;
        say(
            &mut out,
            &found.name,
            &format!(
                "{}{}",
                found.known,
                if is_current { " (present)" } else { "" }
            ),
        );
        if let Some(reason) = &found.reason {
            say(&mut out, "", &format!("not measured: {reason}"));
        }
        let Some(cost) = found.cost_ns else { continue };
        let interval = cost.ends().map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", time(Some(low)), time(Some(high)))
        });
        let offset = found.offset_ns.map_or_else(String::new, |ns| {
            format!("; CPUs at most {} apart", time(Some(ns)))
        });
        say(
            &mut out,
            "",
            &format!(
                "step {}, a read {}{interval}, {}{offset}; {} reads a second{} take {:.2} % of a CPU",
                time(value_of(found.resolution_ns)),
                time(Some(cost.value)),
                found.path.as_deref().unwrap_or("on an unknown path"),
                document.reads_a_second,
                if document.reads_from == ReadsFrom::Counted {
                    " (as many as all programs make)"
                } else {
                    ""
                },
                found.cpu_share.unwrap_or_default() * 100.0
            ),
        );
    }
    if !document.parameters.is_empty() {
        say(&mut out, "started with", &document.parameters.join(" "));
    }
    match document.log.as_deref() {
        None => say(
            &mut out,
            "kernel's log",
            "may not be read here: why the present source was chosen is not known; as root, `dmesg | grep -i -e tsc -e clocksource` tells",
        ),
        Some([]) => say(&mut out, "kernel's log", "says nothing of it any more"),
        Some(lines) => lines
            .iter()
            .for_each(|line| say(&mut out, "kernel's log", line)),
    }
    say(&mut out, "→", &document.advice);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_given_counted_or_assumed() {
        assert_eq!(reads(Some(7), "hpet"), (7, ReadsFrom::Given));
        // Those by the vDSO pass no tracepoint.
        assert_eq!(reads(None, "tsc"), (ASSUMED_READS, ReadsFrom::Assumed));
        let (reads, from) = reads(None, "hpet");
        assert!(from == ReadsFrom::Counted || (reads, from) == (ASSUMED_READS, ReadsFrom::Assumed));
    }
}
