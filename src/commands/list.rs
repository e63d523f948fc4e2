//! `list`: the timers of this system, clocks and timers that wait, whether each can be used here,
//! and if not why; all that this build knows on request.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::hosts::waiters::Waiters;
use super::hosts::{Offers, Population};
use super::{CommandError, terminal_style};
use crate::campaign::clocks::Settings;
use crate::campaign::sampling::Plan;
use crate::cli::ListArgs;
use crate::model::{Status, Timer};
use crate::report;
use crate::table::{Format, Style};
use crate::text::numbers::short_time;
use crate::text::{clipped, hang, plain, runs_of};

/// How long an agent may take to say what it has.
const AGENT_SECONDS: u64 = 30;
/// Longer ids, as agents may have them, are cut on a terminal; JSON holds them whole.
const LONGEST_ID: usize = 40;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum TimerKind {
    /// It is read: `probe`.
    Clock,
    /// It waits: `wait`.
    Waits,
    /// It ticks: `period`.
    Ticks,
    /// Both of the latter.
    WaitsAndTicks,
}

impl TimerKind {
    fn from_ops(ops: &[String]) -> Self {
        let has = |op: &str| ops.iter().any(|offered| offered == op);
        match (has("waits"), has("periods")) {
            (true, true) => Self::WaitsAndTicks,
            (false, true) => Self::Ticks,
            _ => Self::Waits,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Clock => "clocks (probe), in units of 1 ns unless told",
            Self::Waits => "timers that wait (wait)",
            Self::Ticks => "timers that tick (period)",
            Self::WaitsAndTicks => "timers that wait and tick (wait, period)",
        }
    }
}

#[derive(Clone, Serialize)]
struct Listed {
    #[serde(flatten)]
    timer: Timer,
    kind: TimerKind,
    available: bool,
    reason: Option<String>,
    remedy: Option<String>,
}

/// Runs the command. Returns whether everything that was named could be asked.
///
/// # Errors
/// When a name fits no timer.
pub fn run(args: &ListArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let timeout = Duration::from_secs(AGENT_SECONDS);
    let settings = Settings {
        plan: Plan::QUICK,
        seed: 0,
        cpu: None,
        timeout,
    };
    let offers = Offers::of(&args.agents, &args.runtimes, &settings)?.with_native_waiters();
    // A name may be that of a clock or that of a timer that waits; where it is neither, clocks are
    // what is told of it.
    let (listed, lost) = match (
        Population::of(&offers, &args.timers),
        Waiters::of(&offers, &args.timers),
    ) {
        (Ok(clocks), waiters) => {
            let of_waiters = waiters.as_ref().map(listed_waiters).unwrap_or_default();
            (
                [listed(&clocks), of_waiters].concat(),
                clocks.failed_by_name(),
            )
        }
        (Err(CommandError::Usage(_)), Ok(waiters)) => {
            (listed_waiters(&waiters), waiters.missing_by_name)
        }
        (Err(error), _) => return Err(error),
    };
    match args.output.format {
        Format::Json => writeln!(output, "{}", super::pretty(&listed)?)?,
        _ => {
            let whole = args.all || !args.timers.is_empty();
            let (here, others): (Vec<_>, Vec<_>) = listed
                .into_iter()
                .partition(|timer| whole || !of_another_system(timer));
            output.write_all(page(&here, terminal_style()).as_bytes())?;
            if !others.is_empty() {
                let more = format!(
                    "{} more are of other systems or processors: timermeter list --all",
                    others.len()
                );
                let mut text = String::from("\n");
                hang(&mut text, "", "  ", &more, terminal_style().columns());
                output.write_all(text.as_bytes())?;
            }
        }
    }
    Ok(!lost)
}

/// Whether no machine of this system and processor has the timer.
fn of_another_system(timer: &Listed) -> bool {
    let clock = || (timers::find(&timer.timer.id)?.availability)().err();
    let waiter = || timers::waits::find(&timer.timer.id)?.availability().err();
    !timer.available && clock().or_else(waiter).is_some_and(|why| why.elsewhere)
}

fn listed(population: &Population) -> Vec<Listed> {
    let hosted = population.subjects.iter().map(|subject| Listed {
        timer: population.names[subject.host].timer(subject.timer.clone()),
        kind: TimerKind::Clock,
        available: true,
        reason: None,
        remedy: None,
    });
    let others = population.rows.iter().map(|row| Listed {
        timer: row.timer(),
        kind: TimerKind::Clock,
        available: row.status == Status::Ok,
        reason: row.reason.clone(),
        remedy: row.remedy.clone(),
    });
    hosted.chain(others).collect()
}

