//! The clock that is taken for durations where none is named, and what a report comes down to in a
//! sentence.

use super::choice::choose;
use super::{ClockFigures, Counts, Requirement};
use crate::model::{Hertz, Nanos, Report};
use crate::quality::quality;
use crate::text::clipped;
use crate::text::numbers::{range_ns, time};

const LONGEST_ID: usize = 60;

/// What a clock is picked for where nothing else is asked for: an operation short enough that what
/// a read costs matters.
pub const OPERATION: Nanos = Nanos(250.0);
/// The error that may be made of it, and how sure it has to be kept.
pub(super) const ERROR: f64 = 0.01;
pub(super) const CONFIDENCE: f64 = 0.95;

/// No clock of a report may be taken without being asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no clock of the report is taken by itself{best}: that has to count wall time, to be one that cannot be set, to have a step \
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
    let best = clocks
        .first()
        .and_then(|clock| Some((clock, unfit(clock)?)));
    let best = best.map_or_else(String::new, |(clock, why)| {
        format!(" ({}, the best of it, {why})", clock.id)
    });
    Err(NoneByRule { best })
}

/// The native clocks of a report that durations can be measured with, the highest Quality first.
pub(super) fn best_first(report: &Report) -> Vec<ClockFigures> {
    let native = report.timers.iter().filter(|row| row.runtime == "native");
    let clocks: Vec<ClockFigures> = native
        .filter_map(|row| ClockFigures::from_row(row, &report.platform).ok())
        .collect();
    let in_cycles = clocks
        .iter()
        .any(|clock| clock.quality.is_some_and(|quality| quality > 0.0));
    let ranked = |clock: ClockFigures| Some((rank(&clock, in_cycles)?, clock));
    let mut ranked: Vec<(f64, ClockFigures)> = clocks.into_iter().filter_map(ranked).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.into_iter().map(|(_, clock)| clock).collect()
}

/// What a clock is ranked by: its Quality, and where no cycles are known what that would be at a
/// gigahertz. The order is nearly the same at any frequency, as only what takes less than a cycle
/// counts for one.
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

/// The report in a sentence: the clock to time things with, which is the one that `pick` picks for
/// a short operation, why that is not the one of rank 1, which it is in the runtime where clocks of
/// one were probed too, and which are not to be trusted. `None` where it has no such clock.
#[must_use]
pub fn in_a_sentence(report: &Report) -> Option<String> {
    let (native, hosted) = (of_native_clocks(report), of_a_runtime(report));
    let mut text = match (native, hosted) {
        (Some(native), Some((runtime, clock))) => format!("{native} In {runtime}: {clock}."),
        (Some(native), None) => native,
        (None, Some((runtime, clock))) => format!("To time things in {runtime}: {clock}."),
        (None, None) => return None,
    };
    let distrusted = report.timers.iter().filter(|row| {
        row.verdicts
            .as_ref()
            .is_some_and(|verdicts| verdicts.in_short() == "no")
    });
    let distrusted: Vec<String> = distrusted.map(|row| clipped(&row.id, LONGEST_ID)).collect();
    if !distrusted.is_empty() {
        text += &format!(" Not to be trusted: {}.", distrusted.join(", "));
    }
    Some(text)
}

/// Of the only runtime besides our own whose clocks were measured: its name, and the clock to time
/// things with.
fn of_a_runtime(report: &Report) -> Option<(String, String)> {
    let measured = report.timers.iter().filter(|row| row.cost.is_some());
    let mut runtimes: Vec<&str> = measured.filter_map(|row| row.agent()).collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    let [runtime] = runtimes.as_slice() else {
        return None;
    };
    let usual = Requirement::new(OPERATION, ERROR, CONFIDENCE).ok()?;
    let wanted = Requirement {
        runtime: Some((*runtime).to_owned()),
        ..usual
    };
    let picked = choose(report, &wanted).ok()?.picked?.id;
    let text = format!(
        "{} ({})",
        clipped(&picked, LONGEST_ID),
        figures(report, &picked)?
    );
    Some((clipped(runtime, LONGEST_ID), text))
}

