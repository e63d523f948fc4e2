//! What is kept of each report, so that ten thousand can be held at once.

use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;

use crate::model::{AccuracyKind, Figure, ProvenanceKind, Question, Report, Status, TimerRow};
use crate::text::clipped;

/// Longest name from elsewhere that is kept.
const LONGEST: usize = 200;
/// Longest finding that is kept.
const LONGEST_FINDING: usize = 160;

/// Names of timers, each once: ten thousand reports name the same forty.
#[derive(Debug, Default)]
pub struct Names(Mutex<IndexSet<Box<str>>>);

/// A timer by its place among the names.
pub type TimerName = usize;

/// A report of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is called, as by its file.
    pub name: String,
    /// What it is.
    pub machine: Machine,
    /// When it was measured, by its own clock.
    pub created: String,
    /// Whether this program measured it.
    pub measured: bool,
    /// Its timers.
    pub readings: Vec<Reading>,
    /// How late its timers that wait were at the median, in nanoseconds.
    pub lateness: Vec<(TimerName, f64)>,
}

/// What a machine is, as far as its clocks go by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Machine {
    /// Model and generation of its CPU, or the architecture where it does not tell.
    pub cpu: String,
    /// The release of its kernel; empty where it is unknown.
    pub kernel: String,
    /// The clock source of its kernel; empty where it is unknown.
    pub clocksource: String,
    /// Its hypervisor; empty where there is none.
    pub hypervisor: String,
    /// Its instruction set.
    pub architecture: String,
}

/// What was found of a timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Which.
    pub timer: TimerName,
    /// How that ended.
    pub status: Status,
    /// In [0, 1].
    pub quality: Option<f64>,
    /// In nanoseconds, where it was resolved.
    pub step: Option<Figure>,
    /// In nanoseconds.
    pub cost: Option<Figure>,
    /// Whether it can be trusted.
    pub trust: Trust,
}

/// Whether a timer can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It was not asked for.
    Unknown,
    /// It failed no question that takes its Quality away.
    Kept,
    /// It failed this question, for this reason.
    Lost(Box<(Question, String)>),
}

/// A figure that nodes are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// The step of the counter.
    Step,
    /// What a call costs alone.
    Cost,
}

impl Names {
    /// The place of a name.
    fn place(&self, name: &str) -> TimerName {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match names.get_index_of(name) {
            Some(place) => place,
            None => names.insert_full(name.into()).0,
        }
    }

    /// All of them in order. The readings of `nodes`, whose names these are, go by the new places: which report was read first says nothing.
    #[must_use]
    pub fn settle(self, nodes: &mut [Node]) -> Vec<Box<str>> {
        let names: Vec<Box<str>> =
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect();
        let mut order: Vec<TimerName> = (0..names.len()).collect();
        order.sort_by(|a, b| names[*a].cmp(&names[*b]));
        let mut places = vec![0; names.len()];
        for (place, name) in order.iter().enumerate() {
            places[*name] = place;
        }
        for node in nodes {
            node.readings.iter_mut().for_each(|reading| reading.timer = places[reading.timer]);
            node.lateness.iter_mut().for_each(|(timer, _)| *timer = places[*timer]);
        }
        order.into_iter().map(|name| names[name].clone()).collect()
    }
}

impl Node {
    /// What is kept of `report`, which is called `name`. `lateness` is that of its timers that wait.
    pub fn of(name: &str, report: &Report, lateness: &[(String, f64)], names: &Names) -> Self {
        let place = |(name, late): &(String, f64)| (names.place(&clipped(name, LONGEST)), *late);
        let readings = report.timers.iter().map(|row| Reading::of(row, names)).collect();
        Self {
            name: clipped(name, LONGEST),
            machine: Machine::of(report),
            created: clipped(&report.created, 30),
            measured: report.provenance.kind == ProvenanceKind::Measured,
            readings,
            lateness: lateness.iter().map(place).collect(),
        }
    }
}

impl Node {
    /// The same under another name.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { name: clipped(name, LONGEST), ..self }
    }
}

impl Machine {
    fn of(report: &Report) -> Self {
        let platform = &report.platform;
        let known = |name: Option<&str>| name.map(|name| clipped(name, LONGEST)).unwrap_or_default();
        let architecture = clipped(&platform.cpu.architecture, LONGEST);
        let cpu = known(platform.cpu.name().as_deref());
        Self {
            cpu: if cpu.is_empty() { architecture.clone() } else { cpu },
            kernel: known(platform.kernel.release.as_deref()),
            clocksource: known(platform.clocksource.current.as_deref()),
            hypervisor: known(platform.hypervisor.as_deref()),
            architecture,
        }
    }
}

impl Reading {
    fn of(row: &TimerRow, names: &Names) -> Self {
        let step = row.accuracy.as_ref().filter(|step| step.kind == AccuracyKind::Resolved);
        let trust = match &row.verdicts {
            None => Trust::Unknown,
            Some(verdicts) => verdicts.disqualifying().next().map_or(Trust::Kept, |answer| {
                Trust::Lost(Box::new((answer.question, clipped(answer.finding, LONGEST_FINDING))))
            }),
        };
        Self {
            timer: names.place(&clipped(&row.id, LONGEST)),
            status: row.status,
            quality: row.quality.filter(|quality| quality.is_finite()),
            step: step.and_then(|step| Figure::new(step.ns?, step.low_ns, step.high_ns)),
            cost: row.cost.as_ref().and_then(|cost| Figure::new(cost.median_ns?, cost.low_ns, cost.high_ns)),
            trust,
        }
    }

    /// Whether it can be read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        matches!(self.status, Status::Ok | Status::Unresolved)
    }

    /// The figure that nodes are compared by; nothing where its logarithm says nothing.
    #[must_use]
    pub fn figure(&self, quantity: Quantity) -> Option<Figure> {
        let figure = match quantity {
            Quantity::Step => self.step,
            Quantity::Cost => self.cost,
        };
        figure.filter(|figure| figure.value > 0.0)
    }
}

impl Quantity {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Step, Self::Cost];
}
