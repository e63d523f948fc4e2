//! Reads a report from JSON, and explains why a file is not a report.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::range::{InvalidReport, check, check_size};
use crate::input::{self, MAX_REPORT_BYTES};
use crate::text::{clean_strings, clipped};
use estimators::model::{Report, SCHEMA, Status, TimerRow};
use judgement::assessment::assess;

/// The reason why a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read '{}': {source}", .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folder contains no file whose name ends in `.json`.
    #[error("there is no report in the folder '{}': no file in or below it ends in .json", .path.display())]
    NoReports {
        /// The folder.
        path: PathBuf,
    },
    /// The text is not a report.
    #[error("'{name}' is not a report: {problem}")]
    Invalid {
        /// The source of the text.
        name: String,
        /// The problem.
        problem: InvalidReport,
    },
}

/// Reads the report in the file `path`.
///
/// # Errors
/// When the file cannot be read or is not a report of this version.
pub fn read(path: &Path) -> Result<Report, ReadError> {
    let bytes = input::read(path, MAX_REPORT_BYTES).map_err(|source| ReadError::File {
        path: path.to_owned(),
        source,
    })?;
    parse_bytes(&bytes, path)
}

/// Parses a report from the bytes of the file `path`.
///
/// # Errors
/// When they are not a report of this version.
pub fn parse_bytes(bytes: &[u8], path: &Path) -> Result<Report, ReadError> {
    let name = path.display().to_string();
    // A zero byte next to the first character is one of UTF-16.
    let text = str::from_utf8(bytes).ok();
    match text.filter(|text| !text.bytes().take(2).any(|byte| byte == 0)) {
        Some(text) => parse(text, &name),
        None => Err(ReadError::Invalid {
            name,
            problem: InvalidReport::NotUtf8,
        }),
    }
}

/// Parses a report from `text`; errors name the source of the text as `name`.
///
/// # Errors
/// When `text` is not a report of this version.
pub fn parse(text: &str, name: &str) -> Result<Report, ReadError> {
    // Some programs write a byte order mark before UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    checked(text).map_err(|problem| ReadError::Invalid {
        name: name.to_owned(),
        problem,
    })
}

/// Parses a line of a log as reports are parsed: its texts are cleaned, its numbers checked.
///
/// # Errors
/// When it is not JSON of this type, or a number is invalid.
pub fn parse_line<T: DeserializeOwned>(line: &str) -> Result<T, InvalidReport> {
    serde_json::from_str(&clean_strings(line)?).map_err(InvalidReport::Value)
}

/// Parses a report and checks its values.
///
/// # Errors
/// When `text` is not a report of this version, or holds a value that no report has.
pub fn checked(text: &str) -> Result<Report, InvalidReport> {
    check_size(text)?;
    let mut report = match Report::from_json(&clean_strings(text)?) {
        Ok(report) if report.schema == SCHEMA => report,
        // Checks the version before it reports a parse error, because parse errors of a document
        // of another version are misleading.
        other => {
            let document: Value = serde_json::from_str(text).map_err(InvalidReport::Syntax)?;
            return Err(match (document["schema"].as_str(), other) {
                (None, _) => InvalidReport::NoSchema,
                (Some(SCHEMA), Err(error)) => InvalidReport::Value(error),
                (Some(found), _) => InvalidReport::OtherSchema(clipped(found, 80)),
            });
        }
    };
    check(&report)?;
    assess(&mut report);
    Ok(report)
}

/// Returns the report with rows that commands read: one with a value out of range has no figures, and the
/// reason.
pub fn accepted(mut report: Report) -> Report {
    macro_rules! accept {
        ($rows:ident, $row:ident, $without_figures:expr) => {
            for $row in &mut report.$rows {
                let $rows = vec![$row.clone()];
                if let Some(reason) = refusal(Report {
                    $rows,
                    ..Report::default()
                }) {
                    $without_figures;
                    ($row.status, $row.reason) = (Status::Failed, Some(reason));
                }
            }
        };
    }
    accept!(
        timers,
        row,
        *row = TimerRow {
            head: row.head.clone(),
            ..TimerRow::default()
        }
    );
    accept!(waits, row, row.figures = None);
    accept!(periods, row, row.figures = None);
    report
}

