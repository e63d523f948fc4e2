//! `list`: prints the timers of this system, whether each is usable, and the reasons if not.

use std::io::Write;

use indexmap::IndexMap;
use serde::Serialize;

use super::{CommandResult, emit, prepare_outputs};
use crate::agents::protocol::{Op, answers};
use crate::cli::ListArgs;
use crate::recording::NotUsable;
use crate::requests::RunRequest;
use crate::selection::{Offers, Selection, SelectionError, is_for_other_systems};
use estimators::model::TimerInfo;
use reporting::document::Document;
use reporting::table::{Table, TableColumn};
use reporting::text::numbers::short_time;

/// A timer of the list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    timer: TimerInfo,
    kind: &'static str,
    /// The commands that characterise it.
    #[serde(skip)]
    verbs: &'static str,
    available: bool,
    reason: Option<String>,
    remedy: Option<String>,
}

/// The kind of a timer without protocol operations.
const CLOCK: &str = "clock";

impl Listed {
    /// A timer that supports these protocol operations, and why it cannot be used, if so.
    fn new(timer: TimerInfo, ops: &[String], why: Option<&NotUsable>) -> Self {
        let [waits, ticks] = [Op::Waits, Op::Periods].map(|op| answers(ops, Some(op)));
        let (kind, verbs) = match (waits, ticks) {
            _ if ops.is_empty() => (CLOCK, "probe"),
            (true, true) => ("both", "wait, wait --every"),
            (false, true) => ("periodic-timer", "wait --every"),
            _ => ("sleep-primitive", "wait"),
        };
        Self {
            timer,
            kind,
            verbs,
            available: why.is_none(),
            reason: why.map(|why| why.reason.clone()),
            remedy: why.and_then(|why| why.remedy.clone()),
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
        let listed = selection.names[*agent].timer(timer.clone());
        Listed::new(listed, &timer.ops, None)
    });
    let missing = selection.missing.iter();
    let missing = missing.map(|it| Listed::new(it.timer.clone(), &it.ops, Some(&it.why)));
    let mut all: Vec<Listed> = usable.chain(missing).collect();
    all.sort_by_key(|listed| listed.kind != CLOCK);
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
            right_aligned: true,
            ..TableColumn::left("unit")
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
            let unit = match timer.ns_per_tick {
                Some(ns) => short_time(ns),
                None if row.kind == CLOCK => "raw counts".to_owned(),
                None => String::new(),
            };
            table.push(vec![
                timer.id.as_str().into(),
                row.verbs.into(),
                unit.into(),
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
    let reason = row.reason.as_deref();
    let reason = reason.unwrap_or("the system gives no reason");
    match &row.remedy {
        Some(remedy) => format!("{reason} → {remedy}"),
        None => reason.to_owned(),
    }
}
