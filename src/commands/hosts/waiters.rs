//! The timers of a run that wait.

use std::rc::Rc;

use super::HostName;
use super::offer::Offer;
use super::offers::Offers;
use crate::campaign::clocks::{Host, Settings};
use crate::cli::HostArgs;
use crate::commands::CommandError;
use crate::hosts::protocol::{HostedWaiter, Missing};
use crate::model::{Means, Status, Timer, TimerRow};
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
    /// As of clocks.
    pub of_runtimes: Option<String>,
    /// Holds the hosts of other runtimes while they are needed.
    _folder: Option<Rc<ScratchFolder>>,
}

impl Waiters {
    /// Picks those that were asked for, all of them without `patterns`.
    ///
    /// # Errors
    /// When a pattern fits nothing.
    pub fn of(offers: &Offers, patterns: &[String]) -> Result<Self, CommandError> {
        let ids = offers.all.iter().flat_map(
            |Offer {
                 host,
                 name,
                 missing_waiters,
                 ..
             }| {
                let hosted = host.waiters.iter().map(|waiter| &waiter.id);
                hosted
                    .chain(missing_waiters.iter().map(|missing| &missing.id))
                    .map(|id| name.id(id))
            },
        );
        let wanted = offers.select(patterns, ids.collect())?;
        let mut waiters = Self {
            hosts: Vec::new(),
            names: Vec::new(),
            usable: Vec::new(),
            missing: offers.lost.iter().map(MissingWaiter::of_lost).collect(),
            missing_by_name: offers.missing_by_name,
            of_runtimes: None,
            _folder: offers.folder.clone(),
        };
        for Offer {
            host,
            name,
            missing_waiters,
            ..
        } in &offers.all
        {
            let (index, before) = (waiters.hosts.len(), waiters.usable.len());
            let is_wanted = |id: &str| wanted.contains(&name.id(id));
            let picked = host.waiters.iter().filter(|waiter| is_wanted(&waiter.id));
            waiters
                .usable
                .extend(picked.map(|waiter| (index, waiter.clone())));
            let missing = missing_waiters
                .iter()
                .filter(|missing| is_wanted(&missing.id));
            waiters
                .missing
                .extend(missing.map(|missing| MissingWaiter::unavailable(missing, name)));
            if waiters.usable.len() > before {
                waiters.hosts.push(host.clone());
                waiters.names.push(name.clone());
            }
        }
        Ok(waiters)
    }

    /// Leaves out timers that only other systems have.
    pub fn leave_out_elsewhere(&mut self) {
        let elsewhere =
            |entry: timers::waits::WaitEntry| entry.availability().is_err_and(|why| why.elsewhere);
        self.missing
            .retain(|missing| !timers::waits::find(&missing.timer.id).is_some_and(elsewhere));
    }
}

/// A timer that waits and cannot be asked.
pub struct MissingWaiter {
    /// The timer.
    pub timer: Timer,
    /// What its thread would do meanwhile.
    pub means: Means,
    /// Which of the questions to timers that wait it would answer.
    pub ops: Vec<String>,
    /// Why.
    pub why: NotUsable,
}

impl MissingWaiter {
    fn unavailable(missing: &Missing, host: &HostName) -> Self {
        let entry = timers::waits::find(&missing.id);
        Self {
            timer: host.waiter(
                &missing.id,
                &missing.label,
                entry.map(|entry| entry.info.unit_ns as f64),
            ),
            means: entry.map(|entry| entry.info.means).unwrap_or_default(),
            ops: missing.ops.clone(),
            why: NotUsable {
                status: Status::Unavailable,
                reason: missing.reason.clone(),
                remedy: missing.remedy.clone(),
            },
        }
    }

    /// A host that is not there.
    fn of_lost(row: &TimerRow) -> Self {
        Self {
            timer: row.timer(),
            means: Means::default(),
            ops: Vec::new(),
            why: NotUsable {
                status: row.status,
                reason: row.reason.clone().unwrap_or_default(),
                remedy: row.remedy.clone(),
            },
        }
    }
}

/// Asks every host which timers it has that answer the question `op`, and picks those that were
/// asked for, all of them without `patterns`.
///
/// # Errors
/// When a pattern fits nothing, or this program cannot start itself.
pub fn gather(
    patterns: &[String],
    hosts: &HostArgs,
    op: &str,
    settings: &Settings,
) -> Result<Waiters, CommandError> {
    let mut offers = Offers::of(hosts, settings)?.with_native_waiters();
    let answers = |ops: &[String]| ops.iter().any(|offered| offered == op);
    for offer in &mut offers.all {
        offer.host.waiters.retain(|waiter| answers(&waiter.ops));
        offer
            .missing_waiters
            .retain(|missing| answers(&missing.ops));
    }
    let mut waiters = Waiters::of(&offers, patterns)?;
    waiters
        .missing
        .retain(|missing| !offers.unnamed.is_row_of(&missing.timer.id));
    waiters.of_runtimes = offers.unnamed.line();
    Ok(waiters)
}
