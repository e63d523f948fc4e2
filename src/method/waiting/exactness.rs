//! How exactly one can wait so long: by what blocks and is least late, and by what is late by next
//! to nothing and computes for it.
//!
//! The report of timers that wait in a sentence.

use serde::Serialize;

use crate::model::{Granularity, Lateness, Means, Report, USUAL_WAIT_NS, WaitRow};
use crate::text::clipped;
use crate::text::numbers::{short_time, time};

/// The schema of the document that [`Exactness`] is written as.
pub const SCHEMA: &str = "timermeter.exactness.v1";

/// What computes at the end is worth it where it is late by no more than this share of what blocks.
/// *Judgement*.
const PUNCTUAL: f64 = 0.2;

/// How exactly one can wait so long.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exactness {
    /// The schema of this document.
    pub schema: &'static str,
    /// How long was waited, in nanoseconds.
    pub length_ns: u64,
    /// Of those that leave the CPU to others, the one whose median lateness is least; null where
    /// there is none.
    pub blocks: Option<ExactWait>,
    /// Of those that compute at the end and are late by next to nothing, the one that takes the
    /// least CPU time; null where there is none.
    pub punctual: Option<ExactWait>,
    /// The others, the least late first.
    pub others: Vec<ExactWait>,
}

/// A timer that waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExactWait {
    /// Its id.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// The timer slack it waited with, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The policy of its thread.
    pub policy: String,
    /// Median lateness in nanoseconds; negative where it is early.
    pub p50_ns: f64,
    /// 90th percentile, in nanoseconds; null where there were too few waits.
    pub p90_ns: Option<f64>,
    /// 99th percentile, in nanoseconds; null where there were too few waits.
    pub p99_ns: Option<f64>,
    /// The latest, in nanoseconds.
    pub max_ns: f64,
    /// Waits that tell it.
    pub waits: u64,
    /// CPU time a wait, in nanoseconds; null where it is unknown.
    pub cpu_ns: Option<f64>,
    #[serde(skip)]
    means: Means,
}

/// How exactly one can wait, at the length of the report that is nearest to this many nanoseconds.
/// `None` where nothing waited.
#[must_use]
pub fn exactness(report: &Report, length_ns: f64) -> Option<Exactness> {
    let figures = report.waits.iter().filter_map(|row| row.figures.as_ref());
    let nearest =
        Lateness::nearest(figures.flat_map(|figures| &figures.lateness), length_ns)?.request_ns;
    let mut others: Vec<ExactWait> = report
        .waits
        .iter()
        .filter_map(|row| ExactWait::at(row, nearest))
        .collect();
    // Too early is as far off as too late.
    let off = |waited: &ExactWait| waited.p50_ns.abs();
    others.sort_by(|a, b| off(a).total_cmp(&off(b)));
    let blocks = others
        .iter()
        .position(|waited| waited.means == Means::Blocks);
    let blocks = blocks.map(|at| others.remove(at));
    let most = blocks
        .as_ref()
        .map_or(f64::INFINITY, |waited| PUNCTUAL * off(waited));
    let cpu = |waited: &ExactWait| waited.cpu_ns.unwrap_or(f64::INFINITY);
    let able = others.iter().enumerate();
    let able = able.filter(|(_, waited)| waited.means != Means::Blocks && off(waited) <= most);
    let punctual = able
        .min_by(|a, b| cpu(a.1).total_cmp(&cpu(b.1)))
        .map(|(at, _)| at);
    let punctual = punctual.map(|at| others.remove(at));
    Some(Exactness {
        schema: SCHEMA,
        length_ns: nearest,
        blocks,
        punctual,
        others,
    })
}

impl ExactWait {
    /// What is known of its waits of that length; `None` where no median is.
    fn at(row: &WaitRow, length_ns: u64) -> Option<Self> {
        let late = row
            .figures
            .as_ref()?
            .by_length()
            .find(|late| late.request_ns == length_ns)?;
        Some(Self {
            id: row.id.clone(),
            label: row.label.clone(),
            slack_ns: row.conditions.slack_ns,
            policy: row.conditions.policy.clone(),
            p50_ns: late
                .p50_ns
                .map(|known| known.value)
                .filter(|median| median.is_finite())?,
            p90_ns: late.p90_ns.map(|known| known.value),
            p99_ns: late.p99_ns.map(|known| known.value),
            max_ns: late.max_ns,
            waits: late.waits,
            cpu_ns: late.cpu_ns.map(|known| known.value),
            means: row.means,
        })
    }
}

/// Steps from here on are reported in the first sentence, in nanoseconds.
const COARSE_NS: f64 = 5e5;
const LONGEST_ID: usize = 60;

/// What blocks and is least late, what is later by nothing and computes, and what rounds. `None`
/// where it has none.
#[must_use]
pub fn in_a_sentence(report: &Report) -> Option<String> {
    let found = exactness(report, USUAL_WAIT_NS)?;
    let mut parts: Vec<String> = found.blocks.iter().map(in_words).collect();
    parts.extend(
        found
            .punctual
            .iter()
            .map(|other| format!("where it must not be late: {}", in_words(other))),
    );
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
    Some(format!(
        "To wait {length} on this machine: {}{beware}.",
        parts.join("; ")
    ))
}

fn in_words(waited: &ExactWait) -> String {
    let cpu = waited
        .cpu_ns
        .map_or_else(String::new, |cpu| format!(", {} of CPU", time(Some(cpu))));
    let when = if waited.p50_ns < 0.0 { "early" } else { "late" };
    format!(
        "{} ({} {when}{cpu})",
        clipped(&waited.id, LONGEST_ID),
        time(Some(waited.p50_ns.abs()))
    )
}

/// Those whose waits go in coarse steps, each with the first of its steps; those of an id once.
fn coarse(report: &Report) -> Vec<String> {
    let rounding = report.waits.iter().filter_map(|row| {
        let steps = row.figures.as_ref()?.steps.first()?;
        let step = steps
            .known()
            .filter_map(Granularity::step)
            .find(|step| step.value >= COARSE_NS)?;
        Some((clipped(&row.id, LONGEST_ID), short_time(step.value)))
    });
    let mut coarse: Vec<String> = Vec::new();
    for (id, step) in rounding {
        let leads = format!("{id} (");
        if !coarse.iter().any(|line| line.starts_with(&leads)) {
            coarse.push(format!("{leads}{step})"));
        }
    }
    coarse
}
