//! Lists all facts about one row as names with values.

use super::Fact;
use super::sections::Detail;
use crate::fields::{Row, Visibility, fields_of};
use crate::model::{Distribution, Question, Verdicts};
use crate::text::numbers::{significant, time};

/// The facts about a row: all facts, or only the default columns and the trust questions that
/// failed.
#[must_use]
pub fn facts(row: Row, detail: Detail) -> Vec<Fact> {
    let in_full = detail == Detail::Full;
    // The answers follow below with their evidence.
    let is_answer = |key: &str| {
        let key = key.replace('_', " ");
        Question::ALL
            .iter()
            .any(|question| question.name().replace('-', " ") == key)
    };
    let fields = fields_of(row.kind()).filter(|field| {
        let is_wanted = match field.key {
            "timer" | "label" | "distribution_modes" | "findings" => false,
            "reason" | "remedy" => true,
            "runtime" => in_full || row.runtime() != "native",
            _ => {
                in_full
                    || field
                        .visibility
                        .is_some_and(|visibility| visibility < Visibility::Wide)
            }
        };
        is_wanted && !field.derived && !field.is_end() && !is_answer(field.key)
    });
    let fields: Vec<_> = fields.collect();
    let mut facts: Vec<Fact> = fields
        .iter()
        .filter_map(|field| Some((field.title(), field.format_value_with_interval(row)?)))
        .collect();
    for at_length in row
        .by_length()
        .into_iter()
        .filter(|row| row.lateness().is_some())
    {
        let of_length = fields
            .iter()
            .filter(|field| field.key != "request_ns" && field.format_value(row).is_none());
        let figures = of_length.filter_map(|field| Some((field, field.format_value(at_length)?)));
        let figures: Vec<String> = figures
            .map(|(field, text)| format!("{} {text}", field.title()))
            .collect();
        if !figures.is_empty() {
            let length = time(at_length.request_ns().map(|ns| ns as f64));
            facts.push(("waits of", format!("{length}: {}", figures.join(", "))));
        }
    }
    let Some(clock) = row.clock() else {
        return facts;
    };
    if let Some(costs) = clock.distribution.as_ref().filter(|_| in_full) {
        facts.push(("single costs", costs_in_words(costs)));
    }
    let verdicts = clock.verdicts.iter().filter(|_| in_full);
    facts.extend(verdicts.clone().flat_map(Verdicts::answers).map(|answer| {
        (
            answer.question.name(),
            format!("{} — {}", answer.outcome.name(), answer.evidence),
        )
    }));
    let evidence = verdicts.flat_map(|verdicts| evidence(verdicts, clock.place()));
    facts.extend(evidence.filter(|(_, parts)| !parts.is_empty()));
    facts
}

/// Evidence that needs more than one sentence.
fn evidence(verdicts: &Verdicts, place: &str) -> [Fact; 2] {
    let offsets = verdicts.thread_safe.offsets.iter().map(|offset| {
        let [ns, within] = [(offset.ns, 3), (offset.uncertainty_ns, 2)]
            .map(|(ns, digits)| significant(ns, digits));
        format!("{place} {}: {ns} ± {within} ns", offset.cpu)
    });
    let allan = verdicts.stable.allan.iter().map(|point| {
        format!(
            "{:.1e} at {}",
            point.deviation,
            time(Some(point.window_s * 1e9))
        )
    });
    let joined = |parts: Vec<String>| parts.join(" · ");
    [
        ("offsets", joined(offsets.collect())),
        ("Allan deviation", joined(allan.collect())),
    ]
}

/// Lists the first modes of the cost of single reads with their shares, and counts the other modes.
fn costs_in_words(distribution: &Distribution) -> String {
    /// The largest number of modes that are listed.
    const MAX_LISTED: usize = 6;
    let modes = &distribution.modes;
    if modes.is_empty() {
        return "the costs have no separate modes".to_owned();
    }
    let listed = modes.iter().take(MAX_LISTED).map(|mode| {
        format!(
            "{} ({} %)",
            time(Some(mode.ns)),
            significant(100.0 * mode.share, 2)
        )
    });
    let more = modes.len().saturating_sub(MAX_LISTED);
    let more = (more > 0).then(|| format!("{more} more"));
    listed.chain(more).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::costs_in_words;
    use crate::model::{Distribution, Mode};

    fn costs(modes: Vec<Mode>) -> String {
        costs_in_words(&Distribution {
            modes,
            within_ns: 0.1,
            between_ns: None,
            process_ns: Vec::new(),
            process_cycles: Vec::new(),
            tail_share: 0.0,
        })
    }

    #[test]
    fn costs_are_listed_with_shares() {
        let mode = |ns, share| Mode { ns, share };
        assert_eq!(
            costs(vec![mode(22.5, 0.81), mode(41.0, 0.181)]),
            "22.50 ns (81 %), 41.00 ns (18 %)"
        );
        assert!(costs(Vec::new()).starts_with("the costs have no separate modes"));
        let many = costs(vec![mode(1.0, 0.001); 1000]);
        assert!(many.ends_with(", 994 more") && many.len() < 200, "{many}");
    }
}
