//! Reads a report that was written as JSON, and says so when it is not one.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::range::{Impossible, has_too_many_timers, has_too_many_values, impossible};
use crate::input::LONGEST_REPORT;
use crate::model::{Report, SCHEMA};
use crate::text::{clean_strings, clipped, json_error};

/// Why a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read '{}': {source}", .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The text is not JSON, or not this document.
    #[error(
        "'{name}' is not a report: {message} (line {line}, column {column}); was it written with --format json?"
    )]
    Json {
        /// Where the text came from.
        name: String,
        /// What is wrong.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// What its figures are drawn from is not that.
    #[error("'{name}' is not a report: {place}: {message}")]
    Bulk {
        /// Where the text came from.
        name: String,
        /// The part.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// It does not say which document it is.
    #[error("'{name}' is JSON but no report: it has no \"schema\" that says {SCHEMA}")]
    NoSchema {
        /// Where the text came from.
        name: String,
    },
    /// Another version of the document.
    #[error(
        "'{name}' has schema '{found}'; this build reads {SCHEMA} only: use the version of timermeter that wrote it"
    )]
    OtherSchema {
        /// Where the text came from.
        name: String,
        /// The schema it names.
        found: String,
    },
    /// The folder holds no file that could be a report.
    #[error("there is no report in the folder '{}': no file in or below it ends in .json", .path.display())]
    NoReports {
        /// The folder.
        path: PathBuf,
    },
    /// It is UTF-16.
    #[error(
        "'{}' is UTF-16, as PowerShell's `>` writes it; write it anew with `timermeter probe --output report.json`, or \
         convert it: `iconv -f UTF-16 -t UTF-8`", .path.display()
    )]
    Utf16 {
        /// The path.
        path: PathBuf,
    },
    /// More timers than any run has.
    #[error("'{name}' has more than {most} timers, which no report has", most = super::range::MOST_TIMERS)]
    TooManyTimers {
        /// Where the text came from.
        name: String,
    },
    /// More values than any run has.
    #[error("'{name}' has more than {most} values, which no report has", most = super::range::MOST_VALUES)]
    TooManyValues {
        /// Where the text came from.
        name: String,
    },
    /// Something that cannot be.
    #[error("'{name}' {what}")]
    Impossible {
        /// Where the text came from.
        name: String,
        /// What, with its place.
        what: Impossible,
    },
}

/// Reads the report in the file `path`, all of it.
///
/// # Errors
/// When the file cannot be read or does not hold a report of this version.
pub fn read(path: &Path) -> Result<Report, ReadError> {
    let name = path.display().to_string();
    whole(parse(text_of(path, &mut Vec::new())?, &name)?, &name)
}

/// A report whose bulk can be read too.
pub(super) fn whole(report: Report, name: &str) -> Result<Report, ReadError> {
    match broken_bulk(&report) {
        Some((place, error)) => Err(ReadError::Bulk {
            name: name.to_owned(),
            place,
            message: json_error(&error),
        }),
        None => Ok(report),
    }
}

/// The first part of its bulk that is none, with its place.
fn broken_bulk(report: &Report) -> Option<(String, serde_json::Error)> {
    let place = |id: &str, part: &str| format!("{part} of '{}'", clipped(id, 80));
    let timers = report.timers.iter().find_map(|row| {
        let figures = row
            .figures
            .as_ref()
            .and_then(|figures| figures.parsed().err());
        let allan = || {
            row.verdicts
                .as_ref()
                .and_then(|verdicts| verdicts.stable.allan.parsed().err())
        };
        let allan = || allan().map(|error| (place(&row.id, "verdicts.stable.allan"), error));
        figures
            .map(|error| (place(&row.id, "figures"), error))
            .or_else(allan)
    });
    let waits = || {
        report
            .waits
            .iter()
            .filter_map(|row| Some((row, row.figures.as_ref()?)))
            .find_map(|(row, figures)| {
                let bins = figures
                    .lateness
                    .iter()
                    .find_map(|late| late.histogram.parsed().err());
                let stairs = || {
                    Some((
                        place(&row.id, "figures.staircase"),
                        figures.staircase.parsed().err()?,
                    ))
                };
                bins.map(|error| (place(&row.id, "figures.lateness.histogram"), error))
                    .or_else(stairs)
            })
    };
    timers.or_else(waits)
}

