//! May a program read the counter of the processor by itself, past the kernel? A pure judgement of
//! what was observed and of what the machine says.
//!
//! The answer in five lines: the verdict, what was seen, who trusts it, what it gains, how to do
//! it.

pub mod recipes;

pub use recipes::{RecipeOutcome, RecipeRow, Snippets};
use serde::Serialize;

use crate::findings::counter::{self, CounterCase, is_built_on};
use crate::model::{Finding, Severity, TimerRow};
use crate::rate::counter::CounterFindings;
use crate::text::numbers::{range_ns, significant, time};

/// The schema of the document.
pub const SCHEMA: &str = "timermeter.counter.v1";

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterVerdict {
    /// It may be read.
    Safe,
    /// It may be read as long as the machine is not migrated: the hypervisor does not keep the
    /// counter's rate, or does not say so.
    UntilMoved,
    /// It may not.
    Unsafe,
}

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The ids of the counter: read bare, and held back by a fence.
    pub ids: [&'a str; 2],
    /// What was observed and declared.
    pub evidence: CounterCase<'a>,
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
    /// Null where it is not known.
    pub verdict: Option<CounterVerdict>,
    /// The answer in five lines.
    pub summary: Vec<String>,
    /// The evidence.
    pub findings: Vec<Finding>,
    /// Its rate by the kernel's clock that no time service steers, in hertz; null where it is not
    /// known.
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
    let found = case.evidence.found;
    let findings = counter::judge(&case.evidence);
    let verdict = verdict(&findings, case);
    let rate = found.rate.filter(|_| {
        matches!(
            verdict,
            Some(CounterVerdict::Safe | CounterVerdict::UntilMoved)
        )
    });
    let hz = found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    let gains = case.rows.iter().map(gain).collect();
    let mut counter = Counter {
        schema: SCHEMA,
        counter: case.ids[0].to_owned(),
        verdict,
        summary: Vec::new(),
        findings,
        hz,
        hz_uncertainty: found.rate.map(|rate| rate.uncertainty),
        watched_s: 1e-9 * found.watched_ns,
        cpus: cpus(found),
        gains,
        recipes: case.recipes.to_vec(),
        snippets: rate.map(|rate| {
            Snippets::for_counter(case.ids[0], 1e9 / rate.ns_per_tick, rate.uncertainty)
        }),
    };
    counter.summary = summary(&counter, case);
    counter
}

/// Findings without which nothing can be said for it.
const ESSENTIAL: [&str; 4] = ["invariant", "cpus", "order", "rate"];

fn verdict(findings: &[Finding], case: &Case) -> Option<CounterVerdict> {
    let has = |code: &str, severity| {
        let mut of_severity = findings
            .iter()
            .filter(|finding| finding.severity == severity);
        of_severity.any(|finding| code.is_empty() || finding.code == code)
    };
    if has("", Severity::Problem) {
        return Some(CounterVerdict::Unsafe);
    }
    // Who builds its own clock on the counter answers for what one process could not find out.
    let unknown = ESSENTIAL.iter().any(|code| has(code, Severity::Unknown));
    if unknown && !is_built_on(case.evidence.platform) {
        return None;
    }
    Some(if has("moved", Severity::Ok) {
        CounterVerdict::Safe
    } else {
        CounterVerdict::UntilMoved
    })
}

fn cpus(found: &CounterFindings) -> Vec<CpuRow> {
    let rate = |cpu| {
        found
            .cpu_rates
            .iter()
            .find(|rate| rate.cpu == cpu)
            .map(|rate| rate.tested.value)
    };
    let row = |offset: &crate::rate::counter::CpuOffset| CpuRow {
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

fn summary(counter: &Counter, case: &Case) -> Vec<String> {
    vec![
        answer(counter),
        seen(counter, case),
        trusted(counter),
        gained(counter, case),
        how(counter),
    ]
}

fn finding<'a>(counter: &'a Counter, code: &str) -> Option<&'a Finding> {
    counter.findings.iter().find(|finding| finding.code == code)
}

fn answer(counter: &Counter) -> String {
    let id = &counter.counter;
    let first = |severity| {
        counter
            .findings
            .iter()
            .find(|finding| finding.severity == severity)
    };
    let message = |finding: Option<&Finding>| finding.map_or(String::new(), Finding::message);
    match counter.verdict {
        Some(CounterVerdict::Safe) => format!("safe: a program may read {id} on this machine"),
        Some(CounterVerdict::UntilMoved) => {
            format!(
                "safe until this machine is moved: {}",
                message(finding(counter, "moved"))
            )
        }
        Some(CounterVerdict::Unsafe) => format!("unsafe: {}", message(first(Severity::Problem))),
        None => format!("not known: {}", message(first(Severity::Unknown))),
    }
}

