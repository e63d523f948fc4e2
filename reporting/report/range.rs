//! Rejects invalid reports: values out of range, duplicate rows, or too many values to load into
//! memory.

use std::collections::HashSet;

use crate::fields::{Kind, fields, fields_of, rows};
use crate::model::Report;

/// Describes the first invalid value or duplicate row of a report.
#[must_use]
pub fn find_invalid(report: &Report) -> Option<String> {
    let report_value = fields()
        .iter()
        .find_map(|field| field.describe_invalid_in_report(report));
    let of_rows = || {
        Kind::ALL
            .into_iter()
            .find_map(|kind| impossible_row(report, kind))
    };
    report_value.or_else(of_rows)
}

fn impossible_row(report: &Report, kind: Kind) -> Option<String> {
    let mut known = HashSet::new();
    rows(report, kind).into_iter().find_map(|row| {
        if !known.insert(row.identity()) {
            return Some(format!(
                "two {} are '{}'; names are unique",
                kind.in_words(),
                row.name()
            ));
        }
        if kind == Kind::Periods && row.request_ns() == Some(0) {
            return Some(format!("'{}' has a period of 0", row.name()));
        }
        row.by_length().into_iter().find_map(|row| {
            let wrong = fields_of(kind).find_map(|field| field.describe_invalid_in_row(row))?;
            Some(format!("'{}': {wrong}", row.name_with_length()))
        })
    })
}

/// The largest number of timers in a report: twice the limit for one agent.
pub const MAX_TIMERS: usize = 2 * crate::limits::MAX_TIMERS;
/// The largest number of values in a report: close to the number in the longest report that this
/// program writes, with nine bytes for each value.
pub const MOST_VALUES: usize = 1 << 20;

/// Describes a limit that the text exceeds; the rows of such a text would take a hundred times its
/// size in memory.
pub(super) fn excess(text: &str) -> Option<String> {
    if text.bytes().filter(|&byte| byte == b',').count() >= MOST_VALUES {
        return Some(format!(
            "it has more than {MOST_VALUES} values, which no report has"
        ));
    }
    let timers = text.matches("\"status\"").count();
    (timers > MAX_TIMERS)
        .then(|| format!("it has more than {MAX_TIMERS} timers, which no report has"))
}
