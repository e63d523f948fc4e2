//! What fields are of.

use clap::ValueEnum;

use crate::model::{Lateness, PeriodRow, Status, TimerRow, WaitRow};
use crate::table::Value;
use crate::text::numbers::short_time;

/// What rows are of. They are never in one table: what clocks and waits cost has nothing in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Timers that are read
    #[default]
    Clocks,
    /// Timers that wait, a row a length and set of conditions
    Waits,
    /// Periodic timers
    Periods,
}

impl Kind {
    /// What its rows are called.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Clocks => "clocks",
            Self::Waits => "timers that wait",
            Self::Periods => "periodic timers",
        }
    }
}

/// What a row is of.
pub enum Row<'a> {
    /// A timer that is read.
    Clock(&'a TimerRow),
    /// A timer that waits, at one length.
    Wait(Waited<'a>),
    /// A periodic timer.
    Period(Ticked<'a>),
}

/// A timer that waits, at one length.
pub struct Waited<'a> {
    /// The timer.
    pub row: &'a WaitRow,
    /// None where it has no figures.
    pub late: Option<&'a Lateness>,
    /// The conditions by which it differs from others of its report.
    pub conditions: &'a str,
}

/// A periodic timer.
pub struct Ticked<'a> {
    /// The timer.
    pub row: &'a PeriodRow,
    /// As above.
    pub conditions: &'a str,
}

impl Row<'_> {
    /// How its characterisation ended.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Clock(row) => row.status,
            Self::Wait(wait) => wait.row.status,
            Self::Period(tick) => tick.row.status,
        }
    }
}

/// What a row is told apart by where each has one line: id, length and conditions.
#[must_use]
pub fn in_a_line(row: &Row) -> Value {
    let (id, ns, conditions) = match row {
        Row::Clock(row) => (&row.id, None, ""),
        Row::Wait(wait) => (&wait.row.id, wait.late.map(|late| late.request_ns), wait.conditions),
        Row::Period(tick) => (&tick.row.id, Some(tick.row.period_ns), tick.conditions),
    };
    let length = ns.map_or_else(String::new, |ns| format!(" {}", short_time(ns as f64)));
    let conditions = if conditions.is_empty() { String::new() } else { format!(" ({conditions})") };
    format!("{id}{length}{conditions}").into()
}
