//! The hosts of other runtimes: made ready in a private folder, and asked what they have.

use timers::Fault;
use timers::agents::Runtime;

use super::MissingTimer;
use super::offers::{Offer, ask, unreachable};
use crate::campaign::clocks::Settings;
use crate::cli::HostArgs;
use crate::commands::CommandError;
use crate::hosts::children;
use crate::hosts::runtimes::{self, NotThere, Ready, takes_settings};
use crate::model::Status;
use crate::recording::NotUsable;
use crate::scratch::ScratchFolder;

/// What came of the runtimes.
pub(super) struct Installed {
    /// Holds their hosts.
    pub folder: Option<ScratchFolder>,
    /// Whether one that the user named is not there.
    pub missing_by_name: bool,
    /// What came of those that were meant without being named.
    pub unnamed: Unnamed,
}

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
        const HOW: &str = "`timermeter list --runtime all` says which package brings them";
        match (self.here.as_slice(), self.missing.as_slice()) {
            ([], []) => None,
            (here, []) => Some(format!("runtimes: all {} are here", here.len())),
            ([], _) => Some(format!("runtimes: none is here; {HOW}")),
            (here, missing) => Some(format!(
                "runtimes: {}; not here: {} ({HOW})",
                here.join(", "),
                missing.join(", ")
            )),
        }
    }
}

/// Adds what the hosts of these runtimes offer, and a row for each that is not there.
pub(super) fn add(
    wanted: &HostArgs,
    settings: &Settings,
    offers: &mut Vec<Offer>,
    lost: &mut Vec<MissingTimer>,
) -> Result<Installed, CommandError> {
    let settings_of_browsers: Vec<String> = wanted
        .settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let wanted = wanted.wanted();
    if !settings_of_browsers.is_empty()
        && !wanted.iter().any(|(runtime, _)| takes_settings(runtime))
    {
        return Err(CommandError::Usage(
            "--firefox-setting needs --runtime firefox".into(),
        ));
    }
    let (folder, prepared) = prepare(&wanted, &settings_of_browsers)?;
    let (mut missing_by_name, mut unnamed) = (false, Unnamed::default());
    for ((runtime, named), prepared) in wanted.into_iter().zip(prepared) {
        if !named {
            let here = if prepared.is_ok() {
                &mut unnamed.here
            } else {
                &mut unnamed.missing
            };
            here.push(runtime.name);
        }
        let ready = prepared.unwrap_or_else(|why| {
            missing_by_name |= named;
            lost.push(missing(runtime, why));
            Vec::new()
        });
        for Ready {
            prefix,
            command,
            log,
        } in ready
        {
            let label = command.name.clone();
            match ask(command, Some(prefix), true, log, settings) {
                Ok(offer) => offers.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => lost.push(unreachable(prefix, label, &fault)),
            }
        }
    }
    Ok(Installed {
        folder,
        missing_by_name,
        unnamed,
    })
}

/// A private folder, and for each runtime its hosts or why there are none.
type Prepared = (Option<ScratchFolder>, Vec<Result<Vec<Ready>, NotThere>>);

/// Makes hosts ready, all at once: nothing is measured yet. They live in a private folder that goes
/// with its owner.
fn prepare(
    wanted: &[(&'static Runtime, bool)],
    settings: &[String],
) -> Result<Prepared, CommandError> {
    if wanted.is_empty() {
        return Ok((None, Vec::new()));
    }
    let folder = ScratchFolder::within(&std::env::temp_dir(), 0o700).map_err(|error| {
        CommandError::Failed(format!(
            "cannot make a folder for the hosts of other runtimes: {error}; set TMPDIR to one that can be written"
        ))
    })?;
    let place = folder.path();
    let prepared = std::thread::scope(|scope| {
        let threads: Vec<_> = wanted
            .iter()
            .map(|&(runtime, _)| scope.spawn(move || runtimes::prepare(runtime, place, settings)))
            .collect();
        let broken = || NotThere {
            reason: "its preparation broke off".into(),
            remedy: "try again".into(),
        };
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(broken())))
            .collect()
    });
    if children::interrupted() {
        Err(CommandError::Interrupted)
    } else {
        Ok((Some(folder), prepared))
    }
}

/// A runtime that is not there.
fn missing(runtime: &Runtime, why: NotThere) -> MissingTimer {
    let label = format!("all timers of {}", runtime.name);
    let why = NotUsable {
        status: Status::Unavailable,
        reason: why.reason,
        remedy: Some(why.remedy),
    };
    MissingTimer::of_host(runtime.name, label, why)
}
