//! Finds what makes a report invalid: values out of range, duplicate rows, or more values than fit
//! in memory.

use std::collections::HashSet;

use crate::fields::{Kind, Range, fields, fields_of, rows};
use crate::limits::MAX_TIMERS;
use crate::model::{Distribution, Report};

/// Describes the first invalid value or duplicate row of a report; `None` if the report is valid.
#[must_use]
pub fn find_invalid(report: &Report) -> Option<String> {
    let in_report = fields()
        .iter()
        .find_map(|field| field.describe_invalid_in_report(report));
    let in_rows = || {
        Kind::ALL
            .into_iter()
            .find_map(|kind| find_invalid_row(report, kind))
    };
    in_report.or_else(in_rows)
}

fn find_invalid_row(report: &Report, kind: Kind) -> Option<String> {
    let mut identities = HashSet::new();
    rows(report, kind).into_iter().find_map(|row| {
        if !identities.insert(row.identity()) {
            return Some(format!(
                "two {} are '{}'; names are unique",
                kind.in_words(),
                row.name()
            ));
        }
        if kind == Kind::Periods && row.request_ns() == Some(0) {
            return Some(format!("'{}' has a period of 0", row.name()));
        }
        // A sleep primitive has values for each length, and each length is checked.
        row.by_length().into_iter().find_map(|at_length| {
            let costs = || at_length.clock()?.distribution.as_ref();
            let problem = fields_of(kind)
                .find_map(|field| field.describe_invalid_in_row(at_length))
                .or_else(|| find_invalid_costs(costs()?))?;
            Some(format!("'{}': {problem}", at_length.name_with_length()))
        })
    })
}

/// Describes what is invalid about the costs of single processes; `None` if nothing is.
fn find_invalid_costs(costs: &Distribution) -> Option<String> {
    let lists = [
        ("distribution.process_ns", &costs.process_ns),
        ("distribution.process_cycles", &costs.process_cycles),
    ];
    let [count, with_cycles] = lists.map(|(_, list)| list.len());
    if with_cycles != count && with_cycles > 0 {
        return Some(format!(
            "distribution.process_cycles has {with_cycles} values; it has to have {count}, as many as process_ns"
        ));
    }
    lists.into_iter().find_map(|(key, list)| {
        let invalid = list.iter().find(|&&cost| !Range::ANY.contains(cost))?;
        Some(format!(
            "{key} has {invalid:?}; it has to be {}",
            Range::ANY
        ))
    })
}

/// The largest number of timers in a report: twice [`MAX_TIMERS`], because an agent may report as
/// many unavailable timers as it hosts.
pub const MAX_ROWS: usize = 2 * MAX_TIMERS;
/// The largest number of values in a report. A report of the largest size
/// ([`MAX_REPORT_BYTES`](crate::input::MAX_REPORT_BYTES)) has as many if each takes ten bytes; in
/// reports of this program a value takes more.
pub const MAX_VALUES: usize = 1 << 20;

/// Describes the limit that a text exceeds, before it is parsed; `None` if it exceeds none. The
/// rows of a text that exceeds a limit would take a hundred times its size in memory.
///
/// Counting characters needs no memory: a comma separates two values, and each timer has one key
/// `"status"`.
pub(super) fn find_exceeded_limit(text: &str) -> Option<String> {
    if text.bytes().filter(|&byte| byte == b',').count() >= MAX_VALUES {
        return Some(format!(
            "it has more than {MAX_VALUES} values, which no report has"
        ));
    }
    let timers = text.matches("\"status\"").count();
    (timers > MAX_ROWS).then(|| format!("it has more than {MAX_ROWS} timers, which no report has"))
}

#[cfg(test)]
mod tests {
    use crate::report::parse;
    use crate::report::read::tests::SMALL;

    /// A report of a clock with these costs of single processes.
    fn with_costs(lists: &str) -> String {
        let row = format!(
            r#"{{"id":"a","label":"","runtime":"native","status":"ok","findings":[],
            "distribution":{{"modes":[],"within_ns":1,"between_ns":null,"tail_share":0,{lists}}}}}"#
        );
        SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row}]"))
    }

    fn costs(ns: &str, cycles: &str) -> String {
        with_costs(&format!(
            r#""process_ns":[{ns}],"process_cycles":[{cycles}]"#
        ))
    }

    #[test]
    fn takes_costs_of_processes() {
        for valid in [
            with_costs(r#""process_ns":[8.4725,-0.01]"#),
            costs("8.4725,8.4749", "31.4568,31.2624"),
            costs(&["8"; 4096].join(","), ""),
        ] {
            assert!(parse(&valid, "r.json").is_ok(), "{valid}");
        }
    }

    #[test]
    fn refuses_invalid_costs_of_processes() {
        for (text, words) in [
            (
                costs("8,1e300", ""),
                "'a': distribution.process_ns has 1e300; it has to be from -1e18 to 1e18",
            ),
            (
                costs("8,9", "30,-2e18"),
                "distribution.process_cycles has -2e18; it has to be from",
            ),
            (
                costs("8,9", "30"),
                "distribution.process_cycles has 1 values; it has to have 2, as many as process_ns",
            ),
            (
                costs("", "30"),
                "distribution.process_cycles has 1 values; it has to have 0",
            ),
            (costs("8,null", ""), "invalid type: null"),
        ] {
            let error = parse(&text, "r.json").unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
