//! Who hosts the timers of a run: this program for the native ones, agents for the others.

use crate::cli::{AgentSpec, RuntimeArgs};
use crate::model::{Status, TimerRow};
use crate::prober::campaign::{Host, Settings, Subject};
use crate::prober::children;
use crate::prober::connection::Connection;
use crate::prober::events::LogSpec;
use crate::prober::process::Command;
use crate::prober::protocol::{HostedTimer, Missing};
use crate::scratch::ScratchFolder;
use crate::selection::select;
use timers::Fault;

use super::{CommandError, failed};
use runtimes::Installed;

mod runtimes;

/// All timers of a run that can be asked, and rows for those that cannot.
pub struct Population {
    /// The programs.
    pub hosts: Vec<Host>,
    /// How each host is called in reports.
    pub names: Vec<HostName>,
    /// The timers to be asked.
    pub subjects: Vec<Subject>,
    /// Rows of timers, or of whole agents, that cannot be asked.
    pub rows: Vec<TimerRow>,
    /// Whether a runtime that the user named is not there.
    missing_by_name: bool,
    /// Holds the hosts of other runtimes while they are needed.
    _folder: Option<ScratchFolder>,
}

impl Population {
    /// Whether an agent that the user named could not be reached at all.
    #[must_use]
    pub fn failed_by_name(&self) -> bool {
        self.missing_by_name || self.rows.iter().any(|row| row.status == Status::Failed)
    }
}

/// How a host is called in reports.
#[derive(Clone, Debug)]
pub struct HostName {
    /// What leads its ids; nothing for the native timers.
    pub prefix: Option<String>,
    /// The runtime, with its version.
    pub runtime: String,
}

impl HostName {
    /// The id of one of its timers in the report.
    #[must_use]
    pub fn id(&self, timer: &str) -> String {
        match &self.prefix {
            None => timer.into(),
            Some(prefix) => format!("{prefix}:{timer}"),
        }
    }
}

impl Population {
    /// Leaves out clocks that only other systems or processors have.
    pub fn leave_out_elsewhere(&mut self) {
        let elsewhere = |entry: timers::Entry| (entry.availability)().is_err_and(|why| why.elsewhere);
        self.rows.retain(|row| !timers::find(&row.id).is_some_and(elsewhere));
    }
}

/// A host with all of its timers. The ids of its rows are its own until all hosts are known.
struct Offer {
    host: Host,
    name: HostName,
    /// Timers that it cannot read here.
    rows: Vec<TimerRow>,
}

/// Asks every host what it has, and picks the timers that were asked for, all of them without `patterns`.
///
/// # Errors
/// When a pattern fits nothing, or this program cannot start itself.
pub fn gather(
    patterns: &[String],
    agents: &[AgentSpec],
    runtimes: &RuntimeArgs,
    settings: &Settings,
) -> Result<Population, CommandError> {
    crate::limits::make_room_for_files().map_err(CommandError::Failed)?;
    let mut offers = vec![native()?];
    let mut lost = Vec::new();
    let Installed { folder, missing_by_name } = runtimes::add(runtimes, settings, &mut offers, &mut lost)?;
    for spec in agents {
        match offer(command(spec), spec.name.as_deref(), false, None, settings) {
            Ok(offer) => offers.push(offer),
            Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
            Err(fault) => lost.push(unreachable_agent(&prefix_of(spec), &spec.command.join(" "), &fault)),
        }
    }
    make_names_unique(&mut offers);
    for Offer { name, rows, .. } in &mut offers {
        rows.iter_mut().for_each(|row| row.id = name.id(&row.id));
    }
    let ids: Vec<String> = offers
        .iter()
        .flat_map(|offer| {
            let hosted = offer.host.timers.iter().map(|timer| offer.name.id(&timer.id));
            hosted.chain(offer.rows.iter().map(|row| row.id.clone()))
        })
        .chain(lost.iter().map(|row| row.id.clone()))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    // The timers of an agent that is not there cannot be known: its row stays, and names under it are not refused.
    let of_lost = |pattern: &String| {
        lost.iter().any(|row| {
            let prefix = row.id.trim_end_matches('*');
            pattern.starts_with(prefix)
        })
    };
    let known: Vec<String> = patterns.iter().filter(|pattern| !of_lost(pattern)).cloned().collect();
    let mut wanted: Vec<&str> = Vec::new();
    if patterns.is_empty() || !known.is_empty() {
        wanted = select(&known, &ids).map_err(|error| CommandError::Usage(error.to_string()))?;
        wanted.retain(|id| *id != timers::FLOOR_ID);
    }
    let mut population = Population {
        hosts: Vec::new(),
        names: Vec::new(),
        subjects: Vec::new(),
        rows: lost,
        missing_by_name,
        _folder: folder,
    };
    for offer in offers {
        let Offer { host, name, rows } = offer;
        let index = population.hosts.len();
        let picked = host.timers.iter().filter(|timer| wanted.contains(&name.id(&timer.id).as_str()));
        let before = population.subjects.len();
        population.subjects.extend(picked.map(|timer| Subject::new(index, timer.clone())));
        population.rows.extend(rows.into_iter().filter(|row| wanted.contains(&row.id.as_str())));
        // A host that is not asked anything is not started.
        if population.subjects.len() > before {
            population.hosts.push(host);
            population.names.push(name);
        }
    }
    Ok(population)
}

