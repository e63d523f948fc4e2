//! Sums up a report in a sentence: the clock to time operations with, and the clocks that are not
//! trustworthy.

use super::Requirement;
use super::choice::{ClockChoice, choose};
use crate::model::{Nanos, Report, value_of};
use crate::text::numbers::{range_ns, time};

/// Duration of the operation for which a clock is picked by default. It is so short that the cost
/// of a read matters.
pub const OPERATION: Nanos = Nanos(250.0);
/// Largest error for which a clock is picked by default, as a share.
pub(super) const ERROR: f64 = 0.01;
pub(super) const CONFIDENCE: f64 = 0.95;

/// Picks a clock for an operation of 250 ns, among the native clocks or those of `runtime`.
///
/// # Errors
/// When the report has no such clocks.
pub fn usual_choice(report: &Report, runtime: Option<&str>) -> Result<ClockChoice, String> {
    let usual = Requirement::new(OPERATION, ERROR, CONFIDENCE)?;
    let runtime = runtime.map(str::to_owned);
    choose(report, &Requirement { runtime, ..usual })
}

/// Sums up a report of clocks: the clock that `pick` picks for a short operation, the reason why it
/// is not the clock of rank 1, the clock to use in the runtime if exactly one was probed, and the
/// clocks that are not trustworthy. `None` if no clock can be picked.
#[must_use]
pub fn in_a_sentence(report: &Report) -> Option<String> {
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
        .filter(|(_, verdicts)| verdicts.in_short() == "no")
        .map(|(id, _)| id.as_str())
        .collect();
    if !distrusted.is_empty() {
        text += &format!(" Not to be trusted: {}.", distrusted.join(", "));
    }
    Some(text)
}

/// The picked native clock, and the reason why it is not the clock of the highest Quality.
fn native_in_words(report: &Report) -> Option<String> {
    let choice = usual_choice(report, None).ok()?;
    // A report of a single clock offers no choice.
    let possible = choice
        .others
        .iter()
        .filter(|other| other.figures.plan.is_some());
    possible.count().checked_sub(1)?;
    let quality = |id: &str| {
        let row = report.timers.iter().find(|row| row.id == id)?;
        value_of(row.quality)
    };
    let picked = quality(&choice.picked.as_ref()?.id);
    let first = choice
        .others
        .iter()
        .filter(|other| quality(&other.id) > picked)
        .max_by(|a, b| {
            quality(&a.id)
                .partial_cmp(&quality(&b.id))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
    let first = first.map(|first| format!("; rank 1 {}: {}", first.id, first.reason));
    let clock = picked_in_words(report, None)?;
    Some(format!(
        "To time things: {clock}{}.",
        first.unwrap_or_default()
    ))
}

fn picked_in_words(report: &Report, runtime: Option<&str>) -> Option<String> {
    let picked = usual_choice(report, runtime).ok()?.picked?.id;
    let row = report.timers.iter().find(|row| row.id == picked)?;
    let adds = row.adds_ns.and_then(|adds| adds.range());
    let adds = adds.map_or_else(String::new, |range| {
        format!(", adds {} to code around it", range_ns(range))
    });
    Some(format!(
        "{picked} ({} steps, {} a read{adds})",
        time(value_of(row.step_or_limit_ns())),
        time(value_of(row.cost_ns))
    ))
}
