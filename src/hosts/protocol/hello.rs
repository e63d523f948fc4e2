//! How an agent introduces itself: who it is, and what it hosts.

use std::fmt;
use std::marker::PhantomData;

use std::collections::BTreeSet;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use timers::waits::{Answers, WaitEntry};
use timers::{Entry, Unavailable};

use super::VERSION;
use crate::limits::MOST_TIMERS;
use crate::model::{Means, Properties};

/// Nanoseconds of the longest tick: thirty years, beyond which no report tells of any.
const LONGEST_TICK: f64 = 1e18;
/// Characters of an id.
const LONGEST_ID: usize = 80;

/// The answer to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version that the agent speaks.
    pub protocol: u32,
    /// What hosts the timers.
    pub runtime: Runtime,
    /// The timers that can be asked for.
    #[serde(deserialize_with = "not_too_many")]
    pub timers: Vec<HostedTimer>,
    /// The questions that can be asked.
    #[serde(deserialize_with = "not_too_many")]
    pub ops: Vec<String>,
    /// The timers that wait; most agents have none.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "not_too_many"
    )]
    pub waiters: Vec<HostedWaiter>,
    /// Timers the agent knows but cannot read here. Not part of the protocol: most agents leave it
    /// out.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "not_too_many"
    )]
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
pub struct HostedTimer {
    /// The id by which requests name it.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Nanoseconds in its tick; null for a raw counter, whose rate has to be found.
    pub ns_per_tick: Option<f64>,
    /// Whether the agent recommends it for timing the others.
    #[serde(default)]
    pub reference: bool,
    /// What its documentation says that it is; nothing that most agents say.
    #[serde(flatten)]
    pub properties: Properties,
    /// The resolution that its platform declares for it, in nanoseconds; nothing that most agents
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_ns: Option<f64>,
    /// What a table that others know calls it, as in `NANO`. Optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
pub struct HostedWaiter {
    /// The id by which requests name it; no timer that is read has the same.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Which of the questions `waits`, `arms` and `periods` it answers.
    #[serde(deserialize_with = "not_too_many")]
    pub ops: Vec<String>,
    /// What the calling thread does while it waits.
    #[serde(default)]
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
        let ops = [("waits", waits), ("arms", arms), ("periods", periods)];
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            ops: ops
                .into_iter()
                .filter(|(_, has)| *has)
                .map(|(op, _)| op.into())
                .collect(),
            means: entry.info.means,
            unit_ns: Some(entry.info.unit_ns as f64),
            slack: Some(entry.info.slack),
        }
    }
}

/// A timer that an agent knows but cannot read on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "not_too_many"
    )]
    pub ops: Vec<String>,
}

impl Missing {
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

/// As many elements as an introduction may have, and not one more: the rest is not even read.
fn not_too_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct AFew<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for AFew<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
            write!(formatter, "a list of at most {MOST_TIMERS}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(next) = sequence.next_element()? {
                if all.len() == MOST_TIMERS {
                    return Err(A::Error::custom(format!(
                        "more than {MOST_TIMERS} timers are not taken"
                    )));
                }
                all.push(next);
            }
            Ok(all)
        }
    }

    deserializer.deserialize_seq(AFew(PhantomData))
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
        let mut ids = BTreeSet::new();
        for timer in &self.timers {
            let id = &timer.id;
            if timer.id.is_empty() {
                return Some("a timer has no id".into());
            }
            if id.chars().count() > LONGEST_ID {
                return Some(format!(
                    "the id `{id}` is longer than {LONGEST_ID} characters"
                ));
            }
            if !ids.insert(&timer.id) {
                return Some(format!("two timers are called `{id}`"));
            }
            if let Some(ns) = timer
                .ns_per_tick
                .filter(|ns| !(ns.is_normal() && *ns > 0.0 && *ns <= LONGEST_TICK))
            {
                return Some(format!("`{id}` has a tick of {ns} ns"));
            }
        }
        for waiter in &self.waiters {
            let id = &waiter.id;
            if id.is_empty() || id.chars().count() > LONGEST_ID {
                return Some(format!(
                    "the id `{id}` of a sleep primitive is empty or longer than {LONGEST_ID} characters"
                ));
            }
            if !ids.insert(&waiter.id) {
                return Some(format!("two timers are called `{id}`"));
            }
        }
        None
    }
}
