//! Tests of documents in each format.

use serde_json::json;

use crate::document::{Document, FindingText};
use crate::format::{Format, Render, Style};
use crate::table::{Notation, Table, TableColumn};
use estimators::model::Severity;

fn document() -> Document<'static, serde_json::Value> {
    let mut table = Table::new(vec![
        TableColumn::left("timer"),
        TableColumn::right("cost", Notation::Time),
    ]);
    table.push(vec!["mono|tonic".into(), 20.0.into()]);
    let finding = FindingText {
        severity: Severity::Problem,
        code: "clock-source".into(),
        message: "hostile \u{1b}[2J\u{202e}text ".repeat(8),
        advice: Some("change it".into()),
    };
    Document::new(json!({"a": [1]}))
        .paragraph("It *is* slow.")
        .heading("figures")
        .facts([("kernel", "6.1"), ("x", "y\u{7}z")])
        .note("do")
        .table(table)
        .findings([finding])
        .code("int x;\n")
}

fn written(format: Format, style: Style) -> String {
    document().rendered(format, style)
}

#[test]
fn terminal_text_is_cleaned_and_folded() {
    let style = Style {
        width: Some(60),
        colour: false,
        ..Style::default()
    };
    let text = written(Format::Table, style);
    assert!(text.starts_with(
        "It *is* slow.\n\nfigures\n  kernel  6.1\n  x       yz\n  → do\n\ntimer           cost\nmono|tonic  20.00 ns\n\nproblem  clock-source  hostile text"
    ), "{text}");
    assert!(
        text.contains("\n                       → change it\n\n    int x;\n"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn markdown_escapes_each_section() {
    let text = written(Format::Markdown, Style::default());
    assert!(
        text.starts_with("It \\*is\\* slow.\n\n### figures\n\n- **kernel**: 6.1\n"),
        "{text}"
    );
    assert!(text.contains("\n| mono\\|tonic | 20.00 ns |\n"), "{text}");
    assert!(text.ends_with("```\nint x;\n```\n"), "{text}");
}

#[test]
fn json_has_data_and_csv_a_table() {
    let json = written(Format::Json, Style::default());
    assert_eq!(json, "{\n  \"a\": [\n    1\n  ]\n}\n");
    let csv = written(Format::Csv, Style::default());
    assert_eq!(csv, "timer,cost\nmono|tonic,20.0\n");
}
