//! `inspect`: everything about one timer, with its figures.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;

use super::{CommandError, emit, failed, prepare, probe, wait};
use crate::cli::{Cpus, InspectArgs, ProbeArgs, WaitArgs, WaitingArgs};
use crate::document::{Document, FindingText};
use crate::model::{Finding, Outcome, Report, Status, WaitConditions};
use crate::report::facts::facts_of_timer;
use crate::report::machine::{facts_of, name};
use crate::report::plot::Plot;
use crate::report::plot::svg::standalone;
use crate::report::waits::{facts_of_period, facts_of_waits, named};
use crate::report::{Fact, WholeFile, read};
use crate::selection::select;
use crate::text::{clipped, first_part};

/// The facts that are shown without `--verbose`, next to verdicts that failed.
const BRIEF: [&str; 13] = [
    "status",
    "reason",
    "remedy",
    "Quality",
    "resolution",
    "cost",
    "spread",
    "conditions",
    "granularity",
    "lateness",
    "period",
    "rate error",
    "late to its grid",
];

/// A clock, a sleep primitive or a periodic timer.
struct Inspected<'a> {
    id: &'a str,
    /// The id, with the conditions where the report has it under several.
    name: String,
    label: &'a str,
    status: Status,
    facts: Vec<Fact>,
    plots: Vec<Plot>,
    findings: &'a [Finding],
}

/// Runs the command. Returns whether all timers that were asked for by name could be characterised.
///
/// # Errors
/// When no timer is called so, the report cannot be read, or a figure cannot be written.
pub fn run(args: &InspectArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare(&args.output)?;
    if let Some(folder) = &args.svg {
        fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            failed(format!(
                "cannot make the folder '{folder}': {error}; choose another place"
            ))
        })?;
    }
    let mut report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => characterise(args)?,
    };
    keep_selected(&mut report, args)?;
    let rows = inspected(&report);
    if let Some(folder) = &args.svg {
        for row in &rows {
            write_figures(row, &name(&report), folder)?;
        }
    }
    let complete = rows
        .iter()
        .all(|row| row.status == Status::Ok || !args.timers.iter().any(|name| name == row.id));
    let mut document = Document::new(&report);
    for row in rows {
        document = section(document, row, args.verbose);
    }
    let machine = facts_of(&report);
    let shown = if args.verbose { machine.len() } else { 1 };
    let document = document.conditions(machine.into_iter().take(shown));
    emit(&document, outputs, output)?;
    Ok(complete)
}

/// Drops the rows that are not asked for.
fn keep_selected(report: &mut Report, args: &InspectArgs) -> Result<(), CommandError> {
    let read = report.timers.iter().map(|row| row.id.as_str());
    let waiting = report.waits.iter().map(|row| row.id.as_str());
    let ticking = report.periods.iter().map(|row| row.id.as_str());
    let ids: Vec<&str> = read.chain(waiting).chain(ticking).collect();
    let selected = select(&args.timers, &ids).map_err(|error| {
        CommandError::Usage(match &args.from {
            Some(path) => format!("'{}': {}", path.display(), error.among(&ids)),
            None => error.to_string(),
        })
    })?;
    let selected: Vec<String> = selected.into_iter().map(str::to_owned).collect();
    report.timers.retain(|row| selected.contains(&row.id));
    report.waits.retain(|row| selected.contains(&row.id));
    report.periods.retain(|row| selected.contains(&row.id));
    Ok(())
}

