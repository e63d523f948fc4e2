//! Which requirements a clock does not meet, apart from precision.

use super::clock_facts::Facts;
use super::clock_facts::is_cpu_counter;
use super::need::{Counts, Need};
use super::requirement::Requirement;
use crate::model::{Counted, Outcome, TimerRow};

/// Which requirements the clock of this row does not meet, each in one line.
pub(super) fn unmet(row: &TimerRow, facts: &Facts, requirement: &Requirement) -> Vec<String> {
    let counts =
        (facts.counts != Some(requirement.counts)).then(|| counts_otherwise(row, facts, requirement.counts));
    let needs = requirement.needs.iter().filter_map(|&need| unmet_need(row, facts, need));
    let needless = requirement.settable
        || requirement.needs.contains(&Need::Monotonic)
        || facts.monotonic != Some(false);
    let steps = (!needless).then(|| format!("{} (--settable takes it anyway)", Need::Monotonic.unmet_need()));
    counts.into_iter().chain(needs).chain(steps).collect()
}

fn counts_otherwise(row: &TimerRow, facts: &Facts, wanted: Counts) -> String {
    let wanted = wanted.in_words();
    if let Some(counts) = facts.counts {
        return format!("it counts {}, not {wanted}", counts.in_words());
    }
    let counted =
        row.verdicts.as_ref().and_then(|verdicts| verdicts.counts.found.or(verdicts.counts.claimed));
    match counted {
        Some(counted @ (Counted::ThreadCycles | Counted::SomethingElse)) => {
            format!("it counts {}, not {wanted}", counted.in_words())
        }
        _ => "what it counts is not known, or is not time".into(),
    }
}

fn unmet_need(row: &TimerRow, facts: &Facts, need: Need) -> Option<String> {
    let counter = is_cpu_counter(row) && matches!(need, Need::Threads | Need::NoSlew);
    match (facts.meets(need), unsafe_between_threads(row)) {
        (Some(true), _) => None,
        (Some(false), Some(finding)) if need == Need::Threads => Some(finding),
        (Some(false), _) if counter => Some(
            "the TSC of this machine is not invariant: CPUs may disagree, and its rate may change".into(),
        ),
        (Some(false), _) => Some(need.unmet_need().to_owned()),
        (None, _) if counter => Some("whether the TSC of this machine is invariant is not known".into()),
        (None, _) => Some(format!("whether it meets `{}` is not known", need.word())),
    }
}

/// What was found against comparing its readings between threads.
pub(super) fn unsafe_between_threads(row: &TimerRow) -> Option<String> {
    let verdict = &row.verdicts.as_ref()?.thread_safe;
    (verdict.outcome == Outcome::Fail).then(|| crate::text::clipped(&verdict.finding, 160))
}
