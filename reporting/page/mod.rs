//! Renders reports as self-contained web pages. The templates (`templates/`) escape the text of
//! reports.

mod matrix;
mod printed;
pub mod site;
mod view;

use askama::Template;

use crate::model::{Report, Tool};
use crate::report::machine::name;
use matrix::{Brief, Matrix};
pub use printed::PrintedReport;
use view::ReportView;

/// Summarises a report in one sentence. The caller supplies the function, because pages do not
/// judge reports.
pub type Sentence = fn(&Report) -> Option<String>;

#[derive(Default, Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    lead: String,
    version: String,
    home: Option<String>,
    /// The tables that compare several reports: Quality and lateness.
    matrices: Vec<Matrix<'a>>,
    reports: Vec<ReportView<'a>>,
    list: Vec<Entry>,
    left_out: &'a [String],
}

/// A link to the page of a report.
struct Entry {
    href: String,
    name: String,
    about: String,
    /// The summary of the report in one sentence.
    says: Option<String>,
}

/// The heading of the report on a page with a single report; the page title names the machine.
const ALONE: &str = "The machine and its timers";

/// Whether pages contain plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Up to three plots for each timer.
    Drawn,
    /// No plots, which makes pages thirty times smaller.
    LeftOut,
}

/// Renders one page for the reports, with a comparison first if there are several. `left_out` lists
/// the files that could not be shown, with the reasons; `sentence` summarises a report.
///
/// # Errors
/// When the template fails.
pub fn render(
    reports: &[Report],
    left_out: &[String],
    sentence: Option<Sentence>,
) -> Result<String, askama::Error> {
    let briefs = reports.iter();
    let briefs: Vec<Brief> = briefs
        .map(|report| Brief::new(report, None, None))
        .collect();
    let (title, lead, heading) = match reports {
        [report] => (
            format!("Timers of {}", name(report)),
            view::about(report),
            Some(ALONE),
        ),
        several => (
            format!("Timers of {} reports", several.len()),
            "How good the clocks of these machines are: Quality side by side, then each machine alone.".to_owned(),
            None,
        ),
    };
    let views = reports.iter().enumerate();
    let views = views.map(|(at, report)| {
        ReportView::new(report, &format!("r{at}"), heading, Figures::Drawn, sentence)
    });
    let mut page = Page::new(title, lead);
    page.reports = views.collect();
    page.left_out = left_out;
    if reports.len() > 1 {
        page.matrices = Matrix::all_of(&briefs);
    }
    page.render()
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

/// The CSS class of the colour for a Quality in [0, 1], from unfit to very good; `none` without a
/// Quality.
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
    fn qualities_are_readable_on_their_colours() {
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
            let [ground, ink] = colours.as_slice() else {
                panic!("no two colours: {line}");
            };
            let contrast = (ground.max(*ink) + 0.05) / (ground.min(*ink) + 0.05);
            assert!(contrast >= 4.5, "{line}: {contrast:.2}");
            rules += 1;
        }
        assert_eq!(rules, 14, "seven colours on light pages and on dark ones");
    }

    #[test]
    fn every_quality_has_its_colour() {
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
