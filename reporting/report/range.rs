//! Checks reports: values in range, no duplicate rows, and no more values than fit in memory.

use std::collections::HashSet;
use std::io;

use crate::fields::{InvalidNumber, Kind, fields, fields_of, rows};
use crate::limits::MAX_TIMERS;
use crate::text::json_error;
use estimators::model::{Report, SCHEMA};

/// The reason why a text is not a report, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum InvalidReport {
    /// A number of the report is invalid.
    #[error(transparent)]
    Number(#[from] InvalidNumber),
    /// A number of a row is invalid.
    #[error("'{row}': {number}")]
    NumberOfRow {
        /// The name of the row.
        row: String,
        /// What is wrong with the number.
        number: InvalidNumber,
    },
    /// Two rows have the same name.
    #[error("two {} are '{row}'; names are unique", .kind.in_words())]
    Duplicate {
        /// The kind of the rows.
        kind: Kind,
        /// The name of the rows.
        row: String,
    },
    /// The text holds more values, timers or characters in a text than any report.
    #[error(transparent)]
    Text(#[from] io::Error),
    /// The text holds more of something than any report.
    #[error("it has more than {0} {1}, which no report has")]
    TooMany(usize, &'static str),
    /// The text has another encoding.
    #[error(
        "it is not UTF-8; write it with `timermeter probe --output report.json`, or convert what PowerShell's `>` wrote: `iconv -f UTF-16 -t UTF-8`"
    )]
    NotUtf8,
    /// The text is not JSON.
    #[error("{}; was it written with --format json?", with_place(.0))]
    Syntax(serde_json::Error),
    /// A value has another type than in a report, or no report has it.
    #[error("{}", with_place(.0))]
    Value(serde_json::Error),
    /// The document does not name its schema.
    #[error("it is JSON without a \"schema\"; reports have the schema {SCHEMA}")]
    NoSchema,
    /// The document has another schema.
    #[error(
        "its schema is '{0}', this build reads {SCHEMA} only: use the version of timermeter that wrote it"
    )]
    OtherSchema(String),
}

fn with_place(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    format!("{} (line {line}, column {column})", json_error(error))
}

/// Checks that all fields of a report are in their ranges, and that rows have names of their own.
///
/// # Errors
/// When a number is invalid, or two rows have the same name.
pub(super) fn check(report: &Report) -> Result<(), InvalidReport> {
    fields().iter().try_for_each(|field| field.check(report))?;
    for kind in Kind::ALL {
        let mut identities = HashSet::new();
        for row in rows(report, kind) {
            if !identities.insert((row.id(), row.request_ns())) {
                let row = row.name_with_length();
                return Err(InvalidReport::Duplicate { kind, row });
            }
            // A sleep primitive has values for each length, and each length is checked.
            for row in row.by_length() {
                let checked = fields_of(kind).try_for_each(|field| field.check(row));
                checked.map_err(|number| InvalidReport::NumberOfRow {
                    row: row.name_with_length(),
                    number,
                })?;
            }
        }
    }
    Ok(())
}

/// The largest number of timers in a report: twice [`MAX_TIMERS`], because an agent may report as
/// many unavailable timers as it hosts.
pub const MAX_ROWS: usize = 2 * MAX_TIMERS;
/// The largest number of values in a report. A report of the largest size
/// ([`MAX_REPORT_BYTES`](crate::input::MAX_REPORT_BYTES)) has as many if each takes ten bytes; in
/// reports of this program a value takes more.
pub const MAX_VALUES: usize = 1 << 20;

/// Checks that a text has no more values than a report, before it is parsed. The rows of a text that
/// exceeds a limit would take a hundred times its size in memory.
///
/// Counting characters needs no memory: a comma separates two values, and each timer has one key
/// `"status"`.
pub(super) fn check_size(text: &str) -> Result<(), InvalidReport> {
    if text.bytes().filter(|&byte| byte == b',').count() >= MAX_VALUES {
        return Err(InvalidReport::TooMany(MAX_VALUES, "values"));
    }
    if text.matches("\"status\"").count() > MAX_ROWS {
        return Err(InvalidReport::TooMany(MAX_ROWS, "timers"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::report::parse;
    use crate::report::read::tests::{SMALL, assert_refused, with_clock};

    /// A report of a machine with these keys, too.
    fn platform(more: &str) -> String {
        SMALL.replace(r#""kernel":{}"#, &format!(r#""kernel":{{}},{more}"#))
    }

    #[test]
    fn refuses_numbers_out_of_range() {
        let observed = |more: &str| {
            with_clock(&format!(
                r#""observations":{{"intervals":1,"batched_calls":1,"single_calls":1,"backward_steps":0,{more}}}"#
            ))
        };
        for (text, words) in [
            (
                platform(r#""steal_share":2"#),
                "steal_share is 2.0; it has to be from 0 to 1",
            ),
            (
                observed(r#""processes":4294967295,"disturbed_processes":0"#),
                "'a': processes is 4294967295.0; it has to be from 0 to 1e6",
            ),
            // Any key, in lines of any length.
            (
                platform(r#""later":[1,-1e999]"#),
                "later is -inf; it has to be from -1.8446744073709552e19 to 1.8446744073709552e19 (line 3, ",
            ),
            (
                platform(r#""load":{"one_minute":20000000000000000000}"#),
                "one_minute is 2e19; it has to be from",
            ),
        ] {
            assert_refused(&text, words);
        }
        let all_valid = [
            platform(r#""steal_share":0.5,"waiting":{"timer_slack_ns":18446744073709551615}"#),
            observed(
                r#""processes":300,"disturbed_processes":0,"dropped_windows":{"shared-core":14}"#,
            ),
        ];
        for text in all_valid {
            parse(&text, "r.json").unwrap();
        }
    }

    #[test]
    fn unknown_keys_have_no_range() {
        let unknown = r#""turbo_share":37,"later":{"many_processes":[1e19,-5],"wait_hz":-5}"#;
        parse(&platform(unknown), "r.json").unwrap();
    }
}
