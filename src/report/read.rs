//! Reads a report that was written as JSON, and says so when it is not one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json::message;
use super::text::clipped;
use super::{Report, SCHEMA};

/// Why a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read '{}': {source}", .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
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
    /// A figure that cannot be.
    #[error("'{name}' has a figure that cannot be: {place} is {value}, outside {range}")]
    OutOfRange {
        /// Where the text came from.
        name: String,
        /// The timer and the figure.
        place: String,
        /// The figure.
        value: f64,
        /// What is possible.
        range: &'static str,
    },
    /// Two timers share an id.
    #[error("'{name}' has two timers with the id '{id}'; ids are unique in a report")]
    DuplicateId {
        /// Where the text came from.
        name: String,
        /// The id.
        id: String,
    },
}

impl Report {
    /// Reads the report in the file `path`.
    ///
    /// # Errors
    /// When the file cannot be read or does not hold a report of this version.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ReadError::File { path: path.to_owned(), source })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads a report from `text`; `name` says in errors where it came from.
    ///
    /// # Errors
    /// When it is not a report of this version.
    pub fn parse(text: &str, name: &str) -> Result<Self, ReadError> {
        let name = || name.to_owned();
        let broken = |error: serde_json::Error| ReadError::Json {
            name: name(),
            message: message(&error),
            line: error.line(),
            column: error.column(),
        };
        let report = match serde_json::from_str::<Self>(text) {
            Ok(report) if report.schema == SCHEMA => report,
            other => {
                // The version first: a document of another version fails to fit in ways that explain nothing.
                let any: Value = serde_json::from_str(text).map_err(broken)?;
                return Err(match (any.get("schema").and_then(Value::as_str), other) {
                    (None, _) => ReadError::NoSchema { name: name() },
                    (Some(SCHEMA), Err(error)) => broken(error),
                    (Some(found), _) => ReadError::OtherSchema { name: name(), found: clipped(found, 80) },
                });
            }
        };
        let mut seen = HashSet::with_capacity(report.timers.len());
        if let Some(row) = report.timers.iter().find(|row| !seen.insert(row.id.as_str())) {
            return Err(ReadError::DuplicateId { name: name(), id: clipped(&row.id, 80) });
        }
        match impossible(&report) {
            Some((place, value, range)) => Err(ReadError::OutOfRange { name: name(), place, value, range }),
            None => Ok(report),
        }
    }
}

/// The first figure of the report that cannot be: its place, its value, and what could be.
fn impossible(report: &Report) -> Option<(String, f64, &'static str)> {
    const SHARE: &str = "0 to 1";
    const LENGTH: &str = "0 and more";
    let of_run = [
        ("frequency.tsc_hz", report.frequency.tsc_hz),
        ("frequency.effective_hz", report.frequency.effective_hz),
        ("frequency.cycles_hz", report.frequency.cycles_hz),
    ];
    let negative = of_run.into_iter().find(|(_, hz)| hz.is_some_and(|hz| hz < 0.0));
    if let Some((place, Some(hz))) = negative {
        return Some((place.to_owned(), hz, LENGTH));
    }
    report.timers.iter().enumerate().find_map(|(at, row)| {
        let accuracy = row.accuracy.and_then(|accuracy| accuracy.ns);
        let cost = row.cost.as_ref().and_then(|cost| cost.median_ns);
        let figures = [
            ("spread", row.spread, 1.0, SHARE),
            ("quality", row.quality, 1.0, SHARE),
            ("quality_low", row.quality_low, 1.0, SHARE),
            ("quality_high", row.quality_high, 1.0, SHARE),
            ("accuracy.ns", accuracy, f64::INFINITY, LENGTH),
            ("cost.median_ns", cost, f64::INFINITY, LENGTH),
        ];
        let wrong = figures
            .into_iter()
            .find(|&(_, figure, most, _)| figure.is_some_and(|figure| !(0.0..=most).contains(&figure)));
        let (name, figure, _, range) = wrong?;
        Some((format!("timers[{at}] ('{}'): {name}", clipped(&row.id, 80)), figure?, range))
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::{ReadError, Report};

    /// A report with all that one has to hold.
    pub(in crate::report) const SMALL: &str = r#"{"schema":"timermeter.report.v1","tool":{"name":"timermeter","version":"0.1.0"},
        "created":"2026-11-20T12:00:00Z",
        "platform":{"cpu":{"architecture":"x86_64"},"os":{"family":"linux"},"kernel":{},"clocksource":{"available":[]}},
        "frequency":{"cycles_from":"effective"},
        "settings":{"profile":"quick","cpu":null,"seed":1,"processes":1,"timeout_seconds":5},
        "warnings":[],"timers":[]}"#;

    fn error(text: &str) -> ReadError {
        Report::parse(text, "r.json").expect_err("it should be refused")
    }

    #[test]
    fn a_small_report_is_read() {
        let report = Report::parse(SMALL, "r.json").unwrap();
        assert_eq!(report.settings.profile, "quick");
        assert_eq!(report.frequency.effective_hz, None);
    }

    #[test]
    fn another_version_is_named() {
        let text = error(&SMALL.replace("report.v1", "report.v2")).to_string();
        assert!(
            text.contains("timermeter.report.v2") && text.contains("timermeter.report.v1 only"),
            "{text}"
        );
        assert!(matches!(error("{}"), ReadError::NoSchema { .. }));
        assert!(matches!(error("[1]"), ReadError::NoSchema { .. }));
        assert!(matches!(error(r#"{"schema":1}"#), ReadError::NoSchema { .. }));
    }

    #[test]
    fn broken_json_is_told_with_its_place() {
        for (text, place) in [("{\n  \"schema\": oops", (2, 13)), ("", (1, 0))] {
            let ReadError::Json { line, column, .. } = error(text) else { panic!("{}", error(text)) };
            assert_eq!((line, column), place);
        }
        let text = error(&SMALL.replace("\"seed\":1", "\"seed\":-1")).to_string();
        assert!(text.contains("invalid value") && text.contains("(line 5, column "), "{text}");
    }

    #[test]
    fn ids_are_unique() {
        let row = r#"{"id":"a","label":"","runtime":"native","status":"failed","warnings":[]}"#;
        let text = error(&SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row},{row}]"))).to_string();
        assert!(text.contains("two timers with the id 'a'"), "{text}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Report::read(std::path::Path::new("/no/such/report.json")).unwrap_err();
        assert!(error.to_string().contains("/no/such/report.json"), "{error}");
    }
}