fn of_native_clocks(report: &Report) -> Option<String> {
    let clocks = best_first(report);
    // Of a single clock there is nothing to choose.
    let picked = picked(report).filter(|_| clocks.len() > 1)?;
    let chosen = clocks.iter().find(|clock| clock.id == picked)?;
    let mut text = format!(
        "To time things: {} ({})",
        clipped(&chosen.id, LONGEST_ID),
        figures(report, &chosen.id)?
    );
    let first = clocks
        .first()
        .filter(|first| first.id != chosen.id && first.quality > chosen.quality);
    text += &first.map_or_else(String::new, |first| against(first, chosen));
    text.push('.');
    Some(text)
}

/// The clock that is picked where nothing is asked for but a short operation.
pub(super) fn picked(report: &Report) -> Option<String> {
    let usual = Requirement::new(OPERATION, ERROR, CONFIDENCE).ok()?;
    Some(choose(report, &usual).ok()?.picked?.id)
}

fn figures(report: &Report, id: &str) -> Option<String> {
    let row = report.timers.iter().find(|row| row.id == id)?;
    let step = time(crate::model::value_of(row.resolution_ns));
    let cost = time(crate::model::value_of(row.cost_ns));
    let adds = row.cost.as_ref().and_then(|cost| cost.adds?.range());
    let adds = adds.map_or_else(String::new, |range| {
        format!(", adds {} to code around it", range_ns(range))
    });
    Some(format!("{step} steps, {cost} a read{adds}"))
}

/// Why the clock of the highest Quality is not the one to take.
fn against(first: &ClockFigures, chosen: &ClockFigures) -> String {
    let cheaper = chosen.cost_ns - first.cost_ns;
    let size = time(Some(cheaper.abs()));
    let by = if cheaper > 0.0 {
        format!("{size} cheaper")
    } else {
        format!("{size} more expensive")
    };
    let why = unfit(first).unwrap_or(if chosen.is_portable() && !first.is_portable() {
        "is not on every platform"
    } else {
        "is read no sooner where it counts"
    });
    format!(
        "; rank 1 {}: {by}, but {why}",
        clipped(&first.id, LONGEST_ID)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_in_a_sentence() {
        let text = include_str!("../../tests/data/xeon-2026-11-21.json");
        let mut report: Report = serde_json::from_str(text).unwrap();
        let sentence = in_a_sentence(&report).unwrap();
        let (best, picked) = (by_rule(&report).unwrap(), picked(&report).unwrap());
        assert!(
            sentence.starts_with(&format!("To time things: {picked} (")),
            "{sentence}"
        );
        assert!(sentence.contains("; rank 1 "), "{sentence}");
        // Without cycles there is no Quality, and the same clock.
        report
            .timers
            .iter_mut()
            .for_each(|row| row.quality = row.quality.filter(|quality| quality.value == 0.0));
        assert_eq!(by_rule(&report).unwrap().id, best.id);
        // Those of one runtime have their sentence too.
        let mut hosted = report.clone();
        hosted
            .timers
            .retain(|row| row.id == best.id || row.id == picked);
        hosted.timers.iter_mut().for_each(|row| {
            row.id = format!("python:{}", row.id);
            row.runtime = "CPython 3.12".into();
        });
        let sentence = in_a_sentence(&hosted).unwrap();
        assert!(
            sentence.starts_with("To time things in python: python:"),
            "{sentence}"
        );
        report.timers.retain(|row| row.id == best.id);
        assert_eq!(in_a_sentence(&report), None, "nothing to choose");
        report.timers.clear();
        assert!(
            by_rule(&report)
                .unwrap_err()
                .to_string()
                .contains("name one with --clock")
        );
    }
}
