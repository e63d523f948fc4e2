//! Timers that waited, and their rows of the report.

use serde::{Deserialize, Serialize};

use crate::analysis::periods;
use crate::model::{Means, PeriodRow, Status, WaitConditions, WaitRow};
use crate::scoring;
use crate::trace::{PeriodTrace, WaitTrace};

/// Why a timer that waits has no figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotUsable {
    /// Whether the machine does not have it, or it failed.
    pub status: Status,
    /// The cause.
    pub reason: String,
    /// What to do about it, if anything.
    pub remedy: Option<String>,
}

/// A timer that waited, under one set of conditions, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedWaits {
    /// Its id in the report.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// `native`, or the name of the runtime that hosts it.
    pub runtime: String,
    /// What the thread does meanwhile.
    pub means: Means,
    /// Under what it waited.
    pub conditions: WaitConditions,
    /// What was observed, or why nothing was.
    pub outcome: Result<WaitTrace, NotUsable>,
}

/// A periodic timer, under one set of conditions, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedPeriods {
    /// Its id in the report.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// `native`, or the name of the runtime that hosts it.
    pub runtime: String,
    /// Under what it ticked.
    pub conditions: WaitConditions,
    /// The period that was asked for, in nanoseconds.
    pub period_ns: u64,
    /// What was observed, or why nothing was.
    pub outcome: Result<PeriodTrace, NotUsable>,
}

impl ObservedWaits {
    /// Its row. `hertz` turns CPU time into cycles.
    #[must_use]
    pub fn row(&self, hertz: Option<f64>) -> WaitRow {
        let (status, reason, remedy) = ended(&self.outcome);
        WaitRow {
            id: self.id.clone(),
            label: self.label.clone(),
            runtime: self.runtime.clone(),
            conditions: self.conditions.clone(),
            means: self.means,
            status,
            reason,
            remedy,
            figures: self.outcome.as_ref().ok().map(|trace| scoring::of_waits(trace, hertz)),
            warnings: Vec::new(),
        }
    }
}

impl ObservedPeriods {
    /// Its row.
    #[must_use]
    pub fn row(&self) -> PeriodRow {
        let (status, reason, remedy) = ended(&self.outcome);
        PeriodRow {
            id: self.id.clone(),
            label: self.label.clone(),
            runtime: self.runtime.clone(),
            conditions: self.conditions.clone(),
            period_ns: self.period_ns,
            status,
            reason,
            remedy,
            figures: self.outcome.as_ref().ok().map(periods::figures),
            warnings: Vec::new(),
        }
    }
}

fn ended<T>(outcome: &Result<T, NotUsable>) -> (Status, Option<String>, Option<String>) {
    match outcome {
        Ok(_) => (Status::Ok, None, None),
        Err(why) => (why.status, Some(why.reason.clone()), why.remedy.clone()),
    }
}
