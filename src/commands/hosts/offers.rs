//! Asks one host what it has to offer, and picks timers of all hosts.

use std::rc::Rc;

use timers::Fault;

use super::{HostName, Hosted, MissingTimer, Selection};
use crate::campaign::clocks::{Host, Settings};
use crate::cli::AgentSpec;
use crate::commands::{CommandError, failed};
use crate::hosts::children;
use crate::hosts::connection::Connection;
use crate::hosts::events::LogSpec;
use crate::hosts::process::Command;
use crate::hosts::protocol::{Hello, Missing, Op};
use crate::hosts::serve;
use crate::model::Status;
use crate::recording::NotUsable;
use crate::scratch::ScratchFolder;
use crate::selection::{UnknownTimer, select};

/// A host with all of its timers.
pub(super) struct Offer {
    host: Host,
    pub name: HostName,
    missing: Vec<Missing>,
}

impl Offer {
    /// Its timers of one kind, those that wait only where they answer a question.
    fn usable<'a, T: Hosted>(&'a self, op: Option<&str>) -> impl Iterator<Item = &'a T> {
        T::all(&self.host)
            .iter()
            .filter(move |one| answers::<T>(one.ops(), op))
    }

    /// Those that it lacks.
    fn missing<T: Hosted>(&self, op: Option<&str>) -> impl Iterator<Item = MissingTimer> {
        self.missing
            .iter()
            .filter(move |missing| answers::<T>(&missing.ops, op))
            .map(|missing| MissingTimer::unavailable(missing, &self.name))
    }
}

fn answers<T: Hosted>(ops: &[String], op: Option<&str>) -> bool {
    ops.is_empty() != T::WAITS && op.is_none_or(|op| ops.iter().any(|offered| offered == op))
}

/// Runtimes that `all` means: which are here, and the rows of those that are not.
#[derive(Clone, Debug, Default)]
pub struct Unnamed {
    pub(super) here: Vec<&'static str>,
    pub(super) missing: Vec<&'static str>,
}

impl Unnamed {
    /// Whether an id stands for one that is not here.
    pub fn stands_for(&self, id: &str) -> bool {
        id.strip_suffix(":*")
            .is_some_and(|name| self.missing.contains(&name))
    }

    /// In a line, unless none was meant.
    pub fn line(&self) -> Option<String> {
        let list = |names: &[&str]| match names {
            [] => "none".into(),
            names => names.join(", "),
        };
        (self.here.len() + self.missing.len() > 0).then(|| {
            format!(
                "runtimes: {}; not here: {} (`timermeter list --runtime all` says which package brings them)",
                list(&self.here),
                list(&self.missing)
            )
        })
    }
}

/// All hosts of a run.
pub struct Offers {
    pub(super) all: Vec<Offer>,
    /// Hosts that are not there.
    pub(super) lost: Vec<MissingTimer>,
    /// Whether a runtime that the user named is not there.
    pub(super) missing_by_name: bool,
    /// What came of runtimes that were meant without being named.
    pub unnamed: Unnamed,
    /// Holds the hosts of other runtimes while they are needed.
    pub(super) folder: Option<Rc<ScratchFolder>>,
}

impl Offers {
    /// Picks the timers that were asked for, all of them without `patterns`; of timers that wait,
    /// those that answer the question `op`.
    ///
    /// # Errors
    /// When a pattern fits nothing.
    pub fn pick<T: Hosted>(
        &self,
        patterns: &[String],
        op: Option<&str>,
    ) -> Result<Selection<T>, CommandError> {
        let mut selection = Selection {
            hosts: Vec::new(),
            names: Vec::new(),
            usable: Vec::new(),
            missing: self.lost.clone(),
            missing_by_name: self.missing_by_name,
            of_runtimes: None,
            _folder: self.folder.clone(),
        };
        let ids = self.all.iter().flat_map(|offer| {
            let usable = offer.usable::<T>(op).map(|one| offer.name.id(one.id()));
            usable.chain(offer.missing::<T>(op).map(|one| one.timer.id))
        });
        let wanted = self.select(patterns, ids.collect())?;
        for offer in &self.all {
            let (host, before) = (selection.hosts.len(), selection.usable.len());
            let is_wanted = |one: &&T| wanted.contains(&offer.name.id(one.id()));
            let usable = offer.usable::<T>(op).filter(is_wanted);
            selection
                .usable
                .extend(usable.map(|one| (host, one.clone())));
            let missing = offer.missing::<T>(op);
            selection
                .missing
                .extend(missing.filter(|one| wanted.contains(&one.timer.id)));
            // A host that is not asked anything is not started.
            if selection.usable.len() > before {
                selection.hosts.push(offer.host.clone());
                selection.names.push(offer.name.clone());
            }
        }
        Ok(selection)
    }

