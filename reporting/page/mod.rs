//! Renders reports as web pages that need no other files. The templates in `templates/` escape all
//! text of reports.

mod matrix;
mod printed;
pub mod site;
mod view;

use askama::Template;

use crate::model::{Report, Tool};
use crate::report::machine::name;
use matrix::{Matrix, ReportSummary};
pub use printed::PrintedReport;
use view::ReportView;

/// A function that summarises a report in one sentence; `None` if there is nothing to say. The
/// caller supplies it, because pages do not judge reports.
pub type Summarize = fn(&Report) -> Option<String>;

#[derive(Default, Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    /// The sentence below the title.
    lead: String,
    /// The version of timermeter.
    version: String,
    /// The address of the index of the site; `None` for the index itself and for single pages.
    home: Option<String>,
    /// The tables that compare several reports: Quality and lateness.
    matrices: Vec<Matrix<'a>>,
    reports: Vec<ReportView<'a>>,
    /// The links to the pages of the site, or to the data of the report.
    list: Vec<Entry>,
    /// The files that could not be read, with the reasons.
    left_out: &'a [String],
}

/// A link to the page of a report, or to its data.
struct Entry {
    href: String,
    name: String,
    /// The date of a report and its kernel, or the format of data.
    about: String,
    /// The summary of the report in one sentence.
    summary: Option<String>,
}

/// The heading of the report on a page with a single report, whose title names the machine.
const SINGLE_REPORT_HEADING: &str = "The machine and its timers";

/// Whether pages contain plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plots {
    /// Up to three plots for each timer.
    Drawn,
    /// No plots, so that pages are a thirtieth as large.
    Omitted,
}

/// Renders one page for all reports, which begins with a comparison if there are several.
/// `left_out` lists the files that could not be read, with the reasons; `summarize` summarises a
/// report.
///
/// # Errors
/// When the template fails.
pub fn render(
    reports: &[Report],
    left_out: &[String],
    summarize: Option<Summarize>,
) -> Result<String, askama::Error> {
    let compared = reports.iter().filter(|_| reports.len() > 1);
    let compared = compared.map(|report| ReportSummary::new(report, None, None));
    let summaries: Vec<ReportSummary> = compared.collect();
    let (title, lead, heading) = match reports {
        [report] => (
            format!("Timers of {}", name(report)),
            view::about(report),
            Some(SINGLE_REPORT_HEADING),
        ),
        several => (
            format!("Timers of {} reports", several.len()),
            "How good the clocks of these machines are: their Quality side by side, then each machine.".to_owned(),
            None,
        ),
    };
    let views = reports.iter().enumerate();
    let views = views.map(|(index, report)| {
        ReportView::new(
            report,
            &format!("r{index}"),
            heading,
            Plots::Drawn,
            summarize,
        )
    });
    Page {
        matrices: Matrix::from_summaries(&summaries),
        reports: views.collect(),
        left_out,
        ..Page::new(title, lead)
    }
    .render()
}

impl Page<'_> {
    fn new(title: String, lead: String) -> Self {
        Self {
            title,
            lead,
            version: Tool::this().version,
            ..Self::default()
        }
    }
}

/// The CSS class of the colour for a Quality in [0, 1]; `none` without a Quality.
fn quality_class(quality: Option<f64>) -> &'static str {
    const CLASSES: [&str; 7] = ["q0", "q1", "q2", "q3", "q4", "q5", "q6"];
    match quality {
        Some(0.0) => CLASSES[0],
        Some(quality) if quality > 0.0 => CLASSES[((quality * 10.0) as usize + 1).min(6)],
        _ => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::quality_class;

    /// The relative luminance (WCAG 2.2).
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let share = f64::from((colour >> shift) & 0xff) / 255.0;
            if share <= 0.040_45 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    #[test]
    fn quality_colours_have_contrast() {
        let mut rules = 0;
        for line in include_str!("../templates/page.css").lines() {
            let Some(rule) = line.trim().strip_prefix(".q") else {
                continue;
            };
            let colours: Vec<f64> = rule
                .split('#')
                .skip(1)
                .map(|colour| luminance(u32::from_str_radix(&colour[..6], 16).unwrap()))
                .collect();
            let [background, text] = colours.as_slice() else {
                panic!("not two colours: {line}");
            };
            let contrast = (background.max(*text) + 0.05) / (background.min(*text) + 0.05);
            assert!(contrast >= 4.5, "{line}: {contrast:.2}");
            rules += 1;
        }
        assert_eq!(rules, 14, "seven colours each for light and for dark pages");
    }

    #[test]
    fn quality_ranges_have_colours() {
        for (quality, expected) in [
            (0.0, "q0"),
            (0.01, "q1"),
            (0.0999, "q1"),
            (0.1, "q2"),
            (0.4999, "q5"),
            (0.5, "q6"),
            (1.0, "q6"),
        ] {
            assert_eq!(quality_class(Some(quality)), expected);
        }
        assert_eq!(
            [None, Some(f64::NAN), Some(-1.0)].map(quality_class),
            ["none"; 3]
        );
    }
}
