//! Checks reports: values in range, no duplicate rows, and no more values than fit in memory.

use std::collections::HashSet;
use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::fields::{InvalidNumber, Kind, Range, Row, check_interval, fields, fields_of, rows};
use crate::limits::MAX_TIMERS;
use crate::model::{Interval, Report, SCHEMA};
use crate::text::json_error;

/// The ranges of all numbers of a report, and of a log of `watch`, by their key or a word of it, as in
/// `steal_share`; those with other keys are in [`Range::INTEGER`]. The range of a
/// [field](crate::fields) may be narrower.
const RANGES: [(&str, Range); 11] = [
    ("at_s", Range::CLOCK),
    // In CPUs, of which a process may use several.
    ("cpu_share", Range::PROCESSES),
    ("duration", Range::SECONDS),
    ("s", Range::SECONDS),
    ("deviation", Range::LENGTH),
    ("share", Range::SHARE),
    ("quality", Range::SHARE),
    ("spread", Range::SHARE),
    ("early", Range::SHARE),
    ("hz", Range::RATE),
    ("processes", Range::PROCESSES),
];

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
    /// A periodic timer has no period.
    #[error("'{0}' has a period of 0")]
    NoPeriod(String),
    /// Not all single processes have a cost in cycles.
    #[error(
        "'{row}': distribution.process_cycles has {with_cycles} values; it has to have {count}, as many as process_ns"
    )]
    Unpaired {
        /// The name of the row.
        row: String,
        /// The number of costs in cycles.
        with_cycles: usize,
        /// The number of costs in nanoseconds.
        count: usize,
    },
    /// The text holds more values than any report.
    #[error("it has more than {MAX_VALUES} values, which no report has")]
    TooManyValues,
    /// The text holds more timers than any report.
    #[error("it has more than {MAX_ROWS} timers, which no report has")]
    TooManyTimers,
    /// The text is UTF-16.
    #[error(
        "it is UTF-16, as PowerShell's `>` writes it; write it anew with `timermeter probe --output report.json`, or convert it: `iconv -f UTF-16 -t UTF-8`"
    )]
    Utf16,
    /// The text is not JSON, or a value has another type than in a report.
    #[error("{} (line {}, column {}); was it written with --format json?", json_error(.0), .0.line(), .0.column())]
    Syntax(serde_json::Error),
    /// The document does not name its schema.
    #[error("it is JSON without a \"schema\"; reports have the schema {SCHEMA}")]
    NoSchema,
    /// The document has another schema.
    #[error(
        "its schema is '{0}', this build reads {SCHEMA} only: use the version of timermeter that wrote it"
    )]
    OtherSchema(String),
}

/// Checks all values and rows of a report.
///
/// # Errors
/// When a number is invalid, or two rows have the same name.
pub fn check(report: &Report) -> Result<(), InvalidReport> {
    fields().iter().try_for_each(|field| field.check(report))?;
    for kind in Kind::ALL {
        let mut identities = HashSet::new();
        for row in rows(report, kind) {
            if !identities.insert(row.identity()) {
                let row = row.name();
                return Err(InvalidReport::Duplicate { kind, row });
            }
            check_row(row)?;
        }
    }
    check_numbers(report)
}

/// Checks that all numbers of a document are in the ranges of their keys and in their intervals.
pub(super) fn check_numbers(document: &impl Serialize) -> Result<(), InvalidReport> {
    let mut walk = Serializer::with_formatter(io::sink(), NumberWalk::default());
    let walked = document.serialize(&mut walk).map_err(io::Error::from);
    walked.map_err(|error| match error.downcast() {
        Ok(number) => InvalidReport::Number(number),
        Err(error) => unreachable!("only a number stops the walk: {error}"),
    })
}

fn check_row(row: Row) -> Result<(), InvalidReport> {
    if row.kind() == Kind::Periods && row.request_ns() == Some(0) {
        return Err(InvalidReport::NoPeriod(row.name()));
    }
    // A sleep primitive has values for each length, and each length is checked.
    for row in row.by_length() {
        let mut fields = fields_of(row.kind());
        let checked = fields.try_for_each(|field| field.check(row));
        checked.map_err(|number| InvalidReport::NumberOfRow {
            row: row.name_with_length(),
            number,
        })?;
    }
    // Costs of processes from reports of earlier versions, which are not written again.
    let Some(costs) = row.clock().and_then(|clock| clock.distribution.as_ref()) else {
        return Ok(());
    };
    let (with_cycles, count) = (costs.process_cycles.len(), costs.process_ns.len());
    if with_cycles != count && with_cycles > 0 {
        let row = row.name();
        return Err(InvalidReport::Unpaired {
            row,
            with_cycles,
            count,
        });
    }
    for (key, values) in [
        ("process_ns", &costs.process_ns),
        ("process_cycles", &costs.process_cycles),
    ] {
        values
            .iter()
            .try_for_each(|value| check_number(key, *value))?;
    }
    Ok(())
}

/// The keys of the parts of a figure, in the order in which they are written.
const FIGURE: [&str; 3] = ["value", "low", "high"];

