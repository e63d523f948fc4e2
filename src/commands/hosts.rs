//! Who hosts the timers of a run: this program for the native ones, agents for the others.

use std::rc::Rc;

use crate::campaign::clocks::{Host, Settings, Subject};
use crate::cli::HostArgs;
use crate::hosts::protocol::HostedTimer;
use crate::model::{Status, Timer, TimerRow};
use crate::scratch::ScratchFolder;

use super::CommandError;
use offer::Offer;
pub(super) use offer::command;
pub(super) use offers::Offers;

mod offer;
mod offers;
mod runtimes;
pub mod waiters;

/// All timers of a run that can be asked, and rows for those that cannot.
pub struct Population {
    /// The programs.
    pub hosts: Vec<Host>,
    /// How each host is called in reports.
    pub names: Vec<HostName>,
    /// The timers to be asked.
    pub subjects: Vec<Subject>,
    /// Rows of timers, or of whole agents, that cannot be asked.
    pub rows: Vec<TimerRow>,
    /// Whether a runtime that the user named is not there.
    missing_by_name: bool,
    /// Which runtimes are here, in a line, where all were asked for; those that are not have no
    /// rows then.
    pub of_runtimes: Option<String>,
    /// Holds the hosts of other runtimes while they are needed.
    _folder: Option<Rc<ScratchFolder>>,
}

impl Population {
    /// Picks the timers that were asked for, all of them without `patterns`.
    ///
    /// # Errors
    /// When a pattern fits nothing.
    pub fn of(offers: &Offers, patterns: &[String]) -> Result<Self, CommandError> {
        let ids = offers.all.iter().flat_map(|offer| {
            let hosted = offer
                .host
                .timers
                .iter()
                .map(|timer| offer.name.id(&timer.id));
            hosted.chain(offer.rows.iter().map(|row| row.id.clone()))
        });
        let mut wanted = offers.select(patterns, ids.collect())?;
        wanted.retain(|id| *id != timers::FLOOR_ID);
        let mut population = Population {
            hosts: Vec::new(),
            names: Vec::new(),
            subjects: Vec::new(),
            rows: offers.lost.clone(),
            missing_by_name: offers.missing_by_name,
            of_runtimes: None,
            _folder: offers.folder.clone(),
        };
        for Offer {
            host, name, rows, ..
        } in &offers.all
        {
            let index = population.hosts.len();
            let picked = host
                .timers
                .iter()
                .filter(|timer| wanted.contains(&name.id(&timer.id)));
            let before = population.subjects.len();
            population
                .subjects
                .extend(picked.map(|timer| Subject::new(index, timer.clone())));
            population
                .rows
                .extend(rows.iter().filter(|row| wanted.contains(&row.id)).cloned());
            // A host that is not asked anything is not started.
            if population.subjects.len() > before {
                population.hosts.push(host.clone());
                population.names.push(name.clone());
            }
        }
        Ok(population)
    }

    /// Whether an agent that the user named could not be reached at all.
    #[must_use]
    pub fn failed_by_name(&self) -> bool {
        self.missing_by_name || self.rows.iter().any(|row| row.status == Status::Failed)
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
    pub fn waiter(&self, id: &str, label: &str, unit_ns: Option<f64>) -> Timer {
        Timer {
            id: self.id(id),
            label: label.into(),
            runtime: self.runtime.clone(),
            ns_per_tick: unit_ns,
            ..Timer::default()
        }
    }
}

impl Population {
    /// Leaves out clocks that only other systems or processors have.
    pub fn leave_out_elsewhere(&mut self) {
        let elsewhere =
            |entry: timers::Entry| (entry.availability)().is_err_and(|why| why.elsewhere);
        self.rows
            .retain(|row| !timers::find(&row.id).is_some_and(elsewhere));
    }
}

/// Asks every host what it has, and picks the timers that were asked for, all of them without
/// `patterns`.
///
/// # Errors
/// When a pattern fits nothing, or this program cannot start itself.
pub fn gather(
    patterns: &[String],
    hosts: &HostArgs,
    settings: &Settings,
) -> Result<Population, CommandError> {
    let offers = Offers::of(hosts, settings)?;
    let mut population = Population::of(&offers, patterns)?;
    population
        .rows
        .retain(|row| !offers.unnamed.is_row_of(&row.id));
    population.of_runtimes = offers.unnamed.line();
    Ok(population)
}
