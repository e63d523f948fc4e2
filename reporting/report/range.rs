//! Refuses reports that cannot be: with figures out of range, rows that occur twice, or more values
//! than memory is spent on.

use std::collections::HashSet;

use crate::fields::{Kind, fields, of_kind, rows};
use crate::model::Report;

/// The first thing in a report that cannot be, in words.
#[must_use]
pub fn impossible(report: &Report) -> Option<String> {
    let of_report = fields()
        .iter()
        .find_map(|field| field.impossible_of_report(report));
    let of_rows = || {
        Kind::ALL
            .into_iter()
            .find_map(|kind| impossible_row(report, kind))
    };
    of_report.or_else(of_rows)
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
            let wrong = of_kind(kind).find_map(|field| field.impossible_of(row))?;
            Some(format!("'{}': {wrong}", row.name_with_length()))
        })
    })
}

/// Timers of the largest report: twice what one agent may have.
pub const MOST_TIMERS: usize = 2 * crate::limits::MOST_TIMERS;
/// Values of the largest report: nearly as many as the longest one has that is written here, with
/// nine bytes each.
pub const MOST_VALUES: usize = 1 << 20;

/// What of a text is more than any report has; its rows would take a hundred times its memory.
pub(super) fn excess(text: &str) -> Option<String> {
    if text.bytes().filter(|&byte| byte == b',').count() >= MOST_VALUES {
        return Some(format!(
            "it has more than {MOST_VALUES} values, which no report has"
        ));
    }
    let timers = text.matches("\"status\"").count();
    (timers > MOST_TIMERS)
        .then(|| format!("it has more than {MOST_TIMERS} timers, which no report has"))
}