/// All rows of a report.
fn inspected(report: &Report) -> Vec<Inspected<'_>> {
    let clocks = report.timers.iter().map(|row| Inspected {
        id: &row.id,
        name: row.id.clone(),
        label: &row.label,
        status: row.status,
        facts: facts_of_timer(row),
        plots: Plot::all_of(row),
        findings: &row.warnings,
    });
    let among: Vec<&WaitConditions> = report.waits.iter().map(|row| &row.conditions).collect();
    let waits = report.waits.iter().map(|row| Inspected {
        id: &row.id,
        name: named(&row.id, &row.conditions, &among),
        label: &row.label,
        status: row.status,
        facts: facts_of_waits(row),
        plots: Plot::all_of_waits(row),
        findings: &row.warnings,
    });
    let among: Vec<&WaitConditions> = report.periods.iter().map(|row| &row.conditions).collect();
    let periods = report.periods.iter().map(|row| Inspected {
        id: &row.id,
        name: named(&row.id, &row.conditions, &among),
        label: &row.label,
        status: row.status,
        facts: facts_of_period(row),
        plots: Vec::new(),
        findings: &row.warnings,
    });
    clocks.chain(waits).chain(periods).collect()
}

/// Measures the timers, quickly.
fn characterise(args: &InspectArgs) -> Result<Report, CommandError> {
    let waits = |name: &String| timers::waits::find(name).is_some();
    let (recording, _) = if args.timers.iter().any(waits) {
        wait::record(&WaitArgs::first_look(WaitingArgs {
            timers: args.timers.clone(),
            agents: args.agents.clone(),
            cpu: args.cpu.map(Cpus::One),
            ..WaitingArgs::default()
        }))?
    } else {
        probe::record(&ProbeArgs {
            timers: args.timers.clone(),
            quick: true,
            context: true,
            agents: args.agents.clone(),
            cpu: args.cpu,
            ..ProbeArgs::default()
        })?
    };
    recording.report().map_err(failed)
}

fn write_figures(row: &Inspected, machine: &str, folder: &Path) -> Result<(), CommandError> {
    for plot in &row.plots {
        let path = folder.join(format!("{}-{}.svg", file_name(&row.name), plot.name));
        let title = format!("{} of {} on {machine}", plot.title, clipped(&row.name, 600));
        let text = standalone(&plot.svg().map_err(failed)?, &title);
        let file = WholeFile::prepare(&path).map_err(failed)?;
        file.commit(text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Adds a timer: all of it, or the main facts and what may be wrong with it.
fn section<'a>(
    document: Document<'a, &'a Report>,
    row: Inspected<'a>,
    whole: bool,
) -> Document<'a, &'a Report> {
    let is_shown = |(name, value): &Fact| {
        whole || BRIEF.contains(name) || value.starts_with(Outcome::Fail.in_words())
    };
    let findings = row.findings.iter().map(|finding| {
        let mut text = FindingText::from(finding);
        if !whole {
            text.message = first_part(&text.message).to_owned();
            text.advice = None;
        }
        text
    });
    let mut document = document
        .heading(format!("{} {}", row.name, row.label))
        .facts(row.facts.into_iter().filter(is_shown))
        .findings(findings);
    if whole {
        for plot in row.plots {
            document = document.plot(plot);
        }
    }
    document
}

/// An id as a part of a file name on any system, no two the same: a colon becomes a plus, and what
/// else has to be changed is distinguished by a number that follows from the id.
fn file_name(id: &str) -> String {
    let fit = |c: char| match c {
        ':' => '+',
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
        _ => '-',
    };
    let name: String = id.chars().take(80).map(fit).collect();
    let name = name.trim_start_matches('.');
    if name.replace('+', ":") == id {
        return name.to_owned();
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    format!("{name}-{:08x}", hasher.finish() as u32)
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn ids_are_file_names() {
        assert_eq!(file_name("java:nanoTime"), "java+nanoTime");
        assert_eq!(file_name("monotonic-raw"), "monotonic-raw");
        let odd = [
            "a:b",
            "a-b",
            "a+b",
            "a b",
            "a/b",
            ".a-b",
            "../../etc/passwd",
            "=a\nb\u{202e}",
            "",
        ];
        let names = odd.map(file_name);
        for (at, name) in names.iter().enumerate() {
            assert!(
                !names[..at].contains(name) && !name.starts_with('.'),
                "{names:?}"
            );
            assert!(
                name.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)),
                "{names:?}"
            );
        }
    }
}
