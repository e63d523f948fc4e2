//! The clock that is taken for durations where nobody names one, and what a report comes down to in a sentence.

use super::{ClockFigures, Counts};
use crate::model::{Answers, Hertz, Nanos, Report};
use crate::quality::quality;
use crate::text::numbers::time;
use crate::text::{clipped, plain};

/// Clocks that every platform of their standard has: POSIX, and Rust's standard library.
const PORTABLE: [&str; 2] = ["monotonic", "instant"];
const LONGEST_ID: usize = 60;

/// No clock of a report may be taken without being asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no clock of the report is taken by itself{best}: that has to count wall time, to be one that nobody sets, to have a step \
     that is known, and to wait for the work before it is read; name one with --clock"
)]
pub struct NoneByRule {
    best: String,
}

/// The clock of the highest Quality among those that may be used without being asked for.
///
/// # Errors
/// When there is none.
pub fn by_rule(report: &Report) -> Result<ClockFigures, NoneByRule> {
    let clocks = best_first(report);
    if let Some(best) = clocks.iter().find(|clock| unfit(clock).is_none()) {
        return Ok(best.clone());
    }
    let best = clocks.first().and_then(|clock| Some((clock, unfit(clock)?)));
    let best =
        best.map_or_else(String::new, |(clock, why)| format!(" ({}, the best of it, {why})", clock.id));
    Err(NoneByRule { best })
}

/// The native clocks of a report that durations can be measured with, the highest Quality first.
fn best_first(report: &Report) -> Vec<ClockFigures> {
    let native = report.timers.iter().filter(|row| row.runtime == "native");
    let clocks: Vec<ClockFigures> =
        native.filter_map(|row| ClockFigures::of(row, &report.platform).ok()).collect();
    let in_cycles = clocks.iter().any(|clock| clock.quality.is_some_and(|quality| quality > 0.0));
    let ranked = |clock: ClockFigures| Some((rank(&clock, in_cycles)?, clock));
    let mut ranked: Vec<(f64, ClockFigures)> = clocks.into_iter().filter_map(ranked).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.into_iter().map(|(_, clock)| clock).collect()
}

/// What a clock is ranked by: its Quality, and where no cycles are known what that would be at a gigahertz. The order is nearly the same
/// at any frequency, as only what takes less than a cycle counts for one.
fn rank(clock: &ClockFigures, in_cycles: bool) -> Option<f64> {
    if in_cycles || clock.quality.is_some() {
        return clock.quality;
    }
    let cycles = |ns: f64| Nanos(ns).cycles(Hertz(1e9));
    quality(cycles(clock.step_ns), cycles(clock.cost_ns), clock.spread?)
}

/// Why a clock is not taken without being asked for.
fn unfit(clock: &ClockFigures) -> Option<&'static str> {
    let facts = clock.facts;
    match () {
        () if facts.counts != Some(Counts::Wall) => Some("does not count wall time"),
        () if facts.monotonic != Some(true) => Some("can be set"),
        () if !facts.ordered => Some("is read before the work is done, unless it is fenced"),
        () if !clock.resolved => Some("has a step that is not known"),
        () => None,
    }
}

/// The report in a sentence: the clock for durations, a portable one, and what to know first. `None` where it has no such clock.
#[must_use]
pub fn in_a_sentence(report: &Report) -> Option<String> {
    let figures = |id: &str| {
        let row = report.timers.iter().find(|row| row.id == id)?;
        let step = time(row.accuracy.and_then(|step| step.ns));
        let cost = time(row.cost.as_ref().and_then(|cost| cost.median_ns));
        Some(format!("{} ({step} steps, {cost} a read)", clipped(id, LONGEST_ID)))
    };
    let clocks = best_first(report);
    // Of a single clock there is nothing to choose.
    let best = by_rule(report).ok().filter(|_| clocks.len() > 1)?;
    let mut text = format!("For durations: {}", figures(&best.id)?);
    let portable = |clock: &&ClockFigures| PORTABLE.contains(&clock.id.as_str()) && unfit(clock).is_none();
    let portable = clocks.iter().find(portable).filter(|portable| portable.id != best.id);
    if let Some(portable) = portable.and_then(|portable| figures(&portable.id)) {
        text += &format!("; portable: {portable}");
    }
    text.push('.');
    let distrusted = report
        .timers
        .iter()
        .filter(|row| row.verdicts.as_ref().is_some_and(|verdicts| verdicts.in_short() == "no"));
    let distrusted: Vec<String> = distrusted.map(|row| clipped(&row.id, LONGEST_ID)).collect();
    if !distrusted.is_empty() {
        text += &format!(" Not to be trusted: {}.", distrusted.join(", "));
    }
    let codes: Vec<String> = report.warnings.iter().map(|warning| plain(&warning.code)).collect();
    if !codes.is_empty() {
        text += &format!(" Caveats: {}.", codes.join(", "));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_in_a_sentence() {
        let text = include_str!("../../tests/data/xeon-2026-11-21.json");
        let mut report: Report = serde_json::from_str(text).unwrap();
        let sentence = in_a_sentence(&report).unwrap();
        let best = by_rule(&report).unwrap();
        assert!(sentence.starts_with(&format!("For durations: {} (", best.id)), "{sentence}");
        assert!(sentence.contains("; portable: ") || PORTABLE.contains(&best.id.as_str()), "{sentence}");
        // Without cycles there is no Quality, and the same clock.
        report.timers.iter_mut().for_each(|row| row.quality = row.quality.filter(|quality| *quality == 0.0));
        assert_eq!(by_rule(&report).unwrap().id, best.id);
        report.timers.retain(|row| row.id == best.id);
        assert_eq!(in_a_sentence(&report), None, "nothing to choose");
        report.timers.clear();
        assert!(by_rule(&report).unwrap_err().to_string().contains("name one with --clock"));
    }
}
