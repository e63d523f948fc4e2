//! What changed, as a document.

use indexmap::IndexMap;
use serde::Serialize;

use super::rows::{answers, figures, how, one_sided, platform_change, shown, summary};
use super::{Comparison, Verdict, sentences};
use crate::document::Document;

/// The comparison: the sentences that say what changed, above them another clock source or another
/// CPU, in whose light all else has to be read. `all` shows what is no more than noise as well;
/// programs get `data`.
pub fn document<T: Serialize>(comparison: &Comparison, all: bool, data: T) -> Document<'_, T> {
    let mut document = Document::new(data);
    let mut quiet = Vec::new();
    for change in &comparison.platform {
        if !change.is_loud() {
            quiet.push((change.what, platform_change(change)));
            continue;
        }
        let is_better = change.is_of_clock_source() && !change.is_fallen_clock_source();
        let codes = if is_better { "1" } else { "31;1" };
        document = document.painted(codes, change.to_string());
    }
    for sentence in sentences(comparison) {
        document = document.painted("1", sentence);
    }
    if comparison.platform.is_empty() {
        document = document.paragraph("same platform and settings");
    }
    document = document.facts(quiet).paragraph(summary(comparison));
    for how in how(comparison) {
        document = document.paragraph(how);
    }
    let rows = shown(comparison, all);
    if !rows.is_empty() {
        let codes = rows.iter().map(|row| codes(row.verdict)).collect();
        document = document.painted_table(figures(&rows), codes);
    }
    if !comparison.answers.is_empty() {
        let codes = comparison.answers.iter();
        let codes = codes.map(|answer| self::codes(answer.verdict)).collect();
        document = document
            .heading("trust")
            .painted_table(answers(comparison), codes);
    }
    let one_sided = one_sided(comparison).into_iter().map(|(name, timers)| {
        let timers = if all { timers } else { by_host(&timers) };
        (name, timers.join(", "))
    });
    document.facts(one_sided)
}

/// Names of which several begin with the same host as one: `java:* (7)`.
fn by_host(timers: &[String]) -> Vec<String> {
    let mut hosts: IndexMap<&str, Vec<&String>> = IndexMap::new();
    for name in timers {
        let host = name.split_once(':').map_or(name.as_str(), |(host, _)| host);
        hosts.entry(host).or_default().push(name);
    }
    let names = hosts
        .into_iter()
        .map(|(host, names)| match names.as_slice() {
            [only] => (*only).clone(),
            several => format!("{host}:* ({})", several.len()),
        });
    names.collect()
}

/// How a verdict is painted.
fn codes(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "31",
        Verdict::Better => "32",
        Verdict::Noise | Verdict::Unjudged => "",
    }
}
