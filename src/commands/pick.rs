//! `pick`: the clock to measure with, and how.

use std::io::Write;

use super::first_look::first_look;
use super::{CommandError, failed, pick_wait, terminal_style};
use crate::cli::PickArgs;
use crate::method::choice::{Candidate, Loser, plan_in_words};
use crate::method::plan::{Method, Plan};
use crate::method::runtime::{host, hosts};
use crate::method::snippet::snippet;
use crate::method::{ClockChoice, Language, Requirement, choose};
use crate::model::Report;
use crate::report::read;
use crate::report::terminal::listed;
use crate::table::{Format, Style};
use crate::text::numbers::{percent, significant, time};
use crate::text::{clipped, hang, runs_of};

/// Runs the command. Returns whether a clock suffices.
///
/// # Errors
/// When the requirement makes no sense, the report cannot be read, or nothing could be probed.
pub fn run(args: &PickArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    if let Some(every) = args.every {
        return pick_wait::run(args, every as f64, output);
    }
    let requirement = requirement(args)?;
    let runtime = requirement.runtime.as_deref();
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => probed(args, runtime)?,
    };
    let choice = choose(&report, &requirement).map_err(failed)?;
    match args.format {
        Format::Json => writeln!(output, "{}", super::pretty(&choice)?)?,
        _ if args.all => output.write_all(page(&choice, terminal_style()).as_bytes())?,
        _ => {
            let code = code(&report, &choice, args.language);
            let others = others(&report, &choice)?;
            output.write_all(in_short(&choice, code, &others, terminal_style()).as_bytes())?;
        }
    }
    output.flush()?;
    Ok(choice.picked.is_some())
}

/// Figures of what is needed: the timers of the runtime that was named, else the native ones.
fn probed(args: &PickArgs, runtime: Option<&str>) -> Result<Report, CommandError> {
    let Some(name) = runtime.filter(|name| *name != "native") else {
        return first_look(&[], &args.agents, None);
    };
    let hosted = ["*:*".to_owned()];
    if !args.agents.is_empty() {
        return first_look(&hosted, &args.agents, None);
    }
    let host = host(name).ok_or_else(|| {
        let shown = clipped(name, 40);
        CommandError::Usage(format!(
            "--runtime `{shown}`: this program brings no host for it along, only for {}; give one with --agent, or a report with --from",
            hosts()
        ))
    })?;
    first_look(&hosted, &[], Some(host))
}

fn requirement(args: &PickArgs) -> Result<Requirement, CommandError> {
    let Some(duration) = args.operation.or(args.duration) else {
        return Err(CommandError::Usage(
            "say how long the operation takes, or --every".into(),
        ));
    };
    let requirement = Requirement::new(duration, args.error, args.confidence)
        .and_then(|requirement| requirement.overhead(args.overhead))
        .and_then(|requirement| requirement.rate(args.rate))
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let runtime_of = |language: Language| language.runtime().map(str::to_owned);
    let runtime = args.runtime.clone().or(args.language.and_then(runtime_of));
    let clocks = args
        .language
        .map_or(&[][..], Language::clocks)
        .iter()
        .map(|id| (*id).to_owned())
        .collect();
    let needs = args.needs.clone();
    Ok(Requirement {
        counts: args.counts,
        needs,
        settable: args.settable,
        runtime,
        clocks,
        ..requirement
    })
}

/// The clocks that come next: where a language calls one only, those that it does not call by
/// itself.
fn others(report: &Report, choice: &ClockChoice) -> Result<Vec<Loser>, CommandError> {
    if choice.requirement.clocks.is_empty() {
        return Ok(choice.others.clone());
    }
    let any = Requirement {
        clocks: Vec::new(),
        ..choice.requirement.clone()
    };
    let all = choose(report, &any).map_err(failed)?;
    let chosen = choice
        .picked
        .as_ref()
        .or(choice.nearest.as_ref())
        .map(|chosen| &chosen.id);
    // One that was picked before it speaks for itself.
    let ahead = all
        .picked
        .filter(|picked| Some(&picked.id) != chosen)
        .map(|picked| Loser {
            in_short: format!(
                "{}, error at most {} %",
                plan_in_words(&picked.plan),
                percent(Some(picked.plan.error))
            ),
            reason: String::new(),
            suffices: true,
            plan: Some(picked.plan),
            id: picked.id,
        });
    Ok(ahead
        .into_iter()
        .chain(all.others)
        .filter(|other| Some(&other.id) != chosen)
        .collect())
}

