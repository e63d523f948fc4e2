//! `list`: every timer this build knows, whether it can be read here, and if not why.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::hosts::gather;
use super::{CommandError, terminal_style};
use crate::cli::{ListArgs, ShortFormat};
use crate::model::Status;
use crate::prober::campaign::Settings;
use crate::prober::sampling::Plan;
use crate::table::{Column, Table};
use crate::text::numbers;

/// How long an agent may take to say what it has.
const AGENT_SECONDS: u64 = 30;

#[derive(Serialize)]
struct Listed {
    id: String,
    label: String,
    legend: Option<String>,
    runtime: String,
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
    let population = gather(&args.timers, &args.agents, &args.runtimes, &settings)?;
    let lost = population.failed_by_name();
    let hosted = population.subjects.iter().map(|subject| {
        let name = &population.names[subject.host];
        Listed {
            id: name.id(&subject.timer.id),
            label: subject.timer.label.clone(),
            legend: subject.timer.legend.clone(),
            runtime: name.runtime.clone(),
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
        ns_per_tick: row.ns_per_tick,
        available: row.status == Status::Ok,
        reason: row.reason.clone(),
        remedy: row.remedy.clone(),
    });
    let listed: Vec<Listed> = hosted.chain(others).collect();
    match args.format {
        ShortFormat::Json => writeln!(output, "{}", super::pretty(&listed)?)?,
        ShortFormat::Table => {
            output.write_all(table(&listed).on_terminal(terminal_style(), |_| "").as_bytes())?
        }
    }
    Ok(!lost)
}

fn table(listed: &[Listed]) -> Table<'static> {
    let folds = |heading| Column { longest: Some(600), folds: true, ..Column::left(heading) };
    let mut table = Table::new(vec![folds("timer"), folds("call"), Column::left("unit"), folds("here")]);
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
        let unit = timer.ns_per_tick.map_or("raw counts".into(), |ns| numbers::time(Some(ns)));
        table.push(vec![timer.id.as_str().into(), call.into(), unit.into(), here.into()]);
    }
    table
}
