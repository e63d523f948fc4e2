//! `pick`: picks the clock to measure with, or the timer to wait with.

mod wait;

use std::io::Write;

use serde::Serialize;

use super::first_look::first_look;
use super::{CommandError, emit, failed, prepare};
use crate::cli::{HostArgs, PickArgs, RuntimeName};
use crate::document::Document;
use crate::method::plan::{Method, percent};
use crate::method::runtime::host;
use crate::method::snippet::snippet;
use crate::method::waiting::WaitRecord;
use crate::method::{Candidate, Choice, ClockPlan, Language, Requirement, choose};
use crate::model::{Nanos, Report};
use crate::report::read;
use crate::text::numbers::time;

/// Number of timers listed besides the picked one, unless all are requested.
const LISTED_OTHERS: usize = 3;

/// Runs the command. Returns `true` if a clock, or a timer to wait with, suffices.
///
/// # Errors
/// When the requirement is invalid, the report cannot be read, or nothing could be measured.
pub fn run(args: &PickArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    if let Some(every) = args.every {
        let choice = wait::choose_wait(args, every as f64)?;
        let facts = |one: &Candidate<WaitRecord>| wait_facts(one, args.within.is_some());
        return answer(args, "wait with", &choice, facts, "", output);
    }
    let Some(duration) = args.operation else {
        return Err(CommandError::Usage(
            "say how long the operation takes, or --every".into(),
        ));
    };
    let requirement = requirement(args, duration).map_err(CommandError::Usage)?;
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => probe_candidates(args, requirement.runtime.as_deref())?,
    };
    let choice = choose(&report, &requirement).map_err(failed)?;
    let code = code(&report, choice.picked.as_ref(), args.language);
    let facts = |one: &Candidate<ClockPlan>| clock_facts(one, args.all);
    answer(args, "measure with", &choice, facts, &code, output)
}

fn requirement(args: &PickArgs, duration: Nanos) -> Result<Requirement, String> {
    let asked = args.requirement.clone();
    let runtime = args.language.and_then(Language::runtime);
    Requirement {
        duration_ns: duration.0,
        runtime: asked.runtime.or(runtime.map(str::to_owned)),
        clocks: args.language.map_or_else(Vec::new, Language::clocks),
        ..asked
    }
    .checked()
}

/// Measures the candidate clocks: those of the named runtime, or else the native ones.
fn probe_candidates(args: &PickArgs, runtime: Option<&str>) -> Result<Report, CommandError> {
    let (timers, hosts) = targets(args, runtime)?;
    first_look(&timers, &hosts)
}

/// The timers to measure: all native ones, or those of the named agents and runtime.
fn targets(
    args: &PickArgs,
    runtime: Option<&str>,
) -> Result<(Vec<String>, HostArgs), CommandError> {
    let named = runtime.filter(|name| *name != "native" && args.agents.is_empty());
    let named = named.map(|name| host(name).map(RuntimeName::One).ok_or_else(unknown_runtime));
    let hosts = HostArgs {
        agents: args.agents.clone(),
        runtimes: named.transpose()?.into_iter().collect(),
        ..HostArgs::default()
    };
    let is_hosted = !hosts.agents.is_empty() || !hosts.runtimes.is_empty();
    let timers = is_hosted.then(|| "*:*".to_owned()).into_iter().collect();
    Ok((timers, hosts))
}

/// The error for a runtime without a host in this program.
fn unknown_runtime() -> CommandError {
    let known: Vec<&str> = timers::agents::RUNTIMES
        .iter()
        .map(|runtime| runtime.name)
        .collect();
    CommandError::Usage(format!(
        "--runtime: this program brings a host along only for {}; give one with --agent, or a report with --from",
        known.join(", ")
    ))
}

/// Code for the picked clock in the requested language, or else in C if C code can read that clock.
fn code(
    report: &Report,
    picked: Option<&Candidate<ClockPlan>>,
    language: Option<Language>,
) -> String {
    let code = picked.and_then(|picked| {
        let row = report.timers.iter().find(|row| row.id == picked.id)?;
        snippet(language.unwrap_or(Language::C), picked, row.cost_ns?.value)
    });
    code.unwrap_or_default()
}

/// Labels and values that describe the picked timer.
type Facts = Vec<(&'static str, String)>;

/// Writes the result: the picked timer with its figures, `code`, and the remaining timers with the
/// reasons against them. Returns `true` if a timer was picked.
fn answer<R: Serialize, F: Serialize>(
    args: &PickArgs,
    title: &str,
    choice: &Choice<R, F>,
    facts: impl Fn(&Candidate<F>) -> Facts,
    code: &str,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let mut document = Document::new(choice);
    let title = match choice.picked {
        Some(_) => title,
        None => "nothing suffices; the nearest is",
    };
    if let Some(best) = choice.picked.as_ref().or(choice.nearest.as_ref()) {
        let Candidate {
            id, label, reason, ..
        } = best;
        document = document
            .paragraph(format!("{title} {id} — {label}"))
            .facts(facts(best));
        if !reason.is_empty() {
            document = document.note(reason);
        }
        document = best.notes.iter().fold(document, Document::note);
    }
    if !code.is_empty() {
        document = document.code(code);
    }
    let count = choice.others.len();
    let most = if args.all { count } else { LISTED_OTHERS };
    if count > 0 {
        let all = if most < count {
            " (all of them: --all)"
        } else {
            ""
        };
        let others = choice.others.iter().take(most);
        document = document
            .heading(format!("next, of {count}{all}"))
            .facts(others.map(|other| (&other.id, &other.reason)));
    }
    emit(&document, prepare(&args.output)?, output)?;
    Ok(choice.picked.is_some())
}

/// The plan for measuring with a clock, and the costs of the plan.
fn clock_facts(clock: &Candidate<ClockPlan>, all: bool) -> Facts {
    let Some(plan) = clock.figures.plan else {
        return Vec::new();
    };
    let reading = time(Some(plan.campaign_ns * plan.overhead));
    let each = match plan.method {
        Method::Batch { .. } => format!("{reading} a batch, "),
        _ => String::new(),
    };
    let mut facts = vec![
        ("method", format!("{} between two reads", plan.in_words())),
        ("error", format!("at most {}", percent(plan.error))),
        ("a campaign takes", time(Some(plan.campaign_ns))),
        (
            "measuring costs",
            format!("{each}{} of the time", percent(plan.overhead)),
        ),
    ];
    if all {
        let causes = plan.budget.causes();
        facts.extend(causes.map(|(cause, share)| (cause, percent(share))));
    }
    facts
}

/// The lateness of a timer, and the CPU time that waiting with it takes.
fn wait_facts(timer: &Candidate<WaitRecord>, bounded: bool) -> Facts {
    let figures = &timer.figures;
    let mut facts = vec![("lateness", figures.lateness())];
    if bounded {
        let [share, least] = [figures.share, figures.share_at_least].map(percent);
        let waits = figures.waits;
        let within = format!("{share} of {waits} waits; at least {least} at 95 % confidence");
        facts.push(("within the bound", within));
    }
    let overhead = figures
        .overhead
        .map(|share| format!("{} of one", percent(share)));
    facts.push(("CPU", overhead.unwrap_or_else(|| "unknown".into())));
    facts.push(("measured with", figures.conditions()));
    facts
}
