//! All formats of all stored reports: each number equals that of the report, rounded as it is
//! printed, and LaTeX compiles.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use estimators::model::{Estimate, Report};
use reporting::fields::{Field, Kind, Row, columns, field, rows};
use reporting::format::{Format, Render, Style};
use reporting::report::{Collection, Detail, parse, sections};
use reporting::tabulation::{RowOf, TableChoice};

use crate::skipping;
use crate::tables::{column, written};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports")
}

fn reports() -> Vec<Report> {
    let found = Collection::read(&[folder()], |_, report: Report| report);
    found.reports.into_iter().map(|kept| kept.content).collect()
}

/// Whether a text such as `10.01 ns [9.98, 10.05]` is this figure, rounded.
fn is_rounded(text: &str, field: &Field, figure: Estimate) -> bool {
    let (value, ends) = text.split_once(" [").unwrap_or((text, ""));
    let end = value.find(|c: char| !"-.0123456789".contains(c));
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    let size = match unit.trim() {
        "k" | "µs" | "kHz" => 1e3,
        "M" | "ms" | "MHz" => 1e6,
        "G" | "s" | "GHz" => 1e9,
        _ if field.heading.ends_with('%') => 0.01,
        _ => 1.0,
    };
    let is_near = |text: &str, value: f64| {
        let decimals = text.split('.').nth(1).map_or(0, str::len);
        let unit = match unit.split_once("± ") {
            Some((_, half)) => half.parse().unwrap(),
            None => 0.1_f64.powi(decimals as i32),
        };
        let off = text.parse::<f64>().expect(text) - value / size;
        off.abs() <= unit * 0.500_001
    };
    let are_ends = match (ends.trim_end_matches(']').split_once(", "), figure.ends()) {
        (Some((low, high)), Some(known)) => is_near(low, known.0) && is_near(high, known.1),
        (printed, _) => printed.is_none(),
    };
    is_near(number, figure.value) && are_ends
}

#[test]
fn numbers_for_people_are_rounded_figures() {
    let mut numbers = 0;
    for report in reports() {
        for shown in sections(&report) {
            let table = shown.table(Detail::Full);
            let text = table.rendered(Format::Table, Style::default());
            let cells = |line: &'_ str| -> Vec<String> {
                let cells = line.split("  ").map(|cell| cell.trim().to_owned());
                cells.filter(|cell| !cell.is_empty()).collect()
            };
            let mut printed: Vec<_> = text.lines().map(cells).collect();
            printed.retain(|cells| cells.len() == table.columns.len());
            // The first line is the heading.
            for (row, cells) in shown.rows.iter().zip(&printed[1..]) {
                for (column, cell) in table.columns.iter().zip(cells) {
                    let field = field(column.key).unwrap();
                    if let Some(figure) = field.figure(*row) {
                        assert!(is_rounded(cell, field, figure), "{cell}, {figure:?}");
                        numbers += 1;
                    }
                }
            }
        }
    }
    assert!(numbers > 2_500, "{numbers}");
}

#[test]
fn numbers_for_programs_have_all_digits() {
    let mut numbers = 0;
    for report in reports() {
        let json = report.rendered(Format::Json, Style::default());
        assert_eq!(parse(&json, "json").unwrap(), report);
        let kind = Kind::main(&report);
        let csv = report.rendered(Format::Csv, Style::default());
        let mut csv = csv::Reader::from_reader(csv.as_bytes());
        let keys = csv.headers().unwrap().clone();
        let metrics = report.rendered(Format::OpenMetrics, Style::default());
        let all = rows(&report, kind).into_iter().flat_map(Row::by_length);
        for (row, record) in all.zip(csv.records()) {
            let record = record.unwrap();
            let printed = |key: &str| {
                let at = keys.iter().position(|known| known == key).unwrap();
                record[at].parse::<f64>().ok()
            };
            for field in columns(kind) {
                let Some(figure) = field.figure(row) else {
                    continue;
                };
                let known = [Some(figure.value), figure.low(), figure.high()];
                for (key, known) in field.keys.iter().zip(known) {
                    assert_eq!(printed(key), known, "{key}");
                    numbers += 1;
                }
                let (unit, scale) = field.unit.rules().base_unit;
                let value = format!(" {:?}", figure.value / scale);
                let sample = field
                    .metric
                    .map(|metric| format!("_{}{unit}{{timer=\"{}\"", metric.name, row.id()));
                let is_sample = |line: &str| {
                    sample.as_ref().is_none_or(|name| line.contains(name)) && line.ends_with(&value)
                };
                assert!(
                    sample.is_none() || metrics.lines().any(is_sample),
                    "{sample:?}{value}"
                );
            }
        }
    }
    assert!(numbers > 10_000, "{numbers}");
}

/// Compiles LaTeX in a paper of one column or two. Returns the log; `None` without LaTeX.
fn compiled(class: &str, body: &str) -> Option<String> {
    if skipping::lacks("pdflatex", "texlive-latex-recommended lmodern") {
        return None;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let text = format!(
        "\\documentclass[{class}]{{article}}\n\\usepackage[T1]{{fontenc}}\n\
         \\usepackage{{array,booktabs,longtable,textcomp,lmodern}}\n\
         \\usepackage[textwidth=178mm,columnsep=10mm,textheight=9in]{{geometry}}\n\
         \\begin{{document}}\n{body}\\end{{document}}\n"
    );
    fs::write(folder.path().join("paper.tex"), text).unwrap();
    let mut latex = Command::new("pdflatex");
    latex.args(["-interaction=nonstopmode", "-halt-on-error", "paper.tex"]);
    let ended = latex.current_dir(&folder).stdin(Stdio::null());
    let ended = ended.output().unwrap();
    let log = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{log}");
    Some(log)
}

/// Whether nothing is wider or higher than the page, by more than a hair.
fn fits(log: &str) -> bool {
    let too_wide = log
        .split("Overfull \\hbox (")
        .skip(1)
        .filter_map(|rest| rest.split("pt").next());
    let is_hair = |excess: &str| excess.parse::<f64>().unwrap() < 3.0;
    !log.contains("too large") && too_wide.into_iter().all(is_hair)
}

#[test]
fn latex_compiles_and_fits_papers() {
    let by_platform = TableChoice::by_default(Kind::Clocks, Some(RowOf::Platform));
    let named = TableChoice {
        has_named_columns: true,
        columns: ["cpu", "timer", "resolution", "cost"].map(column).to_vec(),
        ..TableChoice::by_default(Kind::Clocks, Some(RowOf::Cpu))
    };
    let [wide, narrow] =
        [by_platform, named].map(|choice| written(&[folder()], choice, Format::Latex));
    assert!(
        wide.contains("{table*}") && narrow.contains("{table}"),
        "{wide}{narrow}"
    );
    let timers = TableChoice::by_default(Kind::Clocks, None);
    let timers = written(&[folder()], timers, Format::Latex);
    let reports = reports()
        .into_iter()
        .map(|report| report.rendered(Format::Latex, Style::default()) + "\\clearpage\n");
    for (class, body) in [
        ("twocolumn", wide + &narrow),
        ("onecolumn", reports.collect::<String>() + &timers),
    ] {
        let Some(log) = compiled(class, &body) else {
            return;
        };
        assert!(fits(&log), "{log}");
    }
    let wide = "\\noindent\\rule{179.1mm}{1pt}\n";
    assert!(
        !fits(&compiled("onecolumn", wide).unwrap()),
        "the check can fail"
    );
}
