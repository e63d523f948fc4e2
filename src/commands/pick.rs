//! `pick`: picks the clock to measure with, or the sleep primitive or periodic timer to wait with.

mod wait;

use std::io::Write;
use std::time::Duration;

use serde::Serialize;
use timers::agents::RUNTIMES;

use super::{CommandResult, emit, failed, prepare_outputs, probe, usage};
use crate::cli::PickArgs;
use crate::requests::{AgentRequest, RunRequest, RuntimeName};
use estimators::model::{Nanos, Report, value_of};
use judgement::assessment::figures_in_words;
use judgement::choice::recipe::percent;
use judgement::choice::runtime::find_host;
use judgement::choice::snippet::{Wanted, snippet};
use judgement::choice::wait_snippet::wait_snippet;
use judgement::choice::waits::RankedWait;
use judgement::choice::{Choice, Language, RankedClock, Requirement, choose, clock_row};
use reporting::document::Document;
use reporting::fields::conditions_in_words;
use reporting::format::{Format, Render, Style};
use reporting::report::read;
use reporting::text::numbers::{rate, significant, time, trimmed};

/// Number of other timers that are listed after the picked one without --all: with the code, an
/// answer fits on a screen.
const LISTED_OTHERS: usize = 2;

/// The note on measuring in Java.
const JMH: &str = "JMH repeats this in fresh virtual machines, between which results differ: prefer it where you can";
/// The note on measuring a service for longer.
const HISTOGRAM: &str = "for more requests use HdrHistogram";
/// What needs a duration, and an example.
const NO_DURATION: &str = "how long does it take? As in `timermeter pick 250ns --for rust`; for a library give the shortest time that its users measure";

/// Runs the command. Returns `true` if a clock, or a timer to wait with, suffices.
///
/// # Errors
/// When the requirement is invalid, the report cannot be read, or nothing could be measured.
pub fn run(args: &PickArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if let Some(every) = args.every.or(single_wait(args)?) {
        let choice = wait::choose_wait(args, every)?;
        let best = choice.best();
        let code = best.and_then(|best| wait_snippet(&best.id, every, args.sleep));
        let text = ChoiceText {
            title: match choice.picked {
                Some(_) => "wait with",
                None => "no sleep primitive is known to suffice; the nearest is",
            },
            name: None,
            facts: best.map(wait_facts),
            code: code.unwrap_or_default(),
            others: "sleep primitives",
        };
        return write_choice(args, &choice, text, output);
    }
    let Some(duration) = args.operation else {
        return Err(usage(NO_DURATION));
    };
    let runtime = args.language.and_then(Language::runtime);
    let requirement = Requirement {
        duration_ns: duration.0,
        error: args.error,
        rate_hz: args.rate,
        runtime: args.runtime.clone().or(runtime.map(str::to_owned)),
        clocks: args.language.map_or_else(Vec::new, Language::clocks),
        by_code: true,
    };
    let requirement = requirement.checked().map_err(usage)?;
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => probe_candidates(args, &requirement)?,
    };
    let mut choice = choose(&report, &requirement).map_err(failed)?;
    let mut title = match choice.picked {
        Some(_) => "measure with".to_owned(),
        None => format!("no clock is within {}; the nearest is", percent(args.error)),
    };
    let mut code = None;
    if let Some(best) = choice.picked.as_mut().or(choice.nearest.as_mut()) {
        let wanted = Wanted {
            language: args.language,
            rate_hz: args.rate,
            whole: args.whole,
        };
        code = snippet(best, wanted);
        let note = match best.figures.plan {
            Some(_) if code.is_none() => Some("there is no code for this clock".to_owned()),
            Some(plan) if plan.error > args.error => {
                let possible = (plan.error * 1e3).ceil() / 10.0;
                Some(format!("--error {possible}% is possible"))
            }
            _ if best.suffices => saved(&report, best, args.language),
            _ => None,
        };
        best.notes.extend(note);
        let is_java = args.language == Some(Language::Java);
        let further = args.rate.map(|_| HISTOGRAM).or(is_java.then_some(JMH));
        let further = further.filter(|_| best.suffices);
        best.notes.extend(further.map(str::to_owned));
        let trust = clock_row(&report, &best.id).and_then(|row| row.trust.as_ref());
        if trust.is_some_and(|trust| trust.defect.is_some()) {
            let mut wrong = report.assessment.wrong.iter();
            let cause = wrong.find_map(|wrong| wrong.cause.as_deref());
            title = format!(
                "remove the cause ({}) before you measure with",
                cause.unwrap_or("`timermeter check` shows what is known")
            );
            best.reason.clear();
            let mut others = choice.others.iter();
            let other = others.find(|other| other.suffices);
            best.notes.extend(other.map(instead));
        }
    }
    let best = choice.best();
    let text = ChoiceText {
        title: &title,
        name: args.language.and_then(Language::clock),
        facts: best.and_then(|best| clock_facts(best, &requirement, &report, args.all)),
        code: code.unwrap_or_default(),
        others: "clocks",
    };
    write_choice(args, &choice, text, output)
}

