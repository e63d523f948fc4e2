//! `list`: every timer this build knows, whether it can be read here, and if not why.

use std::io::Write;
use std::time::Duration;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::hosts::gather;
use super::{CommandError, terminal_style};
use crate::cli::{ListArgs, ShortFormat};
use crate::model::Status;
use crate::prober::campaign::Settings;
use crate::prober::sampling::Plan;
use crate::text::{numbers, plain};

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
        ShortFormat::Table => writeln!(output, "{}", table(&listed))?,
    }
    Ok(!lost)
}

fn table(listed: &[Listed]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = terminal_style().width {
        table.set_width(width);
    }
    table.set_header(["timer", "call", "unit", "here"]);
    for timer in listed {
        let unit = timer.ns_per_tick.map_or("raw counts".into(), |ns| numbers::time(Some(ns)));
        let here = match (&timer.reason, &timer.remedy) {
            _ if timer.available => "yes".into(),
            (Some(reason), Some(remedy)) => format!("no: {reason} → {remedy}"),
            (reason, _) => format!("no: {}", reason.as_deref().unwrap_or("the system did not say why")),
        };
        let call = match &timer.legend {
            Some(legend) => format!("{} = {legend}", timer.label),
            None => timer.label.clone(),
        };
        table.add_row([plain(&timer.id), plain(&call), unit, plain(&here)]);
    }
    table
}
