//! Lists all facts about one row as names with values.

use super::Fact;
use super::sections::Detail;
use crate::fields::{Row, Visibility, fields_of};
use crate::model::{Core, Distribution, Outcome, Question, TimerRow, Verdicts};
use crate::statistics::median;
use crate::text::numbers::{significant, time};

/// The facts about a row: all facts, or only the default columns and the trust questions that
/// failed.
#[must_use]
pub fn facts(row: Row, detail: Detail) -> Vec<Fact> {
    let in_full = detail == Detail::Full;
    let fields = fields_of(row.kind()).filter(|field| {
        let is_wanted = match field.key {
            "timer" | "label" | "distribution_modes" | "findings" => false,
            // Their evidence follows below.
            "monotonic" | "thread_safe" | "stable" | "counts" | "declared" | "read_path" => false,
            "reason" | "remedy" | "cost_p90_ns" | "cost_p99_ns" | "cost_longest_ns" => true,
            "runtime" => in_full || row.runtime() != "native",
            _ => in_full || field.visibility.is_some_and(|it| it <= Visibility::Wide),
        };
        is_wanted && !field.derived
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
    let trust = clock.trust.as_ref();
    let caution = trust.and_then(|trust| trust.caution);
    facts.extend(caution.map(|why| ("caution", why.in_words().to_owned())));
    let part = trust.and_then(|trust| trust.part.clone());
    facts.extend(part.map(|part| ("because of", part)));
    facts.extend(disturbances(clock).map(|why| ("disturbed", why)));
    if let Some(costs) = clock.distribution.as_ref().filter(|_| in_full) {
        facts.push(("single costs", costs_in_words(costs)));
    }
    let verdicts = clock.verdicts.iter().filter(|_| in_full);
    facts.extend(verdicts.clone().flat_map(|verdicts| {
        verdicts.answers().map(|answer| {
            let matters = answer.question.disqualifies() || answer.question == Question::Counts;
            let text = match answer.outcome {
                Outcome::Fail if !matters => format!("{} (trust is not affected)", answer.evidence),
                outcome => format!("{} — {}", outcome.name(), answer.evidence),
            };
            (answer.question.name(), text)
        })
    }));
    let evidence = verdicts.map(|verdicts| evidence(verdicts, clock.place()));
    facts.extend(evidence.filter(|(_, parts)| !parts.is_empty()));
    facts
}

/// What disturbed the processes that measured a clock, and the tail of the others; `None` if nothing
/// did.
fn disturbances(row: &TimerRow) -> Option<String> {
    let of = |core| row.processes.iter().filter(move |one| one.core == core);
    let (shared, all) = (of(Core::Shared).count(), row.processes.len());
    let shared = (shared > 0)
        .then(|| format!("{shared} of {all} processes shared their core or changed its frequency"));
    let dropped = row.observations.as_ref()?.dropped_windows.iter();
    let dropped = dropped.map(|(reason, count)| format!("{count} × {}", reason.replace('-', " ")));
    let dropped: Vec<String> = dropped.collect();
    let again =
        (!dropped.is_empty()).then(|| format!("parts measured again: {}", dropped.join(", ")));
    let why: Vec<String> = shared.into_iter().chain(again).collect();
    let p99 = median(of(Core::Alone).filter_map(|one| one.p99_ns));
    let p99 = p99.map(|ns| format!("undisturbed p99 {}", time(Some(ns))));
    (!why.is_empty()).then(|| why.into_iter().chain(p99).collect::<Vec<_>>().join("; "))
}

/// Evidence that needs more than one sentence.
fn evidence(verdicts: &Verdicts, place: &str) -> Fact {
    let offsets = verdicts.thread_safe.offsets.iter().map(|offset| {
        let [ns, within] = [(offset.ns, 3), (offset.uncertainty_ns, 2)]
            .map(|(ns, digits)| significant(ns, digits));
        format!("{place} {}: {ns} ± {within} ns", offset.cpu)
    });
    ("offsets", offsets.collect::<Vec<_>>().join(" · "))
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
    use super::{costs_in_words, disturbances};
    use crate::model::{Core, Distribution, Mode, ProcessFigures, TimerRow};

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
    fn disturbances_are_counted() {
        let process = |core, p99_ns| ProcessFigures {
            core,
            p99_ns: Some(p99_ns),
            ..ProcessFigures::default()
        };
        let mut row: TimerRow = serde_json::from_value(serde_json::json!({
            "id": "a", "label": "a()", "runtime": "native", "status": "ok", "legend": "a",
            "observations": {"processes": 3, "disturbed_processes": 1, "intervals": 0, "batched_calls": 0,
                             "single_calls": 0, "backward_steps": 0}
        })).expect("a row");
        row.processes = vec![process(Core::Alone, 32.0), process(Core::Alone, 32.0)];
        assert_eq!(disturbances(&row), None);
        row.processes.push(process(Core::Shared, 90.0));
        let text = disturbances(&row).expect("one is disturbed");
        assert!(
            text.starts_with("1 of 3 processes shared") && text.ends_with("p99 32.00 ns"),
            "{text}"
        );
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
