//! Renders reports as web pages that need no other files. The templates in `templates/` escape all
//! text of reports.

pub mod site;
mod view;

use askama::Template;

use crate::model::{Report, Tool};
use crate::tabulation::Platforms;
use view::ReportView;

#[derive(Default, Template)]
#[template(path = "page.html")]
struct WebPage<'a> {
    title: String,
    /// The sentence below the title.
    lead: String,
    /// The version of timermeter.
    version: String,
    /// The address of the index of the site; `None` for the index itself and for single pages.
    home: Option<String>,
    /// The address of the data of the report, on its page in a site.
    data: Option<String>,
    /// The index, with a row for each platform; `None` on the page of a report.
    platforms: Option<Platforms>,
    reports: Vec<ReportView<'a>>,
    /// The files that could not be read, with the reasons.
    left_out: &'a [String],
}

/// The largest number of reports that a page without other pages shows in full, because the details
/// of a report take half a megabyte.
const MAX_FULL_REPORTS: usize = 3;

/// How much of a report a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything, with up to three plots for each timer.
    Full,
    /// Everything but the plots of timers, so that pages are a thirtieth as large.
    WithoutPlots,
    /// The recommendation and the plot of all clocks.
    Answer,
}

/// Renders one page for all reports, which begins with a row for each platform if there are
/// several reports. `left_out` lists the files that could not be read, with the reasons.
///
/// # Errors
/// When the template fails.
pub fn render(reports: &[Report], left_out: &[String]) -> Result<String, askama::Error> {
    let (title, lead, platforms) = match reports {
        [report] => (view::title(report), view::about(report), None),
        several => {
            let runs = several.iter().enumerate();
            let runs =
                runs.flat_map(|(index, report)| Platforms::runs(report, &format!("#r{index}")));
            let platforms = Platforms::group(runs.collect(), several.len());
            (INDEX_TITLE.to_owned(), platforms.summary(), Some(platforms))
        }
    };
    let extent = if reports.len() > MAX_FULL_REPORTS {
        Extent::Answer
    } else {
        Extent::Full
    };
    let views = reports.iter().enumerate();
    let views = views.map(|(index, report)| ReportView::new(report, &format!("r{index}"), extent));
    WebPage {
        platforms,
        reports: views.collect(),
        left_out,
        ..WebPage::new(title, lead)
    }
    .render()
}

/// The title of a page of several reports.
const INDEX_TITLE: &str = "How good are the clocks?";

impl WebPage<'_> {
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
