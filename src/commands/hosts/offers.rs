//! What all hosts of a run have to offer.

use std::rc::Rc;

use timers::Fault;

use super::HostName;
use super::offer::{Offer, command, offer, prefix_of, unreachable_agent};
use super::runtimes::{self, Installed, Unnamed};
use crate::campaign::clocks::{Host, Settings};
use crate::cli::HostArgs;
use crate::commands::{CommandError, failed};
use crate::hosts::children;
use crate::hosts::process::Command;
use crate::hosts::protocol::{HostedTimer, HostedWaiter, Missing};
use crate::model::{Status, TimerRow};
use crate::scratch::ScratchFolder;
use crate::selection::{UnknownTimer, select};

/// All hosts of a run.
pub struct Offers {
    /// What each has.
    pub all: Vec<Offer>,
    /// Rows of hosts that are not there.
    pub lost: Vec<TimerRow>,
    /// Whether a runtime that the user named is not there.
    pub missing_by_name: bool,
    /// What came of runtimes that were meant without being named.
    pub unnamed: Unnamed,
    /// Holds the hosts of other runtimes while they are needed.
    pub folder: Option<Rc<ScratchFolder>>,
}

impl Offers {
    /// Asks every host what it has: clocks, and the timers of agents that wait.
    pub fn of(hosts: &HostArgs, settings: &Settings) -> Result<Self, CommandError> {
        crate::hosts::process::make_room_for_files().map_err(CommandError::Failed)?;
        let mut all = vec![native()?];
        let mut lost = Vec::new();
        let Installed {
            folder,
            missing_by_name,
            unnamed,
        } = runtimes::add(hosts, settings, &mut all, &mut lost)?;
        for spec in &hosts.agents {
            match offer(command(spec), spec.name.as_deref(), false, None, settings) {
                Ok(offer) => all.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => lost.push(unreachable_agent(
                    &prefix_of(spec),
                    &spec.command.join(" "),
                    &fault,
                )),
            }
        }
        make_names_unique(&mut all);
        for Offer { name, rows, .. } in &mut all {
            rows.iter_mut().for_each(|row| row.id = name.id(&row.id));
        }
        Ok(Self {
            all,
            lost,
            missing_by_name,
            unnamed,
            folder: folder.map(Rc::new),
        })
    }

    /// Adds the timers of this program that wait. To find out whether they work is to open each of
    /// them, which is not for those who only read clocks.
    #[must_use]
    pub fn with_native_waiters(mut self) -> Self {
        if let Some(native) = self
            .all
            .iter_mut()
            .find(|offer| offer.name.prefix.is_none())
        {
            for entry in timers::waits::catalogue() {
                match entry.availability() {
                    Ok(()) => native.host.waiters.push(HostedWaiter::native(entry)),
                    Err(why) => native.missing_waiters.push(Missing::waiter(entry, why)),
                }
            }
        }
        self
    }

    /// Which of the timers are meant, among the `ids` that all hosts have; all of them without
    /// `patterns`.
    pub fn select(
        &self,
        patterns: &[String],
        mut ids: Vec<String>,
    ) -> Result<Vec<String>, CommandError> {
        ids.extend(self.lost.iter().map(|row| row.id.clone()));
        // The timers of an agent that is not there cannot be known: its row stays, and names under
        // it are not refused.
        let of_lost = |pattern: &String| {
            self.lost.iter().any(|row| {
                let prefix = row.id.trim_end_matches('*');
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

/// The clocks of this program itself, served by a worker a timer.
fn native() -> Result<Offer, CommandError> {
    let (program, mut args) = children::this_program().map_err(failed)?;
    args.push("agent".into());
    let command = Command::new("timermeter agent", program, args);
    let (mut hosted, mut rows) = (Vec::new(), Vec::new());
    let best = timers::REFERENCES
        .iter()
        .find(|id| timers::find(id).is_some_and(|entry| (entry.availability)().is_ok()));
    for entry in timers::catalogue() {
        let info = entry.info;
        match (entry.availability)() {
            Ok(()) => {
                hosted.push(HostedTimer {
                    reference: best == Some(&info.id),
                    ..HostedTimer::native(entry)
                });
            }
            Err(why) => {
                let mut row =
                    TimerRow::unmeasured(info.id, info.label, "native", Status::Unavailable);
                row.ns_per_tick = (entry.ns_per_tick)().or(info.ns_per_tick);
                row.properties = Some(info.properties.into_owned());
                row.reason = Some(why.reason);
                row.remedy = why.remedy;
                rows.push(row);
            }
        }
    }
    let host = Host {
        command,
        takes_ids: true,
        timers: hosted,
        waiters: Vec::new(),
        compares: true,
        answers_for_many: true,
        log: None,
    };
    let name = HostName {
        prefix: None,
        runtime: "native".into(),
    };
    Ok(Offer {
        host,
        name,
        rows,
        missing_waiters: Vec::new(),
    })
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

/// Two agents of the same runtime: the second one's ids lead with `name-2`.
fn make_names_unique(offers: &mut [Offer]) {
    for index in 1..offers.len() {
        let (before, rest) = offers.split_at_mut(index);
        let taken =
            |prefix: &Option<String>| before.iter().any(|offer| offer.name.prefix == *prefix);
        let Some(wanted) = rest[0].name.prefix.clone() else {
            continue;
        };
        let mut number = 2;
        while taken(&rest[0].name.prefix) {
            rest[0].name.prefix = Some(format!("{wanted}-{number}"));
            number += 1;
        }
    }
}
