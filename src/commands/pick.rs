//! `pick`: picks the clock to measure with, or the sleep primitive or periodic timer to wait with.

mod wait;

use std::io::Write;

use serde::Serialize;

use super::{CommandError, CommandResult, emit, failed, prepare_outputs, probe, usage};
use crate::choice::plan::{PlanMethod, percent};
use crate::choice::runtime::find_host;
use crate::choice::snippet::first_snippet;
use crate::choice::wait_snippet::wait_snippet;
use crate::choice::waits::RankedWait;
use crate::choice::{
    Choice, ChoiceError, Language, RankedClock, RankedTimer, Requirement, choose, plan_code,
};
use crate::cli::PickArgs;
use crate::document::Document;
use crate::model::{Nanos, Report};
use crate::report::read;
use crate::requests::{HostRequest, ProbeRequest, RunRequest, RuntimeName};
use crate::text::numbers::time;

/// Number of other timers that are listed after the picked one without --all: with the code, an
/// answer fits on a screen.
const LISTED_OTHERS: usize = 2;

/// The note on a clock of a language for whose plan there is no code.
const NO_CODE: &str =
    "there is no code for this method: `timermeter measure --instrument discrete` uses it";

/// Runs the command. Returns `true` if a clock, or a timer to wait with, suffices.
///
/// # Errors
/// When the requirement is invalid, the report cannot be read, or nothing could be measured.
pub fn run(args: &PickArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if let Some(every) = args.every {
        let mut choice = wait::choose_wait(args, every as f64)?;
        let code = wait_snippet(&choice, every);
        if let (Some(picked), Some((other, _))) = (&mut choice.picked, &code)
            && picked.id != *other
        {
            picked.notes.push(format!(
                "this is code for {other}, as there is none for this timer"
            ));
        }
        let facts = |candidate: &RankedWait| wait_facts(candidate, args.within.is_some());
        let code = code.map(|(_, code)| code).unwrap_or_default();
        return write_choice(args, "wait with", &choice, facts, &code, output);
    }
    let Some(duration) = args.operation else {
        return Err(usage("give the duration of the operation, or --every"));
    };
    let requirement = requirement(args, duration).map_err(usage)?;
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => probe_candidates(args, requirement.runtime.as_deref())?,
    };
    let mut choice = choose(&report, &requirement).map_err(failed)?;
    if args.language.is_none() {
        choice = plan_code(&report, choice);
    }
    let picked = choice.picked.as_ref();
    let code = picked
        .and_then(|picked| first_snippet(&report, picked, args.language))
        .unwrap_or_default();
    if let Some(picked) = choice.picked.as_mut().filter(|_| code.is_empty()) {
        let note = args.language.map(|_| NO_CODE.to_owned());
        picked.notes.extend(note);
    }
    let facts = |candidate: &RankedClock| clock_facts(candidate, args.all);
    write_choice(args, "measure with", &choice, facts, &code, output)
}

/// The requirement of the command line on a clock.
fn requirement(args: &PickArgs, duration: Nanos) -> Result<Requirement, ChoiceError> {
    let runtime = args.language.and_then(Language::runtime);
    Requirement {
        duration_ns: duration.0,
        error: args.error,
        confidence: args.confidence,
        overhead: args.overhead,
        counts: args.counts,
        needs: args.needs.clone(),
        settable: args.settable,
        rate_hz: args.rate,
        runtime: args.runtime.clone().or(runtime.map(str::to_owned)),
        clocks: args.language.map_or_else(Vec::new, Language::clocks),
        by_code: args.language.is_some(),
    }
    .checked()
}

/// Measures the clocks of the named runtime or agents, or else the native clocks.
fn probe_candidates(args: &PickArgs, runtime: Option<&str>) -> CommandResult<Report> {
    let run = candidates(args, runtime)?;
    probe::report(&ProbeRequest::quick(run))
}

/// The timers to measure: all native timers, or all timers of the named agents and runtime.
fn candidates(args: &PickArgs, runtime: Option<&str>) -> CommandResult<RunRequest> {
    let named = runtime
        .filter(|name| *name != "native" && args.agents.is_empty())
        .map(|name| {
            find_host(name)
                .map(RuntimeName::One)
                .ok_or_else(unknown_runtime)
        });
    let hosts = HostRequest {
        agents: args.agents.clone(),
        runtimes: named.transpose()?.into_iter().collect(),
        kept_variables: args.environment.keep_env.clone(),
        ..HostRequest::default()
    };
    let is_hosted = !hosts.agents.is_empty() || !hosts.runtimes.is_empty();
    let timers = is_hosted.then_some("*:*");
    Ok(RunRequest {
        hosts,
        ..RunRequest::of(timers)
    })
}

/// The error for a runtime for which this program has no agent.
fn unknown_runtime() -> CommandError {
    let known: Vec<&str> = timers::agents::RUNTIMES
        .iter()
        .map(|runtime| runtime.name)
        .collect();
    usage(format!(
        "--runtime: this program has agents only for {}; give an agent with --agent, or a report with --from",
        known.join(", ")
    ))
}

/// Labels and values that describe a timer.
type FactLines = Vec<(&'static str, String)>;

/// Prints the choice: the picked timer with its figures, or else the one that comes nearest;
/// `code`; and the other timers with the reasons against them. Returns `true` if a timer was
/// picked.
fn write_choice<R: Serialize, F: Serialize>(
    args: &PickArgs,
    title: &str,
    choice: &Choice<R, F>,
    facts: impl Fn(&RankedTimer<F>) -> FactLines,
    code: &str,
    output: &mut dyn Write,
) -> CommandResult<bool> {
    let mut document = Document::new(choice);
    let title = match choice.picked {
        Some(_) => title,
        None => "no timer suffices; the nearest is",
    };
    if let Some(best) = choice.picked.as_ref().or(choice.nearest.as_ref()) {
        let RankedTimer {
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
    let listed = if args.all { count } else { LISTED_OTHERS };
    if count > 0 {
        let heading = if listed < count {
            format!("other timers, {listed} of {count} (--all lists all)")
        } else {
            "other timers".to_owned()
        };
        let others = choice.others.iter().take(listed);
        document = document
            .heading(heading)
            .facts(others.map(|other| (&other.id, &other.reason)));
    }
    emit(&document, prepare_outputs(&args.output)?, output)?;
    Ok(choice.picked.is_some())
}

/// The plan for measuring with a clock and its costs; with `all`, also the parts of the error.
fn clock_facts(clock: &RankedClock, all: bool) -> FactLines {
    let Some(plan) = clock.figures.plan else {
        return Vec::new();
    };
    let reading = time(Some(plan.campaign_ns * plan.overhead));
    let batch_cost = match plan.method {
        PlanMethod::Batch { .. } => format!("{reading} a batch, "),
        _ => String::new(),
    };
    let mut facts = vec![
        ("method", format!("{} between two reads", plan.in_words())),
        ("error", format!("at most {}", percent(plan.error))),
        ("one result takes", time(Some(plan.campaign_ns))),
        (
            "measuring costs",
            format!("{batch_cost}{} of the time", percent(plan.overhead)),
        ),
    ];
    if all {
        let causes = plan.budget.causes();
        facts.extend(causes.map(|(cause, share)| (cause, percent(share))));
    }
    facts
}

/// The lateness of a timer and the CPU time of waiting with it; if `bounded`, also the share of
/// waits within the bound.
fn wait_facts(timer: &RankedWait, bounded: bool) -> FactLines {
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