fn seen(counter: &Counter, case: &Case) -> String {
    let rate = match (counter.hz, counter.hz_uncertainty) {
        (Some(hz), Some(share)) => {
            format!(
                "{} Hz ± {} ppm",
                significant(hz, 10),
                significant(1e6 * share, 2)
            )
        }
        _ => "no rate".to_owned(),
    };
    let cpus = match counter.cpus.len() {
        0 => "CPUs that could not be compared".to_owned(),
        all => {
            let apart = counter
                .cpus
                .iter()
                .map(|cpu| cpu.offset_ns.abs() + cpu.uncertainty_ns)
                .fold(0.0, f64::max);
            format!("{all} CPUs within {}", time(Some(apart)))
        }
    };
    let (backward, readings, _) = case.evidence.found.backward;
    format!(
        "seen: {rate}; {cpus}; {backward} steps back in {} readings and {} handoffs",
        readings,
        case.evidence
            .found
            .between
            .map_or(0, |between| between.handoffs)
    )
}

fn trusted(counter: &Counter) -> String {
    let said = |code: &str| finding(counter, code).map(Finding::message);
    let all: Vec<String> = ["kernel", "log"].into_iter().filter_map(said).collect();
    format!("trust: {}", all.join("; "))
}

/// Beside the clock that would be read instead, the first of the rows that the counter is not.
fn gained(counter: &Counter, case: &Case) -> String {
    let of = |id: &str| counter.gains.iter().find(|gain| gain.id == id);
    let clock = counter.gains.iter().find(|gain| gain.id == "monotonic");
    let said = |gain: &Gain| {
        let row = time(gain.in_a_row_ns);
        let adds = gain.adds_ns.map_or(String::new(), |range| {
            format!(" (adds {})", range_ns(range))
        });
        format!("{} {row}{adds}", gain.id)
    };
    let rows: Vec<String> = [of(case.ids[0]), of(case.ids[1]), clock]
        .into_iter()
        .flatten()
        .map(said)
        .collect();
    let million = |gain: Option<&Gain>| {
        gain.and_then(|gain| gain.million_reads_ms)
            .map(|ms| time(Some(1e6 * ms)))
    };
    match (million(of(case.ids[0])), million(clock)) {
        (Some(counter), Some(clock)) => {
            format!(
                "gain: a read in a row takes {}; a million {counter} of CPU time, instead of {clock}",
                rows.join(", ")
            )
        }
        _ => format!(
            "gain: {}",
            case.evidence.found.costs.map_or(
                "what a read takes was not measured".to_owned(),
                |[counter, clock]| {
                    format!(
                        "a read in a row takes {}, one of the kernel's clock {}",
                        time(Some(counter)),
                        time(Some(clock))
                    )
                }
            )
        ),
    }
}

fn how(counter: &Counter) -> String {
    let worst = |row: &&RecipeRow| row.worst_ppm.map_or(0.0, f64::abs);
    let tried: Vec<&RecipeRow> = counter
        .recipes
        .iter()
        .filter(|row| row.worst_ppm.is_some())
        .collect();
    let by = |best: bool| {
        let order = |a: &&&RecipeRow, b: &&&RecipeRow| worst(a).total_cmp(&worst(b));
        if best {
            tried.iter().min_by(order)
        } else {
            tried.iter().max_by(order)
        }
    };
    let errors = match (by(false), by(true)) {
        (Some(most), Some(least)) => format!(
            "recipes are off by up to {} ppm ({}) and by {} ppm at best ({})",
            significant(worst(most), 3),
            most.id,
            significant(worst(least), 3),
            least.id
        ),
        _ => "no recipe found a rate".to_owned(),
    };
    if matches!(counter.verdict, Some(CounterVerdict::Unsafe) | None) {
        return "do: read the kernel's clock (clock_gettime, CLOCK_MONOTONIC)".to_owned();
    }
    let order = if counter.counter == "rdtsc" {
        "lfence"
    } else {
        "a fence"
    };
    format!(
        "do: measure the rate over a second, keep differences signed, {order} where order matters; {errors}"
    )
}

#[cfg(test)]
mod tests;