/// Reads a report from `text`; `name` says in errors where it came from. Its bulk is read when it
/// is asked for.
///
/// # Errors
/// When it is not a report of this version.
pub fn parse(text: &str, name: &str) -> Result<Report, ReadError> {
    let text = unmarked(text);
    let name = || name.to_owned();
    refuse_excess(text, &name())?;
    let broken = |error: serde_json::Error| ReadError::Json {
        name: name(),
        message: json_error(&error),
        line: error.line(),
        column: error.column(),
    };
    let report = match Report::from_json(&clean_strings(text)) {
        Ok(report) if report.schema == SCHEMA => report,
        other => {
            // The version first: a document of another version fails to fit in ways that explain
            // nothing.
            let any = schema_of(text).map_err(broken)?;
            return Err(match (any.as_deref(), other) {
                (None, _) => ReadError::NoSchema { name: name() },
                (Some(SCHEMA), Err(error)) => broken(error),
                (Some(found), _) => ReadError::OtherSchema {
                    name: name(),
                    found: clipped(found, 80),
                },
            });
        }
    };
    match impossible(&report) {
        Some(what) => Err(ReadError::Impossible { name: name(), what }),
        None => Ok(report),
    }
}

/// Refuses what would take more memory than any report.
fn refuse_excess(text: &str, name: &str) -> Result<(), ReadError> {
    let name = || name.to_owned();
    match () {
        () if has_too_many_timers(text) => Err(ReadError::TooManyTimers { name: name() }),
        () if has_too_many_values(text) => Err(ReadError::TooManyValues { name: name() }),
        () => Ok(()),
    }
}

