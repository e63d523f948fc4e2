//! `pick --every`: the method to wait with.

use std::io::Write;

use super::{CommandError, failed, terminal_style, wait};

use crate::campaign::waits::plan::WaitPlan;
use crate::cli::{Lengths, PickArgs, RuntimeArgs, RuntimeName, WaitArgs, WaitingArgs};
use crate::method::plan::percent;
use crate::method::runtime::host;
use crate::method::waiting::{
    self, ExactWait, Exactness, Punctuality, WaitChoice, Waiter, choose, promising, waits_to_prove,
};
use crate::model::{Report, WaitRow};
use crate::report::read;
use crate::report::terminal::listed;
use crate::table::{Format, Style};
use crate::text::numbers::{short_time, time};
use crate::text::{clipped, hang};

/// Runs the command. Returns whether a method suffices.
///
/// # Errors
/// When the requirement makes no sense, the report cannot be read, or nothing could be measured.
pub fn run(args: &PickArgs, every_ns: f64, output: &mut dyn Write) -> Result<bool, CommandError> {
    let Some(within) = args.within else {
        return as_exactly_as_possible(args, every_ns, output);
    };
    let asked = Punctuality::new(every_ns, within.0, args.share, args.overhead)
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let report = match &args.from {
        Some(path) => read(path).map_err(failed)?,
        None => measured(args, &asked)?,
    };
    let choice = choose(&report, &asked).map_err(failed)?;
    match args.format {
        Format::Json => writeln!(output, "{}", super::pretty(&choice)?)?,
        _ => output.write_all(page(&choice, args.all, terminal_style()).as_bytes())?,
    }
    output.flush()?;
    Ok(choice.picked.is_some())
}

/// Without a bound: what is least late.
fn as_exactly_as_possible(
    args: &PickArgs,
    every_ns: f64,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let report = waited(args, every_ns)?;
    let found = waiting::as_exactly_as_possible(&report, every_ns).map_err(failed)?;
    match args.format {
        Format::Json => writeln!(output, "{}", super::pretty(&found)?)?,
        _ => output.write_all(exactness(&found, args.all, terminal_style()).as_bytes())?,
    }
    output.flush()?;
    Ok(found.blocks.is_some() || found.punctual.is_some())
}

/// The waits of a report; without one a glance at those of all methods, and then enough of those
/// that are told first.
fn waited(args: &PickArgs, every_ns: f64) -> Result<Report, CommandError> {
    /// Nanoseconds a method, and how many waits these are at least and at most: 90th percentiles
    /// take 50.
    const EACH_NS: f64 = 5e8;
    const WAITS: (f64, f64) = (6.0, 100.0);
    /// The same of a glance: a median takes eight.
    const GLANCE_NS: f64 = 5e7;
    const GLANCED: (f64, f64) = (8.0, 24.0);
    if let Some(path) = &args.from {
        return read(path).map_err(failed);
    }
    let waits = (EACH_NS / every_ns).clamp(WAITS.0, WAITS.1);
    affordable(
        "to see how exactly that is waited for",
        waits * every_ns / 1e9,
        every_ns,
    )?;
    let record = |common, plan| recorded(every_ns, plan, WaitArgs::first_look(common));
    let all = whom(args)?;
    let glanced = (GLANCE_NS / every_ns).clamp(GLANCED.0, GLANCED.1);
    let mut report = record(all.clone(), WaitPlan::GLANCE.exactly(glanced as u32))?;
    let often = WaitPlan::QUICK.exactly(waits as u32);
    let mut measured: Vec<String> = Vec::new();
    // What is picked has waited often; where a glance flattered another one, that is measured too.
    while let Ok(found) = waiting::as_exactly_as_possible(&report, every_ns) {
        let picked = found.blocks.iter().chain(&found.punctual);
        let next = found
            .others
            .iter()
            .take(if measured.is_empty() { RUNNERS_UP } else { 0 });
        let mut timers: Vec<String> = picked.chain(next).map(|waited| waited.id.clone()).collect();
        timers.retain(|id| !measured.contains(id));
        if timers.is_empty() {
            break;
        }
        add(
            &mut report,
            record(
                WaitingArgs {
                    timers: timers.clone(),
                    ..all.clone()
                },
                often,
            )?,
            &timers,
        );
        measured.extend(timers);
    }
    Ok(report)
}

/// Waits of this length by a plan.
fn recorded(length_ns: f64, plan: WaitPlan, args: WaitArgs) -> Result<Report, CommandError> {
    let durations = vec![Lengths(vec![length_ns as u64])];
    wait::record(&WaitArgs {
        durations,
        plan: Some(plan),
        ..args
    })?
    .0
    .report()
    .map_err(failed)
}

