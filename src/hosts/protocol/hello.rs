//! How an agent introduces itself: who it is, and what it hosts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use timers::waits::{Answers, WaitEntry};
use timers::{Entry, Unavailable};

use super::{Op, VERSION};
use crate::limits::MOST_TIMERS;
use crate::model::{Means, Properties};

/// Nanoseconds of the longest tick: thirty years, beyond which no report tells of any.
const LONGEST_TICK: f64 = 1e18;
/// Characters of an id.
const LONGEST_ID: usize = 80;

/// The answer to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The version that the agent speaks.
    pub protocol: u32,
    /// What hosts the timers.
    pub runtime: Runtime,
    /// The timers that can be asked for.
    pub timers: Vec<HostedTimer>,
    /// The questions that can be asked.
    pub ops: Vec<String>,
    /// Whether questions may name several timers at once.
    pub many: bool,
    /// The timers that wait; most agents have none.
    pub waiters: Vec<HostedWaiter>,
    /// Timers the agent knows but cannot read here. Not part of the protocol: most agents leave it
    /// out.
    pub unavailable: Vec<Missing>,
}

/// What hosts the timers of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// As in `OpenJDK`.
    pub name: String,
    /// As in `17.0.15`.
    pub version: String,
}

/// A timer that an agent hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostedTimer {
    /// The id by which requests name it.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Nanoseconds in its tick; null for a raw counter, whose rate has to be found.
    pub ns_per_tick: Option<f64>,
    /// Whether the agent recommends it for timing the others.
    pub reference: bool,
    /// What its documentation says that it is; nothing that most agents say.
    #[serde(flatten)]
    pub properties: Properties,
    /// The resolution that its platform declares for it, in nanoseconds; nothing that most agents
    /// say.
    pub resolution_ns: Option<f64>,
    /// What a table that others know calls it, as in `NANO`. Optional.
    pub legend: Option<String>,
}

impl HostedTimer {
    /// A timer of this program.
    #[must_use]
    pub fn native(entry: &Entry) -> Self {
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            ns_per_tick: (entry.ns_per_tick)(),
            reference: false,
            properties: entry.info.properties.into_owned(),
            resolution_ns: (entry.declared_resolution)(),
            legend: None,
        }
    }
}

/// A timer of an agent that waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostedWaiter {
    /// The id by which requests name it; no timer that is read has the same.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Which of the questions `waits`, `arms` and `periods` it answers.
    pub ops: Vec<String>,
    /// What the calling thread does while it waits.
    pub means: Means,
    /// Nanoseconds of the unit that a request is told in; null where it is not declared.
    pub unit_ns: Option<f64>,
    /// Whether the kernel's timer slack applies to it; null where it is not declared.
    pub slack: Option<bool>,
}

impl HostedWaiter {
    /// A timer of this program.
    #[must_use]
    pub fn native(entry: &WaitEntry) -> Self {
        let Answers {
            waits,
            arms,
            periods,
        } = entry.answers;
        let ops = [(Op::Waits, waits), (Op::Arms, arms), (Op::Periods, periods)];
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            ops: ops
                .into_iter()
                .filter(|(_, has)| *has)
                .map(|(op, _)| op.name().into())
                .collect(),
            means: entry.info.means,
            unit_ns: Some(entry.info.unit_ns as f64),
            slack: Some(entry.info.slack),
        }
    }
}

/// A timer that an agent knows but cannot read on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// The id by which requests would name it.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Why it cannot be read.
    pub reason: String,
    /// What the user can do about it, if anything.
    pub remedy: Option<String>,
    /// Which of the questions to timers that wait it would answer; none of them if it is a clock.
    pub ops: Vec<String>,
}

impl Missing {
    /// A clock of this program.
    #[must_use]
    pub fn clock(entry: &Entry, why: Unavailable) -> Self {
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            reason: why.reason,
            remedy: why.remedy,
            ops: Vec::new(),
        }
    }

    /// A timer of this program that waits.
    #[must_use]
    pub fn waiter(entry: &WaitEntry, why: Unavailable) -> Self {
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            reason: why.reason,
            remedy: why.remedy,
            ops: HostedWaiter::native(entry).ops,
        }
    }
}

impl Hello {
    /// What is wrong with an introduction.
    #[must_use]
    pub fn objection(&self) -> Option<String> {
        if self.protocol != VERSION {
            return Some(format!(
                "it speaks protocol {}, not {VERSION}",
                self.protocol
            ));
        }
        if self.runtime.name.trim().is_empty() {
            return Some("the runtime has no name".into());
        }
        if self.timers.len().max(self.waiters.len()) > MOST_TIMERS {
            return Some(format!("more than {MOST_TIMERS} timers are not taken"));
        }
        let ids = self.timers.iter().map(|timer| &timer.id);
        let mut taken = BTreeSet::new();
        for id in ids.chain(self.waiters.iter().map(|waiter| &waiter.id)) {
            if id.is_empty() || id.chars().count() > LONGEST_ID {
                return Some(format!(
                    "the id `{id}` of a timer is empty or longer than {LONGEST_ID} characters"
                ));
            }
            if !taken.insert(id) {
                return Some(format!("two timers are called `{id}`"));
            }
        }
        self.timers.iter().find_map(|timer| {
            let ns = timer.ns_per_tick?;
            let is_valid = ns.is_normal() && ns > 0.0 && ns <= LONGEST_TICK;
            (!is_valid).then(|| format!("`{}` has a tick of {ns} ns", timer.id))
        })
    }

    /// Whether the agent answers that question.
    #[must_use]
    pub fn offers(&self, op: Op) -> bool {
        self.ops.iter().any(|offered| offered == op.name())
    }
}
