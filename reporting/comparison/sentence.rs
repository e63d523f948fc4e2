//! Summarises a comparison in one sentence for clocks and one for waits: whether reads or waits
//! became slower, and what else changed.

use super::Quantity;
use super::{Compared, Comparison, Verdict};
use crate::statistics::{quantile, sorted};
use crate::text::counted;
use crate::text::numbers::significant;

/// The largest number of timers that a sentence lists with their changes.
const MOST_LISTED: usize = 3;

/// The subject of a sentence, the quantities that decide it, and the words for an increase and a
/// decrease.
type Subject = (&'static str, &'static [Quantity], [&'static str; 2]);

const CLOCKS: Subject = ("Clock reads", &[Quantity::COST], ["slower", "faster"]);
const WAITS: Subject = (
    "Waits",
    &[Quantity::LATENESS, Quantity::FLOOR],
    ["later", "earlier"],
);

/// The sentence for clocks and the sentence for all other timers; a kind without values has no
/// sentence.
pub(super) fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut sentences = Vec::new();
    for (of_clocks, subject) in [(true, CLOCKS), (false, WAITS)] {
        let figures = comparison.figures.iter();
        let own = figures.filter(|compared| compared.quantity.is_of_clocks() == of_clocks);
        let own: Vec<&Compared> = own.collect();
        if !own.is_empty() {
            sentences.push(sentence(subject, &own));
        }
    }
    if sentences.is_empty() {
        sentences.push("Clock reads: unknown, because no figure is on both sides".to_owned());
    }
    let failed = comparison.answers.iter();
    let failed = failed
        .filter(|answer| answer.verdict == Verdict::Worse)
        .map(|answer| format!("{} {}", answer.timer, answer.question.name()));
    let lost = comparison.lost().map(|lost| lost.timer.clone());
    let events = list("lost", lost.collect()) + &list("newly failed", failed.collect());
    sentences
        .last_mut()
        .into_iter()
        .for_each(|last| *last += &events);
    sentences
}

fn sentence((name, main, [more, less]): Subject, figures: &[&Compared]) -> String {
    let is_main = |compared: &&Compared| main.contains(&compared.quantity);
    let (main, others): (Vec<&Compared>, Vec<&Compared>) = figures.iter().partition(|c| is_main(c));
    let mut text = String::new();
    for (verdict, how) in [(Verdict::Worse, more), (Verdict::Better, less)] {
        let mut changed = with_verdict(&main, verdict);
        changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
        text += &list(how, changed.into_iter().map(by_how_much).collect());
    }
    if text.is_empty() {
        text = unchanged_summary(&main);
    }
    for (verdict, how) in [(Verdict::Worse, "worse"), (Verdict::Better, "better")] {
        let others = with_verdict(&others, verdict).into_iter();
        let name = |other: &Compared| format!("{} of {}", other.quantity.name(), other.timer);
        text += &list(how, others.map(name).collect());
    }
    format!("{name}: {}", text.trim_start_matches("; "))
}

fn with_verdict<'a>(figures: &[&'a Compared], verdict: Verdict) -> Vec<&'a Compared> {
    let figures = figures.iter().copied();
    figures
        .filter(|compared| compared.verdict == verdict)
        .collect()
}

/// Formats a list of names after a heading, as in `; lost: c, gone and 2 more`.
fn list(what: &str, names: Vec<String>) -> String {
    let first = names[..names.len().min(MOST_LISTED)].join(", ");
    match names.len() {
        0 => String::new(),
        1..=MOST_LISTED => format!("; {what}: {first}"),
        all => format!("; {what}: {first} and {} more", all - MOST_LISTED),
    }
}

/// States that nothing changed, and how large a change would have been detected.
fn unchanged_summary(main: &[&Compared]) -> String {
    let judged = with_verdict(main, Verdict::Noise);
    if judged.is_empty() {
        return if main.iter().any(|compared| compared.single_process) {
            "unknown, because a report used a single process".to_owned()
        } else {
            "unknown, because no figure has an interval on both sides".to_owned()
        };
    }
    let relative = judged
        .iter()
        .filter(|compared| compared.change.percent.is_some());
    let detectable: Vec<f64> = relative
        .filter_map(|compared| compared.detectable)
        .collect();
    let detectable = quantile(&sorted(&detectable), 0.5).map_or_else(String::new, |half| {
        format!("; median detectable change {}", percent(half))
    });
    let unknown = match main.len() - judged.len() {
        0 => String::new(),
        unknown => format!("; {unknown} are unknown"),
    };
    let judged = counted(judged.len(), "figure");
    format!("unchanged ({judged}{detectable}{unknown})")
}

/// The size of the change regardless of its direction, by which changes are sorted.
fn size(compared: &Compared) -> f64 {
    let percent = compared.change.percent;
    percent.map_or(f64::INFINITY, |by| (by.value / 100.0).ln_1p().abs())
}

/// Formats a change, as in `thread-cputime by 8 % [6, 10]`.
fn by_how_much(compared: &Compared) -> String {
    let timer = &compared.timer;
    let Some(by) = compared.change.percent else {
        let ns = compared.change.difference.value.abs();
        return format!("{timer} by {} ns", significant(ns, 2));
    };
    let interval = by.ends().map(|(low, high)| {
        let (low, high) = if by.value < 0.0 {
            (-high, -low)
        } else {
            (low, high)
        };
        format!(" [{}, {}]", significant(low, 2), significant(high, 2))
    });
    let interval = interval.unwrap_or_default();
    format!("{timer} by {}{interval}", percent(by.value.abs()))
}

/// Formats a percentage; above 200 % it is written as a factor.
fn percent(percent: f64) -> String {
    if percent > 200.0 {
        return format!("a factor of {}", significant(1.0 + percent / 100.0, 2));
    }
    format!("{} %", significant(percent, 2))
}
