//! The columns: what each is called, with its unit, what it holds, and where it comes from. What `table` shows too is taken from
//! its columns, so that it is defined once.

mod clocks;
mod report;
mod waits;

use std::borrow::Cow;

use super::origin::Origin;
use super::value::{Type, Value};
use crate::model::{BriefReport, BriefRow};
use crate::tabulation::{self, Kind, Row, Shape};

/// A typed column.
pub struct Column {
    /// What it is called, with its unit; it stays.
    pub name: &'static str,
    /// What it holds.
    pub kind: Type,
    /// What it is, in a sentence.
    pub about: Cow<'static, str>,
    /// Whether folders of a dataset tell it, and its files do not.
    pub in_path: bool,
    source: Source,
}

enum Source {
    /// From where the report was found.
    Origin(fn(&Origin) -> Value),
    /// The same for all rows of a report.
    Report(Box<dyn Fn(&BriefReport) -> Value + Send + Sync>),
    /// Of a row.
    Row(Box<dyn Fn(&Row) -> Value + Send + Sync>),
}

/// The columns of rows of a kind: those of the report first.
#[must_use]
pub fn columns(kind: Kind) -> Vec<Column> {
    let mut columns = report::columns();
    columns.extend(match kind {
        Kind::Clocks => clocks::columns(),
        Kind::Waits | Kind::Periods => waits::columns(kind),
    });
    columns
}

impl Column {
    /// What it holds for all rows of a report; `None` where it is one of rows.
    pub(super) fn of_report(&self, origin: &Origin, report: &BriefReport) -> Option<Value> {
        Some(match &self.source {
            Source::Origin(of) => of(origin),
            Source::Report(of) => of(report),
            Source::Row(_) => return None,
        })
    }

    /// What it holds for a row; `None` where it is one of the report.
    pub(super) fn of_row(&self, row: &Row) -> Option<Value> {
        if let Source::Row(of) = &self.source { Some(of(row)) } else { None }
    }

    /// Whether it differs from row to row of a report.
    pub(super) fn is_of_rows(&self) -> bool {
        matches!(self.source, Source::Row(_))
    }
}

fn column(name: &'static str, kind: Type, about: &'static str, source: Source) -> Column {
    Column { name, kind, about: about.into(), in_path: false, source }
}

fn origin(name: &'static str, about: &'static str, of: fn(&Origin) -> Value) -> Column {
    column(name, Type::Text, about, Source::Origin(of))
}

fn fact(name: &'static str, kind: Type, about: &'static str, of: fn(&BriefReport) -> Value) -> Column {
    column(name, kind, about, Source::Report(Box::new(of)))
}

/// Of clocks.
fn clock(name: &'static str, kind: Type, about: &'static str, of: fn(&BriefRow) -> Value) -> Column {
    let of = move |row: &Row| if let Row::Clock(row) = row { of(row) } else { Value::Nothing };
    column(name, kind, about, Source::Row(Box::new(of)))
}

/// What `table` shows under the same name.
fn shown(shown: tabulation::Column) -> Column {
    let kind = match shown.shape() {
        Shape::Text => Type::Text,
        Shape::Figure => Type::Figure,
        Shape::Count => Type::Count,
    };
    let source = match shown.of_report() {
        Some(of) => Source::Report(Box::new(move |report| Value::from(of(report)).of_type(kind))),
        None => {
            let of = shown.of_row();
            Source::Row(Box::new(move |row| Value::from(of(row)).of_type(kind)))
        }
    };
    Column { name: shown.key(), kind, about: shown.about().into(), in_path: false, source }
}