/// Code for what was picked, in the language that was asked for, else in C where that calls such a
/// clock.
fn code(report: &Report, choice: &ClockChoice, language: Option<Language>) -> Option<String> {
    let picked = choice.picked.as_ref()?;
    let row = report.timers.iter().find(|row| row.id == picked.id)?;
    snippet(language.unwrap_or(Language::C), picked, row.cost_ns?.value)
}

/// Clocks that are told beside the one that was picked.
const RUNNERS_UP: usize = 3;
const LONGEST_ID: usize = 40;
const LONGEST_REASON: usize = 100;

/// What was picked, how to use it, and what comes next: of `others`, which may be more than those
/// that could be picked.
fn in_short(choice: &ClockChoice, code: Option<String>, others: &[Loser], style: Style) -> String {
    let mut out = String::new();
    let (title, shown) = match (&choice.picked, &choice.nearest) {
        (Some(picked), _) => ("measure with", Some(picked)),
        (None, nearest) => {
            out += "No clock suffices.\n";
            ("the nearest that is possible is", nearest.as_ref())
        }
    };
    if let Some(Candidate {
        id,
        label,
        plan,
        notes,
    }) = shown
    {
        let what = if label.contains(id.as_str()) || label == id {
            String::new()
        } else {
            format!(" ({id})")
        };
        let how = format!(
            "{title} {}{what}: {} between two reads",
            clipped(label, 60),
            plan_in_words(plan)
        );
        hang(&mut out, "", "  ", &how, style.columns());
        let keeps = format!(
            "error at most {} %; a campaign takes {}",
            percent(Some(plan.error)),
            time(Some(plan.campaign_ns))
        );
        hang(&mut out, "  ", "  ", &keeps, style.columns());
        hang(
            &mut out,
            "  ",
            "  ",
            &costs(plan, &choice.requirement),
            style.columns(),
        );
        notes
            .iter()
            .for_each(|note| hang(&mut out, "  → ", "    ", note, style.columns()));
    }
    if let Some(code) = code {
        out.push('\n');
        for line in code.lines() {
            out += format!("    {line}").trim_end();
            out.push('\n');
        }
    }
    runners_up(&mut out, others, style);
    out
}

/// What measuring costs.
fn costs(plan: &Plan, requirement: &Requirement) -> String {
    let reading_ns = plan.campaign_ns * plan.overhead;
    let share = |share: f64| significant(share * 100.0, 2);
    let alone = reading_ns / (reading_ns + requirement.duration_ns);
    match plan.method {
        Method::Batch { .. } => format!(
            "measuring costs {} a batch, {} % of the time; around each call it would take {} %",
            time(Some(reading_ns)),
            share(plan.overhead),
            share(alone)
        ),
        _ => format!("measuring costs {} % of the time", share(plan.overhead)),
    }
}

fn runners_up(out: &mut String, others: &[Loser], style: Style) {
    let next = &others[..others.len().min(RUNNERS_UP)];
    let widest = next
        .iter()
        .map(|other| other.id.chars().count())
        .max()
        .unwrap_or(0)
        .min(LONGEST_ID);
    if !next.is_empty() {
        out.push('\n');
        let heading = format!(
            "next, of {} (all, and benchmark harnesses: --all)",
            others.len()
        );
        hang(out, "", "  ", &heading, style.columns());
    }
    for other in next {
        let id = clipped(&other.id, LONGEST_ID);
        let (first, below) = (format!("  {id:<widest$}  "), format!("  {:widest$}  ", ""));
        hang(
            out,
            &first,
            &below,
            &clipped(&other.in_short, LONGEST_REASON),
            style.columns(),
        );
    }
}