    /// Which of the timers are meant, among the `ids` that all hosts have; all of them without
    /// `patterns`.
    fn select(
        &self,
        patterns: &[String],
        mut ids: Vec<String>,
    ) -> Result<Vec<String>, CommandError> {
        ids.extend(self.lost.iter().map(|host| host.timer.id.clone()));
        // The timers of an agent that is not there cannot be known: its row stays, and names under
        // it are not refused.
        let of_lost = |pattern: &String| {
            self.lost.iter().any(|host| {
                let prefix = host.timer.id.trim_end_matches('*');
                pattern.starts_with(prefix)
            })
        };
        let known: Vec<String> = patterns
            .iter()
            .filter(|pattern| !of_lost(pattern))
            .cloned()
            .collect();
        if !patterns.is_empty() && known.is_empty() {
            return Ok(Vec::new());
        }
        let all: Vec<&str> = ids.iter().map(String::as_str).collect();
        let wanted =
            select(&known, &all).map_err(|error| CommandError::Usage(elsewhere(&error)))?;
        Ok(wanted.into_iter().map(str::to_owned).collect())
    }
}

/// Starts an agent once to hear what it has.
pub(super) fn ask(
    command: Command,
    prefix: Option<&str>,
    takes_ids: bool,
    log: Option<LogSpec>,
    settings: &Settings,
) -> Result<Offer, Fault> {
    let connection = Connection::start(&command, settings.cpu, settings.timeout)?;
    let hello = connection.hello().clone();
    let name = HostName {
        prefix: Some(prefix.map_or_else(|| as_prefix(&hello.runtime.name), str::to_owned)),
        runtime: format!("{} {}", hello.runtime.name, hello.runtime.version)
            .trim()
            .to_owned(),
    };
    Ok(offer(command, takes_ids, log, name, hello))
}

/// The timers of this program itself, served by a worker a timer.
pub(super) fn native(with_waiters: bool) -> Result<Offer, CommandError> {
    let (program, mut args) = children::this_program().map_err(failed)?;
    args.push("agent".into());
    let command = Command::new("timermeter agent", program, args);
    let waiters = if with_waiters {
        timers::waits::catalogue()
    } else {
        &[]
    };
    let name = HostName {
        prefix: None,
        runtime: "native".into(),
    };
    let hello = serve::introduction(timers::catalogue(), waiters);
    Ok(offer(command, true, None, name, hello))
}

fn offer(
    command: Command,
    takes_ids: bool,
    log: Option<LogSpec>,
    name: HostName,
    hello: Hello,
) -> Offer {
    let (compares, answers_for_many) = (hello.offers(Op::Comparisons), hello.many);
    let Hello {
        mut timers,
        mut waiters,
        unavailable: mut missing,
        ..
    } = hello;
    timers.retain(|timer| timer.id != timers::FLOOR_ID);
    waiters.retain(|waiter| waiter.id != timers::waits::FLOOR_ID);
    missing.retain(|missing| timers.iter().all(|timer| timer.id != missing.id));
    let host = Host {
        command,
        takes_ids,
        timers,
        waiters,
        compares,
        answers_for_many,
        log,
    };
    Offer {
        host,
        name,
        missing,
    }
}

/// How an agent of the command line is started.
pub(in crate::commands) fn command(spec: &AgentSpec) -> Command {
    let (program, args) = spec
        .command
        .split_first()
        .expect("the command line refuses an empty command");
    Command::new(program, program, args.iter().map(Into::into).collect())
}

/// A host that did not introduce itself.
pub(super) fn unreachable(prefix: &str, label: String, fault: &Fault) -> MissingTimer {
    let why = NotUsable {
        status: Status::Failed,
        reason: fault.to_string(),
        remedy: None,
    };
    MissingTimer::of_host(prefix, label, why)
}

/// The name of a runtime as what leads its ids: lower case, words joined.
pub(super) fn as_prefix(name: &str) -> String {
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

/// Why nothing is called so; where that is a timer for another command, which.
fn elsewhere(error: &UnknownTimer) -> String {
    match error {
        UnknownTimer::Id { id, .. } if timers::find(id).is_some() => {
            format!("`{id}` is a clock: `timermeter probe {id}` characterises it")
        }
        UnknownTimer::Id { id, .. } if timers::waits::find(id).is_some() => {
            format!("`{id}` is a timer that waits: `timermeter wait {id}` characterises it")
        }
        _ => error.to_string(),
    }
}
