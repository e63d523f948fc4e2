//! Tables of several reports in all formats. Look at the snapshots when they change.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;
use timermeter::fields::Kind;
use timermeter::model::{Interval, Outcome, Report};
use timermeter::report::{read, render};
use timermeter::table::{Format, Style};
use timermeter::tabulation::{ColumnName, Layout, TableChoice, Tabulation};

use crate::sample::report;

const COLUMNS: [&str; 6] = [
    "platform",
    "timer",
    "label",
    "resolution",
    "cost",
    "quality",
];

fn column(name: &str) -> ColumnName {
    ValueEnum::from_str(name, false).expect("a column is called so")
}

/// Two reports of two machines, hostile agents included.
fn folder() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut other = report();
    other.platform.hypervisor = None;
    other.platform.os.name = Some("Évil | OS & <b> 1_0".into());
    other.timers.retain(|row| row.id != "rdtsc");
    let paths = ["a.json", "b.json"].map(|name| folder.path().join(name));
    for (path, report) in paths.iter().zip([report(), other]) {
        std::fs::write(path, render(&report, Format::Json, Style::default())).unwrap();
    }
    (folder, paths.to_vec())
}

/// A format, and whether what is written stands alone.
type Written = (Format, bool);

const LATEX_DOCUMENT: Written = (Format::Latex, true);
const HTML_PAGE: Written = (Format::Html, true);

