//! The introduction of an agent: its runtime, its timers and its questions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use timers::waits::WaitEntry;
use timers::{Entry, Unavailable, is_tick};

use super::{Op, VERSION};
use estimators::model::{Device, Properties, WaitActivity};
use reporting::limits::MAX_TIMERS;

/// Maximum length of an id, in characters.
const MAX_ID_CHARS: usize = 80;

/// The answer to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The protocol version of the agent.
    pub protocol: u32,
    /// The runtime of the timers.
    pub runtime: RuntimeVersion,
    /// The device whose processor reads the timers; most agents have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The clocks.
    pub timers: Vec<AgentTimer>,
    /// The questions that the agent answers.
    pub ops: Vec<String>,
    /// Whether a question may contain the ids of several timers.
    pub many: bool,
    /// The sleep primitives and periodic timers; most agents have none.
    pub waiters: Vec<AgentTimer>,
    /// Timers that the agent knows but cannot read on this machine. Optional: most agents omit
    /// this key.
    pub unavailable: Vec<Missing>,
}

/// The runtime of the timers of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeVersion {
    /// The name, such as `OpenJDK`.
    pub name: String,
    /// The version, such as `17.0.15`.
    pub version: String,
}

/// A timer of an agent: a clock, a sleep primitive or a periodic timer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentTimer {
    /// The id by which requests name the timer.
    pub id: String,
    /// The call in the notation of its documentation.
    pub label: String,
    /// Nanoseconds per tick of a clock, or per unit of a request to another timer; null for a raw
    /// counter, whose rate has to be measured, and if not declared.
    #[serde(alias = "unit_ns")]
    pub ns_per_tick: Option<f64>,
    /// Whether the agent recommends this timer as the reference for the other timers.
    pub reference: bool,
    /// The documented properties of the timer; most agents declare none.
    #[serde(flatten)]
    pub properties: Properties,
    /// The resolution in nanoseconds that the platform declares for the timer; most agents declare
    /// none.
    pub resolution_ns: Option<f64>,
    /// The name of the timer in an established table, such as `NANO`. Optional.
    pub legend: Option<String>,
    /// The subset of the questions `waits` and `periods` that the timer answers; empty for a
    /// clock.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<String>,
    /// The activity of the calling thread while it waits.
    pub means: WaitActivity,
    /// Whether a CPU reads the timer although the agent has a device.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub host: bool,
    /// The device that reads it; `None` if a CPU does.
    #[serde(skip)]
    pub device: Option<Device>,
}

impl AgentTimer {
    /// Describes a timer of this program.
    pub fn native(entry: &Entry) -> Self {
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            ns_per_tick: (entry.ns_per_tick)(),
            properties: entry.info.properties.into_owned(),
            resolution_ns: (entry.declared_resolution)(),
            ..Self::default()
        }
    }

    /// Describes a sleep primitive or periodic timer of this program.
    pub fn native_waiter(entry: &WaitEntry) -> Self {
        Self {
            id: entry.id.into(),
            label: entry.label.into(),
            ns_per_tick: Some(entry.unit_ns as f64),
            ops: [Op::Waits, Op::Periods].map(|op| op.name().into()).into(),
            means: entry.activity,
            ..Self::default()
        }
    }
}

/// Whether a timer with these `ops` answers `op`, or is a clock if there is none.
pub fn answers(ops: &[String], op: Option<Op>) -> bool {
    match op {
        Some(op) => ops.iter().any(|offered| offered == op.name()),
        None => ops.is_empty(),
    }
}

/// A timer that an agent knows but cannot read on this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// What is known of the timer; for a sleep primitive or periodic timer, with the questions that
    /// it would answer.
    #[serde(flatten)]
    pub timer: AgentTimer,
    /// The reason why the timer cannot be read.
    pub reason: String,
    /// The remedy, if the user can do anything.
    pub remedy: Option<String>,
}

impl Missing {
    /// Describes a timer that is unavailable for this reason.
    pub fn new(timer: AgentTimer, why: Unavailable) -> Self {
        Self {
            timer,
            reason: why.reason,
            remedy: why.remedy,
        }
    }
}

impl Hello {
    /// The reason why an introduction is invalid; `None` if it is valid.
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
        if self.timers.len().max(self.waiters.len()) > MAX_TIMERS {
            return Some(format!("it lists more than {MAX_TIMERS} timers"));
        }
        let all = || self.timers.iter().chain(&self.waiters);
        let mut ids_so_far = BTreeSet::new();
        for AgentTimer { id, .. } in all() {
            if id.is_empty() || id.chars().count() > MAX_ID_CHARS {
                return Some(format!(
                    "the id `{id}` of a timer is empty or longer than {MAX_ID_CHARS} characters"
                ));
            }
            if !ids_so_far.insert(id) {
                return Some(format!("two timers are called `{id}`"));
            }
        }
        if !self.device.as_ref().is_none_or(Device::is_valid) {
            return Some("its device lacks a name, or has an impossible number".into());
        }
        all().find_map(|timer| {
            let ns = timer.ns_per_tick.filter(|ns| !is_tick(*ns))?;
            Some(format!("`{}` has a tick of {ns} ns", timer.id))
        })
    }

    /// Gives the timers that a CPU does not read their device.
    pub fn with_devices(mut self) -> Self {
        for timer in self.timers.iter_mut().chain(&mut self.waiters) {
            timer.device = self.device.clone().filter(|_| !timer.host);
        }
        self
    }

    /// Whether the agent answers questions of this kind.
    pub fn offers(&self, op: Op) -> bool {
        answers(&self.ops, Some(op))
    }
}
