//! Tables of several reports: screens are compared with snapshots.

use std::path::PathBuf;

use clap::ValueEnum;
use estimators::model::{Report, value_of};
use reporting::fields::{Field, Kind};
use reporting::format::{Format, Render, Style};
use reporting::report::Collection;
use reporting::tabulation::{ColumnName, RowOf, TableChoice, Tabulation};

use crate::sample::report;

const COLUMNS: [&str; 6] = [
    "platform",
    "timer",
    "label",
    "resolution",
    "cost",
    "quality",
];

pub fn column(name: &str) -> &'static Field {
    let column: ColumnName = ValueEnum::from_str(name, false).expect("a column has this name");
    column.field(Kind::Clocks).expect("clocks have it")
}

/// Writes reports of two machines, one of which has a name with special characters, to a folder.
/// Both contain text of malicious agents.
fn write_reports() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut other = report();
    other.platform.hypervisor = None;
    other.platform.os.name = Some("Évil | OS & <b> 1_0".into());
    other.timers.retain(|row| row.id != "rdtsc");
    let paths = ["a.json", "b.json"].map(|name| folder.path().join(name));
    for (path, report) in paths.iter().zip([report(), other]) {
        std::fs::write(path, report.rendered(Format::Json, Style::default())).unwrap();
    }
    (folder, paths.to_vec())
}

fn table(format: Format, columns: &[&'static Field]) -> String {
    let (_folder, paths) = write_reports();
    let choice = TableChoice {
        has_named_columns: true,
        columns: columns.to_vec(),
        all: true,
        ..TableChoice::by_default(Kind::Clocks, None)
    };
    written(&paths, choice, format)
}

pub fn written(paths: &[PathBuf], choice: TableChoice, format: Format) -> String {
    let tabulation = Tabulation::read(paths, vec![choice]);
    assert!(tabulation.refused.is_empty(), "{:?}", tabulation.refused);
    let mut out = Vec::new();
    tabulation
        .write(format, Style::default(), &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

fn stacked(format: Format) -> String {
    table(format, &COLUMNS.map(column))
}

#[test]
fn stacked_table_as_text() {
    insta::assert_snapshot!(stacked(Format::Table));
}

#[test]
fn programs_get_the_ends_of_intervals() {
    let data = table(Format::Csv, &["clock", "quality"].map(column));
    assert!(
        data.starts_with("timer,quality,quality_low,quality_high\n"),
        "{data}"
    );
}

#[test]
fn all_formats_escape_hostile_text() {
    for format in [
        Format::Table,
        Format::Markdown,
        Format::Csv,
        Format::Latex,
        Format::Html,
        Format::Json,
    ] {
        let is_control = |c: &char| {
            (c.is_control() && *c != '\n')
                || (('\u{202a}'..='\u{2069}').contains(c) && format != Format::Json)
        };
        // JSON escapes control characters, but keeps characters that reorder text.
        assert_eq!(stacked(format).chars().find(is_control), None, "{format:?}");
    }
    assert!(!stacked(Format::Html).contains("<script") && !stacked(Format::Html).contains("<b>"));
}

fn platforms(paths: &[PathBuf], format: Format) -> String {
    let choice = TableChoice::by_default(Kind::Clocks, Some(RowOf::Platform));
    let platforms = Tabulation::read(paths, vec![choice]);
    assert!(platforms.refused.is_empty());
    let mut text = Vec::new();
    platforms
        .write(format, Style::default(), &mut text)
        .unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn platform_table_has_equal_rows_for_programs() {
    let (_folder, paths) = write_reports();
    let rows: serde_json::Value =
        serde_json::from_str(&platforms(&paths, Format::Json)).expect("it is JSON");
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2, "the hypervisor distinguishes the platforms");
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    let csv = platforms(&paths, Format::Csv);
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    let headers = csv.headers().unwrap().clone();
    let mut sorted: Vec<&str> = headers.iter().collect();
    sorted.sort_unstable();
    assert_eq!(sorted, keys, "JSON has the columns of CSV");
    let records: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let cost = headers.iter().position(|key| key == "cost_ns").unwrap();
    for (record, row) in records.iter().zip(rows) {
        assert_eq!(record[cost].parse::<f64>().ok(), row["cost_ns"].as_f64());
    }
    let table = platforms(&paths, Format::Table);
    assert_eq!(table.lines().count(), 3);
    assert!(headers.iter().any(|key| key == "sleep_high_ns"));
    assert!(
        !table.contains(", high"),
        "only programs read ends: {table}"
    );
}

#[test]
fn platform_row_joins_runs() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../reports");
    let runs = [folder.join("amd-epyc-zen-5-kvm-debian-12")];
    let rows: serde_json::Value = serde_json::from_str(&platforms(&runs, Format::Json)).unwrap();
    let [row] = rows.as_array().unwrap().as_slice() else {
        panic!("one platform: {rows}");
    };
    let all = Collection::read(&runs, |path, report: Report| (path.to_owned(), report)).reports;
    let newest = |has: fn(&Report) -> bool| {
        let all = all.iter().map(|kept| &kept.content);
        let with = all.filter(|(_, report)| has(report));
        with.max_by_key(|(_, report)| report.created.clone())
            .unwrap()
    };
    let (path, clocks) = newest(|report| !report.timers.is_empty());
    let (_, waits) = newest(|report| !report.waits.is_empty());
    let clock = clocks.timers.iter().find(|clock| clock.id == row["timer"]);
    assert_eq!(row["cost_ns"].as_f64(), value_of(clock.unwrap().cost_ns));
    assert_eq!(row["file"], path.to_str().unwrap());
    assert_eq!(row["runs"], all.len());
    let sleep = waits
        .waits
        .iter()
        .find(|wait| wait.id == "nanosleep")
        .unwrap();
    let mut lengths = sleep.figures.as_ref().unwrap().lateness.iter();
    let late = lengths.find(|late| late.request_ns == 1_000_000).unwrap();
    assert_eq!(
        row["sleep_ns"].as_f64(),
        value_of(late.p50_ns).map(|late| 1e6 + late)
    );
}
