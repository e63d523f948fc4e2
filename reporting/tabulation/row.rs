//! What tables of reports have a row for: each timer, and of timers that wait each length.

use crate::fields::{Kind, Row, Ticked, Waited};
use crate::model::{Report, Status, WaitConditions};
use crate::report::waits::in_short;

/// Shows `see` each row of one kind that a report has; those without figures where `all` of them are wanted.
pub fn each_row(report: &Report, kind: Kind, all: bool, mut see: impl FnMut(&Row)) {
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
