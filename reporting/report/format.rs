//! Which formats there are.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::terminal::{self, Detail};
use super::{csv, json, markdown, openmetrics};
use crate::model::Report;
use crate::table::Style;

/// The formats a report can be written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    #[default]
    Table,
    /// The whole document (schema timermeter.report.v2)
    Json,
    /// One line a timer, or a timer and length, for spreadsheets
    Csv,
    /// A page with a table
    Markdown,
    /// Metrics for Prometheus: OpenMetrics, or a file for the textfile collector
    #[value(name = "openmetrics")]
    OpenMetrics,
}

/// The ending of a file name says nothing about its format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' does not determine its format: end it in .json, .csv, .md, .prom (metrics) or .txt (a table)", .path.display())]
pub struct UnknownEnding {
    /// The path.
    pub path: PathBuf,
}

impl Format {
    /// The format that the ending of `path` stands for.
    ///
    /// # Errors
    /// When it is none of `.json`, `.csv`, `.md`, `.prom` and `.txt`.
    pub fn from_path(path: &Path) -> Result<Self, UnknownEnding> {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some("md") => Ok(Self::Markdown),
            Some("prom") => Ok(Self::OpenMetrics),
            Some("txt") => Ok(Self::Table),
            _ => Err(UnknownEnding {
                path: path.to_owned(),
            }),
        }
    }

    /// The report in this format; `style` matters to the table only.
    #[must_use]
    pub fn render(self, report: &Report, style: Style) -> String {
        match self {
            Self::Table => terminal::render(report, style, Detail::Full),
            Self::Json => json::render(report),
            Self::Csv => csv::render(report),
            Self::Markdown => markdown::render(report),
            Self::OpenMetrics => openmetrics::render(report),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;
    use std::path::Path;

    #[test]
    fn the_ending_tells_the_format() {
        for (path, format) in [
            ("a.json", Format::Json),
            ("dir.x/A.CSV", Format::Csv),
            ("a.b.md", Format::Markdown),
            ("./t.prom", Format::OpenMetrics),
            ("./t.txt", Format::Table),
        ] {
            assert_eq!(Format::from_path(Path::new(path)), Ok(format));
        }
    }

    #[test]
    fn an_unknown_ending_names_those_that_are_known() {
        for path in ["a", "a.yaml", ".json", "x.json/", "dir.json/a"] {
            let error = Format::from_path(Path::new(path));
            if path == "x.json/" {
                continue; // `Path` drops the slash; that it is a folder is noticed when it is opened.
            }
            let text = error.expect_err(path).to_string();
            assert!(
                [".json", ".csv", ".md", ".prom", ".txt"]
                    .iter()
                    .all(|ending| text.contains(ending)),
                "{text}"
            );
        }
    }
}
