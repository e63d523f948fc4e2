//! `pick`: the clock to measure with, and how.

use std::io::Write;

use super::first_look::first_look;
use super::{CommandError, pick_wait, terminal_style};
use crate::cli::{PickArgs, ShortFormat};
use crate::method::choice::{Candidate, told};
use crate::method::plan::Method;
use crate::method::runtime::host;
use crate::method::{Choice, Requirement, choose};
use crate::model::Report;
use crate::report::read;
use crate::report::terminal::listed;
use crate::table::Style;
use crate::text::numbers::{percent, significant, time};
use crate::text::{clipped, hang};

/// Runs the command. Returns whether a clock suffices.
///
/// # Errors
/// When the requirement makes no sense, the report cannot be read, or nothing could be probed.
pub fn run(args: &PickArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    if let Some(every) = args.every {
        return pick_wait::run(args, every as f64, output);
    }
    let requirement = requirement(args)?;
    let report = match &args.from {
        Some(path) => read::<Report>(path).map_err(|error| CommandError::Failed(error.to_string()))?,
        None => probed(args)?,
    };
    let choice = choose(&report, &requirement).map_err(|error| CommandError::Failed(error.to_string()))?;
    match args.format {
        ShortFormat::Json => writeln!(output, "{}", super::pretty(&choice)?)?,
        ShortFormat::Table => output.write_all(page(&choice, terminal_style()).as_bytes())?,
    }
    output.flush()?;
    Ok(choice.picked.is_some())
}

/// Figures of what is needed: the timers of the runtime that was named, else the native ones.
fn probed(args: &PickArgs) -> Result<Report, CommandError> {
    let Some(name) = args.runtime.as_deref().filter(|name| *name != "native") else {
        return first_look(&[], &args.agents, None);
    };
    let hosted = ["*:*".to_owned()];
    if !args.agents.is_empty() {
        return first_look(&hosted, &args.agents, None);
    }
    let host = host(name).ok_or_else(|| {
        let shown = clipped(name, 40);
        CommandError::Usage(format!(
            "--runtime `{shown}`: this program brings no host for it along, only for java, dotnet, mono, python and node; \
             give one with --agent, or a report with --from"
        ))
    })?;
    first_look(&hosted, &[], Some(host))
}

fn requirement(args: &PickArgs) -> Result<Requirement, CommandError> {
    let (Some(duration), Some(error)) = (args.duration, args.error) else {
        return Err(CommandError::Usage(
            "say how long the operation takes and what error may be made, or --every".into(),
        ));
    };
    let requirement = Requirement::new(duration, error, args.confidence)
        .and_then(|requirement| requirement.overhead(args.overhead))
        .and_then(|requirement| requirement.rate(args.rate))
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let (needs, runtime) = (args.needs.clone(), args.runtime.clone());
    Ok(Requirement { counts: args.counts, needs, settable: args.settable, runtime, ..requirement })
}

/// The answer for people.
fn page(choice: &Choice, style: Style) -> String {
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
                "The highest Quality has {best}; {} is picked because it suffices and costs the least here, as far as costs are \
                 known.",
                picked.id
            ),
            style.columns(),
        ),
        _ => {}
    }
    out += "\nthe others\n";
    let others: Vec<_> = choice.others.iter().map(|other| (clipped(&other.id, 60), &other.reason)).collect();
    out += &listed("  ", &others, style);
    out += "\nharnesses\n";
    for advice in &choice.harnesses {
        let clock = advice.clock.as_deref().map_or_else(String::new, |clock| format!(" (here {clock})"));
        hang(
            &mut out,
            "  ",
            "    ",
            &format!("{} reads {}{clock}: {}", advice.harness, advice.reads, advice.message),
            style.columns(),
        );
    }
    out
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
    *out += &format!("{title} {} — {}\n\n", candidate.id, clipped(&candidate.label, 80));
    let method = match plan.method {
        Method::Single => "single: one call between two reads".to_owned(),
        Method::Batch { calls } => format!("batch: {calls} calls between two reads"),
        Method::EdgeCrossing { floor_samples, .. } => {
            format!("{}, and {floor_samples} empty intervals to take off", told(plan))
        }
    };
    let share = |share: f64| format!("{} %", percent(Some(share)));
    let lines = [
        ("method", method),
        ("expected error", format!("{} at most", share(plan.error))),
        ("  quantisation", share(plan.budget.quantisation)),
        (
            "  invocation cost",
            format!("{} (what is left once its median is taken off)", share(plan.budget.invocation_cost)),
        ),
        ("  drift", share(plan.budget.drift)),
        ("  pipeline", share(plan.budget.pipeline)),
        (
            "overhead",
            format!("{} % of the running time is spent reading", significant(plan.overhead * 100.0, 3)),
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
