//! Generates code, in several languages, that measures an operation as a plan specifies: with the
//! planned number of calls between two reads. The code for batches measures its own frame and subtracts
//! it; that for single calls subtracts the cost of a read.

use clap::ValueEnum;

use super::clock_row;
use super::clocks::RankedClock;
use super::language::{Language, SNIPPETS};
use super::plan::PlanMethod;
use crate::model::{Report, TimerRow, value_of};

/// Total duration of the runs with calls in nanoseconds: Java compiles a method after some ten
/// thousand calls, Python specialises code after some ten runs. *Judgement*.
const RUNS_NS: f64 = 2e8;
/// Largest number of runs with calls. *Judgement*: more make nothing warmer.
const MAX_RUNS: f64 = 1e5;
/// Largest number of calls in a row in Python. *Judgement*: the difference of a turn, up to 5 ns, is
/// then below a tenth of [`TURN_NS`](super::clock_figures::TURN_NS) a call.
const MAX_UNROLLED: u64 = 1000;

/// Generates code that measures with the picked clock of a report, in this language or else in the
/// first that has some. `None` if there is no code for this clock or plan.
pub fn first_snippet(
    report: &Report,
    picked: &RankedClock,
    language: Option<Language>,
) -> Option<String> {
    let row = clock_row(report, &picked.id)?;
    Language::value_variants().iter().find_map(|one| {
        let is_wanted = language.is_none_or(|wanted| wanted == *one);
        is_wanted.then(|| snippet(*one, picked, row))?
    })
}

/// Generates code that measures with the picked clock of this row. `None` if there is no code for this
/// clock or plan.
pub fn snippet(language: Language, picked: &RankedClock, row: &TimerRow) -> Option<String> {
    let plan = picked.figures.plan?;
    let calls = match plan.method {
        PlanMethod::Single | PlanMethod::Mean { .. } => 1,
        PlanMethod::Batch { calls } => calls,
        PlanMethod::EdgeCrossing { .. } => return None,
    };
    let id = match language.runtime() {
        Some(_) => picked.id.rsplit(':').next()?,
        None => &picked.id,
    };
    let mut snippets = SNIPPETS.iter().filter(|(own, ..)| *own == language);
    let (.., text) = snippets.find(|(_, clocks, _)| clocks.split(' ').any(|clock| clock == id))?;
    let text = lines_for(text, plan.method);
    let name = clock_name(&picked.label);
    if text.contains("CLOCK,") && name.is_none() {
        return None;
    }
    let turns = calls.div_ceil(MAX_UNROLLED);
    let unrolled = calls.div_ceil(turns);
    let is_python = language == Language::Python;
    let calls = if is_python { turns * unrolled } else { calls };
    let with_calls = (RUNS_NS / plan.campaign_ns).clamp(1.0, MAX_RUNS).ceil() as u64;
    let runs = if is_python {
        with_calls
    } else {
        2 * with_calls
    };
    let requests = match plan.method {
        PlanMethod::Mean { requests } => requests,
        _ => 1,
    };
    let tick = row
        .ns_per_tick
        .map_or_else(|| "NS_PER_TICK".to_owned(), |ns| format!("{ns:.10}"));
    let numbers = [
        ("UNROLLED", unrolled.to_string()),
        ("TURNS", turns.to_string()),
        ("CALLS", calls.to_string()),
        ("RUNS", runs.to_string()),
        (
            "MEAN",
            format!("the mean, good from {requests} requests on"),
        ),
        ("ONCE", "once; the rest for each request".to_owned()),
        ("LESS", "less the cost of a read".to_owned()),
        ("BOTH", "without and with the calls".to_owned()),
        ("NS_PER_TICK", tick),
        ("READ", format!("{:.1}", value_of(row.cost_ns)?)),
        ("CLOCK,", format!("{},", name.unwrap_or_default())),
    ];
    Some(replace_words(&text, &numbers))
}

/// The lines of a text for this method, without their marks.
fn lines_for<'a>(text: &'a str, method: PlanMethod) -> String {
    let (wanted, indent) = match method {
        PlanMethod::Single => (['+', '='], ["    ", "\t"]),
        PlanMethod::Mean { .. } => (['*', '='], ["    ", "\t"]),
        _ => (['-'; 2], [""; 2]),
    };
    let unmarked = |line: &'a str| match line.strip_prefix(['-', '+', '*', '=']) {
        Some(rest) => line.starts_with(wanted).then_some(rest),
        None => Some(
            indent
                .iter()
                .find_map(|indent| line.strip_prefix(indent))
                .unwrap_or(line),
        ),
    };
    text.lines()
        .filter_map(unmarked)
        .map(|line| line.to_owned() + "\n")
        .collect()
}

/// Replaces these words of a text.
pub(super) fn replace_words(text: &str, words: &[(&str, String)]) -> String {
    words.iter().fold(text.to_owned(), |text, (word, value)| {
        text.replace(word, value)
    })
}

/// The name of a clock in C in a label, as in `clock_gettime(CLOCK_MONOTONIC)`.
pub(super) fn clock_name(label: &str) -> Option<&str> {
    let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
    let mut words = label.split(|c: char| !is_letter(c));
    words.find(|word| word.starts_with("CLOCK_"))
}
