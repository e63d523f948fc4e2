//! Defines the output formats and the file name extensions that select them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// The output formats of all commands; each command supports some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Table,
    /// The whole result, for programs
    Json,
    /// One line per row with all digits, for spreadsheets
    Csv,
    /// For a wiki page or a pull request
    Markdown,
    /// For web browsers
    Html,
    /// A booktabs table for `\input`
    Latex,
    /// Metrics for Prometheus: OpenMetrics, or a file for the textfile collector
    #[value(name = "openmetrics")]
    OpenMetrics,
}

/// The error for a file name whose extension does not select a supported format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name '{}' does not determine a format: end it in {}", .path.display(), .endings.join(", "))]
pub struct UnknownEnding {
    /// The path of the file.
    pub path: PathBuf,
    /// The supported extensions.
    pub endings: Vec<&'static str>,
}

impl Format {
    /// The formats of events that are printed as they happen.
    pub const EVENTS: &[Self] = &[Self::Table, Self::Json];
    /// The formats of commands that answer a question in a few lines.
    pub const ANSWER: &[Self] = &[Self::Table, Self::Json, Self::Markdown];
    /// The formats of measurements.
    pub const MEASUREMENTS: &[Self] = &[Self::Table, Self::Json, Self::Markdown, Self::Csv];
    /// The formats of a report.
    pub const REPORT: &[Self] = &[
        Self::Table,
        Self::Json,
        Self::Csv,
        Self::Markdown,
        Self::Html,
        Self::OpenMetrics,
    ];
    /// The formats of `table`, which tabulates the timers of reports.
    pub const TABULATION: &[Self] = &[
        Self::Table,
        Self::Markdown,
        Self::Csv,
        Self::Latex,
        Self::Html,
        Self::Json,
    ];

    /// The file name extension of this format.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Table => ".txt",
            Self::Json => ".json",
            Self::Csv => ".csv",
            Self::Markdown => ".md",
            Self::Html => ".html",
            Self::Latex => ".tex",
            Self::OpenMetrics => ".prom",
        }
    }

    /// The format among `formats` that the extension of `path` selects.
    ///
    /// # Errors
    /// When the extension selects none of `formats`.
    pub fn from_path(path: &Path, formats: &[Self]) -> Result<Self, UnknownEnding> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_ascii_lowercase();
        let format = formats.iter().copied().find(|format| {
            name.strip_suffix(format.ending())
                .is_some_and(|stem| !stem.is_empty())
        });
        format.ok_or_else(|| UnknownEnding {
            path: path.to_owned(),
            endings: formats.iter().map(|format| format.ending()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Format;
    use std::path::Path;

    #[test]
    fn ending_selects_format() {
        for (path, format) in [
            ("a.json", Format::Json),
            ("dir.x/A.CSV", Format::Csv),
            ("a.b.md", Format::Markdown),
            ("./t.prom", Format::OpenMetrics),
            ("./t.txt", Format::Table),
        ] {
            assert_eq!(
                Format::from_path(Path::new(path), Format::REPORT),
                Ok(format)
            );
        }
    }

    #[test]
    fn unknown_ending_lists_supported_endings() {
        for path in ["a", "a.yaml", "a.tex", ".json", "dir.json/a"] {
            let error = Format::from_path(Path::new(path), Format::REPORT);
            let text = error.expect_err(path).to_string();
            assert!(
                text.ends_with("end it in .txt, .json, .csv, .md, .html, .prom"),
                "{text}"
            );
        }
    }
}
