//! May a program read the counter of the processor by itself, past the kernel? A pure judgement of what was observed and of what the
//! machine says.

mod evidence;
mod machine;
mod moved;
pub mod recipes;
mod snippet;
mod told;

use serde::Serialize;

use crate::analysis::counter::CounterFindings;
use crate::model::{CounterFacts, Platform, TimerRow};
use crate::suitability::{Finding, Severity};

pub use recipes::{Outcome, RecipeRow};
pub use snippet::Snippets;

/// The schema of the document.
pub const SCHEMA: &str = "timermeter.counter.v1";

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It may be read.
    Safe,
    /// It may be read as long as the machine stays where it is: whoever moves it does not keep the counter's rate, or does not say so.
    UntilMoved,
    /// It may not.
    Unsafe,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::UntilMoved => "safe until this machine is moved",
            Self::Unsafe => "unsafe",
        }
    }
}

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The ids of the counter: read bare, and held back by a fence.
    pub ids: [&'a str; 2],
    /// The machine.
    pub platform: &'a Platform,
    /// What it says of the counter.
    pub facts: &'a CounterFacts,
    /// What was found.
    pub found: &'a CounterFindings,
    /// Rows of a report: the counter, and the clocks of the system that could be read instead.
    pub rows: &'a [TimerRow],
    /// What programs find its rate to be.
    pub recipes: &'a [RecipeRow],
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counter {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The id of the counter.
    pub counter: String,
    /// Null where it cannot be told.
    pub verdict: Option<Verdict>,
    /// The answer in five lines.
    pub told: Vec<String>,
    /// The evidence.
    pub findings: Vec<Finding>,
    /// Its rate by the kernel's clock that no time service steers, in hertz; null where it is not known.
    pub hz: Option<f64>,
    /// What that is known to, as a share.
    pub hz_uncertainty: Option<f64>,
    /// For how long it was watched, in seconds.
    pub watched_s: f64,
    /// How far the counter of each CPU is ahead of that of the first one.
    pub cpus: Vec<CpuRow>,
    /// What reading it gains.
    pub gains: Vec<Gain>,
    /// What programs find its rate to be.
    pub recipes: Vec<RecipeRow>,
    /// Code that reads it with the rate that was found here; absent where it may not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippets: Option<Snippets>,
}

/// The counter of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuRow {
    /// The CPU.
    pub cpu: u32,
    /// How far it is ahead of the first one, in nanoseconds.
    pub offset_ns: f64,
    /// The true offset lies within that of it.
    pub uncertainty_ns: f64,
    /// How much faster it counts, in ppm; null where it was not looked at.
    pub rate_ppm: Option<f64>,
}

/// What reads take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The id of the timer.
    pub id: String,
    /// What a read takes in a row of many, in nanoseconds.
    pub in_a_row_ns: Option<f64>,
    /// The least and the most that it adds to code around it, in nanoseconds.
    pub adds_ns: Option<[f64; 2]>,
    /// CPU time that a million reads in a row take, in milliseconds.
    pub million_reads_ms: Option<f64>,
}

/// Judges.
#[must_use]
pub fn judge(case: &Case) -> Counter {
    let mut findings = evidence::findings(case.found);
    findings.extend(machine::findings(case));
    let moved = moved::judge(case);
    findings.push(moved.finding.clone());
    findings.sort_by_key(|finding| finding.severity);
    let verdict = verdict(&findings, moved.stays, case);
    let rate = case.found.rate.filter(|_| matches!(verdict, Some(Verdict::Safe | Verdict::UntilMoved)));
    let hz = case.found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    let gains = case.rows.iter().map(gain).collect();
    let mut counter = Counter {
        schema: SCHEMA,
        counter: case.ids[0].to_owned(),
        verdict,
        told: Vec::new(),
        findings,
        hz,
        hz_uncertainty: case.found.rate.map(|rate| rate.uncertainty),
        watched_s: 1e-9 * case.found.watched_ns,
        cpus: cpus(case.found),
        gains,
        recipes: case.recipes.to_vec(),
        snippets: rate.map(|rate| Snippets::of(case.ids[0], 1e9 / rate.ns_per_tick, rate.uncertainty)),
    };
    counter.told = told::told(&counter, case);
    counter
}

/// Findings without which nothing can be said for it.
const ESSENTIAL: [&str; 4] = ["invariant", "cpus", "order", "rate"];

fn verdict(findings: &[Finding], stays: bool, case: &Case) -> Option<Verdict> {
    if findings.iter().any(|finding| finding.severity == Severity::Problem) {
        return Some(Verdict::Unsafe);
    }
    // Who builds its own clock on the counter answers for what one process could not find out.
    let trusted = machine::is_built_on(case.platform);
    let unknown = |code: &str| {
        findings.iter().any(|finding| finding.code == code && finding.severity == Severity::Unknown)
    };
    if ESSENTIAL.into_iter().any(unknown) && !trusted {
        return None;
    }
    Some(if stays { Verdict::Safe } else { Verdict::UntilMoved })
}

fn cpus(found: &CounterFindings) -> Vec<CpuRow> {
    let rate = |cpu| found.cpu_rates.iter().find(|rate| rate.cpu == cpu).map(|rate| rate.tested.value);
    let row = |offset: &crate::analysis::counter::CpuOffset| CpuRow {
        cpu: offset.cpu,
        offset_ns: offset.ns,
        uncertainty_ns: offset.uncertainty_ns,
        rate_ppm: rate(offset.cpu),
    };
    found.offsets.iter().map(row).collect()
}

fn gain(row: &TimerRow) -> Gain {
    let cost = row.cost.as_ref();
    let in_a_row_ns = cost.and_then(|cost| cost.amortised_ns);
    Gain {
        id: row.id.clone(),
        in_a_row_ns,
        adds_ns: cost.and_then(|cost| cost.adds.as_ref()?.range()),
        million_reads_ms: in_a_row_ns,
    }
}

#[cfg(test)]
mod tests;
