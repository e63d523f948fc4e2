//! Prints reports: one by its tables, several as a page or with a sentence each, and named timers in
//! detail.

use std::io::{self, Write};

use reporting::format::{Format, Render, Style};

use estimators::model::{Finding, Report, Severity};
use judgement::assessment::sentences;
use reporting::document::{Document, FindingText};
use reporting::fields::all_rows;
use reporting::page;
use reporting::report::machine::{self, name};
use reporting::report::{Detail, document, facts};

/// The largest number of named timers that are printed in detail; more are compared in a table.
/// *Judgement*.
const MAX_IN_DETAIL: usize = 3;

/// Reports with the options for printing them.
pub(super) struct Printed<'a> {
    pub reports: &'a [Report],
    /// The files that could not be read, with the reasons.
    pub left_out: &'a [String],
    pub detail: Detail,
    /// Whether the timers were named.
    pub are_named: bool,
}

impl Render for Printed<'_> {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let is_short = |report: &Report| all_rows(report).len() <= MAX_IN_DETAIL;
        let in_detail = self.are_named && self.reports.iter().all(is_short);
        match (format, self.reports) {
            (Format::Table, _) if in_detail => self.timers().write(format, style, output),
            (Format::Table, [report]) => document(report, self.detail).write(format, style, output),
            (Format::Html, reports) => {
                let page = page::render(reports, self.left_out);
                output.write_all(page.map_err(io::Error::other)?.as_bytes())
            }
            (_, [report]) => report.write(format, style, output),
            (_, reports) => {
                let mut document = Document::new(reports);
                for report in reports {
                    let text = [report.assessment.warnings(), sentences(report)].concat();
                    document = document.heading(name(report)).paragraph(text.join(" "));
                }
                document.write(format, style, output)
            }
        }
    }
}

impl<'a> Printed<'a> {
    /// Each timer with its figures and findings.
    fn timers(&self) -> Document<'a, &'a [Report]> {
        let in_full = self.detail == Detail::Full;
        let mut document = Document::new(self.reports);
        for report in self.reports {
            document = document.paragraphs(report.assessment.warnings());
            for row in all_rows(report) {
                let findings = row.findings().iter();
                document = document
                    .heading(format!("{} {}", row.id(), row.label()))
                    .facts(facts(row, self.detail))
                    .findings(findings.map(|it| finding_text(it, in_full)));
            }
            document = document.conditions(machine::facts(report, self.detail));
        }
        document
    }
}

/// A finding as text; without advice unless it is a problem or all is printed `in_full`.
pub(super) fn finding_text(finding: &Finding, in_full: bool) -> FindingText {
    let mut text = FindingText::from(finding);
    if !in_full && text.severity != Severity::Problem {
        text.advice = None;
    }
    text
}
