//! Renders reports as web pages that need no other files. The templates in `templates/` read reports and
//! their rows, and escape all text.

pub mod site;

use askama::Template;
use clap::ValueEnum;

use crate::fields::{Field, Kind, Row, Visibility, field, known_columns};
use crate::report::Detail;
use crate::table::CellValue;
use crate::tabulation::Platforms;
use crate::text::numbers::short_time;
use estimators::model::{Report, Status};
use judgement::assessment::plan_alone;
use judgement::choice::Language;
use judgement::choice::snippet::{Wanted, snippet};

/// A page.
#[derive(Default, Template)]
#[template(path = "page.html")]
struct WebPage<'a> {
    /// The reports: of one all is shown, of several the answers.
    reports: &'a [Report],
    /// A row for each platform; `None` on the page of a report.
    platforms: Option<Platforms>,
    /// The files that could not be read, with the reasons.
    left_out: &'a [String],
    /// The addresses of the index of the site, and of the data of the report.
    links: Option<[String; 2]>,
}

/// Renders one page for all reports, which begins with a row for each platform unless there is exactly one
/// report. `left_out` lists the files that could not be read, with the reasons.
///
/// # Errors
/// When the template fails.
pub fn render(reports: &[Report], left_out: &[String]) -> Result<String, askama::Error> {
    let runs = reports.iter().enumerate();
    let runs = runs.flat_map(|(index, report)| Platforms::runs(report, &format!("#r{index}")));
    let group = || Platforms::group(runs.collect(), reports.len());
    let platforms = (reports.len() != 1).then(group);
    let page = WebPage {
        reports,
        platforms,
        left_out,
        links: None,
    };
    page.render()
}

/// The value of a field of a report as text; empty if it is not known.
fn value(report: &Report, key: &str) -> String {
    let value = field(key).map(|field| field.value(report));
    CellValue::from(value).to_string()
}

/// The columns of text, which is not aligned to the right.
const TEXTS: [&str; 3] = ["timer", "trust", "status"];

/// The columns of a table: those in which a row has a value, with the status if one is not `ok`.
fn columns(kind: Kind, rows: &[Row]) -> Vec<&'static Field> {
    let is_ok = rows.iter().all(|row| row.status() == Status::Ok);
    let status = field("status").filter(|_| !is_ok);
    let known = known_columns(kind, Visibility::InFull, rows).into_iter();
    let shown = known.chain(status);
    // The details show cycles.
    shown.filter(|field| field.key != "cost_cycles").collect()
}

/// Code that measures an operation, in each language that has a clock in the report: the language, the
/// shortest operation that two reads time to the usual error, in words, and the code.
fn snippets(report: &Report) -> Vec<[String; 3]> {
    let of = |language: &Language| {
        let (from_ns, plan) = plan_alone(report, *language)?;
        let wanted = Wanted {
            language: Some(*language),
            ..Wanted::default()
        };
        let code = snippet(&plan, wanted)?;
        Some([language.name().into(), short_time(from_ns), code])
    };
    Language::value_variants().iter().filter_map(of).collect()
}