/// Why commands refuse to read the report.
fn refusal(mut report: Report) -> Option<String> {
    report.schema = SCHEMA.into();
    let text = serde_json::to_string(&report).ok()?;
    Some(checked(&text).err()?.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A valid report with the required keys only.
    pub(in crate::report) const SMALL: &str = r#"{"schema":"timermeter.report.v2","tool":{"name":"timermeter","version":"0.1.0"},
        "created":"2026-11-20T12:00:00Z",
        "platform":{"cpu":{"architecture":"x86_64"},"os":{"family":"linux"},"kernel":{},"clocksource":{"available":[]}},
        "frequency":{"cycles_from":"effective"},
        "settings":{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5},
        "findings":[],"timers":[]}"#;

    /// A report of a clock with these keys, too.
    pub(in crate::report) fn with_clock(more: &str) -> String {
        let row = format!(
            r#"{{"id":"a","label":"","runtime":"native","status":"ok","findings":[],{more}}}"#
        );
        SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row}]"))
    }

    /// A report whose frequencies have these keys, too.
    pub(in crate::report) fn with_frequency(more: &str) -> String {
        SMALL.replace("\"frequency\":{", &format!("\"frequency\":{{{more},"))
    }

    /// Checks that a report is refused, for this reason.
    #[track_caller]
    pub(in crate::report) fn assert_refused(text: &str, words: &str) {
        let error = parse(text, "r.json").expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn names_other_version() {
        let other = SMALL.replace("report.v2", "report.v1");
        for (text, words) in [
            (&*other, "timermeter.report.v1"),
            (&other, "timermeter.report.v2 only"),
            ("{}", "without a \"schema\""),
            ("[1]", "without a \"schema\""),
            (r#"{"schema":1}"#, "without a \"schema\""),
        ] {
            assert_refused(text, words);
        }
    }

    #[test]
    fn names_place_of_broken_json() {
        let negative = SMALL.replace("\"seed\":1", "\"seed\":-1");
        let typed = with_clock(r#""figures":{"staircase":5}"#);
        for (text, words) in [
            ("{\n  \"schema\": oops", "(line 2, column 13)"),
            ("", "(line 1, column 0)"),
            (&negative, "invalid value"),
            (&negative, "(line 5, column "),
            (&typed, "line 6, column"),
        ] {
            assert_refused(text, words);
        }
    }

    #[test]
    fn rejects_duplicate_ids() {
        let row = r#"{"id":"a","label":"","runtime":"native","status":"failed","findings":[]}"#;
        let twice = SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row},{row}]"));
        assert_refused(&twice, "two clocks are 'a'");
    }

    #[test]
    fn names_invalid_values() {
        for (keys, words) in [
            (
                r#""resolution_ns":{"value":0}"#,
                "'a': resolution_ns is 0.0; it has to be from 0.000000001 to 1e18",
            ),
            (
                r#""resolution_ns":{"value":1,"low":3,"high":2}"#,
                "a figure is 1.0; it has to be from 3.0 to 2.0 (line 6, column 1",
            ),
            (
                r#""cost_ns":{"value":1,"high":1e19}"#,
                "cost_ns is 1e19; it has to be from 0 to 1e18",
            ),
            (r#""cost_ns":{"value":-1}"#, "cost_ns is -1.0"),
            // No column shows it.
            (
                r#""cost_cycles":{"value":9,"low":1,"high":2}"#,
                "a figure is 9.0; it has to be from 1.0 to 2.0",
            ),
            (
                r#""quality":{"value":0.5,"low":0.6}"#,
                "a figure is 0.5; it has to be from 0.6 to inf",
            ),
            (
                r#""spread":{"value":0.5,"high":1.5}"#,
                "spread is 1.5; it has to be from 0 to 1",
            ),
            (r#""amortised_ns":-1"#, "'a': cost_amortised_ns is -1.0"),
            (r#""ns_per_tick":0"#, "ns_per_tick is 0.0"),
            (
                r#""distribution":{"modes":[],"within_ns":1,"between_ns":null,"tail_share":1.5}"#,
                "distribution_tail_share is 1.5; it has to be from 0 to 1",
            ),
        ] {
            assert_refused(&with_clock(keys), words);
        }
        let zero = with_frequency(r#""cycles_hz":{"value":0}"#);
        assert_refused(&zero, "cycles_hz is 0.0");
    }

    #[test]
    fn refused_values_are_unknown() {
        let wrong = with_clock(r#""resolution_ns":{"value":1},"cost_ns":{"value":1e19}"#);
        let report = accepted(Report::from_json(&wrong).unwrap());
        let row = format!("{:?}", report.timers[0]);
        assert!(row.contains("cost_ns is 1e19; it has to be from "), "{row}");
        assert_eq!(refusal(report), None);
    }

    #[test]
    fn accepts_values_in_their_intervals() {
        for figure in [
            r#"{"value":1,"low":1,"high":1}"#,
            r#"{"value":1,"low":1,"high":null}"#,
            r#"{"value":1,"high":1}"#,
            r#"{"value":1}"#,
        ] {
            let text = with_clock(&format!(r#""cost_ns":{figure},"cost_cycles":{figure}"#));
            parse(&text, "r.json").expect(figure);
        }
    }

    #[test]
    fn zero_is_no_frequency() {
        for key in ["nominal_hz", "tsc_hz"] {
            for hertz in ["0", "-0.0", "-1", "5e-324", "1e13"] {
                let text = with_frequency(&format!("\"{key}\":{hertz}"));
                assert_refused(&text, &format!("{key} is "));
            }
            for hertz in ["1", "32768", "1e12"] {
                let text = with_frequency(&format!("\"{key}\":{hertz}"));
                parse(&text, "r.json").expect(key);
            }
        }
    }

    #[test]
    fn reads_marked_utf8_and_names_utf16() {
        assert!(parse(&format!("\u{feff}{SMALL}"), "r.json").is_ok());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let little = |mark: &[u16]| -> Vec<u8> {
            mark.iter()
                .copied()
                .chain(SMALL.encode_utf16())
                .flat_map(u16::to_le_bytes)
                .collect()
        };
        let big: Vec<u8> = SMALL.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [little(&[0xfeff]), little(&[]), big] {
            std::fs::write(&path, bytes).unwrap();
            let text = read(&path).unwrap_err().to_string();
            assert!(text.contains("iconv -f UTF-16"), "{text}");
        }
    }
}
