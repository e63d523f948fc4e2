//! The hosts of other runtimes: made ready in a private folder, and asked what they have.

use timers::Fault;
use timers::agents::Runtime;

use super::offer::{Offer, offer, unreachable_agent};
use crate::cli::RuntimeArgs;
use crate::commands::CommandError;
use crate::model::{Status, TimerRow};
use crate::prober::campaign::Settings;
use crate::prober::children;
use crate::prober::runtimes::{self, NotThere, Ready};
use crate::scratch::ScratchFolder;

/// What came of the runtimes.
pub(super) struct Installed {
    /// Holds their hosts.
    pub folder: Option<ScratchFolder>,
    /// Whether one that the user named is not there.
    pub missing_by_name: bool,
}

/// Adds what the hosts of these runtimes offer, and a row for each that is not there.
pub(super) fn add(
    wanted: &RuntimeArgs,
    settings: &Settings,
    offers: &mut Vec<Offer>,
    lost: &mut Vec<TimerRow>,
) -> Result<Installed, CommandError> {
    let wanted = wanted.wanted();
    let (folder, prepared) = prepare(&wanted)?;
    let mut missing_by_name = false;
    for ((runtime, named), prepared) in wanted.into_iter().zip(prepared) {
        let ready = prepared.unwrap_or_else(|why| {
            missing_by_name |= named;
            lost.push(missing(runtime, &why));
            Vec::new()
        });
        for Ready { prefix, command, log } in ready {
            let label = command.name.clone();
            match offer(command, Some(prefix), true, log, settings) {
                Ok(offer) => offers.push(offer),
                Err(Fault::Interrupted) => return Err(CommandError::Interrupted),
                Err(fault) => lost.push(unreachable_agent(prefix, &label, &fault)),
            }
        }
    }
    Ok(Installed { folder, missing_by_name })
}

/// A private folder, and for each runtime its hosts or why there are none.
type Prepared = (Option<ScratchFolder>, Vec<Result<Vec<Ready>, NotThere>>);

/// Makes hosts ready, all at once: nothing is measured yet. They live in a private folder that goes with its owner.
fn prepare(wanted: &[(&'static Runtime, bool)]) -> Result<Prepared, CommandError> {
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
            .map(|&(runtime, _)| scope.spawn(move || runtimes::prepare(runtime, place)))
            .collect();
        let broken = || NotThere { reason: "its preparation broke off".into(), remedy: "try again".into() };
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(broken()))).collect()
    });
    if children::interrupted() { Err(CommandError::Interrupted) } else { Ok((Some(folder), prepared)) }
}

/// The one line of a runtime that is not there.
fn missing(runtime: &Runtime, why: &NotThere) -> TimerRow {
    let prefix = runtime.name;
    let label = format!("all timers of {prefix}");
    let mut row = TimerRow::unmeasured(&format!("{prefix}:*"), &label, prefix, Status::Unavailable);
    row.reason = Some(why.reason.clone());
    row.remedy = Some(why.remedy.clone());
    row
}
