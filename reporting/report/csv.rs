//! The report as CSV (RFC 4180): one line a timer, of timers that wait one a length; flat columns
//! whose names carry their unit; empty is "not determined".

use super::waits::is_read;
use crate::fields::{Field, Kind, Row, Ticked, Waited, in_csv};
use crate::model::Report;
use crate::table::{Format, Table, TableColumn, Type};

/// A header line, then the lines in the order of the report.
#[must_use]
pub fn render(report: &Report) -> String {
    let kind = match report.waits.is_empty() {
        _ if is_read(report) => Kind::Clocks,
        false => Kind::Waits,
        true => Kind::Periods,
    };
    let (names, fields): (Vec<&str>, Vec<&Field>) = in_csv(kind).into_iter().unzip();
    let mut table = Table::new(names.into_iter().map(TableColumn::left).collect());
    each_line(report, kind, |row| {
        // A bound stands as its figure: a column beside it tells that it is one.
        let value = |field: &&Field| {
            field
                .of_report(report)
                .unwrap_or_else(|| field.of_row(row))
                .of_type(Type::Figure)
        };
        table.push(fields.iter().map(value).collect());
    });
    table.render(Format::Csv)
}

/// Each timer; of those that wait each length, those of 1 ns too, and one without a length where
/// there are no figures.
fn each_line(report: &Report, kind: Kind, mut see: impl FnMut(&Row)) {
    match kind {
        Kind::Clocks => report.timers.iter().for_each(|row| see(&Row::Clock(row))),
        Kind::Waits => {
            for row in &report.waits {
                super::waits::each_length(row, |late| {
                    see(&Row::Wait(Waited {
                        row,
                        late,
                        conditions: "",
                    }))
                });
            }
        }
        Kind::Periods => {
            report.periods.iter().for_each(|row| {
                see(&Row::Period(Ticked {
                    row,
                    conditions: "",
                }))
            });
        }
    }
}
