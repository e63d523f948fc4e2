//! The rows of a report, and their cells in every column.

use std::path::Path;

use super::slug;
use super::waits::in_short;
use crate::fields::{Field, Kind, Row, Ticked, Waited};
use crate::model::{Report, Status, WaitConditions};
use crate::table::Value;

/// Shows `see` each row of one kind that a report has; those without figures where `all` of them
/// are wanted.
pub fn each_row(report: &Report, kind: Kind, all: bool, mut see: impl FnMut(&Row)) {
    let shown = |status: Status| all || matches!(status, Status::Ok | Status::Unresolved);
    match kind {
        Kind::Clocks => {
            report
                .timers
                .iter()
                .filter(|row| shown(row.status))
                .for_each(|row| see(&Row::Clock(row)));
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
                lengths.into_iter().for_each(|late| {
                    see(&Row::Wait(Waited {
                        row,
                        late,
                        conditions,
                    }))
                });
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

/// All rows of a kind of a report, those without figures too, in these columns.
#[must_use]
pub fn rows(
    path: Option<&Path>,
    report: &Report,
    kind: Kind,
    columns: &[&Field],
) -> Vec<Vec<Value>> {
    let of_report = |field: &&Field| match field.key {
        "file" => Some(path.map(|path| path.display().to_string()).into()),
        "platform" => Some(slug(&report.platform).into()),
        _ => field.of_report(report),
    };
    let of_report: Vec<Option<Value>> = columns.iter().map(of_report).collect();
    let mut rows = Vec::new();
    each_row(report, kind, true, |row| {
        let cell = |(field, known): (&&Field, &Option<Value>)| {
            known
                .clone()
                .unwrap_or_else(|| field.of_row(row))
                .of_type(field.kind)
        };
        rows.push(columns.iter().zip(&of_report).map(cell).collect());
    });
    rows
}
