//! `pick`: picks the clock to measure with, or the sleep primitive or periodic timer to wait with.

mod wait;

use std::io::Write;

use clap::ValueEnum;
use serde::Serialize;

use super::{CommandError, CommandResult, emit, failed, prepare_outputs, probe, usage};
use crate::choice::plan::{PlanMethod, percent};
use crate::choice::runtime::find_host;
use crate::choice::snippet::first_snippet;
use crate::choice::wait_snippet::wait_snippet;
use crate::choice::waits::RankedWait;
use crate::choice::{
    Choice, ChoiceError, Language, MeasuringPlan, RankedClock, RankedTimer, Requirement, choose,
};
use crate::cli::PickArgs;
use crate::document::Document;
use crate::model::{Nanos, Report};
use crate::report::read;
use crate::requests::{HostRequest, ProbeRequest, RunRequest, RuntimeName};
use crate::text::numbers::{rate, short_time, time, trimmed};

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
        let choice = wait::choose_wait(args, every as f64)?;
        let best = choice.picked.as_ref().or(choice.nearest.as_ref());
        let code =
            best.and_then(|best| wait_snippet([&best.id, &best.label], every, args.language));
        let other_language = best.filter(|_| args.language.is_none()).and_then(|best| {
            let has_code = |language: &&Language| {
                wait_snippet([&best.id, &best.label], every, Some(**language)).is_some()
            };
            let language = Language::value_variants().iter().find(has_code)?;
            (*language != Language::C).then(|| format!("in {language:?}, as C has none for it"))
        });
        let facts = |candidate: &RankedWait| {
            let code = other_language.clone().map(|words| ("code", words));
            wait_facts(candidate).into_iter().chain(code).collect()
        };
        return write_choice(
            args,
            ["wait with", "sleep primitive"],
            &choice,
            facts,
            &code.unwrap_or_default(),
            output,
        );
    }
    let Some(duration) = args.operation else {
        return Err(usage("give the duration of the operation, or --every"));
    };
    let requirement = requirement(args, duration).map_err(usage)?;
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => probe_candidates(args, &requirement)?,
    };
    let mut choice = choose(&report, &requirement).map_err(failed)?;
    let best = choice.picked.as_mut().or(choice.nearest.as_mut());
    let mut code = String::new();
    if let Some(best) = best.filter(|best| best.figures.plan.is_some()) {
        code = first_snippet(&report, best, args.language).unwrap_or_default();
        if code.is_empty() {
            best.notes.push(NO_CODE.to_owned());
        }
    }
    let facts = |candidate: &RankedClock| clock_facts(candidate, &requirement, args.all);
    write_choice(
        args,
        ["measure with", "clock"],
        &choice,
        facts,
        &code,
        output,
    )
}

/// The number of reads a second and the time of each, as in `1 M/s × 2 reads × 22 ns`.
fn reads_in_words(plan: &MeasuringPlan, rate_hz: f64) -> String {
    let reads = match plan.method {
        PlanMethod::Mean { .. } => 3.0,
        _ => 2.0,
    };
    let read = short_time(plan.overhead * 1e9 / (rate_hz * reads));
    let timed = trimmed(&rate(Some(rate_hz))).replace("Hz", "/s");
    format!("{timed} × {reads} reads × {read}")
}

/// The requirement of the command line on a clock.
fn requirement(args: &PickArgs, duration: Nanos) -> Result<Requirement, ChoiceError> {
    let runtime = args.language.and_then(Language::runtime);
    Requirement {
        duration_ns: duration.0,
        error: args.error,
        rate_hz: args.rate,
        runtime: args.runtime.clone().or(runtime.map(str::to_owned)),
        clocks: args.language.map_or_else(Vec::new, Language::clocks),
        by_code: true,
    }
    .checked()
}

/// Measures the clocks among which the picked one is; with `--all` all of the named runtime or agents,
/// or else all native clocks.
fn probe_candidates(args: &PickArgs, requirement: &Requirement) -> CommandResult<Report> {
    let mut run = candidates(args, requirement.runtime.as_deref())?;
    let read = &requirement.clocks;
    if run.timers.is_empty() && !args.all {
        run.timers = probe::recommendable(read)
            .into_iter()
            .map(Into::into)
            .collect();
    } else if !read.is_empty() && !args.all {
        run.timers = read.iter().map(|id| format!("*:{id}")).collect();
    }
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
    [title, kind]: [&str; 2],
    choice: &Choice<R, F>,
    facts: impl Fn(&RankedTimer<F>) -> FactLines,
    code: &str,
    output: &mut dyn Write,
) -> CommandResult<bool> {
    let warnings = choice.assessment.warnings();
    let document = Document::new(choice);
    let mut document = warnings.into_iter().fold(document, Document::paragraph);
    let title = match choice.picked {
        Some(_) => title.to_owned(),
        None => format!("no {kind} is known to suffice; the nearest is"),
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
            format!("other {kind}s, {listed} of {count} (--all lists all)")
        } else {
            format!("other {kind}s")
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
fn clock_facts(clock: &RankedClock, requirement: &Requirement, all: bool) -> FactLines {
    let Some(plan) = clock.figures.plan else {
        return Vec::new();
    };
    let mut error = format!("at most {}", percent(plan.error));
    if let Some(single) = plan.single_error {
        error += &format!(" of the mean, {} of one call by itself", percent(single));
    }
    let share = percent(plan.overhead);
    let cost = match requirement.rate_hz {
        Some(rate) => format!(
            "{} = {} of CPU a second, {share} of one CPU",
            reads_in_words(&plan, rate),
            short_time(plan.overhead * 1e9)
        ),
        None => format!(
            "{} for each result, {share} of the time",
            time(Some(plan.campaign_ns * plan.overhead))
        ),
    };
    let mut facts = vec![
        ("method", plan.in_words()),
        ("error", error),
        ("one result takes", time(Some(plan.campaign_ns))),
        ("measuring costs", cost),
    ];
    if all {
        let causes = plan.budget.causes();
        facts.extend(causes.map(|(cause, share)| (cause, percent(share))));
    }
    facts
}

/// The lateness of a timer and the CPU time of waiting with it.
fn wait_facts(timer: &RankedWait) -> FactLines {
    let figures = &timer.figures;
    if figures.waits == 0 {
        return Vec::new();
    }
    let mut facts = vec![("lateness", figures.lateness())];
    let overhead = figures
        .overhead
        .map(|share| format!("{} of one CPU", percent(share)));
    facts.push(("CPU time", overhead.unwrap_or_else(|| "unknown".into())));
    facts.push(("measured with", figures.conditions()));
    facts
}
