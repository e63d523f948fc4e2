//! Compares docs/findings.md with the table of findings. `TIMERMETER_UPDATE=1 cargo test --test
//! main findings::` writes the page.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use estimators::findings::{in_words, rules};
use estimators::model::Severity;

const HEAD: &str = "\
# Findings

What a report says besides figures. JSON carries the code, the severity and the values of each; message and advice follow
from the table below, which is generated from `estimators/findings/` (`TIMERMETER_UPDATE=1 cargo test --test main
findings::`). `…` stands for a value; a part without its value is left out.

| code | severity | message | advice |
|---|---|---|---|
";

fn page() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut page = HEAD.to_owned();
    for rule in rules() {
        writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            rule.code,
            rule.severity.name(),
            cell(&in_words(rule.message)),
            cell(&in_words(rule.advice))
        )
        .unwrap();
    }
    page
}

#[test]
fn findings_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings.md");
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written.replace("\r\n", "\n") == page(),
        "docs/findings.md is not up to date: TIMERMETER_UPDATE=1 cargo test --test main findings::"
    );
}

#[test]
fn every_problem_has_advice() {
    let problems = rules().filter(|rule| rule.severity == Severity::Problem);
    for rule in problems {
        assert!(!rule.advice.is_empty(), "{}", rule.code);
    }
}