/// The length of the wait that `--sleep` asks for, in nanoseconds.
fn single_wait(args: &PickArgs) -> CommandResult<Option<u64>> {
    match args.operation.filter(|_| args.sleep) {
        None => Ok(None),
        Some(Nanos(ns @ 1e3..=6e10)) => Ok(Some(ns.round() as u64)),
        Some(_) => Err(usage("--sleep waits from 1us to 60s")),
    }
}

/// A clock that is right, where that of the standard library is wrong.
fn instead(clock: &RankedClock) -> String {
    let call = match &*clock.id {
        "rdtsc-lfence" => "_mm_lfence(); __rdtsc() (as in --for c; Rust: core::arch::x86_64)",
        _ => &clock.label,
    };
    format!("until then, measure with {call}: it is right here")
}

/// What a counter of the CPU saves, and why not to use it.
fn saved(report: &Report, clock: &RankedClock, language: Option<Language>) -> Option<String> {
    /// What is saved matters from this share of the error on. *Judgement*.
    const LEAST_GAIN: f64 = 0.01;
    language.filter(|one| [Language::Cpp, Language::Rust].contains(one))?;
    let [_, counter] = timers::COUNTERS;
    let (row, other) = (clock_row(report, &clock.id)?, clock_row(report, counter)?);
    let saves = row.cost_ns?.value - other.cost_ns?.value;
    let plan = clock.figures.plan?;
    (saves > LEAST_GAIN * plan.error * plan.campaign_ns).then(|| {
        format!(
            "{counter} saves {} per read here; other machines may lack it, and its rate must be measured on each at start",
            time(saves)
        )
    })
}

/// Measures the clocks among which the picked one is; with `--all` all of the named runtime or agents,
/// or else all native clocks.
fn probe_candidates(args: &PickArgs, requirement: &Requirement) -> CommandResult<Report> {
    /// The time of a process of native clocks. *Judgement*: one that is not throttled needs a tenth.
    const LIMIT: Duration = Duration::from_secs(10);
    let mut run = candidates(args, requirement.runtime.as_deref())?;
    let read = &requirement.clocks;
    if run.timers.is_empty() && !args.all {
        run.plan.timeout = Some(LIMIT);
        run.timers = probe::recommendable(read).map(Into::into).collect();
    } else if !read.is_empty() && !args.all {
        run.timers = read.iter().map(|id| format!("*:{id}")).collect();
    }
    probe::report(&run)
}

/// The timers to measure: all native timers, or all timers of the named agents and runtime.
fn candidates(args: &PickArgs, runtime: Option<&str>) -> CommandResult<RunRequest> {
    let named = runtime.filter(|name| *name != "native" && args.agents.is_empty());
    let unknown = || {
        let known: Vec<&str> = RUNTIMES.iter().map(|runtime| runtime.name).collect();
        usage(format!(
            "--runtime: there are agents for {}; give another with --agent, or a report with --from",
            known.join(", ")
        ))
    };
    let agent = named.map(|name| find_host(name).ok_or_else(unknown));
    let agent = agent.transpose()?.map(RuntimeName::One);
    let is_hosted = agent.is_some() || !args.agents.is_empty();
    let agents = AgentRequest {
        agents: args.agents.clone(),
        runtimes: agent.into_iter().collect(),
    };
    Ok(RunRequest {
        agents,
        ..RunRequest::of(is_hosted.then_some("*:*"))
    })
}

/// Labels and values that describe a timer.
type FactLines = Vec<(&'static str, String)>;

/// The text of a choice for people.
struct ChoiceText<'a> {
    /// What precedes the name of the best timer.
    title: &'a str,
    /// The name of the best timer in the language of the code; `None` for its id.
    name: Option<&'static str>,
    /// What describes the best timer.
    facts: Option<FactLines>,
    /// Code that uses it; empty if there is none.
    code: String,
    /// What the timers are.
    others: &'static str,
}

