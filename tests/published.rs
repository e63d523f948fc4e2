//! Tests the reports in `reports/`. Reports of published figures equal the published tables and
//! have the current format. `TIMERMETER_UPDATE=1 cargo test --test main published::` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::assert::OutputAssertExt;
use estimators::model::{ProvenanceKind, Report, value_of};
use reporting::format::{Format, Render, Style};
use reporting::report::Collection;

use super::paper;
use super::program::{command, json};

/// All stored reports with their paths.
pub fn kept() -> Vec<(PathBuf, Report)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports");
    let found = Collection::read(&[folder], |path, report| (path.to_owned(), report));
    found.reports.into_iter().map(|kept| kept.content).collect()
}

/// The stored reports of published figures.
fn published() -> Vec<(PathBuf, Report)> {
    let mut all = kept();
    all.retain(|(_, report)| report.provenance.kind == ProvenanceKind::Published);
    all
}

#[test]
fn published_reports_have_current_format() {
    let published = published();
    assert_eq!(published.len(), 12);
    for (file, report) in published {
        for (path, format) in [
            (file.clone(), Format::Json),
            (file.with_file_name("README.md"), Format::Markdown),
        ] {
            let text = report.rendered(format, Style::default());
            if std::env::var_os("TIMERMETER_UPDATE").is_some() {
                fs::write(&path, &text).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap();
            assert!(
                kept == text,
                "{}: run this with TIMERMETER_UPDATE=1",
                path.display()
            );
            let says_so = text.contains("published in");
            assert!(says_so || format == Format::Json, "{text}");
        }
    }
}

#[test]
fn reports_hold_figures_of_the_paper() {
    let published = published();
    let (mut clocks, mut errata) = (0, Vec::new());
    for printed in paper::rows() {
        let platform = printed.platform.to_lowercase();
        let is_printed = |file: &Path| file.to_string_lossy().contains(&format!("-{platform}/"));
        let mut reports = published.iter();
        let (_, report) = reports.find(|(file, _)| is_printed(file)).unwrap();
        let mut rows = report.timers.iter();
        let row = rows.find(|row| row.id == printed.timer).unwrap();
        let close = |found: Option<f64>, wanted: f64| {
            let off = found.map(|found| (found - wanted).abs());
            assert!(off <= Some(1e-9 * wanted), "{found:?}: {printed:?}");
        };
        close(value_of(row.resolution_ns), printed.resolution.0);
        close(value_of(row.cost_ns), printed.cost.0);
        close(value_of(row.spread), printed.spread);
        close(value_of(row.quality), printed.quality_percent() / 100.0);
        close(row.printed_quality, printed.printed_percent / 100.0);
        let mut codes = row.findings.iter().map(|finding| &finding.code);
        if codes.any(|code| code == "printed-quality-differs") {
            errata.push((printed.platform, printed.timer));
        }
        clocks += 1;
    }
    assert_eq!(clocks, 4 * 8);
    let hrc = ["MBP53", "MBP62"].map(|platform| (platform.to_owned(), "HRC".to_owned()));
    assert_eq!(errata, hrc, "the rows with an inconsistent printed Quality");
}

/// Figures from issues are means of many reads, without an isolated cost and without an interval.
#[test]
fn issue_figures_have_platform_rows() {
    let rows = json(&command("table reports --by platform -f json").assert());
    let rows = rows.as_array().unwrap();
    let of_issues = rows
        .iter()
        .filter(|row| row["source"].to_string().contains("issue"));
    let found = of_issues.map(|row| {
        assert_eq!(row["provenance"], "published");
        assert!(
            row["cost_amortised_ns"].is_number() && row["cost_ns"].is_null(),
            "{row}"
        );
    });
    assert_eq!(found.count(), 8);
    let mut measured = rows.iter().filter(|row| row["provenance"] == "measured");
    assert!(measured.all(|row| row["source"].to_string().contains("timermeter 0.")));
}

#[test]
fn citation_names_this_version() {
    let version = concat!("\nversion: ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(include_str!("../CITATION.cff").contains(version));
}
