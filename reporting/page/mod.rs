//! Reports as web pages: one file each, which needs nothing else. What comes from elsewhere
//! (labels, reasons) is made plain here and escaped by the templates (`templates/`).

mod matrix;
mod parts;
mod printed;
pub mod site;
mod view;

use askama::Template;

use crate::model::{Report, Tool};
use crate::report::machine::name;
use matrix::{Brief, Matrix};
pub use printed::PrintedReport;
use view::ReportView;

/// Says in a sentence what a report comes down to; pages show reports, and judge nothing.
pub type Sentence = fn(&Report) -> Option<String>;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    lead: String,
    version: String,
    style: String,
    script: &'a str,
    home: Option<String>,
    /// Of several reports: Quality, and lateness.
    matrices: Vec<Matrix>,
    reports: Vec<ReportView>,
    list: Vec<Entry>,
    /// Whether the list says what each report comes down to, and so stands first.
    is_verdicts: bool,
    left_out: &'a [String],
    terms: &'a [Term],
    legend: [parts::QualityColour; 7],
}

/// A link to a report.
struct Entry {
    href: String,
    name: String,
    about: String,
    /// What it comes down to, in a sentence.
    says: Option<String>,
}

/// What a column means.
struct Term {
    key: &'static str,
    name: &'static str,
    text: &'static str,
}

const TERMS: [Term; 8] = [
    Term {
        key: "timer",
        name: "timer",
        text: "A way to read a clock: its id, and the call itself. Timers of other runtimes lead with the name of their agent.",
    },
    Term {
        key: "quality",
        name: "Quality",
        text: "Resolution, cost and spread in one figure between 0 and 100 %: resolution^-0.1 · cost^-0.1 · spread^0.5, in \
               cycles. ± is the 95 % interval. Timers whose intervals overlap with that of the best of them share its \
               place (#). 0 is kept for timers that went backwards or are otherwise unfit.",
    },
    Term {
        key: "resolution",
        name: "resolution",
        text: "The step in which the counter behind the timer really moves, as seen through the call; not the unit it \
               counts in. ≤ marks a bound where no step could be determined. Smaller is better.",
    },
    Term {
        key: "cost",
        name: "cost",
        text: "What a read takes alone: the median of single invocations, the loop and the reference taken off. What it takes \
               in a row of many stands among the details. Smaller is better.",
    },
    Term {
        key: "cycles",
        name: "res. cycles, cost cycles",
        text: "Resolution and cost in cycles of the CPU, at the frequency that the machine's facts name.",
    },
    Term {
        key: "spread",
        name: "spread",
        text: "The share of single invocations whose cost lies within one resolution of the median. 1 is all of them. Its \
               interval, and what costs there are, stand among the details.",
    },
    Term {
        key: "status",
        name: "status",
        text: "ok: all figures were determined. unresolved: it can be read, but its step could not be determined. \
               unavailable: the machine does not let it be read. failed: it crashed, hung or sent a malformed reply.",
    },
    Term {
        key: "trust",
        name: "trust",
        text: "yes: monotonic, the same on all threads, and stable, as far as that applies. no: it fails one of these three, and its \
               Quality is 0. ?: one of them could not be tested. What a timer counts, whether it is as declared, and who answers a \
               read, are told among the details and take nothing away.",
    },
];

/// The heading of the only report of a page.
const ALONE: &str = "The machine and its timers";

/// Whether figures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Three a timer.
    Drawn,
    /// None: pages are thirty times smaller.
    LeftOut,
}

/// One page of some reports, side by side first where there are several. `left_out` says of what
/// else was asked for why it is not here; `sentence` says what each comes down to.
///
/// # Errors
/// When a figure cannot be drawn.
pub fn render(
    reports: &[Report],
    left_out: &[String],
    sentence: Option<Sentence>,
) -> Result<String, askama::Error> {
    let mut views: Vec<ReportView> = reports
        .iter()
        .enumerate()
        .map(|(at, report)| ReportView::of(report, &format!("r{at}"), Figures::Drawn, sentence))
        .collect();
    if let [only] = views.as_mut_slice() {
        // The title says who it is already.
        only.heading = ALONE.to_owned();
    }
    let briefs: Vec<Brief> = reports
        .iter()
        .map(|report| Brief::of(report, None, None))
        .collect();
    let (title, lead) = match reports {
        [report] => (format!("Timers of {}", name(report)), view::about(report)),
        several => {
            let lead = "How good the clocks of these machines are: Quality side by side, then each machine alone.";
            (
                format!("Timers of {} reports", several.len()),
                lead.to_owned(),
            )
        }
    };
    let matrices = if reports.len() > 1 {
        Matrix::all_of(&briefs)
    } else {
        Vec::new()
    };
    Page {
        matrices,
        reports: views,
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
            style: include_str!("../templates/page.css").to_owned() + &parts::quality_style(),
            script: include_str!("../templates/page.js"),
            home: None,
            matrices: Vec::new(),
            reports: Vec::new(),
            list: Vec::new(),
            is_verdicts: false,
            left_out: &[],
            terms: &TERMS,
            legend: parts::LEGEND,
        }
    }
}
