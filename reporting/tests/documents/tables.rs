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
    let column: ColumnName = ValueEnum::from_str(name, false).unwrap();
    column.field(Kind::Clocks).unwrap()
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

pub fn written(paths: &[PathBuf], choice: TableChoice, format: Format) -> String {
    let tabulation = Tabulation::read(paths, vec![choice]);
    assert!(tabulation.refused.is_empty(), "{:?}", tabulation.refused);
    tabulation.rendered(format, Style::default())
}

#[test]
fn stacked_table_as_text() {
    let (_folder, paths) = write_reports();
    let choice = TableChoice {
        has_named_columns: true,
        columns: COLUMNS.map(column).to_vec(),
        all: true,
        ..TableChoice::by_default(Kind::Clocks, None)
    };
    insta::assert_snapshot!(written(&paths, choice, Format::Table));
}

fn platforms(paths: &[PathBuf], format: Format) -> String {
    let choice = TableChoice::by_default(Kind::Clocks, Some(RowOf::Platform));
    written(paths, choice, format)
}

#[test]
fn only_programs_read_ends_of_platforms() {
    let (_folder, paths) = write_reports();
    let [csv, table] = [Format::Csv, Format::Table].map(|format| platforms(&paths, format));
    // The hypervisor distinguishes the platforms.
    let lines = [&csv, &table].map(|text| text.lines().count());
    assert_eq!(lines, [3, 3], "{csv}{table}");
    assert!(
        csv.contains(",sleep_high_ns,") && !table.contains(", high"),
        "{csv}{table}"
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
        with.max_by_key(|(_, report)| &report.created).unwrap()
    };
    let (path, clocks) = newest(|report| !report.timers.is_empty());
    let (_, waits) = newest(|report| !report.waits.is_empty());
    assert_eq!(row["file"], path.to_str().unwrap());
    assert_eq!(row["runs"], all.len());
    let clock = clocks.timers.iter().find(|clock| clock.id == row["timer"]);
    assert_eq!(row["cost_ns"].as_f64(), value_of(clock.unwrap().cost_ns));
    let mut sleeps = waits.waits.iter().filter(|wait| wait.id == "nanosleep");
    let mut lengths = sleeps
        .next()
        .unwrap()
        .figures
        .iter()
        .flat_map(|it| &it.lateness);
    let late = lengths.find(|late| late.request_ns == 1_000_000).unwrap();
    let sleep_ns = value_of(late.p50_ns).map(|late| 1e6 + late);
    assert_eq!(row["sleep_ns"].as_f64(), sleep_ns);
}
