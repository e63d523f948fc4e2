//! Tables of several reports in all formats. Look at the snapshots when they change.

mod sample;

use std::path::PathBuf;

use sample::report;
use timermeter::report::{Format as Written, Style};
use timermeter::tabulation::{Choice, Column, Format, Layout, Tabulation};

const COLUMNS: [Column; 6] =
    [Column::Platform, Column::Timer, Column::Label, Column::Accuracy, Column::Cost, Column::Quality];

/// Two reports of two machines, hostile agents included.
fn folder() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut other = report();
    other.platform.hypervisor = None;
    other.platform.os.name = Some("Évil | OS & <b> 1_0".into());
    other.timers.retain(|row| row.id != "rdtsc");
    let paths = ["a.json", "b.json"].map(|name| folder.path().join(name));
    for (path, report) in paths.iter().zip([report(), other]) {
        std::fs::write(path, Written::Json.render(&report, Style::default())).unwrap();
    }
    (folder, paths.to_vec())
}

fn table(format: Format, layout: Layout, columns: &[Column], sort: Option<(Column, bool)>) -> String {
    let (_folder, paths) = folder();
    let choice = Choice { columns: columns.to_vec(), layout, sort, all: true };
    let tabulation = Tabulation::read(&paths, choice);
    assert!(tabulation.refused.is_empty(), "{:?}", tabulation.refused);
    let mut out = Vec::new();
    tabulation.write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn stacked(format: Format) -> String {
    table(format, Layout::Stacked, &COLUMNS, None)
}

fn beside(format: Format) -> String {
    table(format, Layout::Beside, &[Column::Timer, Column::Cost, Column::Quality], None)
}

#[test]
fn stacked_text() {
    insta::assert_snapshot!(stacked(Format::Table));
}

#[test]
fn beside_text() {
    insta::assert_snapshot!(beside(Format::Table));
}

#[test]
fn stacked_markdown() {
    insta::assert_snapshot!(stacked(Format::Markdown));
}

#[test]
fn beside_csv() {
    insta::assert_snapshot!(beside(Format::Csv));
}

#[test]
fn beside_latex() {
    insta::assert_snapshot!(beside(Format::Latex));
}

#[test]
fn beside_html() {
    insta::assert_snapshot!(beside(Format::Html));
}

#[test]
fn nothing_hostile_gets_through_in_any_format() {
    for format in [Format::Table, Format::Markdown, Format::Csv, Format::Latex, Format::Html, Format::Json] {
        for text in [stacked(format), beside(format)] {
            let hostile = |c: &char| {
                (c.is_control() && *c != '\n')
                    || (('\u{202a}'..='\u{2069}').contains(c) && format != Format::Json)
            };
            // JSON keeps text as it was found, its control characters escaped.
            assert_eq!(text.chars().find(hostile), None, "{format:?}");
        }
    }
    assert!(!stacked(Format::Html).contains("<script") && !stacked(Format::Html).contains("<b>"));
    let latex = stacked(Format::Latex);
    let rows = latex.lines().filter(|line| line.ends_with("\\\\")).collect::<Vec<_>>();
    assert!(rows.len() > 30);
    for row in rows {
        let bare = row.replace("\\&", "").replace("\\#", "").replace("\\%", "").replace("\\$", "");
        assert_eq!(bare.matches('&').count(), COLUMNS.len() - 1, "{row}");
        assert!(!bare.contains(['#', '%']), "{row}");
    }
    let markdown = stacked(Format::Markdown);
    for row in markdown.lines() {
        assert_eq!(row.replace("\\|", "").matches('|').count(), COLUMNS.len() + 1, "{row}");
    }
}

#[test]
fn csv_opens_in_a_spreadsheet() {
    for text in [stacked(Format::Csv), beside(Format::Csv)] {
        let text = text.strip_prefix('\u{feff}').expect("a byte order mark");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(|record| record.unwrap()).collect();
        assert!(records.len() > 15);
        for cell in records.iter().flatten() {
            assert!(cell.parse::<f64>().is_ok() || !cell.starts_with(['=', '+', '-', '@']), "{cell}");
        }
    }
}

#[test]
fn json_is_one_object_a_row() {
    let rows: serde_json::Value = serde_json::from_str(&beside(Format::Json)).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(
        rows.iter().all(|row| row["timer"].is_string() && row.get("quality_percent").is_some()),
        "{rows:?}"
    );
    assert!(rows.iter().any(|row| row["quality_percent"].is_number()));
}

#[test]
fn sorting_is_over_all_reports() {
    let sorted = |sort| {
        let text = table(Format::Json, Layout::Stacked, &[Column::Timer], Some(sort));
        let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        rows.into_iter().map(|row| row["timer"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let best = sorted((Column::Quality, false));
    assert_eq!(best[..3], ["rdtsc", "rdtscp", "rdtscp"]);
    let names = sorted((Column::Timer, true));
    assert!(names.is_sorted_by(|a, b| a >= b), "{names:?}");
    // What has no cost comes last either way.
    for reverse in [false, true] {
        assert_eq!(sorted((Column::Cost, reverse)).last().unwrap(), "=evil:\u{1b}[31mred");
    }
}
