//! What tables of reports have a row for: each timer, and of timers that wait each length.

use clap::ValueEnum;

use super::column::{Column, Kind, Source, Ticked, Waited};
use crate::model::{BriefReport, BriefRow, Status, WaitConditions};
use crate::report::waits::in_short;
use crate::table::{Cell, Notation};

/// What a row is of.
pub enum Row<'a> {
    /// A timer that is read.
    Clock(&'a BriefRow),
    /// A timer that waits, at one length.
    Wait(Waited<'a>),
    /// A periodic timer.
    Period(Ticked<'a>),
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

/// Shows `see` each row of one kind that a report has; those without figures where `all` of them are wanted.
pub fn each_row(report: &BriefReport, kind: Kind, all: bool, mut see: impl FnMut(&Row)) {
    let shown = |status: Status| all || matches!(status, Status::Ok | Status::Unresolved);
    match kind {
        Kind::Clocks => {
            report.timers.iter().filter(|row| shown(row.status)).for_each(|row| see(&Row::Clock(row)));
        }
        Kind::Waits => {
            let rows = || report.waits.iter().filter(|row| shown(row.status));
            let among: Vec<&WaitConditions> = rows().map(|row| &row.conditions).collect();
            for row in rows() {
                let conditions = &in_short(&row.conditions, &among, false);
                let lengths = row.figures.iter().flat_map(|figures| figures.by_length());
                let mut lengths: Vec<_> = lengths.map(Some).collect();
                if lengths.is_empty() {
                    lengths.push(None);
                }
                lengths.into_iter().for_each(|late| see(&Row::Wait(Waited { row, late, conditions })));
            }
        }
        Kind::Periods => {
            let rows = || report.periods.iter().filter(|row| shown(row.status));
            let among: Vec<&WaitConditions> = rows().map(|row| &row.conditions).collect();
            for row in rows() {
                let conditions = &in_short(&row.conditions, &among, false);
                see(&Row::Period(Ticked { row, conditions }));
            }
        }
    }
}

/// What the cells of a column are, for who keeps them as more than text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text.
    Text,
    /// A figure.
    Figure,
    /// A number of things.
    Count,
}

impl Column {
    /// What it is called where scripts read it, with its unit.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.spec().heading.key
    }

    /// What it is, in a sentence.
    #[must_use]
    pub fn about(self) -> String {
        self.to_possible_value().and_then(|value| Some(value.get_help()?.to_string())).unwrap_or_default()
    }

    /// What its cells are.
    #[must_use]
    pub fn shape(self) -> Shape {
        let heading = self.spec().heading;
        match heading.notation {
            _ if !heading.right => Shape::Text,
            Notation::Fixed(0) | Notation::Count => Shape::Count,
            _ => Shape::Figure,
        }
    }

    /// What stands in it for a row; nothing where it is one of the whole report.
    pub fn of_row(self) -> impl Fn(&Row) -> Cell {
        let source = self.spec().source;
        move |row| source.cell(row)
    }

    /// What stands in it for a whole report, where it is one of those.
    #[must_use]
    pub fn of_report(self) -> Option<fn(&BriefReport) -> Cell> {
        match self.spec().source {
            Source::Report(of) => Some(of),
            Source::Row { .. } => None,
        }
    }
}

impl Source {
    pub(super) fn cell(&self, row: &Row) -> Cell {
        match (self, row) {
            (Self::Row { clock: Some(of), .. }, Row::Clock(row)) => of(row),
            (Self::Row { wait: Some(of), .. }, Row::Wait(row)) => of(row),
            (Self::Row { period: Some(of), .. }, Row::Period(row)) => of(row),
            _ => Cell::Nothing,
        }
    }
}
