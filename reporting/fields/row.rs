//! A row of a report: a clock, a sleep primitive at one length, or a periodic timer.

use std::array;

use clap::ValueEnum;

use crate::model::{
    Finding, Lateness, PeriodFigures, PeriodRow, Report, RowHead, Status, TimerRow, WaitConditions,
    WaitRow,
};
use crate::text::numbers::short_time;

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
        match (
            report.timers.is_empty(),
            report.waits.is_empty(),
            report.periods.is_empty(),
        ) {
            (true, false, _) => Self::Waits,
            (true, true, false) => Self::Periods,
            _ => Self::Clocks,
        }
    }
}

/// A row of a report.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The part of the report that the row shows.
    pub source: RowSource<'a>,
    /// Whether slack, policy and CPU, in this order, differ among the rows of the same kind.
    varied: [bool; CONDITION_COUNT],
}

/// The part of a report that a row shows.
#[derive(Clone, Copy, Debug)]
pub enum RowSource<'a> {
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
                let $row: &'a RowHead = match self.source {
                    RowSource::Clock(row) => row,
                    RowSource::Wait(row, _) => row,
                    RowSource::Period(row) => row,
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

impl<'a> From<&'a TimerRow> for Row<'a> {
    fn from(row: &'a TimerRow) -> Self {
        Self {
            source: RowSource::Clock(row),
            varied: [false; CONDITION_COUNT],
        }
    }
}

impl<'a> Row<'a> {
    /// The kind of the row.
    pub fn kind(&self) -> Kind {
        match self.source {
            RowSource::Clock(_) => Kind::Clocks,
            RowSource::Wait(..) => Kind::Waits,
            RowSource::Period(_) => Kind::Periods,
        }
    }

    /// The clock; `None` for rows of other kinds.
    pub fn clock(self) -> Option<&'a TimerRow> {
        if let RowSource::Clock(row) = self.source {
            Some(row)
        } else {
            None
        }
    }

    /// The sleep primitive; `None` for rows of other kinds.
    pub fn wait(self) -> Option<&'a WaitRow> {
        if let RowSource::Wait(row, _) = self.source {
            Some(row)
        } else {
            None
        }
    }

    /// The lateness of a periodic timer, or of waits of the length that the row shows; `None` if it
    /// shows all lengths, and for rows of other kinds.
    pub fn lateness(self) -> Option<&'a Lateness> {
        match self.source {
            RowSource::Clock(_) => None,
            RowSource::Wait(_, late) => late,
            RowSource::Period(_) => self.period()?.lateness.as_ref(),
        }
    }

    /// The results of a periodic timer; `None` for rows of other kinds and without results.
    pub fn period(self) -> Option<&'a PeriodFigures> {
        if let RowSource::Period(row) = self.source {
            row.figures.as_ref()
        } else {
            None
        }
    }

    /// The conditions of the wait; `None` for clocks, for timers of a device and for those that could
    /// not be measured.
    pub fn conditions(&self) -> Option<&'a WaitConditions> {
        self.recorded_conditions()
            .filter(|conditions| !conditions.policy.is_empty() && self.device().is_none())
    }

    /// The conditions as the report holds them; the policy is empty if the timer could not be
    /// measured.
    fn recorded_conditions(&self) -> Option<&'a WaitConditions> {
        match self.source {
            RowSource::Clock(_) => None,
            RowSource::Wait(row, _) => Some(&row.conditions),
            RowSource::Period(row) => Some(&row.conditions),
        }
    }

    /// The id, conditions and length, which identify a row among the rows of its kind.
    pub fn identity(&self) -> (&'a str, Option<&'a WaitConditions>, Option<u64>) {
        (self.id(), self.recorded_conditions(), self.request_ns())
    }

    /// The requested length of a wait, or the period, in nanoseconds.
    pub fn request_ns(&self) -> Option<u64> {
        match self.source {
            RowSource::Clock(_) => None,
            RowSource::Wait(_, late) => late.map(|late| late.request_ns),
            RowSource::Period(row) => Some(row.period_ns),
        }
    }

    /// Whether the row has results.
    pub fn has_figures(&self) -> bool {
        self.status().has_figures()
    }

    /// The conditions in words; `None` also for a timer that sets its slack itself, as its id says.
    fn set_conditions(&self) -> Option<[String; CONDITION_COUNT]> {
        let conditions = self.conditions().filter(|_| !self.id().contains("-slack-"));
        conditions.map(conditions_in_words)
    }

    /// The conditions as text: if `shared`, the conditions that are equal in all rows of this kind,
    /// otherwise the conditions that differ.
    pub fn conditions_in_words(&self, shared: bool) -> String {
        let parts = self.set_conditions().into_iter().flatten();
        parts
            .zip(self.varied)
            .filter(|(_, varied)| *varied != shared)
            .map(|(part, _)| part)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The id with the conditions that differ among rows.
    pub fn name(&self) -> String {
        match self.conditions_in_words(false) {
            none if none.is_empty() => self.id().clone(),
            differing => format!("{} ({differing})", self.id()),
        }
    }

    /// The id, length and conditions, which identify the row in tables with one line for each
    /// length.
    pub fn name_with_length(&self) -> String {
        let Some(ns) = self.request_ns() else {
            return self.name();
        };
        let conditions = self.name().split_off(self.id().len());
        format!("{} {}{conditions}", self.id(), short_time(ns as f64))
    }

    /// One row for each length that was measured; the row itself if it has no lengths.
    pub fn by_length(self) -> Vec<Self> {
        let figures = self.wait().and_then(|row| row.figures.as_ref());
        let lengths: Vec<Self> = figures
            .into_iter()
            .flat_map(|figures| &figures.lateness)
            .map(|late| self.at_length(late))
            .collect();
        if lengths.is_empty() {
            vec![self]
        } else {
            lengths
        }
    }

    /// The row limited to the length of `late`; the row itself if it is no sleep primitive.
    #[must_use]
    pub fn at_length(self, late: &'a Lateness) -> Self {
        match self.source {
            RowSource::Wait(row, _) => Self {
                source: RowSource::Wait(row, Some(late)),
                ..self
            },
            RowSource::Clock(_) | RowSource::Period(_) => self,
        }
    }
}