/// The answer for people.
fn page(choice: &ClockChoice, style: Style) -> String {
    let requirement = &choice.requirement;
    let mut out = format!(
        "# requirement: {} within {} % at {} % confidence, {}{}\n\n",
        time(Some(requirement.duration_ns)),
        short(requirement.error),
        short(requirement.confidence),
        requirement.counts.in_words(),
        demands(requirement),
    );
    match (&choice.picked, &choice.nearest) {
        (Some(picked), _) => candidate(&mut out, "measure with", picked, style),
        (None, Some(nearest)) => {
            out += "No clock suffices.\n";
            candidate(&mut out, "the nearest that is possible is", nearest, style);
        }
        (None, None) => out += "No clock suffices, and none comes near.\n",
    }
    match (&choice.picked, &choice.highest_quality) {
        (Some(picked), Some(best)) if picked.id != *best => hang(
            &mut out,
            "  ",
            "  ",
            &format!(
                "The highest Quality has {best}; {} is picked because campaigns with it are about as short, and it is safer or on \
                 more platforms.",
                picked.id
            ),
            style.columns(),
        ),
        _ => {}
    }
    out += "\nthe others\n";
    let suffice: Vec<_> = choice
        .others
        .iter()
        .filter(|other| other.suffices)
        .collect();
    let suffice: Vec<_> = suffice
        .iter()
        .map(|other| (clipped(&other.id, 60), &other.reason))
        .collect();
    out += &listed("  ", &suffice, style);
    for (ids, reason) in by_reason(&choice.others) {
        hang(
            &mut out,
            "  ",
            "    ",
            &format!("{ids} — {reason}"),
            style.columns(),
        );
    }
    out += "\nharnesses\n";
    for advice in &choice.harnesses {
        let clock = advice
            .clock
            .as_deref()
            .map_or_else(String::new, |clock| format!(" (here {clock})"));
        hang(
            &mut out,
            "  ",
            "    ",
            &format!(
                "{} reads {}{clock}: {}",
                advice.harness, advice.reads, advice.message
            ),
            style.columns(),
        );
    }
    out
}

/// Clocks that do not suffice, and why: those of one reason together.
fn by_reason(others: &[Loser]) -> Vec<(String, String)> {
    let mut told: Vec<(Vec<String>, String)> = Vec::new();
    for other in others.iter().filter(|other| !other.suffices) {
        let id = clipped(&other.id, 60);
        // A reason may name the clock that it is of.
        let same = |before: &(Vec<String>, String)| {
            let own = before.0.first().map_or("", String::as_str);
            before.1 == other.reason || before.1.replace(own, &id) == other.reason
        };
        match told.iter_mut().find(|before| same(before)) {
            Some((ids, _)) => ids.push(id),
            None => told.push((vec![id], other.reason.clone())),
        }
    }
    told.into_iter()
        .map(|(ids, reason)| (runs_of(&ids).join(", "), reason))
        .collect()
}

fn demands(requirement: &Requirement) -> String {
    let mut out = String::new();
    if let Some(most) = requirement.overhead {
        out += &format!(", at most {} % of the time for reads", short(most));
    }
    if let Some(rate) = requirement.rate_hz {
        out += &format!(", {rate} times a second by itself");
    }
    for need in &requirement.needs {
        out += &format!(", {}", need.word());
    }
    out
}

/// A share in percent without zeros behind the last digit that says something.
fn short(share: f64) -> String {
    format!("{}", (share * 1e8).round() / 1e6)
}

fn candidate(out: &mut String, title: &str, candidate: &Candidate, style: Style) {
    let plan = &candidate.plan;
    *out += &format!(
        "{title} {} — {}\n\n",
        candidate.id,
        clipped(&candidate.label, 80)
    );
    let method = match plan.method {
        Method::Single => "single: one call between two reads".to_owned(),
        Method::Batch { calls } => format!("batch: {calls} calls between two reads"),
        Method::EdgeCrossing { floor_samples, .. } => {
            format!(
                "{}, and {floor_samples} empty intervals to take off",
                plan_in_words(plan)
            )
        }
    };
    let share = |share: f64| format!("{} %", percent(Some(share)));
    let lines = [
        ("method", method),
        ("expected error", format!("{} at most", share(plan.error))),
        ("  quantisation", share(plan.budget.quantisation)),
        (
            "  invocation cost",
            format!(
                "{} (what is left once its median is taken off)",
                share(plan.budget.invocation_cost)
            ),
        ),
        ("  drift", share(plan.budget.drift)),
        ("  pipeline", share(plan.budget.pipeline)),
        (
            "overhead",
            format!(
                "{} % of the running time is spent reading",
                significant(plan.overhead * 100.0, 3)
            ),
        ),
        ("campaign", time(Some(plan.campaign_ns))),
    ];
    *out += &listed("  ", &lines, style);
    for note in &candidate.notes {
        hang(out, "  → ", "    ", note, style.columns());
    }
    let told = "The error is that of the clock and the method, once its code has run before; what the operation itself varies by comes \
                on top.";
    hang(out, "  ", "  ", told, style.columns());
}