fn table(
    (format, standalone): Written,
    layout: Layout,
    columns: &[ColumnName],
    sort: Option<(ColumnName, bool)>,
) -> String {
    let (_folder, paths) = folder();
    let choice = TableChoice {
        kind: Kind::Clocks,
        columns: columns.to_vec(),
        layout,
        sort,
        all: true,
        top: None,
    };
    let tabulation = Tabulation::first_of(&paths, vec![choice]);
    assert!(tabulation.refused.is_empty(), "{:?}", tabulation.refused);
    let mut out = Vec::new();
    tabulation.write(format, standalone, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn stacked(format: Written) -> String {
    table(format, Layout::Stacked, &COLUMNS.map(column), None)
}

fn side_by_side(format: Written) -> String {
    table(
        format,
        Layout::Beside,
        &[column("timer"), column("cost"), column("quality")],
        None,
    )
}

#[test]
fn stacked_table_as_text() {
    insta::assert_snapshot!(stacked((Format::Table, false)));
}

#[test]
fn text_side_by_side() {
    insta::assert_snapshot!(side_by_side((Format::Table, false)));
}

#[test]
fn stacked_table_as_markdown() {
    insta::assert_snapshot!(stacked((Format::Markdown, false)));
}

#[test]
fn csv_side_by_side() {
    insta::assert_snapshot!(side_by_side((Format::Csv, false)));
}

#[test]
fn latex_side_by_side() {
    insta::assert_snapshot!(side_by_side(LATEX_DOCUMENT));
}

#[test]
fn latex_table_for_a_document() {
    let fragment = side_by_side((Format::Latex, false));
    compile(&format!(
        "\\documentclass{{article}}\n\\usepackage[T1]{{fontenc}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage{{booktabs,textcomp}}\n\
         \\begin{{document}}\n{fragment}\\end{{document}}\n"
    ));
    insta::assert_snapshot!(fragment);
}

#[test]
fn html_table_for_a_page() {
    assert!(side_by_side(HTML_PAGE).contains(&side_by_side((Format::Html, false))));
}

#[test]
fn html_side_by_side() {
    insta::assert_snapshot!(side_by_side(HTML_PAGE));
}

#[test]
fn all_formats_escape_hostile_text() {
    for format in [
        (Format::Table, false),
        (Format::Markdown, false),
        (Format::Csv, false),
        (Format::Latex, false),
        LATEX_DOCUMENT,
        (Format::Html, false),
        HTML_PAGE,
        (Format::Json, false),
    ] {
        for text in [stacked(format), side_by_side(format)] {
            let hostile = |c: &char| {
                (c.is_control() && *c != '\n')
                    || (('\u{202a}'..='\u{2069}').contains(c) && format.0 != Format::Json)
            };
            // JSON keeps text as it was found, its control characters escaped.
            assert_eq!(text.chars().find(hostile), None, "{format:?}");
        }
    }
    assert!(
        !stacked((Format::Html, false)).contains("<script")
            && !stacked((Format::Html, false)).contains("<b>")
    );
    let latex = stacked(LATEX_DOCUMENT);
    let rows = latex
        .lines()
        .filter(|line| line.ends_with("\\\\"))
        .collect::<Vec<_>>();
    assert!(rows.len() > 30);
    for row in rows {
        let bare = row
            .replace("\\&", "")
            .replace("\\#", "")
            .replace("\\%", "")
            .replace("\\$", "");
        assert_eq!(bare.matches('&').count(), COLUMNS.len() - 1, "{row}");
        assert!(!bare.contains(['#', '%']), "{row}");
    }
    let markdown = stacked((Format::Markdown, false));
    for row in markdown.lines() {
        assert_eq!(
            row.replace("\\|", "").matches('|').count(),
            COLUMNS.len() + 1,
            "{row}"
        );
    }
}

#[test]
fn csv_opens_in_a_spreadsheet() {
    for text in [
        stacked((Format::Csv, false)),
        side_by_side((Format::Csv, false)),
    ] {
        let text = text.strip_prefix('\u{feff}').expect("a byte order mark");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> =
            reader.records().map(|record| record.unwrap()).collect();
        assert!(records.len() > 15);
        for cell in records.iter().flatten() {
            assert!(
                cell.parse::<f64>().is_ok() || !cell.starts_with(['=', '+', '-', '@']),
                "{cell}"
            );
        }
    }
}

#[test]
fn json_is_one_object_a_row() {
    let rows: serde_json::Value =
        serde_json::from_str(&side_by_side((Format::Json, false))).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(
        rows.iter()
            .all(|row| row["timer"].is_string() && row.get("quality_percent").is_some()),
        "{rows:?}"
    );
    assert!(rows.iter().any(|row| row["quality_percent"].is_number()));
}

#[test]
fn sorting_is_over_all_reports() {
    let sorted = |sort| {
        let text = table(
            (Format::Json, false),
            Layout::Stacked,
            &[column("timer")],
            Some(sort),
        );
        let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        rows.into_iter()
            .map(|row| row["timer"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let best = sorted((column("quality"), false));
    assert_eq!(best[..3], ["rdtsc", "rdtscp", "rdtscp"]);
    let names = sorted((column("timer"), true));
    assert!(names.is_sorted_by(|a, b| a >= b), "{names:?}");
    // What has no cost comes last either way.
    for reverse in [false, true] {
        assert_eq!(
            sorted((column("cost"), reverse)).last().unwrap(),
            "=evil:red"
        );
    }
}

/// Compiles a document with pdflatex, where it is installed.
fn compile(text: &str) {
    let has = |command: &str, argument: &str| {
        Command::new(command)
            .arg(argument)
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if !has("pdflatex", "--version") || !has("kpsewhich", "booktabs.sty") {
        // Past the capture of the test harness.
        let _ = writeln!(
            std::io::stderr().lock(),
            "skipped: no pdflatex with booktabs is installed"
        );
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(folder.path().join("table.tex"), text).unwrap();
    let mut command = Command::new("pdflatex");
    command.args([
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-no-shell-escape",
        "table.tex",
    ]);
    let output = command.current_dir(folder.path()).output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    let end = output_text
        .char_indices()
        .rev()
        .nth(3000)
        .map_or(0, |(at, _)| at);
    assert!(output.status.success(), "{}", &output_text[end..]);
}

#[test]
fn latex_document_compiles() {
    compile(&stacked(LATEX_DOCUMENT));
    compile(&side_by_side(LATEX_DOCUMENT));
    compile(&table(
        LATEX_DOCUMENT,
        Layout::Stacked,
        ColumnName::value_variants(),
        None,
    ));
}

/// The tables of `reports` in LaTeX, side by side.
fn latex_of(reports: &[Report], columns: &[ColumnName]) -> String {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (at, report) in reports.iter().enumerate() {
        let text = render(report, Format::Json, Style::default());
        std::fs::write(folder.path().join(format!("{at:04}.json")), text).unwrap();
    }
    let choice = TableChoice {
        kind: Kind::Clocks,
        columns: columns.to_vec(),
        layout: Layout::Beside,
        sort: None,
        top: None,
        all: true,
    };
    let mut out = Vec::new();
    Tabulation::first_of(&[folder.path().to_owned()], vec![choice])
        .write(Format::Latex, true, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// The width of the paper in millimetres.
fn paper(latex: &str) -> f64 {
    let width = latex
        .split_once("paperwidth=")
        .and_then(|(_, rest)| rest.split_once("mm"))
        .unwrap()
        .0;
    width.parse().unwrap()
}

#[test]
fn latex_uses_only_available_characters() {
    let mut one = report();
    one.timers.truncate(3);
    one.timers[0].label = "x".repeat(5000);
    one.timers[1].label = "時".repeat(5000);
    let long = latex_of(
        std::slice::from_ref(&one),
        &[column("timer"), column("label")],
    );
    // A hundred characters of eight: U+6642.
    assert!((700.0..2000.0).contains(&paper(&long)), "{}", paper(&long));
    compile(&long);
    let many: Vec<Report> = vec![one; 250];
    let wide = latex_of(&many, &[column("timer"), column("cost"), column("quality")]);
    assert!(paper(&wide) <= 5000.0, "{}", paper(&wide));
    let tables: Vec<&str> = wide.split("\\begin{longtable}").skip(1).collect();
    assert!(tables.len() > 1, "{}", tables.len());
    for table in &tables {
        assert!(
            table.contains("\ntimer & cost & Quality"),
            "each begins with the timers"
        );
    }
    assert_eq!(
        wide.matches("\\multicolumn{2}{c}").count(),
        250,
        "no platform is torn apart"
    );
    compile(&wide);
}

#[test]
fn zero_quality_has_reason_column() {
    let kept = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/xeon-2026-11-21.json"
    );
    let mut report = read(kept.as_ref()).unwrap();
    let row = &mut report.timers[0];
    let verdicts = row
        .verdicts
        .as_mut()
        .expect("a run of this program has verdicts");
    (verdicts.monotonic.outcome, verdicts.monotonic.finding) =
        (Outcome::Fail, "it went back | once".into());
    row.quality = Some(Interval::exact(0.0));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("r.json");
    std::fs::write(&path, render(&report, Format::Json, Style::default())).unwrap();
    for (format, trust, reason) in [
        (Format::Table, " no ", "it went back | once"),
        (Format::Csv, ",no,", "it went back | once"),
        (Format::Latex, " & no & ", "it went back \\textbar{} once"),
        (Format::Html, "<td>no</td>", "it went back | once"),
        (Format::Markdown, " | no | ", "it went back \\| once"),
        (Format::Json, "\"trust\":\"no\"", "it went back | once"),
    ] {
        let columns = vec![column("timer"), column("trust"), column("reason")];
        let choice = TableChoice {
            kind: Kind::Clocks,
            columns,
            layout: Layout::Stacked,
            sort: None,
            all: false,
            top: None,
        };
        let mut out = Vec::new();
        Tabulation::first_of(std::slice::from_ref(&path), vec![choice])
            .write(format, false, &mut out)
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(trust) && text.contains(reason),
            "{format:?}: {text}"
        );
    }
}
