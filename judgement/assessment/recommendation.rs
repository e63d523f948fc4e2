//! The clock to time operations with, and sentences about it.

use crate::choice::clock_figures::ClockFigures;
use crate::choice::waits::summarize_waits;
use crate::choice::{ChoiceError, ClockChoice, Requirement, choose, clock_row};
use crate::model::{Answer, Nanos, Report, TimerRow, value_of};
use crate::numbers::{range_ns, time};

/// Duration of the operation for which a clock is picked by default. It is so short that the cost
/// of a read matters.
pub const USUAL_DURATION: Nanos = Nanos(250.0);
/// Largest error for which a clock is picked by default, as a share.
pub const USUAL_ERROR: f64 = 0.01;
/// Largest ratio of two resolutions that count as equally fine.
/// *Judgement*.
const MAX_STEP_RATIO: f64 = 2.0;

/// Picks a clock for an operation of [`USUAL_DURATION`], among the native clocks if `runtime` is
/// `None`, otherwise among those of the runtime.
///
/// # Errors
/// When the report has no such clocks.
pub(super) fn choose_usual(
    report: &Report,
    runtime: Option<&str>,
) -> Result<ClockChoice, ChoiceError> {
    let usual = Requirement::new(USUAL_DURATION, USUAL_ERROR)?;
    let runtime = runtime.map(str::to_owned);
    choose(report, &Requirement { runtime, ..usual })
}

/// Adds the clocks to use to the assessment of a report whose rows have their trust.
pub(super) fn recommend(report: &mut Report) {
    let pick = |runtime: Option<&str>| Some(choose_usual(report, runtime).ok()?.picked?.id);
    let to_time = pick(None);
    let measured = report.timers.iter().filter(|row| row.cost_ns.is_some());
    let mut runtimes: Vec<&str> = measured.filter_map(TimerRow::agent).collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    let hosted = runtimes
        .into_iter()
        .filter_map(|runtime| pick(Some(runtime)))
        .collect();
    let figures = |row: &TimerRow| ClockFigures::from_row(row, &report.platform).ok();
    let row = to_time.as_ref().and_then(|id| clock_row(report, id));
    let clock = row.and_then(figures);
    let by_counter = clock.as_ref().is_some_and(ClockFigures::is_cpu_counter);
    // Clocks with a coarser step do not compete: their reads are cheap because they only load the
    // time of the last tick.
    let is_cheaper = |other: &ClockFigures| {
        // The same counter, which would need the fence.
        (other.is_ordered() || !by_counter)
            && other.unmet().is_empty()
            && clock.as_ref().is_none_or(|clock| {
                other.step_ns <= MAX_STEP_RATIO * clock.step_ns && other.cost_ns < clock.cost_ns
            })
    };
    let native = report.timers.iter().filter(|row| row.runtime == "native");
    let cheapest = native
        .filter_map(figures)
        .filter(is_cheaper)
        .min_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns))
        .map(|clock| clock.id);
    let assessment = &mut report.assessment;
    (assessment.to_time, assessment.cheapest, assessment.hosted) = (to_time, cheapest, hosted);
}

/// Sentences about the clocks of a report: which to use, which is faster and why it is not the first
/// choice, which to use in other runtimes, and which not to trust. The first of them is about the
/// recommended clock; none if no clock can be recommended.
pub fn sentences(report: &Report) -> Vec<String> {
    let assessment = &report.assessment;
    let row = |id: &String| clock_row(report, id);
    let mut sentences = Vec::new();
    // A report of a single clock offers no choice.
    let native = report
        .timers
        .iter()
        .filter(|row| row.runtime == "native" && row.cost_ns.is_some());
    if let Some(clock) = assessment
        .to_time
        .as_ref()
        .and_then(row)
        .filter(|_| native.count() > 1)
    {
        sentences.push(format!("To time things, use {}.", in_words(clock)));
        if let Some(cheapest) = assessment.cheapest.as_ref().and_then(row) {
            sentences.push(faster_in_words(cheapest, report, " is faster") + ".");
        }
    }
    for clock in assessment.hosted.iter().filter_map(row) {
        let runtime = clock.agent().unwrap_or_default();
        sentences.push(format!("In {runtime}, use {}.", in_words(clock)));
    }
    let wrong: Vec<String> = report
        .timers
        .iter()
        .filter_map(|row| {
            let trust = row
                .trust
                .as_ref()
                .filter(|trust| trust.answer == Answer::No)?;
            Some(format!("{} ({})", row.id, trust.defect?.in_short()))
        })
        .collect();
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
    let adds = adds.map_or_else(String::new, |range| {
        format!(", adds {} to code around it", range_ns(range))
    });
    format!(
        "{} ({} steps, {} a read{adds})",
        row.id,
        time(value_of(row.step_or_limit_ns())),
        time(value_of(row.cost_ns))
    )
}
