//! A report reduced to what its rows hold.

use super::column::Origin;
use super::column::of_report;
use super::identity::Identity;
use crate::fields::{Field, Kind, time};
use crate::model::Report;
use crate::report::slug;
use crate::table::Value;
use crate::tabulation::each_row;

/// The rows of a report, and what is the same for all of them.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub(super) origin: Origin,
    /// Of the report.
    facts: Vec<Value>,
    /// Of its rows, one after the other.
    values: Vec<Value>,
    rows: usize,
    /// Rows of the other kinds.
    pub others: Vec<(Kind, usize)>,
}

impl Sheet {
    /// Of a report that was found in `file`, of the node `host`.
    #[must_use]
    pub fn of(file: String, host: Option<String>, report: &Report, choice: &Choice) -> Self {
        let origin = Origin {
            id: Identity::of(report),
            file: file.into(),
            host: host.map(Into::into),
            platform: slug(&report.platform).into(),
            created: time(&report.created),
            date: time(&report.created).and_then(|_| report.created.get(..10)).map(Into::into),
        };
        let facts = choice.columns.iter().filter_map(|field| of_report(field, &origin, report)).collect();
        let (mut values, mut rows) = (Vec::new(), 0);
        each_row(report, choice.kind, choice.all, |row| {
            rows += 1;
            let of_rows = choice.columns.iter().filter(|field| !field.is_of_report());
            values.extend(of_rows.map(|field| field.of_row(row).of_type(field.kind)));
        });
        let others =
            [Kind::Clocks, Kind::Waits, Kind::Periods].into_iter().filter(|kind| *kind != choice.kind);
        let count = |kind| {
            let mut count = 0;
            each_row(report, kind, choice.all, |_| count += 1);
            (kind, count)
        };
        Self { origin, facts, values, rows, others: others.map(count).collect() }
    }

    /// Whether it is known which node it is of.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.origin.host.is_some()
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What a column holds, row by row; the columns are those that it was made with.
    pub(super) fn column(&self, place: Place) -> impl Iterator<Item = &Value> {
        let (fact, (offset, width)) = match place {
            Place::Report(index) => (self.facts.get(index), (0, 0)),
            Place::Row { offset, width } => (None, (offset, width)),
        };
        let at = move |row: usize| fact.or_else(|| self.values.get(row * width + offset));
        (0..self.rows).filter_map(at)
    }
}

/// What is wanted of reports.
pub struct Choice {
    /// What the rows are of.
    pub kind: Kind,
    /// Their columns.
    pub columns: Vec<&'static Field>,
    /// Whether timers without figures have rows.
    pub all: bool,
}

/// Where a column stands in a sheet.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Among what is the same for all rows.
    Report(usize),
    /// Among what differs, of so many.
    Row { offset: usize, width: usize },
}

/// Where each of the columns stands.
pub fn places(columns: &[&Field]) -> Vec<Place> {
    let width = columns.iter().filter(|field| !field.is_of_report()).count();
    let (mut facts, mut of_row) = (0.., 0..);
    let place = |field: &&Field| match field.is_of_report() {
        false => of_row.next().map(|offset| Place::Row { offset, width }),
        true => facts.next().map(Place::Report),
    };
    columns.iter().filter_map(place).collect()
}
