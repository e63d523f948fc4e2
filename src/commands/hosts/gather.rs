//! Collects the timers of all hosts of a run: prepares the agents of other runtimes, and asks each
//! agent for its timers.

use std::collections::BTreeSet;
use std::rc::Rc;

use timers::Fault;

use super::MissingTimer;
use super::offers::{
    Agent, AllRuntimes, Offer, Offers, agent_command, native_offer, prefix_from_name, query_agent,
    unreachable_host,
};
use crate::campaign::clocks::Settings;
use crate::commands::{CommandError, failed, print_message};
use crate::hosts::children;
use crate::hosts::process::raise_file_limit;
use crate::hosts::runtimes::{Choices, PreparedHost, RuntimeMissing, prepare, takes_settings};
use crate::hosts::surroundings::removed_variables;
use crate::model::Status;
use crate::parallel;
use crate::recording::NotUsable;
use crate::requests::{AgentSpec, HostRequest, RuntimeName};
use crate::scratch::ScratchFolder;
use crate::selection::named_runtimes;

impl Offers {
    /// Collects the timers of every host. Runtimes that the patterns name are started without
    /// --runtime, if there is no other agent that may have that name. `with_waiters` includes the sleep primitives and periodic
    /// timers of this program; commands that only read clocks leave them out, because testing
    /// whether each is available takes time.
    ///
    /// # Errors
    /// When the user interrupts the program, a flag is invalid, the limit of open files is too low,
    /// or no folder for the agents can be created.
    pub fn gather(
        patterns: &[String],
        hosts: &HostRequest,
        with_waiters: bool,
        settings: &Settings,
    ) -> Result<Self, CommandError> {
        raise_file_limit().map_err(failed)?;
        let mut offers = Self {
            all: vec![native_offer(with_waiters)?],
            unreachable: Vec::new(),
            named_runtime_missing: false,
            all_runtimes: AllRuntimes::default(),
            folder: None,
        };
        let mut hosts = hosts.clone();
        if hosts.agents.is_empty() {
            let named = named_runtimes(patterns).map(RuntimeName::One);
            hosts.runtimes.extend(named);
        }
        offers.add_runtimes(&hosts, settings)?;
        for spec in &hosts.agents {
            let agent = Agent {
                command: agent_command(spec),
                prefix: spec.name.as_deref(),
                takes_ids: false,
            };
            match query_agent(agent, settings) {
                Ok(offer) => offers.all.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => {
                    let label = spec.command.join(" ");
                    offers.unreachable.push(unreachable_host(
                        &fallback_prefix(spec),
                        label,
                        &fault,
                    ));
                }
            }
        }
        make_names_unique(&mut offers.all);
        Ok(offers)
    }

    /// Adds the timers of the requested runtimes. Their agents are prepared (for example compiled)
    /// in parallel, because nothing is being measured yet.
    pub(super) fn add_runtimes(
        &mut self,
        hosts: &HostRequest,
        settings: &Settings,
    ) -> Result<(), CommandError> {
        let wanted = hosts.wanted_runtimes();
        if !hosts.firefox_settings.is_empty()
            && !wanted.iter().any(|(runtime, _)| takes_settings(runtime))
        {
            return Err(CommandError::Usage(
                "--firefox-setting needs --runtime firefox".into(),
            ));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let folder = std::path::absolute(std::env::temp_dir());
        let folder = folder.and_then(|folder| ScratchFolder::within(&folder, 0o700));
        let folder = folder.map_err(|error| {
            CommandError::Failed(format!(
                "cannot create a folder for the agents of other runtimes: {error}; set TMPDIR to a writable folder"
            ))
        })?;
        let choices = Choices {
            settings: &hosts.firefox_settings,
            kept_variables: &hosts.kept_variables,
        };
        let folder_path = folder.path();
        let prepared: Vec<Result<Vec<PreparedHost>, RuntimeMissing>> =
            parallel::map(&wanted, |&(runtime, _)| {
                prepare(runtime, folder_path, choices)
            });
        if children::interrupted() {
            return Err(CommandError::Interrupted);
        }
        self.folder = Some(Rc::new(folder));
        let used = wanted
            .iter()
            .zip(&prepared)
            .filter(|((_, is_named), prepared)| *is_named || prepared.is_ok());
        let removed: BTreeSet<&str> = used
            .flat_map(|((runtime, _), _)| removed_variables(runtime, choices.kept_variables))
            .collect();
        if !removed.is_empty() {
            let names = Vec::from_iter(removed).join(", ");
            print_message(&format_args!(
                "the agents of runtimes run without {names}, which can change the code that runs; --keep-env NAME passes a variable on"
            ));
        }
        for ((runtime, is_named), prepared) in wanted.into_iter().zip(prepared) {
            // `--runtime all` takes the installed runtimes, and one line of the output lists which
            // it found. A runtime that the user named must be installed and is not in this line.
            if !is_named {
                let names = if prepared.is_ok() {
                    &mut self.all_runtimes.installed
                } else {
                    &mut self.all_runtimes.missing
                };
                names.push(runtime.name);
            }
            match prepared {
                Ok(ready) => self.add_prepared(ready, settings)?,
                Err(why) => {
                    self.named_runtime_missing |= is_named;
                    let label = format!("all timers of {}", runtime.name);
                    let why = NotUsable {
                        status: Status::Unavailable,
                        reason: why.reason.to_string(),
                        remedy: Some(why.remedy.into()),
                    };
                    self.unreachable
                        .push(MissingTimer::for_host(runtime.name, label, why));
                }
            }
        }
        Ok(())
    }

    /// Adds the timers of the prepared agents of a runtime.
    fn add_prepared(
        &mut self,
        ready: Vec<PreparedHost>,
        settings: &Settings,
    ) -> Result<(), CommandError> {
        for PreparedHost { prefix, command } in ready {
            let label = command.name.clone();
            let agent = Agent {
                command,
                prefix: Some(prefix),
                takes_ids: true,
            };
            match query_agent(agent, settings) {
                Ok(offer) => self.all.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => self
                    .unreachable
                    .push(unreachable_host(prefix, label, &fault)),
            }
        }
        Ok(())
    }
}

/// The prefix of the ids of an agent that did not report its name: the given name, or that of the
/// program.
fn fallback_prefix(spec: &AgentSpec) -> String {
    let program = spec.command.first().map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    spec.name
        .clone()
        .unwrap_or_else(|| prefix_from_name(program))
}

/// Gives the second agent of the same runtime the prefix `name-2`, and so on.
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
