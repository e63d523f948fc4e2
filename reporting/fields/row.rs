//! A row of a report: a clock, a sleep primitive at one length, or a periodic timer.

use clap::ValueEnum;

use crate::text::numbers::short_time;
use estimators::model::{
    Finding, Lateness, PeriodFigures, PeriodRow, Report, RowHead, Status, TimerRow, WaitConditions,
    WaitRow,
};

/// The kind of a row. A table holds one kind only, because costs of clocks and of waits cannot be
/// compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Clocks
    #[default]
    Clocks,
    /// Sleep primitives: a row for each length and set of conditions
    Waits,
    /// Periodic timers
    Periods,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Clocks, Self::Waits, Self::Periods];

    /// The plural name of the kind.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Clocks => "clocks",
            Self::Waits => "sleep primitives",
            Self::Periods => "periodic timers",
        }
    }

    /// The first kind of which the report has rows.
    pub fn main(report: &Report) -> Self {
        let mut kinds = Self::ALL.into_iter();
        let first = kinds.find(|kind| !rows(report, *kind).is_empty());
        first.unwrap_or_default()
    }
}

/// A row of a report.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// A clock.
    Clock(&'a TimerRow),
    /// A sleep primitive: all its lengths, or one length.
    Wait(&'a WaitRow, Option<&'a Lateness>),
    /// A periodic timer.
    Period(&'a PeriodRow),
}

/// Defines methods of [`Row`] that read a field of the row's head.
macro_rules! head_methods {
    ($($(#[$about:meta])* $name:ident: $type:ty = |$row:ident| $value:expr;)*) => {
        impl<'a> Row<'a> {
            $($(#[$about])*
            pub fn $name(&self) -> $type {
                let $row: &'a RowHead = match *self {
                    Row::Clock(row) => row,
                    Row::Wait(row, _) => row,
                    Row::Period(row) => row,
                };
                $value
            })*
        }
    };
}

head_methods! {
    /// The id of the timer, which several rows of waits share.
    id: &'a String = |row| &row.id;
    /// The call that the timer makes.
    label: &'a String = |row| &row.label;
    /// The name of the device that executes the call; `None` if a CPU does.
    device: Option<&'a str> = |row| row.device_name();
    /// `native`, or the name of the runtime that hosts the timer.
    runtime: &'a String = |row| &row.runtime;
    /// The status of the characterisation.
    status: Status = |row| row.status;
    /// The reason if the status is not `ok`.
    reason: Option<&'a str> = |row| row.reason.as_deref();
    /// The remedy if the status is not `ok`.
    remedy: Option<&'a str> = |row| row.remedy.as_deref();
    /// The findings about the timer.
    findings: &'a [Finding] = |row| &row.findings;
}

impl<'a> Row<'a> {
    /// The kind of the row.
    pub fn kind(&self) -> Kind {
        match *self {
            Row::Clock(_) => Kind::Clocks,
            Row::Wait(..) => Kind::Waits,
            Row::Period(_) => Kind::Periods,
        }
    }

    /// The clock; `None` for rows of other kinds.
    pub fn clock(self) -> Option<&'a TimerRow> {
        match self {
            Row::Clock(row) => Some(row),
            _ => None,
        }
    }

    /// The sleep primitive; `None` for rows of other kinds.
    pub fn wait(self) -> Option<&'a WaitRow> {
        match self {
            Row::Wait(row, _) => Some(row),
            _ => None,
        }
    }

    /// The lateness of a periodic timer, or of waits of the length that the row shows; `None` if it
    /// shows all lengths, and for rows of other kinds.
    pub fn lateness(self) -> Option<&'a Lateness> {
        match self {
            Row::Wait(_, late) => late,
            _ => self.period()?.lateness.as_ref(),
        }
    }

    /// The results of a periodic timer; `None` for rows of other kinds and without results.
    pub fn period(self) -> Option<&'a PeriodFigures> {
        match self {
            Row::Period(row) => row.figures.as_ref(),
            _ => None,
        }
    }

    /// The conditions of the wait; `None` for clocks, for timers of a device and for those that could
    /// not be measured.
    pub fn conditions(&self) -> Option<&'a WaitConditions> {
        let conditions = match *self {
            Row::Clock(_) => None,
            Row::Wait(row, _) => Some(&row.conditions),
            Row::Period(row) => Some(&row.conditions),
        };
        conditions.filter(|conditions| !conditions.policy.is_empty() && self.device().is_none())
    }

    /// The requested length of a wait, or the period, in nanoseconds.
    pub fn request_ns(&self) -> Option<u64> {
        match *self {
            Row::Clock(_) => None,
            Row::Wait(_, late) => late.map(|late| late.request_ns),
            Row::Period(row) => Some(row.period_ns),
        }
    }

    /// Whether the row has results.
    pub fn has_figures(&self) -> bool {
        self.status().has_figures()
    }

    /// The id with the length of the waits, or the period, which identify the row.
    pub fn name_with_length(&self) -> String {
        let length = self.request_ns().map(|ns| short_time(ns as f64));
        length.map_or_else(|| self.id().clone(), |it| format!("{} {it}", self.id()))
    }

    /// One row for each length that was measured; the row itself if it has no lengths.
    pub fn by_length(self) -> Vec<Self> {
        let figures = self.wait().and_then(|row| row.figures.as_ref());
        match (self, figures) {
            (Row::Wait(row, _), Some(figures)) if !figures.lateness.is_empty() => {
                let lengths = figures.lateness.iter();
                lengths.map(|late| Row::Wait(row, Some(late))).collect()
            }
            _ => vec![self],
        }
    }
}

/// Describes slack, policy and CPU.
pub fn conditions_in_words(conditions: &WaitConditions) -> String {
    let slack = conditions
        .slack_ns
        .map(|ns| format!("slack {}", short_time(ns as f64)));
    let cpu = conditions.cpu.map(|cpu| format!("CPU {cpu}"));
    [
        slack.unwrap_or_else(|| "no slack".into()),
        format!("policy {}", conditions.policy),
        cpu.unwrap_or_else(|| "any CPU".into()),
    ]
    .join(", ")
}

/// The rows of one kind.
pub fn rows(report: &Report, kind: Kind) -> Vec<Row<'_>> {
    match kind {
        Kind::Clocks => report.timers.iter().map(Row::Clock).collect(),
        Kind::Waits => (report.waits.iter())
            .map(|row| Row::Wait(row, None))
            .collect(),
        Kind::Periods => report.periods.iter().map(Row::Period).collect(),
    }
}

/// All rows of a report.
pub fn all_rows(report: &Report) -> Vec<Row<'_>> {
    let rows = Kind::ALL.into_iter().map(|kind| rows(report, kind));
    rows.flatten().collect()
}