/// The timers of this program itself, served by a worker a timer.
fn native() -> Result<Offer, CommandError> {
    let (program, mut args) = children::this_program().map_err(failed)?;
    args.push("agent".into());
    let command = Command { name: "timermeter agent".into(), program, args };
    let (mut hosted, mut rows) = (Vec::new(), Vec::new());
    let best = timers::REFERENCES
        .iter()
        .find(|id| timers::find(id).is_some_and(|entry| (entry.availability)().is_ok()));
    for entry in timers::catalogue() {
        let info = entry.info;
        match (entry.availability)() {
            Ok(()) => {
                hosted.push(HostedTimer { reference: best == Some(&info.id), ..HostedTimer::native(entry) });
            }
            Err(why) => {
                let mut row = TimerRow::unmeasured(info.id, info.label, "native", Status::Unavailable);
                row.ns_per_tick = (entry.ns_per_tick)().or(info.ns_per_tick);
                row.properties = Some(info.properties.into());
                row.reason = Some(why.reason);
                row.remedy = why.remedy;
                rows.push(row);
            }
        }
    }
    let host = Host { command, takes_ids: true, timers: hosted, compares: true, log: None };
    Ok(Offer { host, name: HostName { prefix: None, runtime: "native".into() }, rows })
}

/// Starts an agent once to hear what it has.
fn offer(
    command: Command,
    prefix: Option<&str>,
    takes_ids: bool,
    log: Option<LogSpec>,
    settings: &Settings,
) -> Result<Offer, Fault> {
    let connection = Connection::start(&command, settings.cpu, settings.timeout)?;
    let hello = connection.hello();
    let prefix = prefix.map_or_else(|| as_prefix(&hello.runtime.name), str::to_owned);
    let runtime = format!("{} {}", hello.runtime.name, hello.runtime.version).trim().to_owned();
    let hosted: Vec<HostedTimer> =
        hello.timers.iter().filter(|timer| timer.id != timers::FLOOR_ID).cloned().collect();
    let not_hosted = |missing: &&Missing| !hosted.iter().any(|timer| timer.id == missing.id);
    let rows = hello.unavailable.iter().filter(not_hosted).map(|missing| {
        let mut row = TimerRow::unmeasured(&missing.id, &missing.label, &runtime, Status::Unavailable);
        row.reason = Some(missing.reason.clone());
        row.remedy = missing.remedy.clone();
        row
    });
    let rows = rows.collect();
    let compares = hello.ops.iter().any(|op| op == "comparisons");
    let host = Host { command, takes_ids, timers: hosted, compares, log };
    Ok(Offer { host, name: HostName { prefix: Some(prefix), runtime }, rows })
}

/// How an agent of the command line is started.
pub(super) fn command(spec: &AgentSpec) -> Command {
    let (program, args) = spec.command.split_first().expect("the command line refuses an empty command");
    Command { name: program.clone(), program: program.into(), args: args.iter().map(Into::into).collect() }
}

/// What leads the ids of an agent that did not say who it is.
fn prefix_of(spec: &AgentSpec) -> String {
    let program = spec.command.first().map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    spec.name.clone().unwrap_or_else(|| as_prefix(program))
}

fn unreachable_agent(prefix: &str, label: &str, fault: &Fault) -> TimerRow {
    let mut row = TimerRow::unmeasured(&format!("{prefix}:*"), label, prefix, Status::Failed);
    row.reason = Some(fault.to_string());
    row
}

/// The name of a runtime as what leads its ids: lower case, words joined.
fn as_prefix(name: &str) -> String {
    let joined: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '#' | '+') { c } else { '-' })
        .collect();
    let trimmed = joined.trim_matches('-');
    if trimmed.is_empty() { "agent".into() } else { trimmed.into() }
}

/// Two agents of the same runtime: the second one's ids lead with `name-2`.
fn make_names_unique(offers: &mut [Offer]) {
    for index in 1..offers.len() {
        let (before, rest) = offers.split_at_mut(index);
        let taken = |prefix: &Option<String>| before.iter().any(|offer| offer.name.prefix == *prefix);
        let Some(wanted) = rest[0].name.prefix.clone() else { continue };
        let mut number = 2;
        while taken(&rest[0].name.prefix) {
            rest[0].name.prefix = Some(format!("{wanted}-{number}"));
            number += 1;
        }
    }
}
