//! `check`: judges whether the machine is fit for measurements, or which of many have fit clocks. It
//! does not change the machine.

use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::printed::finding_text;
use super::{
    CommandResult, Outputs, counter, emit, failed, files, machine_document, prepare_outputs,
    report_unreadable,
};
use crate::cli::CheckArgs;
use crate::platform::portable_read;
use crate::runs::watch_machine;
use estimators::findings::Facts;
use estimators::findings::machine::{PortableRead, judge};
use estimators::model::{Assessment, Finding, Fit, Frequency, Platform, Severity};
use judgement::assessment::judge_fit;
use reporting::document::Document;
use reporting::report::{Collection, Detail, machine, read};
use reporting::text::counted;

/// Time in which the C library's clocks are compared with the system calls.
/// *Judgement*: a rate is then known to some parts per million.
pub(super) const COMPARED: Duration = Duration::from_millis(100);

/// The JSON document of `check`.
#[derive(Serialize)]
struct Checked<'a> {
    date: &'a str,
    /// Whether the exit status is 0; the verdict on the clock alone is in the assessment.
    fit: bool,
    findings: &'a [Finding],
    assessment: &'a Assessment,
    platform: &'a Platform,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<&'a Frequency>,
}

/// Runs the command. Returns `true` if no finding is a problem and no clock is wrong, or if the clock of
/// no machine is unfit.
///
/// # Errors
/// When the CPU cannot be used, the report cannot be read, or the output cannot be written.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if args.counter {
        return counter::run(args, output);
    }
    let outputs = prepare_outputs(&args.output)?;
    let (mut report, measured) = match &args.from[..] {
        [] => {
            let report = files::report(watch_machine(args.cpu, COMPARED)?);
            let mut compared = report.platform.library_clocks.iter().flatten();
            let can_read = compared.all(|clock| clock.failure.is_none());
            (report, can_read.then(portable_read).flatten())
        }
        [file] if !file.is_dir() => (read(file).map_err(failed)?, None),
        paths => return check_machines(paths, outputs, output),
    };
    let findings = judge(&Facts {
        machine: Some(&report.platform),
        run: Some(&report),
        read: measured.or(PortableRead::of(&report)),
        ..Facts::default()
    });
    judge_fit(&mut report, &findings);
    let node = report.node.take();
    let is_problem = |finding: &Finding| finding.severity == Severity::Problem;
    let checked = Checked {
        date: &report.created,
        fit: !findings.iter().any(is_problem) && report.assessment.wrong.is_empty(),
        findings: &findings,
        assessment: &report.assessment,
        platform: &report.platform,
        frequency: args.verbose.then_some(&report.frequency),
    };
    let printed = findings
        .iter()
        .filter(|it| args.verbose || it.severity <= Severity::Note);
    let machine = args.verbose.then(|| machine::facts(&report, Detail::Full));
    let document = machine_document(node.as_deref(), &checked)
        .paragraphs(report.assessment.wrong_in_words())
        .paragraph(format!(
            "CLOCK_MONOTONIC: {}.",
            report.assessment.fit_in_words()
        ))
        .findings(printed.map(|it| finding_text(it, args.verbose)))
        .paragraph(summary(&findings))
        .conditions(machine.unwrap_or_default());
    emit(&document, outputs, output)?;
    Ok(checked.fit)
}

/// One of many machines: its name, or else the file of its report, and what follows from it.
#[derive(Serialize)]
struct Machine {
    node: String,
    created: String,
    #[serde(flatten)]
    assessment: Assessment,
}

/// Prints a line for each machine of the reports: by the last one that shows whether its clock is fit.
fn check_machines(
    paths: &[PathBuf],
    outputs: Outputs,
    output: &mut dyn Write,
) -> CommandResult<bool> {
    let found = Collection::read(paths, |path, report| Machine {
        node: report
            .node
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| path.display().to_string()),
        created: report.created,
        assessment: report.assessment,
    });
    let is_complete = report_unreadable(&found.refused, found.reports.len())?;
    let mut machines: Vec<Machine> = found.reports.into_iter().map(|it| it.content).collect();
    let is_known = |it: &Machine| it.assessment.fit != Fit::Unknown;
    let time = |it: &Machine| humantime::parse_rfc3339(&it.created).ok();
    machines.sort_by_cached_key(|it| Reverse((it.node.clone(), is_known(it), time(it))));
    machines.dedup_by(|other, last| other.node == last.node);
    machines.sort_by_cached_key(|it| (it.assessment.fit, it.node.clone()));
    let fits = || machines.iter().map(|it| it.assessment.fit);
    let [unfit, unknown, fit] = Fit::ALL.map(|fit| fits().filter(|it| *it == fit).count());
    let line = |it: &Machine| format!("{}: {}", it.node, it.assessment.fit_in_words());
    let lines = machines.iter().map(line);
    let document = lines.fold(Document::new(&machines), Document::line);
    let counts = format!("{unfit} not fit, {unknown} not known, {fit} fit");
    emit(&document.line(counts), outputs, output)?;
    Ok(is_complete && unfit == 0)
}

/// A sentence with the number of findings of each severity.
fn summary(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|it| it.severity == severity).count();
    let [problems, notes, unknown, ok] = Severity::ALL.map(count);
    format!(
        "{}, {}, {unknown} unknown, {ok} ok (-v shows all). Nothing was changed.",
        counted(problems, "problem"),
        counted(notes, "note")
    )
}
