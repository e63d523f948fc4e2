//! `list`: prints the timers of this system, whether each is usable, and the reasons if not.

use std::io::Write;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;

use super::hosts::{MissingTimer, Offers, Selection, is_elsewhere};
use super::{CommandError, emit, prepare};
use crate::campaign::clocks::Settings;
use crate::campaign::sampling::Plan;
use crate::cli::ListArgs;
use crate::document::Document;
use crate::hosts::protocol::{HostedTimer, HostedWaiter};
use crate::model::{Status, Timer};
use crate::table::{Table, TableColumn};
use crate::text::merge_numbered;
use crate::text::numbers::short_time;

/// Seconds that an agent may take to list its timers.
const AGENT_SECONDS: u64 = 30;

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum TimerKind {
    /// A clock, characterised by `probe`.
    Clock,
    /// A sleep primitive, characterised by `wait`.
    Waits,
    /// A periodic timer, characterised by `period`.
    Ticks,
    /// A timer that is both a sleep primitive and periodic.
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

    /// The commands that characterise timers of this kind.
    fn verbs(self) -> &'static str {
        match self {
            Self::Clock => "probe",
            Self::Waits => "wait",
            Self::Ticks => "period",
            Self::WaitsAndTicks => "wait, period",
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

impl Listed {
    fn usable(timer: Timer, kind: TimerKind) -> Self {
        Self {
            timer,
            kind,
            available: true,
            reason: None,
            remedy: None,
        }
    }

    fn missing(missing: &MissingTimer, kind: TimerKind) -> Self {
        Self {
            available: false,
            reason: Some(missing.why.reason.clone()),
            remedy: missing.why.remedy.clone(),
            ..Self::usable(missing.timer.clone(), kind)
        }
    }
}

/// Runs the command. Returns `true` if everything that was named could be listed.
///
/// # Errors
/// When a name matches no timer.
pub fn run(args: &ListArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let outputs = prepare(&args.output)?;
    let timeout = Duration::from_secs(AGENT_SECONDS);
    let settings = Settings {
        plan: Plan::QUICK,
        seed: 0,
        cpu: None,
        timeout,
    };
    let offers = Offers::gather(&args.hosts, true, &settings)?;
    // A name may belong to a clock or to a timer that waits. If it belongs to neither, the error
    // about clocks is reported.
    let (listed, lost) = match (
        offers.pick::<HostedTimer>(&args.timers, None),
        offers.pick::<HostedWaiter>(&args.timers, None),
    ) {
        (Ok(clocks), waiters) => {
            let of_waiters = waiters.as_ref().map(listed_waiters).unwrap_or_default();
            (
                [list_clocks(&clocks), of_waiters].concat(),
                clocks.failed_by_name(),
            )
        }
        (Err(CommandError::Usage(_)), Ok(waiters)) => {
            (listed_waiters(&waiters), waiters.missing_by_name)
        }
        (Err(error), _) => return Err(error),
    };
    let listed_here = document(&listed, args.all || !args.timers.is_empty());
    emit(&listed_here, outputs, output)?;
    Ok(!lost)
}

fn list_clocks(clocks: &Selection<HostedTimer>) -> Vec<Listed> {
    let hosted = clocks.usable.iter().map(|(host, timer)| {
        let timer = clocks.names[*host].timer(timer.clone());
        Listed::usable(timer, TimerKind::Clock)
    });
    let others = clocks.missing.iter();
    let others = others.map(|missing| Listed::missing(missing, TimerKind::Clock));
    hosted.chain(others).collect()
}

fn listed_waiters(waiters: &Selection<HostedWaiter>) -> Vec<Listed> {
    let usable = waiters.usable.iter().map(|(host, waiter)| {
        let timer = waiters.names[*host].waiter(waiter);
        Listed::usable(timer, TimerKind::from_ops(&waiter.ops))
    });
    // Unreachable hosts are already listed with the clocks.
    let missing = waiters.missing.iter().filter(|missing| {
        missing.why.status == Status::Unavailable && !missing.timer.id.ends_with('*')
    });
    let missing =
        missing.map(|missing| Listed::missing(missing, TimerKind::from_ops(&missing.ops)));
    usable.chain(missing).collect()
}

/// The document with the usable timers first, then the rest with the reasons. Without `whole`,
/// timers of other systems are only counted.
fn document(listed: &[Listed], whole: bool) -> Document<'_, &[Listed]> {
    let mut table = Table::new(vec![
        TableColumn {
            folds: true,
            ..TableColumn::left("timer")
        },
        TableColumn::left("verb"),
        TableColumn {
            omission_priority: 1,
            ..TableColumn::program_text("unit")
        },
        TableColumn {
            folds: true,
            ..TableColumn::left("call")
        },
    ]);
    let mut missing: IndexMap<String, Vec<String>> = IndexMap::new();
    let mut elsewhere = 0;
    for row in listed {
        let timer = &row.timer;
        if row.available {
            table.push(vec![
                timer.id.as_str().into(),
                row.kind.verbs().into(),
                unit(row).into(),
                match &timer.legend {
                    Some(legend) => format!("{} = {legend}", timer.label).into(),
                    None => timer.label.as_str().into(),
                },
            ]);
        } else if whole || !is_elsewhere(&timer.id) {
            missing
                .entry(reason(row))
                .or_default()
                .push(timer.id.clone());
        } else {
            elsewhere += 1;
        }
    }
    let mut document = Document::new(listed).table(table);
    if !missing.is_empty() {
        document = document.heading("cannot be used here");
    }
    for (reason, ids) in missing {
        document = document.paragraph(format!("{}: {reason}", merge_numbered(&ids).join(", ")));
    }
    if elsewhere > 0 {
        document = document.note(format!(
            "--all lists {elsewhere} more, of other systems or processors"
        ));
    }
    document
}

/// The reason why a timer is not usable, and its remedy.
fn reason(row: &Listed) -> String {
    let reason = row
        .reason
        .as_deref()
        .unwrap_or("the system gives no reason");
    match &row.remedy {
        Some(remedy) => format!("{reason} → {remedy}"),
        None => reason.to_owned(),
    }
}

fn unit(row: &Listed) -> String {
    match row.timer.ns_per_tick {
        Some(ns) => short_time(ns),
        None if row.kind == TimerKind::Clock => "raw counts".to_owned(),
        None => String::new(),
    }
}
