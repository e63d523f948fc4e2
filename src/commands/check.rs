//! `check`: judges whether the machine is fit for measurements. It does not change the machine.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::printed::finding_text;
use super::{CommandResult, date, emit, failed, machine_document, prepare_outputs};
use crate::assessment::assess;
use crate::cli::CheckArgs;
use crate::document::FindingText;
use crate::findings::apply_rules;
use crate::findings::machine::{DATE, DateCase, READ_COST, is_fit, judge};
use crate::model::{Assessment, Finding, Frequency, Platform, Report, Severity};
use crate::platform::frequency::{self, CyclesFrom, KnownFrequencies, TscWatch};
use crate::platform::{self, LibraryWatch, read_costs_ns};
use crate::report::{machine, read};
use crate::runs::choose_cpu;
use crate::text::counted;

/// Time in which the C library's clocks are compared with the system calls.
/// *Judgement*: a rate is then known to some parts per million.
const COMPARED: Duration = Duration::from_millis(100);

/// The JSON document of `check`.
#[derive(Serialize)]
struct Checked {
    date: String,
    fit: bool,
    findings: Vec<Finding>,
    assessment: Assessment,
    platform: Platform,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<Frequency>,
}

/// Runs the command. Returns `true` if no finding is a problem and no clock is wrong.
///
/// # Errors
/// When the CPU cannot be used, the report cannot be read, or the output cannot be written.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let report = match &args.from {
        Some(file) => read(file).map_err(failed)?,
        None => {
            let cpu = choose_cpu(args.cpu)?;
            let frequency = args.verbose.then(|| measure_frequency(cpu)).transpose()?;
            let library = LibraryWatch::begin();
            timers::pause(COMPARED);
            let mut platform = platform::identify(cpu);
            library.end(&mut platform);
            let mut report = Report {
                platform,
                frequency: frequency.unwrap_or_default(),
                created: date(),
                ..Report::default()
            };
            assess(&mut report);
            report
        }
    };
    let Report {
        platform,
        frequency,
        created: date,
        node,
        assessment,
        ..
    } = report;
    let mut findings = judge(&platform);
    if args.from.is_none() {
        findings.extend(apply_rules(DATE, &DateCase(&date)));
        let mut compared = platform.library_clocks.iter().flatten();
        let are_readable = compared.all(|clock| clock.failure.is_none());
        let costs = are_readable.then(read_costs_ns).flatten();
        findings.extend(apply_rules(READ_COST, &costs));
    }
    findings.sort_by_key(|finding| finding.severity);
    let checked = Checked {
        date,
        fit: is_fit(&findings) && assessment.wrong.is_empty(),
        findings,
        assessment,
        platform,
        frequency: args.verbose.then_some(frequency),
    };
    let mut document =
        machine_document(node.as_deref(), &checked).paragraphs(checked.assessment.wrong_in_words());
    if let Some(sentence) =
        clock_verdict(&checked.findings).filter(|_| checked.assessment.wrong.is_empty())
    {
        document = document.paragraph(sentence);
    }
    let document = document
        .findings(selected_findings(&checked.findings, args.verbose))
        .paragraph(summary(&checked.findings));
    let machine = checked.frequency.as_ref();
    let machine = machine.map(|frequency| machine::facts(&checked.platform, frequency));
    let document = match machine {
        Some(facts) => document.conditions(facts),
        None => document,
    };
    emit(&document, outputs, output)?;
    Ok(checked.fit)
}

/// The frequency of a CPU now.
fn measure_frequency(cpu: Option<u32>) -> CommandResult<Frequency> {
    let tsc = TscWatch::begin(timers::RATE_SOURCES[0]);
    let before = frequency::measure_effective(cpu);
    let parts = KnownFrequencies {
        before,
        tsc: tsc.and_then(TscWatch::end),
        nominal: frequency::nominal(),
        ..KnownFrequencies::default()
    };
    let summary = frequency::summarise(&parts, CyclesFrom::Effective, None);
    Ok(summary.map_err(failed)?.0)
}

/// The codes of the findings about the clocks themselves; the other findings are about the rest of
/// the machine.
const CLOCK_FINDINGS: [&str; 3] = ["clock-source", "libc-clock", "tsc"];

/// A sentence that says whether the clock is good; `None` without findings about it.
fn clock_verdict(findings: &[Finding]) -> Option<String> {
    let clock_findings = findings
        .iter()
        .filter(|finding| CLOCK_FINDINGS.contains(&finding.code.as_str()));
    let worst = clock_findings
        .min_by_key(|finding| (finding.severity != Severity::Problem, &finding.code))?;
    let word = match worst.severity {
        Severity::Problem => "not good",
        Severity::Unknown => "unknown",
        Severity::Note | Severity::Ok => "good",
    };
    Some(format!("The clock is {word} — {}.", worst.message()))
}

/// The findings to print: all if `verbose`, otherwise problems and notes, the notes in short form.
fn selected_findings(findings: &[Finding], verbose: bool) -> impl Iterator<Item = FindingText> {
    findings
        .iter()
        .filter(move |finding| verbose || finding.severity <= Severity::Note)
        .map(move |finding| finding_text(finding, verbose))
}

/// A sentence with the number of findings of each severity.
fn summary(findings: &[Finding]) -> String {
    let count = |severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    format!(
        "{}, {}, {} unknown, {} ok (-v shows all). Nothing was changed.",
        counted(count(Severity::Problem), "problem"),
        counted(count(Severity::Note), "note"),
        count(Severity::Unknown),
        count(Severity::Ok),
    )
}
