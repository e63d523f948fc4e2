//! Finds the agents of the timers of a run, which are this program for native timers and agents for
//! the timers of other runtimes, and selects the requested timers.

use std::rc::Rc;

use crate::agents::agent::Agent;
use crate::agents::protocol::{AgentTimer, Missing};
use crate::recording::NotUsable;
use estimators::model::{Device, Status, TimerInfo, TimerRow, WaitActivity};
use reporting::scratch::ScratchFolder;
use reporting::text::{LONGEST_TEXT, cleaned, clipped};

/// The selected timers.
#[derive(Default)]
pub struct Selection {
    /// The agents of the usable timers.
    pub agents: Vec<Agent>,
    /// The name of each agent in reports, in the order of `agents`.
    pub names: Vec<AgentName>,
    /// Timers that can be measured, each with the index of its agent.
    pub usable: Vec<(usize, AgentTimer)>,
    /// The timers that cannot be measured; an unreachable agent is one entry.
    pub missing: Vec<MissingTimer>,
    /// Whether a runtime that the user named is not installed.
    pub named_runtime_missing: bool,
    /// Keeps the files of the agents of other runtimes while they are needed.
    pub(super) _folder: Option<Rc<ScratchFolder>>,
}

/// Whether the native clock with this id can be read on this machine.
pub fn is_available(id: &str) -> bool {
    timers::find(id).is_some_and(|entry| (entry.availability)().is_ok())
}

/// Whether the native timer with this id exists only on other systems or processors.
pub fn is_for_other_systems(id: &str) -> bool {
    let clock = || (timers::find(id)?.availability)().err();
    let waiter = || timers::waits::find(id)?.availability().err();
    clock().or_else(waiter).is_some_and(|why| why.elsewhere)
}

impl Selection {
    /// Whether a runtime that the user named is not installed, or an agent is unreachable.
    pub fn failed_by_name(&self) -> bool {
        let failed = |missing: &MissingTimer| missing.why.status == Status::Failed;
        self.named_runtime_missing || self.missing.iter().any(failed)
    }
}

/// A timer that cannot be measured, or all timers of an unreachable agent.
#[derive(Clone, Debug)]
pub struct MissingTimer {
    /// The timer.
    pub timer: TimerInfo,
    /// The way in which the timer waits: by blocking or by spinning.
    pub means: WaitActivity,
    /// The protocol operations that the timer would support as a sleep primitive or periodic timer;
    /// empty for a clock.
    pub ops: Vec<String>,
    /// The reason why the timer cannot be measured.
    pub why: NotUsable,
}

impl MissingTimer {
    pub(super) fn unavailable(missing: &Missing, agent: &AgentName) -> Self {
        Self {
            timer: agent.timer(missing.timer.clone()),
            means: missing.timer.means,
            ops: missing.timer.ops.clone(),
            why: cleaned(NotUsable {
                status: Status::Unavailable,
                reason: missing.reason.clone(),
                remedy: missing.remedy.clone(),
            }),
        }
    }

    /// An entry with the id `prefix:*` that stands for all timers of an unreachable agent.
    pub(super) fn for_host(prefix: &str, label: String, why: NotUsable) -> Self {
        let timer = TimerInfo {
            id: format!("{prefix}:*"),
            label: clipped(&label, LONGEST_TEXT),
            runtime: prefix.into(),
            ..TimerInfo::default()
        };
        Self {
            timer,
            means: WaitActivity::default(),
            ops: Vec::new(),
            why: cleaned(why),
        }
    }

    /// The row of this timer in a report of clocks.
    pub fn row(self) -> TimerRow {
        let mut row = TimerRow::without_results(&self.timer, self.why.status);
        row.reason = Some(self.why.reason);
        row.remedy = self.why.remedy;
        row
    }
}

/// The name of an agent in reports.
#[derive(Clone, Debug)]
pub struct AgentName {
    /// The prefix of the ids of its timers; `None` for native timers.
    pub prefix: Option<String>,
    /// The name of the runtime with its version.
    pub runtime: String,
}

impl AgentName {
    /// The id in reports of a timer of this agent.
    pub fn id(&self, timer: &str) -> String {
        match &self.prefix {
            None => timer.into(),
            Some(prefix) => format!("{prefix}:{timer}"),
        }
    }

    /// Describes a timer of this agent with its id in reports.
    pub fn timer(&self, hosted: AgentTimer) -> TimerInfo {
        let mut properties = hosted.properties;
        properties.syscall_variant = properties.syscall_variant.map(|id| self.id(&id));
        TimerInfo {
            id: self.id(&hosted.id),
            label: hosted.label,
            legend: hosted.legend,
            runtime: self.runtime.clone(),
            ns_per_tick: hosted.ns_per_tick,
            properties,
            device: hosted.device.map(|device| Device {
                cycles: device.cycles.map(|id| self.id(&id)),
                ..device
            }),
        }
    }
}
