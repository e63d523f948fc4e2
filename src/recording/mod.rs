//! Defines the recording: the settings of a run, and its observations of the timers, the machine
//! and its frequency. The report is a pure function of it (`analysis`), so that a stored recording gives the
//! same report again.

mod file;

use serde::{Deserialize, Serialize};

use crate::platform::frequency::{CyclesFrom, KnownFrequencies};
use estimators::model::{
    Platform, Settings, Status, TimerInfo, TimerRow, Tool, WaitActivity, WaitConditions,
};
use estimators::trace::{PeriodTrace, Trace, WaitTrace};
use judgement::trust::ReadPathBaselines;
use reporting::text::by_text;

pub use file::MAX_PACKED_BYTES;

/// The version of the recording that this build writes and reads.
pub const SCHEMA: &str = "timermeter.trace.v1";

/// All observations of a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Always `timermeter.trace.v1`.
    pub schema: String,
    /// The program that made the recording.
    pub tool: Tool,
    /// When the measurement began, UTC (RFC 3339).
    pub created: String,
    /// The name of the machine within a fleet, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The machine.
    #[serde(deserialize_with = "by_text")]
    pub platform: Platform,
    /// The frequencies of the machine, from all sources.
    pub frequency: KnownFrequencies,
    /// The frequency that converts time to cycles.
    pub cycles_from: CyclesFrom,
    /// The settings of the measurement.
    #[serde(deserialize_with = "by_text")]
    pub settings: Settings,
    /// Costs with which the read paths of timers are compared.
    #[serde(alias = "yardsticks")]
    pub baselines: ReadPathBaselines,
    /// The timers that were measured, in that order.
    pub timers: Vec<Observation>,
    /// Rows of timers, or of whole agents, that could not be measured.
    #[serde(deserialize_with = "by_text")]
    #[serde(alias = "unasked")]
    pub unmeasured: Vec<TimerRow>,
    /// The sleep primitives, under the conditions of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Observation<WaitTrace, NotUsable>>,
    /// The periodic timers, under the conditions of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<Observation<PeriodTrace, NotUsable>>,
}

/// A timer under one set of conditions, and its observations. For clocks, all but the timer and the
/// outcome is absent, and the reason of a failure is a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation<T = Trace, E = String> {
    /// The timer.
    #[serde(flatten)]
    pub timer: TimerInfo,
    /// Whether the thread blocks or spins during a wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub means: Option<WaitActivity>,
    /// The conditions of the waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<WaitConditions>,
    /// The period of a periodic timer, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// The observations, or the reason why there are none.
    pub outcome: Result<T, E>,
    /// The reason why the measurement ended early after these observations, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl<T, E> Observation<T, E> {
    /// The outcome of a timer, under conditions that are not recorded.
    pub fn new(timer: TimerInfo, outcome: Result<T, E>) -> Self {
        Self {
            timer,
            means: None,
            conditions: None,
            period_ns: None,
            outcome,
            lost: None,
        }
    }

    /// What was observed; `None` if the timer could not be measured.
    pub fn trace(&self) -> Option<&T> {
        self.outcome.as_ref().ok()
    }
}

/// The reason why a sleep primitive or periodic timer has no results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotUsable {
    /// Whether the machine lacks the timer or the timer failed.
    pub status: Status,
    /// The cause.
    pub reason: String,
    /// What the user can do about it, if anything.
    pub remedy: Option<String>,
}
