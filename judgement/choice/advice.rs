//! Recommends a clock of a report, or timers to wait with.

use super::answer::plan_alone;
use super::sentence::{choose_usual, picked_in_words, summarize_clocks};
use super::snippet::first_snippet;
use super::waits::{summarize_periods, summarize_waits};
use crate::model::Report;
use crate::numbers::short_time;

/// A recommendation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// The recommendation in a sentence; `None` if no timer of the report is suitable.
    pub sentence: Option<String>,
    /// The sentence without the recommended clock and its figures; may be empty.
    pub remark: String,
    /// The id of the recommended clock; `None` if the report has no suitable clock.
    pub clock: Option<String>,
    /// The shortest operation that two reads of this clock time to 1 %, in words; `None` if there is
    /// none.
    pub alone_from: Option<String>,
    /// Code that does so, ready to be copied; empty if there is none.
    pub code: String,
}

/// Recommends a clock of a report to use, or timers to wait with.
pub fn advise(report: &Report) -> Advice {
    let choice = choose_usual(report, None).ok();
    let picked = choice.and_then(|choice| choice.picked);
    let alone = picked.as_ref().and_then(|one| plan_alone(report, &one.id));
    let code = alone
        .as_ref()
        .and_then(|(_, plan)| first_snippet(report, plan, None));
    let sentence = summarize_clocks(report)
        .or_else(|| summarize_waits(report))
        .or_else(|| summarize_periods(report));
    let remark = || {
        let clock = picked_in_words(report, None)?;
        let (_, remark) = sentence.as_ref()?.split_once(&clock)?;
        Some(remark.trim_start_matches([';', '.', ' ']).to_owned())
    };
    Advice {
        remark: remark().unwrap_or_default(),
        sentence,
        alone_from: alone.map(|(from_ns, _)| short_time(from_ns)),
        code: code.unwrap_or_default(),
        clock: picked.map(|picked| picked.id),
    }
}