/// Takes the rows of these timers from a later report.
fn add(report: &mut Report, later: Report, timers: &[String]) {
    let is_one = |row: &WaitRow| timers.contains(&row.id);
    report.waits.retain(|row| !is_one(row));
    report.waits.extend(later.waits.into_iter().filter(is_one));
}

/// Methods that are told beside those that were picked.
const RUNNERS_UP: usize = 5;

/// What is least late, and what comes next.
fn exactness(found: &Exactness, all: bool, style: Style) -> String {
    let mut out = String::new();
    let length = short_time(found.length_ns as f64);
    let mut tell = |title: &str, waited: &ExactWait| {
        let what = format!(
            "{title} {} — {}",
            clipped(&waited.id, 60),
            clipped(&waited.label, 80)
        );
        hang(&mut out, "", "  ", &what, style.columns());
        hang(&mut out, "  ", "  ", &lateness(waited), style.columns());
    };
    if let Some(waited) = &found.blocks {
        tell(&format!("wait {length} with"), waited);
    }
    if let Some(waited) = &found.punctual {
        tell("where it must not be late, and may compute:", waited);
    }
    let most = if all {
        found.others.len()
    } else {
        found.others.len().min(RUNNERS_UP)
    };
    if most > 0 {
        let rest = if most < found.others.len() {
            " (all of them: --all)"
        } else {
            ""
        };
        out += &format!("\nnext, of {}{rest}\n", found.others.len());
    }
    let next: Vec<(String, String)> = found.others[..most]
        .iter()
        .map(|waited| (of_several(waited, found), lateness(waited)))
        .collect();
    out + &listed("  ", &next, style)
}

/// Its id, with the conditions where it waited under several.
fn of_several(waited: &ExactWait, found: &Exactness) -> String {
    let all = found
        .others
        .iter()
        .chain(&found.blocks)
        .chain(&found.punctual);
    let id = clipped(&waited.id, 60);
    if all.filter(|other| other.id == waited.id).count() < 2 {
        return id;
    }
    let slack = waited.slack_ns.map_or_else(
        || "no slack".into(),
        |ns| format!("slack {}", short_time(ns as f64)),
    );
    format!("{id} ({slack}, policy {})", clipped(&waited.policy, 20))
}

fn lateness(waited: &ExactWait) -> String {
    let when = if waited.p50_ns < 0.0 { "early" } else { "late" };
    let tail = [("p99", waited.p99_ns), ("p90", waited.p90_ns)];
    let tail = tail
        .into_iter()
        .find_map(|(name, ns)| Some(format!("{name} {}", time(Some(ns?)))));
    let tail = tail.unwrap_or_else(|| format!("max {}", time(Some(waited.max_ns))));
    let cpu = waited
        .cpu_ns
        .map_or_else(String::new, |ns| format!(", {} of CPU", time(Some(ns))));
    format!("{} {when} ({tail}){cpu}", time(Some(waited.p50_ns.abs())))
}

/// A method is not measured for longer than this, in seconds.
const MOST_SECONDS: f64 = 15.0;

/// All methods at a glance, and then those that may suffice, the cheapest first, often enough to
/// tell, until one is shown to.
fn measured(pick: &PickArgs, asked: &Punctuality) -> Result<Report, CommandError> {
    provable(asked)?;
    let record = |common, plan| {
        // One that rounds does not keep a period.
        let args = WaitArgs {
            granularity: true,
            ..WaitArgs::first_look(common)
        };
        recorded(asked.every_ns, plan, args)
    };
    let all = whom(pick)?;
    let mut report = record(all.clone(), WaitPlan::GLANCE)?;
    let often = WaitPlan::QUICK.at_least(waits_to_prove(asked.share).clamp(200.0, 1e6) as u32);
    for id in promising(&report, asked) {
        let timers = vec![id];
        let further = record(
            WaitingArgs {
                timers: timers.clone(),
                ..all.clone()
            },
            often,
        )?;
        add(&mut report, further, &timers);
        if choose(&report, asked).map_err(failed)?.picked.is_some() {
            break;
        }
    }
    Ok(report)
}

/// Refuses what takes too long to prove.
fn provable(asked: &Punctuality) -> Result<(), CommandError> {
    let Punctuality {
        every_ns, share, ..
    } = *asked;
    let what = format!(
        "to prove a share of {} % of waits of {}",
        100.0 * share,
        short_time(every_ns)
    );
    affordable(&what, waits_to_prove(share) * every_ns / 1e9, every_ns)
}

