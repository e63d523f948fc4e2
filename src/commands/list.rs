//! `list`: every timer this build knows, clocks and timers that wait, whether it can be used here, and if not why.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::hosts::waiters::Waiters;
use super::hosts::{Offers, Population};
use super::{CommandError, terminal_style};
use crate::cli::{ListArgs, ShortFormat};
use crate::model::Status;
use crate::prober::campaign::Settings;
use crate::prober::sampling::Plan;
use crate::table::{Column, Table};
use crate::text::numbers;

/// How long an agent may take to say what it has.
const AGENT_SECONDS: u64 = 30;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// It is read: `probe`.
    Clock,
    /// It waits: `wait`.
    Waits,
    /// It ticks: `period`.
    Ticks,
    /// Both of the latter.
    WaitsAndTicks,
}

impl Kind {
    fn of(ops: &[String]) -> Self {
        let has = |op: &str| ops.iter().any(|offered| offered == op);
        match (has("waits"), has("periods")) {
            (true, true) => Self::WaitsAndTicks,
            (false, true) => Self::Ticks,
            _ => Self::Waits,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Waits => "waits",
            Self::Ticks => "ticks",
            Self::WaitsAndTicks => "waits, ticks",
        }
    }
}

#[derive(Clone, Serialize)]
struct Listed {
    id: String,
    label: String,
    legend: Option<String>,
    runtime: String,
    kind: Kind,
    ns_per_tick: Option<f64>,
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
    let settings = Settings { plan: Plan::QUICK, seed: 0, cpu: None, timeout };
    let offers = Offers::of(&args.agents, &args.runtimes, &settings)?.with_native_waiters();
    // A name may be that of a clock or that of a timer that waits; where it is neither, clocks are what is told of it.
    let (listed, lost) = match (Population::of(&offers, &args.timers), Waiters::of(&offers, &args.timers)) {
        (Ok(clocks), waiters) => {
            let of_waiters = waiters.as_ref().map(listed_waiters).unwrap_or_default();
            ([listed(&clocks), of_waiters].concat(), clocks.failed_by_name())
        }
        (Err(CommandError::Usage(_)), Ok(waiters)) => (listed_waiters(&waiters), waiters.missing_by_name),
        (Err(error), _) => return Err(error),
    };
    match args.format {
        ShortFormat::Json => writeln!(output, "{}", super::pretty(&listed)?)?,
        ShortFormat::Table => {
            output.write_all(table(&listed).on_terminal(terminal_style(), &|_| "").as_bytes())?
        }
    }
    Ok(!lost)
}

fn listed(population: &Population) -> Vec<Listed> {
    let hosted = population.subjects.iter().map(|subject| {
        let name = &population.names[subject.host];
        Listed {
            id: name.id(&subject.timer.id),
            label: subject.timer.label.clone(),
            legend: subject.timer.legend.clone(),
            runtime: name.runtime.clone(),
            kind: Kind::Clock,
            ns_per_tick: subject.timer.ns_per_tick,
            available: true,
            reason: None,
            remedy: None,
        }
    });
    let others = population.rows.iter().map(|row| Listed {
        id: row.id.clone(),
        label: row.label.clone(),
        legend: row.legend.clone(),
        runtime: row.runtime.clone(),
        kind: Kind::Clock,
        ns_per_tick: row.ns_per_tick,
        available: row.status == Status::Ok,
        reason: row.reason.clone(),
        remedy: row.remedy.clone(),
    });
    hosted.chain(others).collect()
}

fn listed_waiters(waiters: &Waiters) -> Vec<Listed> {
    let usable = waiters.usable.iter().map(|(host, waiter)| {
        let name = &waiters.names[*host];
        Listed {
            id: name.id(&waiter.id),
            label: waiter.label.clone(),
            legend: None,
            runtime: name.runtime.clone(),
            kind: Kind::of(&waiter.ops),
            ns_per_tick: waiter.unit_ns,
            available: true,
            reason: None,
            remedy: None,
        }
    });
    // Hosts that are not there are listed with the clocks that they lack.
    let missing = waiters
        .missing
        .iter()
        .filter(|missing| missing.why.status == Status::Unavailable && !missing.id.ends_with('*'));
    let missing = missing.map(|missing| Listed {
        id: missing.id.clone(),
        label: missing.label.clone(),
        legend: None,
        runtime: missing.runtime.clone(),
        kind: Kind::of(&missing.ops),
        ns_per_tick: timers::waits::find(&missing.id).map(|entry| entry.info.unit_ns as f64),
        available: false,
        reason: Some(missing.why.reason.clone()),
        remedy: missing.why.remedy.clone(),
    });
    usable.chain(missing).collect()
}

fn table(listed: &[Listed]) -> Table<'static> {
    let folds = |heading| Column { longest: Some(600), folds: true, ..Column::left(heading) };
    let mut table = Table::new(vec![
        folds("timer"),
        folds("call"),
        Column::left("kind"),
        Column::left("unit"),
        folds("here"),
    ]);
    for timer in listed {
        let here = match (&timer.reason, &timer.remedy) {
            _ if timer.available => "yes".into(),
            (Some(reason), Some(remedy)) => format!("no: {reason} → {remedy}"),
            (reason, _) => format!("no: {}", reason.as_deref().unwrap_or("the system did not say why")),
        };
        let call = match &timer.legend {
            Some(legend) => format!("{} = {legend}", timer.label),
            None => timer.label.clone(),
        };
        let unknown = if timer.kind == Kind::Clock { "raw counts" } else { numbers::NOTHING };
        let unit = timer.ns_per_tick.map_or(unknown.into(), |ns| numbers::time(Some(ns)));
        table.push(vec![
            timer.id.as_str().into(),
            call.into(),
            timer.kind.word().into(),
            unit.into(),
            here.into(),
        ]);
    }
    table
}
