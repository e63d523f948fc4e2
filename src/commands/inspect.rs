//! `inspect`: prints the figures, verdicts and warnings of timers, and with -v their plots.

use std::io::Write;
use std::path::Path;

use timers::os::files::Folder;

use super::{CommandError, emit, failed, prepare_outputs, probe, wait};
use crate::campaign::sampling::CampaignPlan;
use crate::cli::InspectArgs;
use crate::document::{Document, FindingText};
use crate::fields::{Row, all_rows};
use crate::model::{Context, Report, Severity, Status};
use crate::plot::Plot;
use crate::report::machine::{in_a_line, name, report_facts};
use crate::report::{Detail, WholeFile, facts, read};
use crate::requests::{ConditionsRequest, Cpus, ProbeRequest, RunRequest, WaitRequest};
use crate::selection::select;
use crate::text::first_part;

/// Runs the command. Returns `true` if all timers given by name have figures.
///
/// # Errors
/// When no timer has the name, the report cannot be read, or a plot cannot be written.
pub fn run(args: &InspectArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare_outputs(&args.output)?;
    if let Some(folder) = &args.svg {
        Folder::create(folder).map_err(|error| {
            let folder = folder.display();
            failed(format!(
                "cannot create the folder '{folder}': {error}; choose another folder"
            ))
        })?;
    }
    let mut report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => measure_timers(args)?,
    };
    keep_selected(&mut report, args)?;
    let rows = all_rows(&report);
    if let Some(folder) = &args.svg {
        for row in &rows {
            write_plots(*row, &name(&report), folder)?;
        }
    }
    let is_complete = rows
        .iter()
        .all(|row| row.status() == Status::Ok || !args.timers.contains(row.id()));
    let mut document = Document::new(&report);
    for row in rows {
        document = add_section(document, row, args.verbose);
    }
    let machine = if args.verbose {
        report_facts(&report)
    } else {
        vec![("machine", in_a_line(&report))]
    };
    let document = document.conditions(machine);
    emit(&document, outputs, output)?;
    Ok(is_complete)
}

/// Removes the rows that were not requested.
fn keep_selected(report: &mut Report, args: &InspectArgs) -> Result<(), CommandError> {
    let rows = all_rows(report);
    let ids: Vec<&str> = rows.iter().map(|row| row.id().as_str()).collect();
    let selected = select(&args.timers, &ids).map_err(|error| {
        CommandError::Usage(match &args.from {
            Some(path) => format!("'{}': {}", path.display(), error.message_for_report(&ids)),
            None => error.to_string(),
        })
    })?;
    let selected: Vec<String> = selected.into_iter().map(str::to_owned).collect();
    report.timers.retain(|row| selected.contains(&row.id));
    report.waits.retain(|row| selected.contains(&row.id));
    report.periods.retain(|row| selected.contains(&row.id));
    Ok(())
}

/// Measures the timers quickly: with `wait` if one is a sleep primitive or periodic timer, else
/// with `probe`.
fn measure_timers(args: &InspectArgs) -> Result<Report, CommandError> {
    let run = RunRequest {
        hosts: args.hosts.request(),
        ..RunRequest::of(&args.timers)
    };
    let is_waiter = |name: &String| timers::waits::find(name).is_some();
    if args.timers.iter().any(is_waiter) {
        return wait::report(&WaitRequest {
            conditions: ConditionsRequest {
                cpus: args.cpu.map(Cpus::One),
                ..ConditionsRequest::default()
            },
            ..WaitRequest::new(run, CampaignPlan::QUICK)
        });
    }
    let quick = ProbeRequest::quick(run);
    probe::report(&ProbeRequest {
        plan: CampaignPlan {
            contexts: &Context::ALL,
            ..quick.plan
        },
        cpu: args.cpu,
        ..quick
    })
}

/// Writes the plots of a timer to a folder, each as an SVG file.
fn write_plots(row: Row, machine: &str, folder: &Path) -> Result<(), CommandError> {
    for plot in Plot::for_row(row) {
        let path = folder.join(format!("{}-{}.svg", file_name(&row.name()), plot.name));
        let text = plot.svg(&format!("{} of {} on {machine}", plot.title, row.name()));
        let file = WholeFile::prepare(&path).map_err(failed)?;
        file.commit(text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Adds the section of a timer: its main figures and its findings or, if `verbose`, all figures,
/// findings and plots.
fn add_section<'a>(
    document: Document<'a, &'a Report>,
    row: Row<'a>,
    verbose: bool,
) -> Document<'a, &'a Report> {
    let findings = row.findings().iter().map(|finding| {
        let mut text = FindingText::from(finding);
        if !verbose && text.severity != Severity::Problem {
            text.message = first_part(&text.message).to_owned();
            text.advice = None;
        }
        text
    });
    let detail = if verbose { Detail::Full } else { Detail::Short };
    let mut document = document
        .heading(format!("{} {}", row.name(), row.label()))
        .facts(facts(row, detail))
        .findings(findings);
    if verbose {
        for plot in Plot::for_row(row) {
            document = document.plot(plot);
        }
    }
    document
}

/// Converts an id into part of a file name that is valid on any system: a colon becomes a plus sign,
/// other characters their code.
fn file_name(id: &str) -> String {
    let valid = |(at, c): (usize, char)| match c {
        ':' => "+".to_owned(),
        '-' | '_' => c.to_string(),
        c if c.is_ascii_alphanumeric() || c == '.' && at > 0 => c.to_string(),
        c => format!("-{:x}-", u32::from(c)),
    };
    id.chars().take(80).enumerate().map(valid).collect()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_names_are_valid_and_unique() {
        assert_eq!(file_name("java:nanoTime"), "java+nanoTime");
        assert_eq!(file_name("monotonic-raw"), "monotonic-raw");
        let ids = [
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
        let names = ids.map(file_name);
        for (index, name) in names.iter().enumerate() {
            assert!(
                !names[..index].contains(name) && !name.starts_with('.'),
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