/// The schema that a JSON document names, whatever it is; nothing else of it is kept.
fn schema_of(text: &str) -> serde_json::Result<Option<String>> {
    #[derive(Deserialize)]
    struct Document<'a> {
        #[serde(borrow)]
        schema: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Document>(text) {
        Ok(Document { schema }) => {
            Ok(schema.and_then(|schema| serde_json::from_str(schema.get()).ok()))
        }
        // It is JSON, and no document.
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The text of a file, in a buffer that can be used again.
pub(super) fn text_of<'a>(path: &Path, buffer: &'a mut Vec<u8>) -> Result<&'a str, ReadError> {
    let failed = |source| ReadError::File {
        path: path.to_owned(),
        source,
    };
    crate::input::read(path, LONGEST_REPORT, buffer).map_err(failed)?;
    // A mark says so, and so does a zero beside the first character, which is of one byte in every
    // report.
    if matches!(
        buffer.as_slice(),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..]
    ) {
        return Err(ReadError::Utf16 {
            path: path.to_owned(),
        });
    }
    str::from_utf8(buffer)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// `text` without the mark that some programs put before UTF-8.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{ReadError, parse, read};

    /// A report with all that one has to hold.
    pub(in crate::report) const SMALL: &str = r#"{"schema":"timermeter.report.v2","tool":{"name":"timermeter","version":"0.1.0"},
        "created":"2026-11-20T12:00:00Z",
        "platform":{"cpu":{"architecture":"x86_64"},"os":{"family":"linux"},"kernel":{},"clocksource":{"available":[]}},
        "frequency":{"cycles_from":"effective"},
        "settings":{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5},
        "warnings":[],"timers":[]}"#;

    fn error(text: &str) -> ReadError {
        parse(text, "r.json").expect_err("it should be refused")
    }

    #[test]
    fn a_small_report_is_read() {
        let report = parse(SMALL, "r.json").unwrap();
        assert_eq!(report.settings.profile, "quick");
        assert_eq!(report.frequency.effective_hz, None);
    }

    #[test]
    fn another_version_is_named() {
        let text = error(&SMALL.replace("report.v2", "report.v1")).to_string();
        assert!(
            text.contains("timermeter.report.v1") && text.contains("timermeter.report.v2 only"),
            "{text}"
        );
        assert!(matches!(error("{}"), ReadError::NoSchema { .. }));
        assert!(matches!(error("[1]"), ReadError::NoSchema { .. }));
        assert!(matches!(
            error(r#"{"schema":1}"#),
            ReadError::NoSchema { .. }
        ));
    }

    #[test]
    fn broken_json_is_told_with_its_place() {
        for (text, place) in [("{\n  \"schema\": oops", (2, 13)), ("", (1, 0))] {
            let ReadError::Json { line, column, .. } = error(text) else {
                panic!("{}", error(text))
            };
            assert_eq!((line, column), place);
        }
        let text = error(&SMALL.replace("\"seed\":1", "\"seed\":-1")).to_string();
        assert!(
            text.contains("invalid value") && text.contains("(line 5, column "),
            "{text}"
        );
    }

    #[test]
    fn ids_are_unique() {
        let row = r#"{"id":"a","label":"","runtime":"native","status":"failed","warnings":[]}"#;
        let text = error(&SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row},{row}]")))
            .to_string();
        assert!(text.contains("two timers with the id 'a'"), "{text}");
    }

    #[test]
    fn figures_that_cannot_be_are_named_with_their_place() {
        let row = |more: &str| {
            let row = format!(
                r#"{{"id":"a","label":"","runtime":"native","status":"ok","warnings":[],{more}}}"#
            );
            SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row}]"))
        };
        let cost = |ns: &str| row(&format!(r#""cost":{{{ns},"reference":"rdtsc"}}"#));
        for (text, words) in [
            (
                row(r#""resolution_ns":{"value":0}"#),
                "timers[0] ('a'): resolution_ns is 0.0, outside more than 0",
            ),
            (
                row(r#""resolution_ns":{"value":1,"low":3,"high":2}"#),
                "resolution_ns ends at 2.0, below its beginning at 3.0",
            ),
            (
                row(r#""cost_ns":{"value":1,"low":1e300}"#),
                "cost_ns.low is 1e300, outside 0 to 1e18",
            ),
            (row(r#""cost_ns":{"value":-1}"#), "cost_ns is -1.0"),
            (
                row(r#""cost_ns":{"value":1,"low":3,"high":2}"#),
                "timers[0] ('a'): cost_ns ends at 2.0",
            ),
            (
                row(r#""quality":{"value":0.5,"low":0.5,"high":0.4}"#),
                "quality ends at 0.4, below its beginning at 0.5",
            ),
            (
                row(r#""spread":{"value":0.5,"low":0.5,"high":0.4}"#),
                "spread ends at 0.4, below its beginning at 0.5",
            ),
            (
                row(r#""spread":{"value":0.5,"high":1.5}"#),
                "spread.high is 1.5, outside 0 to 1",
            ),
            (cost(r#""amortised_ns":-1"#), "cost.amortised_ns is -1.0"),
            (row(r#""ns_per_tick":0"#), "ns_per_tick is 0.0"),
            (
                SMALL.replace(
                    "\"frequency\":{",
                    "\"frequency\":{\"cycles_hz\":{\"value\":0},",
                ),
                "frequency.cycles_hz is 0.0",
            ),
        ] {
            let report = error(&text);
            assert!(report.to_string().contains(words), "{report}");
        }
        let distribution = |modes: &str, tail: &str| {
            row(&format!(
                r#""distribution":{{"modes":[{modes}],"within_ns":1,"between_ns":null,"tail_share":{tail}}}"#
            ))
        };
        assert!(parse(&distribution(r#"{"ns":9,"share":1}"#, "0"), "r.json").is_ok());
        for (text, words) in [
            (
                distribution(r#"{"ns":-9,"share":1}"#, "0"),
                "distribution.modes.ns is -9.0",
            ),
            (
                distribution(r#"{"ns":9,"share":2}"#, "0"),
                "distribution.modes.share is 2.0",
            ),
            (
                distribution("", "1.5"),
                "distribution.tail_share is 1.5, outside 0 to 1",
            ),
        ] {
            let told = error(&text).to_string();
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn a_mark_before_utf_8_is_passed_over_and_utf_16_is_named() {
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
            let told = read(&path).unwrap_err().to_string();
            assert!(
                told.contains("r.json' is UTF-16") && told.contains("iconv"),
                "{told}"
            );
        }
    }

    #[test]
    fn what_figures_are_drawn_from_is_read_with_a_file() {
        let row = r#"{"id":"a","label":"","runtime":"native","status":"ok","warnings":[],"figures":{"staircase":5}}"#;
        let text = SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row}]"));
        assert!(parse(&text, "r.json").is_ok(), "it is passed over");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        std::fs::write(&path, text).unwrap();
        let told = read(&path).unwrap_err();
        assert!(
            matches!(&told, ReadError::Bulk { place, .. } if place == "figures of 'a'"),
            "{told}"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(std::path::Path::new("/no/such/report.json")).unwrap_err();
        assert!(
            error.to_string().contains("/no/such/report.json"),
            "{error}"
        );
    }
}