fn affordable(what: &str, seconds: f64, every_ns: f64) -> Result<(), CommandError> {
    if seconds <= MOST_SECONDS {
        return Ok(());
    }
    Err(CommandError::Usage(format!(
        "{what} takes {seconds:.0} s for each method, which is not done for all: measure those that matter with \
         `timermeter wait TIMER… --durations {} --for {seconds:.0}s -o report.json`, and give --from report.json",
        short_time(every_ns).replace(' ', "").replace('µ', "u"),
    )))
}

/// All native methods, or those of the agents and the runtime that were named.
fn whom(pick: &PickArgs) -> Result<WaitingArgs, CommandError> {
    let runtime = pick
        .runtime
        .as_deref()
        .filter(|name| *name != "native" && pick.agents.is_empty());
    let unknown = || {
        let why = "--runtime: this program brings no host for it along; give a report of `timermeter wait --agent …` with --from";
        CommandError::Usage(why.into())
    };
    let named = runtime
        .map(|name| host(name).map(RuntimeName::One).ok_or_else(unknown))
        .transpose()?;
    let hosted = !pick.agents.is_empty() || named.is_some();
    Ok(WaitingArgs {
        timers: if hosted {
            vec!["*:*".into()]
        } else {
            Vec::new()
        },
        agents: pick.agents.clone(),
        runtimes: RuntimeArgs {
            names: named.into_iter().collect(),
            ..RuntimeArgs::default()
        },
        ..WaitingArgs::default()
    })
}

fn page(choice: &WaitChoice, all: bool, style: Style) -> String {
    let asked = &choice.asked;
    let most = asked.overhead.map_or_else(String::new, |most| {
        format!(", at most {} of a CPU", percent(most))
    });
    let requirement = format!(
        "requirement: every {}, off by at most {} in {} of cases{most}",
        short_time(asked.every_ns),
        short_time(asked.within_ns),
        percent(asked.share),
    );
    let mut out = String::new();
    hang(&mut out, "# ", "#   ", &requirement, style.columns());
    out.push('\n');
    match (&choice.picked, &choice.nearest) {
        (Some(picked), _) => candidate(&mut out, "wait with", picked, style),
        (None, Some(nearest)) => {
            out += "No method suffices.\n";
            candidate(&mut out, "the nearest is", nearest, style);
        }
        (None, None) => out += "No method suffices, and none was measured.\n",
    }
    let most = if all {
        choice.others.len()
    } else {
        choice.others.len().min(RUNNERS_UP)
    };
    if most > 0 {
        let rest = if most < choice.others.len() {
            " (all of them: --all)"
        } else {
            ""
        };
        out += &format!("\nnext, of {}{rest}\n", choice.others.len());
    }
    let others: Vec<(String, String)> = choice.others[..most]
        .iter()
        .map(|other| (named(other), in_short(other)))
        .collect();
    out + &listed("  ", &others, style)
}

/// Its id.
fn named(waiter: &Waiter) -> String {
    clipped(&waiter.id, 60)
}

fn in_short(waiter: &Waiter) -> String {
    match (&waiter.reason, waiter.overhead) {
        (Some(reason), _) => reason.clone(),
        (None, Some(overhead)) => format!("suffices too, and takes {} of a CPU", percent(overhead)),
        (None, None) => "suffices too; what it costs is unknown".into(),
    }
}

fn candidate(out: &mut String, title: &str, waiter: &Waiter, style: Style) {
    let picked = format!("{title} {} — {}", named(waiter), clipped(&waiter.label, 80));
    hang(out, "", "  ", &picked, style.columns());
    out.push('\n');
    let known =
        |ns: Option<f64>| ns.map_or_else(|| "unknown: too few waits".into(), |ns| time(Some(ns)));
    let slack = waiter
        .slack_ns
        .map_or_else(|| "none".into(), |ns| short_time(ns as f64));
    let lines = [
        (
            "within the bound",
            format!(
                "{} of {} waits; {} at least, at 95 % confidence",
                percent(waiter.share),
                waiter.waits,
                percent(waiter.share_at_least)
            ),
        ),
        (
            "lateness",
            format!(
                "median {}, p99 {}, max {}",
                known(waiter.p50_ns),
                known(waiter.p99_ns),
                time(Some(waiter.max_ns))
            ),
        ),
        (
            "CPU",
            waiter.overhead.map_or_else(
                || "unknown".into(),
                |share| format!("{} of one", percent(share)),
            ),
        ),
        (
            "measured with",
            format!(
                "timer slack {slack}, policy {}",
                clipped(&waiter.policy, 20)
            ),
        ),
    ];
    *out += &listed("  ", &lines, style);
    if let Some(reason) = &waiter.reason {
        hang(out, "  ✗ ", "    ", reason, style.columns());
    }
    for note in &waiter.notes {
        hang(out, "  → ", "    ", note, style.columns());
    }
}