/// Walks a report as it would be written, and checks each number by its key. Nothing is written,
/// because all values of a report take many times its size in memory.
#[derive(Default)]
struct NumberWalk {
    /// The key that gives the next number its range, and those of the objects around it.
    key: String,
    outer: Vec<String>,
    /// The key that is being read.
    name: Option<String>,
    /// The part of a figure that the next number is, and the numbers of the figure.
    part: Option<usize>,
    figure: [f64; FIGURE.len()],
}

impl NumberWalk {
    fn number(&mut self, number: f64) -> io::Result<()> {
        let key = &self.key;
        let mut checked = check_number(key, number);
        if let Some(part) = self.part {
            if part == 0 {
                self.figure = [number, f64::NEG_INFINITY, f64::INFINITY];
            }
            self.figure[part] = number;
            let [value, low, high] = self.figure;
            checked = checked.and(check_interval(key, Interval { value, low, high }));
        }
        checked.map_err(io::Error::other)
    }
}

/// Defines the methods that write numbers of these types.
macro_rules! check_written {
    ($($method:ident: $number:ty),*) => {
        $(fn $method<W: ?Sized + io::Write>(&mut self, _: &mut W, number: $number) -> io::Result<()> {
            self.number(number as f64)
        })*
    };
}

impl Formatter for NumberWalk {
    check_written!(
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_i8: i8, write_i16: i16, write_i32: i32,
        write_i64: i64, write_f32: f32, write_f64: f64
    );

    fn begin_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.outer.push(self.key.clone());
        Ok(())
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.key = self.outer.pop().unwrap_or_default();
        Ok(())
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        self.name = Some(String::new());
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        _: &mut W,
        text: &str,
    ) -> io::Result<()> {
        if let Some(name) = &mut self.name {
            name.push_str(text);
        }
        Ok(())
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        let name = self.name.take().unwrap_or_default();
        let outer = self.outer.last().cloned().unwrap_or_default();
        self.part = FIGURE.iter().position(|part| *part == name);
        let is_part = self.part.is_some() || ["step", "at-most"].contains(&name.as_str());
        // The keys in a finding are names.
        self.key = if is_part || outer == "values" {
            outer
        } else {
            name
        };
        Ok(())
    }
}

fn check_number(key: &str, number: f64) -> Result<(), InvalidNumber> {
    let mut ranges = RANGES.iter();
    let range = ranges.find(|(word, _)| key == *word || key.split('_').any(|part| part == *word));
    let range = range.map_or(Range::INTEGER, |(_, range)| *range);
    range.check(key, number)
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
        return Err(InvalidReport::TooManyValues);
    }
    if text.matches("\"status\"").count() > MAX_ROWS {
        return Err(InvalidReport::TooManyTimers);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::report::parse;
    use crate::report::read::tests::{SMALL, assert_refused, with_clock, with_frequency};

    /// A report of a machine with these keys, too.
    fn platform(more: &str) -> String {
        SMALL.replace(r#""kernel":{}"#, &format!(r#""kernel":{{}},{more}"#))
    }

    /// A report of a clock with these costs of single processes.
    fn with_costs(lists: &str) -> String {
        with_clock(&format!(
            r#""distribution":{{"modes":[],"within_ns":1,"between_ns":null,"tail_share":0,{lists}}}"#
        ))
    }

    fn costs(ns: &str, cycles: &str) -> String {
        with_costs(&format!(
            r#""process_ns":[{ns}],"process_cycles":[{cycles}]"#
        ))
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
                platform(r#""steal_share":1e308"#),
                "steal_share is 1e308; it has to be from 0 to 1",
            ),
            (
                platform(r#""steal_share":-1e308"#),
                "steal_share is -1e308; it has to be from 0 to 1",
            ),
            (
                platform(r#""load":{"one_minute":1e308}"#),
                "one_minute is 1e308; it has to be from -1e18",
            ),
            (
                observed(r#""processes":4294967295,"disturbed_processes":0"#),
                "'a': processes is 4294967295.0; it has to be from 0 to 1e6",
            ),
            (
                observed(r#""processes":9,"disturbed_processes":4294967295"#),
                "disturbed_processes is 4294967295.0; it has to be from 0 to 1e6",
            ),
            (
                with_frequency(r#""effective_hz_after":1e300"#),
                "effective_hz_after is 1e300; it has to be from 1 to 1e12",
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
            parse(&text, "r.json").expect("it is valid");
        }
    }

    #[test]
    fn unknown_keys_have_no_range() {
        let unknown = r#""turbo_share":37,"later":{"many_processes":[1e300,-1e999],"wait_hz":-5}"#;
        parse(&platform(unknown), "r.json").expect("a later version may write it");
        // The known key after unknown ones has its range.
        let known = platform(&format!(r#"{unknown},"steal_share":2"#));
        assert_refused(&known, "steal_share is 2.0; it has");
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
                "process_ns is 1e300; it has to be from -1.84",
            ),
            (
                costs("8,9", "30,-2e20"),
                "process_cycles is -2e20; it has to be from",
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
            assert_refused(&text, words);
        }
    }
}
