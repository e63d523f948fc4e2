//! `explain`: every column, value and finding has a short explanation, and the pages of docs/ have
//! the same texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use estimators::findings::rules;
use estimators::model::{Answer, Caution, Question, Trust};
use reporting::fields::{Kind, Visibility, default_columns, fields};

use super::{answer, command, printed, run};

/// The largest number of lines of an explanation on a terminal of 80 columns.
const MAX_LINES: usize = 5;

fn explained(word: &str) -> String {
    let mut explain = command("explain");
    let shown = explain.arg(word).env("COLUMNS", "80").assert();
    printed(&shown.success())
}

#[test]
fn explains_shown_columns_in_few_lines() {
    for kind in Kind::ALL {
        for field in default_columns(kind, Visibility::InFull) {
            for name in [field.column, field.key, field.title()] {
                let text = explained(name);
                assert!(text.contains(field.heading), "{name}: {text}");
            }
            let text = explained(field.key);
            let lines = text.lines().count();
            assert!((1..=MAX_LINES).contains(&lines), "{text}");
        }
    }
}

#[test]
fn explains_every_finding() {
    let all = answer("explain -f json");
    let findings = all["findings"].as_array().unwrap();
    assert_eq!(findings.len(), rules().count());
    let columns = all["columns"].as_array().unwrap();
    assert_eq!(columns.len(), fields().len());
}

#[test]
fn docs_have_the_same_texts() {
    const HEAD: &str = "| column | is |\n|---|---|\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/probe.md");
    let page = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (before, rest) = page.split_once(HEAD).unwrap();
    let after = rest.split_once("\n\n").unwrap().1;
    let shown = default_columns(Kind::Clocks, Visibility::InFull);
    let shown = shown.filter(|field| !["timer", "quality_printed"].contains(&field.key));
    let rows = shown.map(|field| format!("| {} | {} |\n", field.heading, field.description()));
    let expected = format!("{before}{HEAD}{}\n{after}", rows.collect::<String>());
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "docs/probe.md is not up to date: TIMERMETER_UPDATE=1 cargo test --test main cli::explain"
    );
}

/// Each heading, each word and each cell of the column *trust*, and each label before a value is explained.
#[test]
fn explains_what_is_printed() {
    let cells = printed(&run("table reports --columns trust -f csv").success());
    let cells = cells.lines().map(|line| line.trim_matches('"'));
    let headings = fields().iter().map(|field| field.heading);
    let mut words: BTreeSet<String> = headings.chain(cells).map(str::to_owned).collect();
    let mut trust = Trust {
        answer: Answer::Yes,
        open: None,
        defect: None,
        part: None,
        caution: None,
    };
    let mut add = |trust: &Trust| {
        let text = trust.in_short();
        let text = text.replace("untested ", "untested: ");
        words.extend(text.split([',', ':']).map(|word| word.trim().to_owned()));
    };
    for caution in Caution::ALL {
        trust.caution = Some(caution);
        add(&trust);
    }
    trust.answer = Answer::Open;
    for open in Question::ALL {
        trust.open = Some(open);
        add(&trust);
    }
    for word in words {
        explained(&word);
    }
}
