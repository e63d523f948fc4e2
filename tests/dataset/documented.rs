//! docs/dataset.md: its columns are those that are written, its answers those of the kept reports.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use timermeter::dataset::columns;
use timermeter::fields::{Field, Kind};

use super::{ROOT, duckdb, folder, timermeter};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/dataset.md");

/// Holds what stands between the marks of `name` to `made`, or writes it.
fn held(name: &str, made: &str) {
    let docs = fs::read_to_string(DOCS).unwrap();
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = docs.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
    let (there, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(DOCS, format!("{before}{begin}{made}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(
        there, made,
        "docs/dataset.md is not up to date: TIMERMETER_UPDATE=1 cargo test --features dataset --test dataset"
    );
}

#[test]
fn columns_are_those_that_are_written() {
    for (name, kind) in [("clocks", Kind::Clocks), ("waits", Kind::Waits), ("periods", Kind::Periods)] {
        let mut made = "| column | type | is |\n|---|---|---|\n".to_owned();
        let of_all = columns(Kind::Clocks);
        let own =
            |column: &&&Field| kind == Kind::Clocks || !of_all.iter().any(|other| other.key == column.key);
        for column in columns(kind).iter().filter(own) {
            writeln!(made, "| `{}` | {} | {} |", column.key, column.kind.in_sql(), column.about).unwrap();
        }
        held(&format!("columns of {name}"), &made);
    }
}

#[test]
fn names_are_unique_and_carry_their_unit() {
    for kind in [Kind::Clocks, Kind::Waits, Kind::Periods] {
        let columns = columns(kind);
        let mut names: Vec<_> = columns.iter().map(|column| column.key).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), columns.len());
        for column in &columns {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            assert!(column.key.bytes().all(plain), "{}", column.key);
            assert!(!column.about.is_empty(), "{}", column.key);
        }
    }
}

#[test]
fn answers_are_those_of_the_kept_reports() {
    if duckdb::is_missing() {
        return;
    }
    let folder = folder();
    let place = folder.path().join("fleet");
    let done = timermeter(Path::new(ROOT), &["collect", "reports", "-o", &place.display().to_string()]);
    assert!(done.status.success(), "{done:?}");
    let mut made = String::new();
    for (path, answer) in duckdb::questions().iter().zip(duckdb::all_asked(folder.path())) {
        let question = fs::read_to_string(path).unwrap();
        let asks: Vec<&str> = question.lines().map_while(|line| line.strip_prefix("-- ")).collect();
        let file = path.file_name().unwrap().to_str().unwrap();
        writeln!(made, "**{}** [{file}](../deploy/sql/{file})\n", asks.join(" ")).unwrap();
        if answer.rows.is_empty() {
            made += "No row: there is none among the kept reports.\n\n";
            continue;
        }
        writeln!(made, "| {} |\n|{}", answer.columns.join(" | "), "---|".repeat(answer.columns.len()))
            .unwrap();
        for row in &answer.rows {
            let cells = row.iter().map(|cell| match cell {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.replace('|', "\\|"),
                other => other.to_string(),
            });
            writeln!(made, "| {} |", cells.collect::<Vec<_>>().join(" | ")).unwrap();
        }
        made.push('\n');
    }
    held("answers", &made);
}
