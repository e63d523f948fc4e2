//! Finds who hosts the timers of a run, this program for the native ones and agents for the others,
//! and picks the timers that were asked for.

mod gather;
mod offers;

use std::rc::Rc;

use super::CommandError;
use crate::campaign::clocks::{Host, Settings};
use crate::cli::HostArgs;
use crate::hosts::protocol::{HostedTimer, HostedWaiter, Missing};
use crate::model::{Means, Properties, Status, Timer, TimerRow};
use crate::recording::NotUsable;
use crate::scratch::ScratchFolder;

pub(super) use offers::{Offers, command};

/// Timers of one kind that were asked for.
pub struct Selection<T> {
    /// The programs.
    pub hosts: Vec<Host>,
    /// How each host is called in reports.
    pub names: Vec<HostName>,
    /// Those that can be asked, each with the index of its host.
    pub usable: Vec<(usize, T)>,
    /// Those that cannot, and whole agents.
    pub missing: Vec<MissingTimer>,
    /// Whether a runtime that the user named is not there.
    pub missing_by_name: bool,
    /// Which runtimes are here, in a line, where all were asked for; those that are not are no
    /// missing timers then.
    pub of_runtimes: Option<String>,
    /// Holds the hosts of other runtimes while they are needed.
    _folder: Option<Rc<ScratchFolder>>,
}

/// Whether a native clock can be read here.
pub fn is_here(id: &str) -> bool {
    timers::find(id).is_some_and(|entry| (entry.availability)().is_ok())
}

/// Whether a native timer is one of other systems or processors.
pub fn is_elsewhere(id: &str) -> bool {
    let clock = || (timers::find(id)?.availability)().err();
    let waiter = || timers::waits::find(id)?.availability().err();
    clock().or_else(waiter).is_some_and(|why| why.elsewhere)
}

impl<T> Selection<T> {
    /// Leaves out timers that only other systems or processors have.
    pub fn leave_out_elsewhere(&mut self) {
        self.missing
            .retain(|missing| !is_elsewhere(&missing.timer.id));
    }

    /// Whether an agent that the user named could not be reached at all.
    #[must_use]
    pub fn failed_by_name(&self) -> bool {
        let failed = |missing: &MissingTimer| missing.why.status == Status::Failed;
        self.missing_by_name || self.missing.iter().any(failed)
    }
}

/// A timer that cannot be asked, or all timers of a host that is not there.
#[derive(Clone, Debug)]
pub struct MissingTimer {
    /// The timer.
    pub timer: Timer,
    /// What its thread would do while it waits.
    pub means: Means,
    /// Which of the questions to timers that wait it would answer; none if it is a clock.
    pub ops: Vec<String>,
    /// Why.
    pub why: NotUsable,
}

impl MissingTimer {
    fn unavailable(missing: &Missing, host: &HostName) -> Self {
        let (clock, waiter) = (timers::find(&missing.id), timers::waits::find(&missing.id));
        let native = clock.filter(|_| host.prefix.is_none());
        let hosted = HostedTimer {
            id: missing.id.clone(),
            label: missing.label.clone(),
            ns_per_tick: native
                .and_then(|entry| (entry.ns_per_tick)().or(entry.info.ns_per_tick))
                .or(waiter.map(|entry| entry.info.unit_ns as f64)),
            properties: native.map_or_else(Properties::default, |entry| {
                entry.info.properties.into_owned()
            }),
            ..HostedTimer::default()
        };
        Self {
            timer: host.timer(hosted),
            means: waiter.map(|entry| entry.info.means).unwrap_or_default(),
            ops: missing.ops.clone(),
            why: NotUsable {
                status: Status::Unavailable,
                reason: missing.reason.clone(),
                remedy: missing.remedy.clone(),
            },
        }
    }

    /// All timers of a host that is not there, for which `prefix:*` stands.
    fn of_host(prefix: &str, label: String, why: NotUsable) -> Self {
        let timer = Timer {
            id: format!("{prefix}:*"),
            label,
            runtime: prefix.into(),
            ..Timer::default()
        };
        Self {
            timer,
            means: Means::default(),
            ops: Vec::new(),
            why,
        }
    }

    /// Its row in a report of clocks.
    #[must_use]
    pub fn row(self) -> TimerRow {
        let Timer {
            id, label, runtime, ..
        } = &self.timer;
        let mut row = TimerRow::unmeasured(id, label, runtime, self.why.status);
        row.ns_per_tick = self.timer.ns_per_tick;
        row.properties =
            Some(self.timer.properties).filter(|declared| *declared != Properties::default());
        row.reason = Some(self.why.reason);
        row.remedy = self.why.remedy;
        row
    }
}

/// A timer as its host declares it, by which timers are picked.
pub trait Hosted: Clone + 'static {
    /// Whether it waits and is no clock.
    const WAITS: bool;

    /// Those of a host.
    fn all(host: &Host) -> &[Self];

    /// The id by which its host knows it.
    fn id(&self) -> &str;

    /// Which of the questions to timers that wait it answers.
    fn ops(&self) -> &[String];
}

impl Hosted for HostedTimer {
    const WAITS: bool = false;

    fn all(host: &Host) -> &[Self] {
        &host.timers
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn ops(&self) -> &[String] {
        &[]
    }
}

impl Hosted for HostedWaiter {
    const WAITS: bool = true;

    fn all(host: &Host) -> &[Self] {
        &host.waiters
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn ops(&self) -> &[String] {
        &self.ops
    }
}

/// How a host is called in reports.
#[derive(Clone, Debug)]
pub struct HostName {
    /// What leads its ids; nothing for the native timers.
    pub prefix: Option<String>,
    /// The runtime, with its version.
    pub runtime: String,
}

impl HostName {
    /// The id of one of its timers in the report.
    #[must_use]
    pub fn id(&self, timer: &str) -> String {
        match &self.prefix {
            None => timer.into(),
            Some(prefix) => format!("{prefix}:{timer}"),
        }
    }

    /// One of its clocks under the name that it has in reports.
    #[must_use]
    pub fn timer(&self, hosted: HostedTimer) -> Timer {
        let mut properties = hosted.properties;
        properties.syscall_variant = properties.syscall_variant.map(|id| self.id(&id));
        Timer {
            id: self.id(&hosted.id),
            label: hosted.label,
            legend: hosted.legend,
            runtime: self.runtime.clone(),
            ns_per_tick: hosted.ns_per_tick,
            properties,
        }
    }

    /// One of its sleep primitives or periodic timers under the name that it has in reports.
    #[must_use]
    pub fn waiter(&self, hosted: &HostedWaiter) -> Timer {
        self.timer(HostedTimer {
            id: hosted.id.clone(),
            label: hosted.label.clone(),
            ns_per_tick: hosted.unit_ns,
            ..HostedTimer::default()
        })
    }
}

/// Asks every host what it has, and picks the timers that were asked for, all of them without
/// `patterns`; of timers that wait, those that answer the question `op`.
///
/// # Errors
/// When a pattern fits nothing, or this program cannot start itself.
pub fn gather<T: Hosted>(
    patterns: &[String],
    hosts: &HostArgs,
    op: Option<&str>,
    settings: &Settings,
) -> Result<Selection<T>, CommandError> {
    let offers = Offers::gather(hosts, T::WAITS, settings)?;
    let mut selection = offers.pick(patterns, op)?;
    let unnamed = &offers.unnamed;
    selection
        .missing
        .retain(|missing| !unnamed.stands_for(&missing.timer.id));
    selection.of_runtimes = unnamed.line();
    Ok(selection)
}
