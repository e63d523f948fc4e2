//! The clock to time operations with, and sentences about it.

use std::collections::BTreeSet;

use crate::choice::clock_figures::ClockFigures;
use crate::choice::waits::summarize_waits;
use crate::choice::{Requirement, choose, clock_row};
use estimators::model::{Nanos, Report, TimerRow, value_of};
use estimators::numbers::{range_ns, time};

/// Duration of the operation for which a clock is picked by default. It is so short that the cost
/// of a read matters.
pub const USUAL_DURATION: Nanos = Nanos(250.0);
/// Largest error for which a clock is picked by default, as a share.
pub const USUAL_ERROR: f64 = 0.01;
/// Largest ratio of two resolutions that count as equally fine.
/// *Judgement*.
const MAX_STEP_RATIO: f64 = 2.0;

/// The usual requirement for an operation of this duration, measured by code that `pick` prints.
pub(super) fn usual(duration_ns: f64) -> Requirement {
    Requirement {
        by_code: true,
        ..Requirement::new(Nanos(duration_ns), USUAL_ERROR)
    }
}

/// Adds the clocks to use to the assessment of a report whose rows have their trust: for an operation of
/// [`USUAL_DURATION`], one of the native clocks and one of each runtime.
pub(super) fn recommend(report: &mut Report) {
    let pick = |runtime: Option<&str>| {
        let requirement = Requirement {
            runtime: runtime.map(str::to_owned),
            ..usual(USUAL_DURATION.0)
        };
        Some(choose(report, &requirement).ok()?.picked?.id)
    };
    let measured = report.timers.iter().filter(|row| row.cost_ns.is_some());
    let runtimes: BTreeSet<&str> = measured.filter_map(TimerRow::agent).collect();
    let hosted = runtimes
        .into_iter()
        .filter_map(|runtime| pick(Some(runtime)));
    let (to_time, hosted) = (pick(None), hosted.collect());
    let cheapest = to_time.as_ref().and_then(|id| cheaper_than(id, report));
    let assessment = &mut report.assessment;
    (assessment.to_time, assessment.cheapest, assessment.hosted) = (to_time, cheapest, hosted);
}

/// The native clock with the cheapest read that is cheaper than that of the clock with this id. Clocks with
/// a coarser step do not compete: their reads are cheap because they only load the time of the last tick.
fn cheaper_than(id: &str, report: &Report) -> Option<String> {
    let figures = |row: &TimerRow| ClockFigures::from_row(row, &report.platform).ok();
    let clock = figures(clock_row(report, id)?)?;
    let is_cheaper = |other: &ClockFigures| {
        // The same counter would need the fence.
        (other.is_ordered() || !clock.is_cpu_counter())
            && other.unmet().is_empty()
            && other.step_ns <= MAX_STEP_RATIO * clock.step_ns
            && other.cost_ns < clock.cost_ns
    };
    let native = report.timers.iter().filter(|row| row.runtime == "native");
    let cheaper = native.filter_map(figures).filter(is_cheaper);
    let cheapest = cheaper.min_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns))?;
    Some(cheapest.id)
}

/// Sentences about the clocks of a report: which to use, which is faster and why it is not the first
/// choice, which to use in other runtimes, and which not to trust. The first of them is about the
/// recommended clock; none if no clock can be recommended.
pub fn sentences(report: &Report) -> Vec<String> {
    let assessment = &report.assessment;
    let row = |id: &String| clock_row(report, id);
    let mut sentences = Vec::new();
    let is_native = |row: &&TimerRow| row.runtime == "native" && row.cost_ns.is_some();
    // A report of a single clock offers no choice.
    let is_choice = report.timers.iter().filter(is_native).count() > 1;
    if let Some(clock) = assessment
        .to_time
        .as_ref()
        .and_then(row)
        .filter(|_| is_choice)
    {
        sentences.push(format!("To time things, use {}.", in_words(clock)));
        let cheapest = assessment.cheapest.as_ref().and_then(row);
        sentences.extend(cheapest.map(|row| faster_in_words(row, report, " is faster") + "."));
    }
    for clock in assessment.hosted.iter().filter_map(row) {
        let runtime = clock.agent().unwrap_or_default();
        sentences.push(format!("In {runtime}, use {}.", in_words(clock)));
    }
    let wrong = report.timers.iter().filter_map(|row| {
        let defect = row.trust.as_ref()?.defect?;
        Some(format!("{} ({})", row.id, defect.in_short()))
    });
    let wrong: Vec<String> = wrong.collect();
    if !wrong.is_empty() {
        sentences.push(format!("Do not trust {}.", wrong.join(", ")));
    }
    if report.timers.is_empty() {
        sentences.extend(summarize_waits(report));
    }
    sentences
}

/// A clock that is faster than the recommended one, as these words say, and what speaks against it.
pub(super) fn faster_in_words(row: &TimerRow, report: &Report, words: &str) -> String {
    let cost = time(value_of(row.cost_ns));
    let figures = ClockFigures::from_row(row, &report.platform);
    let fence = match figures.is_ok_and(|clock| clock.is_ordered()) {
        true => "",
        false => ", but the CPU may reorder it: put a fence (lfence on x86) before each read",
    };
    format!("{}{words} ({cost} a read){fence}", row.id)
}

/// The id of a clock with its resolution and costs.
fn in_words(row: &TimerRow) -> String {
    let adds = row.adds_range_ns();
    let adds = adds.map(|range| format!(", adds {} to code around it", range_ns(range)));
    format!(
        "{} ({}{})",
        row.id,
        figures_in_words(row),
        adds.unwrap_or_default()
    )
}

/// The resolution of a clock, or its upper bound, and the cost of a read.
pub fn figures_in_words(row: &TimerRow) -> String {
    let bound = if row.resolution_ns.is_some() {
        ""
    } else {
        " at most"
    };
    let [step, cost] = [row.step_or_limit_ns(), row.cost_ns].map(|it| time(value_of(it)));
    format!("{step}{bound} steps, {cost} a read")
}
