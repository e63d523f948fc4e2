//! Reads a report that was written as JSON, and says so when it is not one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

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
        // The version first: a document of another version fails to fit in ways that explain nothing.
        let any: Value = serde_json::from_str(text).map_err(broken)?;
        match any.get("schema").and_then(Value::as_str) {
            None => return Err(ReadError::NoSchema { name: name() }),
            Some(SCHEMA) => {}
            Some(found) => {
                return Err(ReadError::OtherSchema { name: name(), found: super::text::clipped(found, 80) });
            }
        }
        let report: Self = serde_json::from_str(text).map_err(broken)?;
        let mut seen = HashSet::new();
        match report.timers.iter().find(|row| !seen.insert(row.id.as_str())) {
            Some(row) => Err(ReadError::DuplicateId { name: name(), id: super::text::clipped(&row.id, 80) }),
            None => Ok(report),
        }
    }
}

/// The message without the place, which is told apart.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{ReadError, Report};

    const SMALL: &str = r#"{"schema":"timermeter.report.v1","tool":{"name":"timermeter","version":"0.1.0"},
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
