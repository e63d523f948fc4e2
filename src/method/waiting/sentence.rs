//! The report of timers that wait in a sentence.

use super::exactness::{Waited, exactness};
use crate::model::{Granularity, Report, USUAL_WAIT_NS};
use crate::text::clipped;
use crate::text::numbers::{short_time, time};

/// Steps from here on are told in the first sentence, in nanoseconds.
const COARSE_NS: f64 = 5e5;
const LONGEST_ID: usize = 60;

/// What blocks and is least late, what is later by nothing and computes, and what rounds. `None` where it has none.
#[must_use]
pub fn in_a_sentence(report: &Report) -> Option<String> {
    let found = exactness(report, USUAL_WAIT_NS)?;
    let mut parts: Vec<String> = found.blocks.iter().map(told).collect();
    parts.extend(found.punctual.iter().map(|other| format!("where it must not be late: {}", told(other))));
    if parts.is_empty() {
        return None;
    }
    let coarse = coarse(report);
    let beware = if coarse.is_empty() {
        String::new()
    } else {
        format!(". Caveat: coarse steps of {}", coarse.join(", "))
    };
    let length = short_time(found.length_ns as f64);
    Some(format!("To wait {length} on this machine: {}{beware}.", parts.join("; ")))
}

fn told(waited: &Waited) -> String {
    let cpu = waited.cpu_ns.map_or_else(String::new, |cpu| format!(", {} of CPU", time(Some(cpu))));
    let when = if waited.p50_ns < 0.0 { "early" } else { "late" };
    format!("{} ({} {when}{cpu})", clipped(&waited.id, LONGEST_ID), time(Some(waited.p50_ns.abs())))
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
