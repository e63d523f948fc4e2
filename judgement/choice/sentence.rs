//! Sums up a report in a sentence: the clock to time operations with, and the clocks that are not
//! trustworthy.

use super::clocks::{ClockChoice, choose};
use super::{ChoiceError, Requirement, clock_row};
use crate::model::{Nanos, Report, value_of};
use crate::numbers::{range_ns, time};

/// Duration of the operation for which a clock is picked by default. It is so short that the cost
/// of a read matters.
pub const USUAL_DURATION: Nanos = Nanos(250.0);
/// Largest error for which a clock is picked by default, as a share.
pub const USUAL_ERROR: f64 = 0.01;

/// Picks a clock for an operation of [`USUAL_DURATION`], among the native clocks if `runtime` is
/// `None`, otherwise among those of the runtime.
///
/// # Errors
/// When the report has no such clocks.
pub fn choose_usual(report: &Report, runtime: Option<&str>) -> Result<ClockChoice, ChoiceError> {
    let usual = Requirement::new(USUAL_DURATION, USUAL_ERROR)?;
    let runtime = runtime.map(str::to_owned);
    choose(report, &Requirement { runtime, ..usual })
}

/// Sums up a report of clocks in a few words: the native clock that `pick` picks for a short
/// operation; the reason why it is not the clock of rank 1; the clock to use in a runtime, if
/// clocks of exactly one were measured; and the clocks that are not trustworthy. `None` if no clock
/// can be picked.
pub fn summarize_clocks(report: &Report) -> Option<String> {
    let mut runtimes: Vec<&str> = report
        .timers
        .iter()
        .filter(|row| row.cost_ns.is_some())
        .filter_map(|row| row.agent())
        .collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    let hosted = match runtimes.as_slice() {
        [runtime] => picked_in_words(report, Some(runtime)).map(|text| (runtime, text)),
        _ => None,
    };
    let native = native_in_words(report);
    let mut text = match (native, hosted) {
        (Some(native), Some((runtime, clock))) => format!("{native} In {runtime}: {clock}."),
        (Some(native), None) => native,
        (None, Some((runtime, clock))) => format!("To time things in {runtime}: {clock}."),
        (None, None) => return None,
    };
    let verdicts = report
        .timers
        .iter()
        .filter_map(|row| Some((&row.id, row.verdicts.as_ref()?)));
    let distrusted: Vec<&str> = verdicts
        .filter(|(_, verdicts)| verdicts.summary() == "no")
        .map(|(id, _)| id.as_str())
        .collect();
    if !distrusted.is_empty() {
        text += &format!(" Not to be trusted: {}.", distrusted.join(", "));
    }
    Some(text)
}

/// A sentence on the picked native clock, and the reason why it is not the clock of the highest
/// Quality. `None` if none can be picked or only one clock can be used.
fn native_in_words(report: &Report) -> Option<String> {
    let choice = choose_usual(report, None).ok()?;
    // A report of a single clock offers no choice.
    if !choice
        .others
        .iter()
        .any(|other| other.figures.plan.is_some())
    {
        return None;
    }
    let quality = |id: &str| value_of(clock_row(report, id)?.quality);
    let picked_quality = quality(&choice.picked.as_ref()?.id);
    let better = choice
        .others
        .iter()
        .filter_map(|other| Some((quality(&other.id)?, other)))
        .filter(|(quality, _)| Some(*quality) > picked_quality);
    let highest = better.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| {
        // The first part is the plan.
        let parts = row.reason.split_once("; ").filter(|_| row.suffices);
        let why = parts.map_or(&*row.reason, |(_, why)| why);
        format!("; rank 1 is {} ({why})", row.id)
    });
    let clock = picked_in_words(report, None)?;
    Some(format!(
        "To time things: {clock}{}.",
        highest.unwrap_or_default()
    ))
}

/// The id of the picked clock with its resolution and costs; `None` if none can be picked.
pub(super) fn picked_in_words(report: &Report, runtime: Option<&str>) -> Option<String> {
    let picked = choose_usual(report, runtime).ok()?.picked?.id;
    let row = clock_row(report, &picked)?;
    let adds = row.adds_range_ns();
    let adds = adds.map_or_else(String::new, |range| {
        format!(", adds {} to code around it", range_ns(range))
    });
    Some(format!(
        "{picked} ({} steps, {} a read{adds})",
        time(value_of(row.step_or_limit_ns())),
        time(value_of(row.cost_ns))
    ))
}