fn listed_waiters(waiters: &Waiters) -> Vec<Listed> {
    let usable = waiters.usable.iter().map(|(host, waiter)| Listed {
        timer: waiters.names[*host].waiter(&waiter.id, &waiter.label, waiter.unit_ns),
        kind: TimerKind::from_ops(&waiter.ops),
        available: true,
        reason: None,
        remedy: None,
    });
    // Hosts that are not there are listed with the clocks that they lack.
    let missing = waiters.missing.iter().filter(|missing| {
        missing.why.status == Status::Unavailable && !missing.timer.id.ends_with('*')
    });
    let missing = missing.map(|missing| Listed {
        timer: missing.timer.clone(),
        kind: TimerKind::from_ops(&missing.ops),
        available: false,
        reason: Some(missing.why.reason.clone()),
        remedy: missing.why.remedy.clone(),
    });
    usable.chain(missing).collect()
}

/// The timers of each kind with their calls; below them what cannot be used, and why.
fn page(listed: &[Listed], style: Style) -> String {
    let (here, missing): (Vec<&Listed>, Vec<&Listed>) =
        listed.iter().partition(|timer| timer.available);
    let mut out = String::new();
    for kind in [
        TimerKind::Clock,
        TimerKind::WaitsAndTicks,
        TimerKind::Waits,
        TimerKind::Ticks,
    ] {
        section(
            &mut out,
            kind.heading(),
            here.iter().filter(|timer| timer.kind == kind),
            style,
        );
    }
    let (others, refused): (Vec<_>, Vec<_>) = missing
        .into_iter()
        .partition(|timer| of_another_system(timer));
    if !refused.is_empty() {
        out += &format!("{}\n", style.paint("1", "cannot be used here"));
    }
    let why = |timer: &Listed| (timer.reason.clone(), timer.remedy.clone());
    let mut told = Vec::new();
    for (at, timer) in refused.iter().enumerate() {
        if refused[..at].iter().any(|before| why(before) == why(timer)) {
            continue;
        }
        let alike = refused.iter().filter(|other| why(other) == why(timer));
        let ids: Vec<String> = alike
            .map(|other| clipped(&other.timer.id, LONGEST_ID))
            .collect();
        let ids = runs_of(&ids).join(", ");
        told.push(format!("{ids} — {}", reason(timer)));
    }
    told.iter()
        .for_each(|text| hang(&mut out, "  ", "    ", text, style.columns()));
    if !told.is_empty() {
        out.push('\n');
    }
    let mut systems: Vec<String> = others.iter().map(|timer| reason(timer)).collect();
    systems.sort();
    systems.dedup();
    for system in systems {
        section(
            &mut out,
            &system,
            others.iter().filter(|timer| reason(timer) == system),
            style,
        );
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Why a timer cannot be used, and what would change that.
fn reason(timer: &Listed) -> String {
    let reason = plain(
        timer
            .reason
            .as_deref()
            .unwrap_or("the system did not say why"),
    );
    timer.remedy.as_deref().map_or(reason.clone(), |remedy| {
        format!("{reason} → {}", plain(remedy))
    })
}

fn section<'a>(
    out: &mut String,
    heading: &str,
    timers: impl Iterator<Item = &'a &'a Listed>,
    style: Style,
) {
    let rows: Vec<(String, String)> = timers
        .map(|timer| (clipped(&timer.timer.id, LONGEST_ID), call(timer)))
        .collect();
    if !rows.is_empty() {
        let mut head = String::new();
        hang(&mut head, "", "  ", heading, style.columns());
        head.lines()
            .for_each(|line| *out += &(style.paint("1", line) + "\n"));
        *out += &(report::terminal::listed("  ", &rows, style) + "\n");
    }
}

/// The call, the name that the paper has for it, and its unit where that is not a nanosecond.
fn call(timer: &Listed) -> String {
    let legend = timer
        .timer
        .legend
        .as_ref()
        .map(|legend| format!(" = {legend}"))
        .unwrap_or_default();
    let unit = match timer.timer.ns_per_tick {
        Some(1.0) => String::new(),
        Some(ns) => format!(", in {}", short_time(ns)),
        None if timer.kind == TimerKind::Clock => ", raw counts".to_owned(),
        None => String::new(),
    };
    format!("{}{legend}{unit}", clipped(&timer.timer.label, 600))
}
