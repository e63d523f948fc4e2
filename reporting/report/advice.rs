//! What a caller recommends about a report: the readers of reports do not judge them.

use crate::model::Report;

/// A recommendation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The recommendation in a sentence; `None` if no timer of the report is suitable.
    pub sentence: Option<String>,
    /// The id of the recommended clock; `None` if the report has no suitable clock.
    pub clock: Option<String>,
    /// The shortest operation that two reads of this clock time to 1 %, in words; `None` if there is
    /// none.
    pub alone_from: Option<String>,
    /// Code that does so, ready to be copied; empty if there is none.
    pub code: String,
}

/// A function that recommends a timer of a report.
pub type Advise = fn(&Report) -> Advice;
