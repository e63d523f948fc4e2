//! The timers of a run that wait.

use super::HostName;
use super::offers::Offers;
use crate::cli::{AgentSpec, RuntimeArgs};
use crate::commands::CommandError;
use crate::model::{Means, Status};
use crate::prober::campaign::{Host, Settings};
use crate::prober::protocol::HostedWaiter;
use crate::recording::NotUsable;
use crate::scratch::ScratchFolder;

/// All timers of a run that wait.
pub struct Waiters {
    /// The programs.
    pub hosts: Vec<Host>,
    /// How each host is called in reports.
    pub names: Vec<HostName>,
    /// Those that can be asked, each with the index of its host.
    pub usable: Vec<(usize, HostedWaiter)>,
    /// Those that cannot.
    pub missing: Vec<MissingWaiter>,
    /// Whether a runtime that the user named is not there.
    pub missing_by_name: bool,
    /// Holds the hosts of other runtimes while they are needed.
    _folder: Option<ScratchFolder>,
}

impl Waiters {
    /// Leaves out timers that only other systems have.
    pub fn leave_out_elsewhere(&mut self) {
        let elsewhere =
            |entry: timers::waits::WaitEntry| (entry.availability)().is_err_and(|why| why.elsewhere);
        self.missing.retain(|missing| !timers::waits::find(&missing.id).is_some_and(elsewhere));
    }
}

/// A timer that waits and cannot be asked.
pub struct MissingWaiter {
    /// Its id in the report.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// `native`, or the name of the runtime that hosts it.
    pub runtime: String,
    /// What its thread would do meanwhile.
    pub means: Means,
    /// Why.
    pub why: NotUsable,
}

/// Asks every host which timers it has that answer the question `op`, or any, and picks those that were asked for, all of them without
/// `patterns`.
///
/// # Errors
/// When a pattern fits nothing, or this program cannot start itself.
pub fn gather(
    patterns: &[String],
    agents: &[AgentSpec],
    runtimes: &RuntimeArgs,
    op: Option<&str>,
    settings: &Settings,
) -> Result<Waiters, CommandError> {
    let mut offers = Offers::of(agents, runtimes, settings)?;
    let answers = |ops: &[String]| op.is_none_or(|op| ops.iter().any(|offered| offered == op));
    for offer in &mut offers.all {
        offer.host.waiters.retain(|waiter| answers(&waiter.ops));
        offer.missing_waiters.retain(|missing| answers(&missing.ops));
    }
    let ids = offers.all.iter().flat_map(|offer| {
        let hosted = offer.host.waiters.iter().map(|waiter| &waiter.id);
        hosted.chain(offer.missing_waiters.iter().map(|missing| &missing.id)).map(|id| offer.name.id(id))
    });
    let wanted = offers.select(patterns, ids.collect())?;
    let lost = offers.lost.into_iter().map(|row| MissingWaiter {
        id: row.id,
        label: row.label,
        runtime: row.runtime,
        means: Means::default(),
        why: NotUsable { status: row.status, reason: row.reason.unwrap_or_default(), remedy: row.remedy },
    });
    let mut waiters = Waiters {
        hosts: Vec::new(),
        names: Vec::new(),
        usable: Vec::new(),
        missing: lost.collect(),
        missing_by_name: offers.missing_by_name,
        _folder: offers.folder,
    };
    for offer in offers.all {
        let (index, before) = (waiters.hosts.len(), waiters.usable.len());
        let is_wanted = |id: &str| wanted.contains(&offer.name.id(id));
        let picked = offer.host.waiters.iter().filter(|waiter| is_wanted(&waiter.id));
        waiters.usable.extend(picked.map(|waiter| (index, waiter.clone())));
        let missing = offer.missing_waiters.iter().filter(|missing| is_wanted(&missing.id));
        waiters.missing.extend(missing.map(|missing| MissingWaiter {
            id: offer.name.id(&missing.id),
            label: missing.label.clone(),
            runtime: offer.name.runtime.clone(),
            means: timers::waits::find(&missing.id).map(|entry| entry.info.means.into()).unwrap_or_default(),
            why: NotUsable {
                status: Status::Unavailable,
                reason: missing.reason.clone(),
                remedy: missing.remedy.clone(),
            },
        }));
        if waiters.usable.len() > before {
            waiters.hosts.push(offer.host);
            waiters.names.push(offer.name);
        }
    }
    Ok(waiters)
}
