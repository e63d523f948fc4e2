//! Collects the timers of all hosts of a run, after preparing the hosts of other runtimes.

use std::rc::Rc;

use timers::Fault;

use super::MissingTimer;
use super::offers::{Offer, Offers, Unnamed, as_prefix, ask, command, native, unreachable};
use crate::campaign::clocks::Settings;
use crate::cli::{AgentSpec, HostArgs};
use crate::commands::CommandError;
use crate::hosts::children;
use crate::hosts::process::raise_file_limit;
use crate::hosts::runtimes::{PreparedHost, RuntimeMissing, prepare, takes_settings};
use crate::model::Status;
use crate::recording::NotUsable;
use crate::scratch::ScratchFolder;

impl Offers {
    /// Collects the timers of every host. `with_waiters` includes the sleep primitives of this
    /// program; each must be opened to test it, so commands that only read clocks leave them out.
    pub fn gather(
        hosts: &HostArgs,
        with_waiters: bool,
        settings: &Settings,
    ) -> Result<Self, CommandError> {
        raise_file_limit().map_err(CommandError::Failed)?;
        let mut offers = Self {
            all: vec![native(with_waiters)?],
            lost: Vec::new(),
            missing_by_name: false,
            unnamed: Unnamed::default(),
            folder: None,
        };
        offers.add_runtimes(hosts, settings)?;
        for spec in &hosts.agents {
            match ask(command(spec), spec.name.as_deref(), false, None, settings) {
                Ok(offer) => offers.all.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => {
                    let label = spec.command.join(" ");
                    offers
                        .lost
                        .push(unreachable(&prefix_of(spec), label, &fault));
                }
            }
        }
        make_names_unique(&mut offers.all);
        Ok(offers)
    }

    /// Adds the timers of the hosts of the requested runtimes. The hosts are prepared in parallel,
    /// because nothing is being measured yet.
    pub(super) fn add_runtimes(
        &mut self,
        hosts: &HostArgs,
        settings: &Settings,
    ) -> Result<(), CommandError> {
        let wanted = hosts.wanted();
        let of_browsers = hosts.settings.iter();
        let of_browsers: Vec<String> = of_browsers
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !of_browsers.is_empty() && !wanted.iter().any(|(runtime, _)| takes_settings(runtime)) {
            return Err(CommandError::Usage(
                "--firefox-setting needs --runtime firefox".into(),
            ));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let folder = ScratchFolder::within(&std::env::temp_dir(), 0o700).map_err(|error| {
            CommandError::Failed(format!(
                "cannot make a folder for the hosts of other runtimes: {error}; set TMPDIR to one that can be written"
            ))
        })?;
        let (place, of_browsers) = (folder.path(), &of_browsers);
        let prepared: Vec<Result<Vec<PreparedHost>, RuntimeMissing>> =
            std::thread::scope(|scope| {
                let start =
                    |&(runtime, _)| scope.spawn(move || prepare(runtime, place, of_browsers));
                let threads: Vec<_> = wanted.iter().map(start).collect();
                let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                threads.into_iter().map(join).collect()
            });
        if children::interrupted() {
            return Err(CommandError::Interrupted);
        }
        self.folder = Some(Rc::new(folder));
        for ((runtime, is_named), prepared) in wanted.into_iter().zip(prepared) {
            let kind = if prepared.is_ok() {
                &mut self.unnamed.here
            } else {
                &mut self.unnamed.missing
            };
            kind.extend((!is_named).then_some(runtime.name));
            match prepared {
                Ok(ready) => self.add_ready(ready, settings)?,
                Err(why) => {
                    self.missing_by_name |= is_named;
                    let label = format!("all timers of {}", runtime.name);
                    let why = NotUsable {
                        status: Status::Unavailable,
                        reason: why.reason,
                        remedy: Some(why.remedy),
                    };
                    self.lost
                        .push(MissingTimer::of_host(runtime.name, label, why));
                }
            }
        }
        Ok(())
    }

    fn add_ready(
        &mut self,
        ready: Vec<PreparedHost>,
        settings: &Settings,
    ) -> Result<(), CommandError> {
        for PreparedHost {
            prefix,
            command,
            log,
        } in ready
        {
            let label = command.name.clone();
            match ask(command, Some(prefix), true, log, settings) {
                Ok(offer) => self.all.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => self.lost.push(unreachable(prefix, label, &fault)),
            }
        }
        Ok(())
    }
}

/// The prefix of the ids of an agent that did not report its name.
fn prefix_of(spec: &AgentSpec) -> String {
    let program = spec.command.first().map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    spec.name.clone().unwrap_or_else(|| as_prefix(program))
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