/// The number of conditions of a wait: slack, policy and CPU.
const CONDITION_COUNT: usize = 3;

/// Describes slack, policy and CPU, in this order.
pub fn conditions_in_words(conditions: &WaitConditions) -> [String; CONDITION_COUNT] {
    let slack = conditions
        .slack_ns
        .map(|ns| format!("slack {}", short_time(ns as f64)));
    let cpu = conditions.cpu.map(|cpu| format!("CPU {cpu}"));
    [
        slack.unwrap_or_else(|| "no slack".into()),
        format!("policy {}", conditions.policy),
        cpu.unwrap_or_else(|| "any CPU".into()),
    ]
}

/// The rows of one kind: one for each timer and set of conditions.
pub fn rows(report: &Report, kind: Kind) -> Vec<Row<'_>> {
    let sources: Vec<RowSource> = match kind {
        Kind::Clocks => report.timers.iter().map(RowSource::Clock).collect(),
        Kind::Waits => report
            .waits
            .iter()
            .map(|row| RowSource::Wait(row, None))
            .collect(),
        Kind::Periods => report.periods.iter().map(RowSource::Period).collect(),
    };
    let mut rows: Vec<Row> = sources
        .into_iter()
        .map(|source| Row {
            source,
            varied: [false; CONDITION_COUNT],
        })
        .collect();
    let conditions: Vec<_> = rows.iter().filter_map(Row::set_conditions).collect();
    let varied = array::from_fn(|at| {
        conditions
            .iter()
            .any(|parts| parts[at] != conditions[0][at])
    });
    rows.iter_mut().for_each(|row| row.varied = varied);
    rows
}

/// All rows of a report in display order. Clocks with results come first, then failed and
/// unavailable clocks.
pub fn all_rows(report: &Report) -> Vec<Row<'_>> {
    let mut all: Vec<Row> = Kind::ALL
        .into_iter()
        .flat_map(|kind| rows(report, kind))
        .collect();
    all.sort_by_key(|row| match (row.kind(), row.status()) {
        (Kind::Clocks, Status::Ok) => 0,
        (Kind::Clocks, Status::Unresolved) => 1,
        (Kind::Clocks, Status::Failed) => 2,
        (Kind::Clocks, Status::Unavailable) => 3,
        (Kind::Waits | Kind::Periods, _) => 4,
    });
    all
}
