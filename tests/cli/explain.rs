//! `explain`: every column, value and finding has a short explanation, and the pages of docs/ have
//! the same texts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use timermeter::fields::{Kind, Visibility, default_columns, fields};
use timermeter::findings::rules;

use super::{json, printed, program, run};

/// The largest number of lines of an explanation on a terminal of 80 columns.
const MAX_LINES: usize = 5;

fn explained(words: &[&str]) -> String {
    let shown = Command::new(program())
        .arg("explain")
        .args(words)
        .env("COLUMNS", "80")
        .assert();
    printed(&shown.success())
}

#[test]
fn explains_shown_columns_in_few_lines() {
    for kind in Kind::ALL {
        for field in default_columns(kind, Visibility::InFull) {
            for name in [field.column, field.key, field.title()] {
                let text = explained(&[name]);
                assert!(text.contains(field.heading), "{name}: {text}");
            }
            let text = explained(&[field.key]);
            let lines = text.lines().count();
            assert!(
                (1..=MAX_LINES).contains(&lines),
                "{}: {lines} lines\n{text}",
                field.key
            );
        }
    }
}

#[test]
fn explains_every_finding() {
    let all = json(&run("explain -f json").success());
    let findings = all["findings"].as_array().unwrap();
    assert_eq!(findings.len(), rules().count());
    let columns = all["columns"].as_array().unwrap();
    let whole = fields().iter().filter(|field| !field.is_end()).count();
    assert_eq!(columns.len(), whole);
}

/// The rows of the table of columns in docs/probe.md.
fn rows_of_docs() -> String {
    let mut rows = String::new();
    let shown = default_columns(Kind::Clocks, Visibility::InFull);
    for field in shown.filter(|field| !["timer", "quality_printed"].contains(&field.key)) {
        writeln!(rows, "| {} | {} |", field.heading, field.description()).unwrap();
    }
    rows
}

#[test]
fn docs_have_the_same_texts() {
    const HEAD: &str = "| column | is |\n|---|---|\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/probe.md");
    let page = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (before, rest) = page.split_once(HEAD).expect("the table of columns");
    let after = rest.split_once("\n\n").expect("text below the table").1;
    let expected = format!("{before}{HEAD}{}\n{after}", rows_of_docs());
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "docs/probe.md is not up to date: TIMERMETER_UPDATE=1 cargo test --test main cli::explain"
    );
}
