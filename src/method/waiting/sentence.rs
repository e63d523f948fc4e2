//! The report of timers that wait in a sentence.

use crate::model::{Granularity, Lateness, Means, Report, USUAL_WAIT_NS, WaitRow};
use crate::text::clipped;
use crate::text::numbers::{short_time, time};

/// What computes at the end is worth it where it is late by no more than this share of what blocks.
const PUNCTUAL: f64 = 0.2;
/// Steps from here on are told in the first sentence, in nanoseconds.
const COARSE_NS: f64 = 5e5;
const LONGEST_ID: usize = 60;

/// What blocks and is least late, what is later by nothing and computes, and what rounds. `None` where it has none.
#[must_use]
pub fn in_a_sentence(report: &Report) -> Option<String> {
    let at: Vec<(&WaitRow, &Lateness)> = report
        .waits
        .iter()
        .filter_map(|row| {
            let lateness = &row.figures.as_ref()?.lateness;
            Some((row, Lateness::nearest(lateness.iter(), USUAL_WAIT_NS)?))
        })
        .collect();
    // Too early is as far off as too late.
    let late = |late: &Lateness| late.p50_ns.map_or(f64::INFINITY, |known| known.value.abs());
    let known = || at.iter().filter(|(_, lateness)| late(lateness).is_finite());
    let blocking =
        known().filter(|(row, _)| row.means == Means::Blocks).min_by(|a, b| late(a.1).total_cmp(&late(b.1)));
    // Of those that are late by next to nothing, the cheapest.
    let most = blocking.map_or(f64::INFINITY, |(_, lateness)| PUNCTUAL * late(lateness));
    // Older reports may hold less than nothing.
    let cpu = |late: &Lateness| late.cpu_ns.map_or(f64::INFINITY, |known| known.value.max(0.0));
    let punctual = known()
        .filter(|(row, lateness)| row.means != Means::Blocks && late(lateness) <= most)
        .min_by(|a, b| cpu(a.1).total_cmp(&cpu(b.1)));
    let told = |(row, lateness): &(&WaitRow, &Lateness)| {
        let cpu =
            lateness.cpu_ns.map_or_else(String::new, |_| format!(", {} of CPU", time(Some(cpu(lateness)))));
        let when = if lateness.p50_ns.is_some_and(|known| known.value < 0.0) { "early" } else { "late" };
        format!("{} ({} {when}{cpu})", clipped(&row.id, LONGEST_ID), time(Some(late(lateness))))
    };
    let length = short_time(at.first()?.1.request_ns as f64);
    let mut parts: Vec<String> = blocking.map(told).into_iter().collect();
    parts.extend(punctual.map(|other| format!("where it must not be late: {}", told(other))));
    if parts.is_empty() {
        return None;
    }
    let coarse = coarse(report);
    let beware = if coarse.is_empty() {
        String::new()
    } else {
        format!(". Caveat: coarse steps of {}", coarse.join(", "))
    };
    Some(format!("To wait {length} on this machine: {}{beware}.", parts.join("; ")))
}

/// Those whose waits go in coarse steps, each with the first of its steps; those of an id once.
fn coarse(report: &Report) -> Vec<String> {
    let rounding = report.waits.iter().filter_map(|row| {
        let steps = row.figures.as_ref()?.steps.first()?;
        let step = steps.known().filter_map(Granularity::step).find(|step| step.value >= COARSE_NS)?;
        Some((clipped(&row.id, LONGEST_ID), short_time(step.value)))
    });
    let mut coarse: Vec<String> = Vec::new();
    for (id, step) in rounding {
        let leads = format!("{id} (");
        if !coarse.iter().any(|told| told.starts_with(&leads)) {
            coarse.push(format!("{leads}{step})"));
        }
    }
    coarse
}
