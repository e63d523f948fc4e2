//! `list`: prints the timers of this system, whether each is usable, and the reasons if not.

use std::io::Write;

use indexmap::IndexMap;
use serde::Serialize;

use super::{CommandResult, emit, prepare_outputs};
use crate::agents::protocol::{Op, answers};
use crate::cli::ListArgs;
use crate::requests::RunRequest;
use crate::selection::{MissingTimer, Offers, Selection, SelectionError, is_for_other_systems};
use estimators::model::Timer;
use reporting::document::Document;
use reporting::table::{Table, TableColumn};
use reporting::text::numbers::short_time;

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum TimerKind {
    /// A clock, characterised by `probe`.
    Clock,
    /// A sleep primitive, characterised by `wait`.
    SleepPrimitive,
    /// A periodic timer, characterised by `wait --every`.
    PeriodicTimer,
    /// A timer that is both a sleep primitive and a periodic timer.
    Both,
}

impl TimerKind {
    /// The kind of a timer that supports these protocol operations.
    fn from_ops(ops: &[String]) -> Self {
        let [waits, ticks] = [Op::Waits, Op::Periods].map(|op| answers(ops, Some(op)));
        match (waits, ticks) {
            _ if ops.is_empty() => Self::Clock,
            (true, true) => Self::Both,
            (false, true) => Self::PeriodicTimer,
            _ => Self::SleepPrimitive,
        }
    }

    /// The commands that characterise timers of this kind.
    fn verbs(self) -> &'static str {
        match self {
            Self::Clock => "probe",
            Self::SleepPrimitive => "wait",
            Self::PeriodicTimer => "wait --every",
            Self::Both => "wait, wait --every",
        }
    }
}

/// A timer of the list.
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

/// Runs the command. Returns `true` if all agents and runtimes given by name could list their
/// timers.
///
/// # Errors
/// When a name matches no timer.
pub fn run(args: &ListArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let run = RunRequest {
        agents: args.agents.request(),
        ..RunRequest::of(&args.timers)
    };
    let offers = Offers::gather(&run, true)?;
    let selection = offers
        .pick(&args.timers, |_| true)
        .map_err(SelectionError::from)?;
    let listed = list(&selection);
    let timers_document = document(&listed, args.all || !args.timers.is_empty());
    emit(&timers_document, outputs, output)?;
    Ok(!selection.failed_by_name())
}

/// The timers of a selection, clocks first.
fn list(selection: &Selection) -> Vec<Listed> {
    let usable = selection.usable.iter().map(|(agent, timer)| {
        let kind = TimerKind::from_ops(&timer.ops);
        Listed::usable(selection.names[*agent].timer(timer.clone()), kind)
    });
    let missing = selection.missing.iter();
    let missing =
        missing.map(|missing| Listed::missing(missing, TimerKind::from_ops(&missing.ops)));
    let mut all: Vec<Listed> = usable.chain(missing).collect();
    all.sort_by_key(|listed| listed.kind != TimerKind::Clock);
    all
}

/// The document with a table of the usable timers, and the other timers with the reasons why they
/// are not usable. Unless `all` is set, timers that exist only on other systems are only counted.
fn document(listed: &[Listed], all: bool) -> Document<'_, &[Listed]> {
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
    let mut other_systems = 0;
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
        } else if all || !is_for_other_systems(&timer.id) {
            missing
                .entry(reason(row))
                .or_default()
                .push(timer.id.clone());
        } else {
            other_systems += 1;
        }
    }
    let mut document = Document::new(listed).table(table);
    if !missing.is_empty() {
        document = document.heading("cannot be used here");
    }
    for (reason, ids) in missing {
        document = document.paragraph(format!("{}: {reason}", ids.join(", ")));
    }
    if other_systems > 0 {
        document = document.note(format!(
            "--all lists {other_systems} more, of other systems or processors"
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

/// The unit of the readings of a timer: a time, or raw counts; empty for other timers without a
/// unit.
fn unit(row: &Listed) -> String {
    match row.timer.ns_per_tick {
        Some(ns) => short_time(ns),
        None if row.kind == TimerKind::Clock => "raw counts".to_owned(),
        None => String::new(),
    }
}
