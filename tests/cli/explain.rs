//! `explain`: every column, value and finding has a short explanation, and the pages of docs/ have
//! the same texts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use timermeter::fields::{Kind, Visibility, default_columns, fields};
use timermeter::findings::wordings;

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
        for field in default_columns(kind, Visibility::Wide) {
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
    assert_eq!(findings.len(), wordings().count());
    for finding in findings {
        let message = finding["message"].as_str().unwrap();
        assert!(!message.contains(['{', '}', '<']), "{message}");
    }
    let columns = all["columns"].as_array().unwrap();
    let whole = fields().iter().filter(|field| !field.is_end()).count();
    assert_eq!(columns.len(), whole);
}

#[test]
fn explains_words_of_screens() {
    insta::assert_snapshot!(explained(&[
        "adds",
        "Quality",
        "trust",
        "cost-exceeds-step",
        "unresolved",
        "interval",
    ]));
}

#[test]
fn values_lead_to_their_columns() {
    for (value, column) in [
        ("?", "trust"),
        ("pass", "monotonic"),
        ("failed", "status"),
        ("system-call", "reads by"),
        ("at_most", "resolution kind"),
    ] {
        let text = explained(&[value]);
        assert!(text.contains(column), "{value}: {text}");
    }
}

#[test]
fn terms_and_synonyms_are_known() {
    for word in [
        "step",
        "accuracy",
        "fence",
        "rank",
        "notes",
        "jitter",
        "lateness",
        "interrupts",
        "drift",
        "slew",
        "precision",
        "context switch",
    ] {
        let text = explained(&[word]);
        assert!((1..=MAX_LINES).contains(&text.lines().count()), "{text}");
    }
    let all = json(&run("explain -f json").success());
    let terms = all["terms"].as_array().unwrap();
    let about = terms.iter().map(|term| term["about"].as_str().unwrap());
    // What a text refers to in backquotes is a column, a term, a finding, a timer or a command.
    for name in about.flat_map(|about| about.split('`').skip(1).step_by(2)) {
        let name = name.strip_prefix("timermeter ").unwrap_or(name);
        let is_timer = timers::catalogue()
            .iter()
            .any(|entry| entry.info.id == name);
        let is_flag = ["-v", "check --counter", "check"].contains(&name);
        if !is_timer && !is_flag {
            explained(&[name]);
        }
    }
}

#[test]
fn unknown_word_names_similar_ones() {
    let refused = run("explain qualty").code(2);
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    for words in [
        "similar: quality",
        "`timermeter explain` lists",
        "figures (step, ",
    ] {
        assert!(message.contains(words), "{message}");
    }
}

/// The rows of the table of columns in docs/probe.md.
fn rows_of_docs() -> String {
    let mut rows = String::new();
    let shown = default_columns(Kind::Clocks, Visibility::Wide);
    for field in shown.filter(|field| !["timer", "quality_printed"].contains(&field.key)) {
        writeln!(rows, "| {} | {} |", field.heading, field.about).unwrap();
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