/// Prints the choice: the picked timer with its figures, or else the one that comes nearest; code; and
/// the other timers with the reasons against them. Returns `true` if a timer was picked.
fn write_choice<R: Serialize, F: Serialize>(
    args: &PickArgs,
    choice: &Choice<R, F>,
    text: ChoiceText,
    output: &mut dyn Write,
) -> CommandResult<bool> {
    let (code, others) = (text.code, text.others);
    let is_picked = choice.picked.is_some();
    let mut document = Document::new(choice).paragraphs(choice.assessment.warnings());
    if let Some(best) = choice.best() {
        let name = text.name.unwrap_or(&best.id);
        document = document
            .paragraph(format!("{} {name} — {}", text.title, best.label))
            .facts(text.facts.unwrap_or_default());
        let notes = [&best.reason].into_iter().chain(&best.notes);
        document = notes
            .filter(|note| !note.is_empty())
            .fold(document, Document::note);
    }
    let outputs = prepare_outputs(&args.output)?;
    if args.whole && !code.is_empty() && outputs.format == Format::Table {
        let mut facts = Vec::new();
        document.write(Format::Table, Style::default(), &mut facts)?;
        let mark = if code.starts_with('#') { "#" } else { "//" };
        for line in String::from_utf8_lossy(&facts).lines() {
            writeln!(output, "{mark} {line}")?;
        }
        output.write_all(code.as_bytes())?;
        return Ok(is_picked);
    }
    if !code.is_empty() {
        document = document.code(code);
    }
    let (listed, remark) = match args.all {
        true => (usize::MAX, ""),
        false => (LISTED_OTHERS, " (--all lists all)"),
    };
    if !choice.others.is_empty() {
        let listed = choice.others.iter().take(listed);
        document = document
            .heading(format!("other {others}{remark}"))
            .facts(listed.map(|other| (&other.id, &other.reason)));
    }
    emit(&document, outputs, output)?;
    Ok(is_picked)
}

/// The plan for measuring with a clock and its costs; with `all`, also the parts of the error.
fn clock_facts(
    clock: &RankedClock,
    requirement: &Requirement,
    report: &Report,
    all: bool,
) -> Option<FactLines> {
    let (plan, row) = (clock.figures.plan?, clock_row(report, &clock.id)?);
    let single = plan.single_error.unwrap_or(plan.error);
    let [share, error, single] = [plan.overhead, plan.error, single].map(percent);
    let mut facts = vec![
        ("clock", figures_in_words(row)),
        ("method", plan.in_words()),
    ];
    match requirement.rate_hz {
        Some(hertz) => {
            let [read, reads] = [5e8 / hertz, 1e9].map(|ns| time(ns * plan.overhead));
            let is_cost = read == time(value_of(row.cost_ns));
            let among = if is_cost { "" } else { " among other code" };
            let costs = format!(
                "{} × 2 reads × {read}{among} = {reads} of CPU per second, {share} of one CPU",
                per_second(hertz)
            );
            let errors =
                format!("at most {error} of the mean, {single} of one request and of percentiles");
            facts.extend([("error", errors), ("measuring costs", costs)]);
            let cpu = &report.platform.cpu;
            let cpus = cpu.allowed.or(cpu.online);
            let seconds = requirement.duration_ns * 1e-9;
            facts.extend(cpus.map(|cpus| ("requests", in_flight(seconds, hertz, cpus.into()))));
        }
        None => {
            let cost = time(plan.campaign_ns * plan.overhead);
            facts.extend([
                (
                    "error",
                    format!("at most {error} of least and mean without interruptions, {single} of one call by itself"),
                ),
                (
                    "least",
                    "for an operation that always takes the same, also on a busy machine".into(),
                ),
                (
                    "mean",
                    "for an operation that varies; interruptions are a part of it".into(),
                ),
                (
                    "measuring costs",
                    format!("{cost} for each result, {share} of the measuring time"),
                ),
            ]);
        }
    }
    if all {
        let causes = plan.budget.causes();
        facts.extend(causes.map(|(cause, share)| (cause, percent(share))));
    }
    Some(facts)
}

/// A rate, as in `800 k/s`.
fn per_second(hertz: f64) -> String {
    trimmed(&rate(Some(hertz))).replace("Hz", "/s")
}

/// What requests of this length at a rate mean for these CPUs.
fn in_flight(seconds: f64, hertz: f64, cpus: f64) -> String {
    let flying = seconds * hertz;
    let mean = format!("{} are in flight on average", significant(flying, 2));
    if flying <= cpus {
        let busy = percent(flying / cpus);
        return format!("{mean}: if they are all work, {busy} of {cpus} CPUs are busy");
    }
    format!(
        "{mean} and {cpus} CPUs run at most {cpus}: at least {} of each must be waiting; if it is all work, \
         this machine serves at most {}",
        percent(1.0 - cpus / flying),
        per_second(cpus / seconds)
    )
}

/// The lateness of a timer, and the conditions under which it was measured.
fn wait_facts(timer: &RankedWait) -> FactLines {
    let figures = &timer.figures;
    let conditions = conditions_in_words(&figures.conditions);
    vec![
        ("lateness", figures.in_words()),
        ("measured with", conditions),
    ]
}
