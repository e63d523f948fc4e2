//! Adds the hosts of other runtimes: made ready in a private folder, and asked what they have.

use std::rc::Rc;

use timers::Fault;

use super::MissingTimer;
use super::offers::{Offers, ask, unreachable};
use crate::campaign::clocks::Settings;
use crate::cli::HostArgs;
use crate::commands::CommandError;
use crate::hosts::children;
use crate::hosts::runtimes::{NotThere, Ready, prepare, takes_settings};
use crate::model::Status;
use crate::recording::NotUsable;
use crate::scratch::ScratchFolder;

/// Runtimes that `all` means: which are here, and the rows of those that are not.
#[derive(Clone, Debug, Default)]
pub struct Unnamed {
    here: Vec<&'static str>,
    missing: Vec<&'static str>,
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

impl Offers {
    /// Adds what the hosts of the runtimes offer that were asked for. They are made ready all at
    /// once, because nothing is measured yet.
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
        let prepared: Vec<Result<Vec<Ready>, NotThere>> = std::thread::scope(|scope| {
            let start = |&(runtime, _)| scope.spawn(move || prepare(runtime, place, of_browsers));
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

    fn add_ready(&mut self, ready: Vec<Ready>, settings: &Settings) -> Result<(), CommandError> {
        for Ready {
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
