//! The rows of a report in the order in which people are shown them.

use crate::model::{Report, Status, TimerRow, WaitConditions, Warning};

/// Longest text of a row from elsewhere that is printed.
pub const LONGEST: usize = 600;

/// The rows that have figures: the `ok` ones in the order of the report, then the unresolved ones.
pub fn with_figures(report: &Report) -> Vec<&TimerRow> {
    with_status(report, Status::Ok).chain(with_status(report, Status::Unresolved)).collect()
}

fn with_status(report: &Report, status: Status) -> impl Iterator<Item = &TimerRow> {
    report.timers.iter().filter(move |row| row.status == status)
}

/// What all rows of a report have, of timers that are read and of those that wait.
pub struct Told<'a> {
    pub id: &'a str,
    /// Under what it waited, if it was asked to.
    pub conditions: Option<&'a WaitConditions>,
    pub status: Status,
    pub reason: Option<&'a str>,
    pub remedy: Option<&'a str>,
    pub warnings: &'a [Warning],
}

/// A row as far as it tells why.
macro_rules! told {
    ($row:expr, $conditions:expr) => {
        Told {
            id: &$row.id,
            conditions: $conditions,
            status: $row.status,
            reason: $row.reason.as_deref(),
            remedy: $row.remedy.as_deref(),
            warnings: &$row.warnings,
        }
    };
}

/// Those that have figures first, in the order in which they are shown.
pub fn all_told(report: &Report) -> Vec<Told<'_>> {
    let hidden = [Status::Failed, Status::Unavailable];
    let timers = with_figures(report)
        .into_iter()
        .chain(hidden.into_iter().flat_map(|status| with_status(report, status)))
        .map(|row| told!(row, None));
    let asked = |conditions| Some(conditions).filter(|told: &&WaitConditions| !told.policy.is_empty());
    let waits = report.waits.iter().map(|row| told!(row, asked(&row.conditions)));
    let periods = report.periods.iter().map(|row| told!(row, asked(&row.conditions)));
    timers.chain(waits).chain(periods).collect()
}
