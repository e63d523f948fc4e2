//! What one host has to offer.

use timers::Fault;

use super::HostName;
use crate::campaign::clocks::{Host, Settings};
use crate::cli::AgentSpec;
use crate::hosts::connection::Connection;
use crate::hosts::events::LogSpec;
use crate::hosts::process::Command;
use crate::hosts::protocol::{HostedTimer, HostedWaiter, Missing, Op};
use crate::model::{Status, TimerRow};

/// A host with all of its timers. The ids of its rows are its own until all hosts are known.
pub struct Offer {
    /// The program.
    pub host: Host,
    /// How it is called.
    pub name: HostName,
    /// Timers that it cannot read here.
    pub rows: Vec<TimerRow>,
    /// Timers that wait and cannot be used here.
    pub missing_waiters: Vec<Missing>,
}

/// Starts an agent once to hear what it has.
pub(super) fn offer(
    command: Command,
    prefix: Option<&str>,
    takes_ids: bool,
    log: Option<LogSpec>,
    settings: &Settings,
) -> Result<Offer, Fault> {
    let connection = Connection::start(&command, settings.cpu, settings.timeout)?;
    let hello = connection.hello();
    let prefix = prefix.map_or_else(|| as_prefix(&hello.runtime.name), str::to_owned);
    let runtime = format!("{} {}", hello.runtime.name, hello.runtime.version)
        .trim()
        .to_owned();
    let hosted: Vec<HostedTimer> = hello
        .timers
        .iter()
        .filter(|timer| timer.id != timers::FLOOR_ID)
        .cloned()
        .collect();
    let waiters: Vec<HostedWaiter> = hello
        .waiters
        .iter()
        .filter(|waiter| waiter.id != timers::waits::FLOOR_ID)
        .cloned()
        .collect();
    let not_hosted = |missing: &&Missing| !hosted.iter().any(|timer| timer.id == missing.id);
    let (missing_waiters, unavailable): (Vec<_>, Vec<_>) = hello
        .unavailable
        .iter()
        .cloned()
        .partition(|missing| !missing.ops.is_empty());
    let rows = unavailable.iter().filter(not_hosted).map(|missing| {
        let mut row =
            TimerRow::unmeasured(&missing.id, &missing.label, &runtime, Status::Unavailable);
        row.reason = Some(missing.reason.clone());
        row.remedy = missing.remedy.clone();
        row
    });
    let rows = rows.collect();
    let compares = hello.offers(Op::Comparisons);
    let answers_for_many = hello.many;
    let host = Host {
        command,
        takes_ids,
        timers: hosted,
        waiters,
        compares,
        answers_for_many,
        log,
    };
    Ok(Offer {
        host,
        name: HostName {
            prefix: Some(prefix),
            runtime,
        },
        rows,
        missing_waiters,
    })
}

/// How an agent of the command line is started.
pub(in crate::commands) fn command(spec: &AgentSpec) -> Command {
    let (program, args) = spec
        .command
        .split_first()
        .expect("the command line refuses an empty command");
    Command::new(program, program, args.iter().map(Into::into).collect())
}

/// What leads the ids of an agent that did not say what it is.
pub(super) fn prefix_of(spec: &AgentSpec) -> String {
    let program = spec.command.first().map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    spec.name.clone().unwrap_or_else(|| as_prefix(program))
}

pub(super) fn unreachable_agent(prefix: &str, label: &str, fault: &Fault) -> TimerRow {
    let mut row = TimerRow::unmeasured(&format!("{prefix}:*"), label, prefix, Status::Failed);
    row.reason = Some(fault.to_string());
    row
}

/// The name of a runtime as what leads its ids: lower case, words joined.
fn as_prefix(name: &str) -> String {
    let joined: String = name
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '_' | '#' | '+') {
                c
            } else {
                '-'
            }
        })
        .collect();
    let trimmed = joined.trim_matches('-');
    if trimmed.is_empty() {
        "agent".into()
    } else {
        trimmed.into()
    }
}
