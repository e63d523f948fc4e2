//! Tests of the formats of documents and tables.

mod documents;
mod tables;

use std::path::Path;

use super::Format;

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
    for path in ["a", "a.yaml", ".json", "dir.json/a"] {
        let error = Format::from_path(Path::new(path), Format::REPORT);
        let text = error.expect_err(path).to_string();
        assert!(
            text.ends_with("end it in .txt, .json, .md, .csv, .tex, .html, .prom"),
            "{text}"
        );
    }
}
