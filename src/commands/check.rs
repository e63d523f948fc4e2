//! `check`: judges whether the machine is fit for measurements. It does not change the machine.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::printed::finding_text;
use super::{CommandResult, date, emit, failed, machine_document, prepare_outputs};
use crate::assessment::assess;
use crate::cli::CheckArgs;
use crate::document::FindingText;
use crate::findings::Facts;
use crate::findings::machine::judge;
use crate::model::{Assessment, Finding, Frequency, Platform, Report, Severity};
use crate::platform::frequency::{self, CyclesFrom, KnownFrequencies, TscWatch};
use crate::platform::{self, LibraryWatch, read_costs_ns};
use crate::report::{Detail, machine, read};
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
    let mut report = match &args.from {
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
    let mut compared = report.platform.library_clocks.iter().flatten();
    let can_read = args.from.is_none() && compared.all(|clock| clock.failure.is_none());
    let findings = judge(&Facts {
        machine: Some(&report.platform),
        run: Some(&report),
        read_costs_ns: can_read.then(read_costs_ns).flatten(),
        ..Facts::default()
    });
    let node = report.node.take();
    let machine = args.verbose.then(|| machine::facts(&report, Detail::Full));
    let Report {
        platform,
        frequency,
        created: date,
        assessment,
        ..
    } = report;
    let checked = Checked {
        date,
        // The most severe comes first.
        fit: findings
            .first()
            .is_none_or(|it| it.severity != Severity::Problem)
            && assessment.wrong.is_empty(),
        findings,
        assessment,
        platform,
        frequency: args.verbose.then_some(frequency),
    };
    let document = machine_document(node.as_deref(), &checked)
        .paragraphs(checked.assessment.wrong_in_words())
        .paragraphs(clock_verdict(&checked))
        .findings(selected_findings(&checked.findings, args.verbose))
        .paragraph(summary(&checked.findings))
        .conditions(machine.unwrap_or_default());
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
    let summary = frequency::summarise(&parts, CyclesFrom::Effective);
    summary.map_err(failed)
}

/// The codes of the findings about the clocks themselves; the other findings are about the rest of
/// the machine.
const CLOCK_FINDINGS: [&str; 4] = ["clock-source", "libc-clock", "tsc", "read-cost"];

/// A sentence that says whether the clock is good, unless others say what is wrong.
fn clock_verdict(checked: &Checked) -> Option<String> {
    if !checked.assessment.wrong.is_empty() {
        return None;
    }
    let find = |code| checked.findings.iter().find(|it| it.code == code);
    // Without a problem, the clock source decides.
    let about = CLOCK_FINDINGS.into_iter().filter_map(find);
    let worst = about.min_by_key(|it| it.severity != Severity::Problem)?;
    let source = checked.platform.clocksource.current.as_deref();
    Some(match worst.severity {
        Severity::Problem if worst.code == "read-cost" => {
            format!("The clock is right but slow: {}.", worst.message())
        }
        Severity::Problem => format!("The clock is not good: {}.", worst.message()),
        Severity::Unknown => format!("The clock: {}.", worst.message()),
        _ => format!("The clock is good: its source is {}.", source?),
    })
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
