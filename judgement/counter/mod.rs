//! Judges whether a program may read the counter of the processor directly, without the kernel,
//! from measurements and the facts that the machine reports.
//!
//! The answer has five lines: the verdict, the measurements, whether the kernel relies on the
//! counter, the time saved by reading the counter directly, and how to read it.

pub mod recipes;

pub use recipes::{RecipeOutcome, RecipeRow, Snippets};
use serde::Serialize;

use crate::findings::counter::{self, CounterCase};
use crate::model::{CpuOffset, Finding, Severity, TimerRow};
use crate::numbers::{range_ns, significant, time};
use crate::rate::counter::CounterFindings;

/// The schema of the document.
pub const SCHEMA: &str = "timermeter.counter.v1";

/// The verdict on direct reads of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterVerdict {
    /// The counter may be read.
    Safe,
    /// The counter may be read until the machine is moved to another host or restored from a
    /// snapshot: nothing fixes the counter's rate, or announces that it changed.
    UntilMoved,
    /// Too little is known, for example because one CPU only could be observed.
    NotProven,
    /// The counter must not be read.
    Unsafe,
}

impl CounterVerdict {
    /// Whether a program may read the counter, at least until the machine is moved.
    pub fn is_positive(self) -> bool {
        matches!(self, Self::Safe | Self::UntilMoved)
    }
}

/// The input of the judgement.
#[derive(Clone, Copy, Debug)]
pub struct CounterInput<'a> {
    /// The ids of the counter: read without a fence, and read with a fence.
    pub ids: [&'a str; 2],
    /// The measurements and the declared facts.
    pub evidence: CounterCase<'a>,
    /// Rows of a report: the counter, and the clocks of the system that are its alternatives.
    pub rows: &'a [TimerRow],
    /// Rates of the counter found by common calibration methods.
    pub recipes: &'a [RecipeRow],
}

/// The judgement as a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterJudgement {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The id of the counter.
    pub counter: String,
    /// The verdict.
    pub verdict: CounterVerdict,
    /// The answer in five lines.
    pub summary: Vec<String>,
    /// The findings on which the verdict is based.
    pub findings: Vec<Finding>,
    /// The rate of the counter in hertz, measured with a kernel clock that no time service adjusts;
    /// null if it is unknown.
    pub hz: Option<f64>,
    /// The relative uncertainty of that rate.
    pub hz_uncertainty: Option<f64>,
    /// Duration of the measurement of the counter, in seconds.
    pub watched_s: f64,
    /// Offsets of the counters of all CPUs from the counter of the first CPU.
    pub cpus: Vec<CpuRow>,
    /// Costs of reading the counter and its alternatives.
    pub gains: Vec<Gain>,
    /// Rates of the counter found by common calibration methods.
    pub recipes: Vec<RecipeRow>,
    /// Code that reads the counter with the measured rate; absent if the counter must not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippets: Option<Snippets>,
}

/// The counter of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuRow {
    /// The CPU.
    pub cpu: u32,
    /// Nanoseconds by which the counter is ahead of the counter of the first CPU.
    pub offset_ns: f64,
    /// Maximum error of the offset, in nanoseconds.
    pub uncertainty_ns: f64,
    /// Relative rate difference from the first CPU, in ppm, positive if faster; null if not
    /// measured.
    pub rate_ppm: Option<f64>,
}

/// Costs of reading a timer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The id of the timer.
    pub id: String,
    /// Amortised cost of a read among many successive reads, in nanoseconds.
    pub in_a_row_ns: Option<f64>,
    /// The least time that a read adds to the code around it, and an upper bound, in nanoseconds.
    pub adds_ns: Option<[f64; 2]>,
    /// CPU time of a million successive reads, in milliseconds.
    pub million_reads_ms: Option<f64>,
}

/// Judges whether the counter may be read directly.
pub fn judge(case: &CounterInput) -> CounterJudgement {
    let found = case.evidence.found;
    let findings = counter::judge(&case.evidence);
    let verdict = verdict(&findings);
    let rate = found.rate.filter(|_| verdict.is_positive());
    let hz = found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    let gains = case.rows.iter().map(gain).collect();
    let mut counter = CounterJudgement {
        schema: SCHEMA,
        counter: case.ids[0].to_owned(),
        verdict,
        summary: Vec::new(),
        findings,
        hz,
        hz_uncertainty: found.rate.map(|rate| rate.uncertainty),
        watched_s: 1e-9 * found.observed_ns,
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

/// Codes of the findings that must be known for a positive verdict.
const ESSENTIAL_FINDINGS: [&str; 5] = ["cpus", "invariant", "order", "rate", "moved"];

/// The first of the essential findings that is unknown.
fn first_gap(findings: &[Finding]) -> Option<&Finding> {
    ESSENTIAL_FINDINGS.iter().find_map(|code| {
        findings
            .iter()
            .filter(|finding| finding.severity == Severity::Unknown)
            .find(|finding| finding.code == *code)
    })
}

/// Codes of the findings about programs and ways of reading, with the programs that a problem of this
/// code does not concern: the counter itself is sound.
const CAVEATS: [(&str, &str); 3] = [
    ("declared", " for programs that measure its rate"),
    ("unfenced", " with a fence"),
    ("cost", " but expensive"),
];

/// The first problem of the counter itself.
fn fault(findings: &[Finding]) -> Option<&Finding> {
    let is_caveat = |finding: &Finding| CAVEATS.iter().any(|(code, _)| *code == finding.code);
    findings
        .iter()
        .filter(|it| it.severity == Severity::Problem)
        .find(|finding| !is_caveat(finding))
}

/// The verdict from the findings.
fn verdict(findings: &[Finding]) -> CounterVerdict {
    let mut all = findings.iter();
    if fault(findings).is_some() {
        CounterVerdict::Unsafe
    } else if first_gap(findings).is_some() {
        CounterVerdict::NotProven
    } else if all.any(|finding| finding.code == "moved" && finding.severity == Severity::Ok) {
        CounterVerdict::Safe
    } else {
        CounterVerdict::UntilMoved
    }
}

/// The offsets and rates of all CPUs.
fn cpus(found: &CounterFindings) -> Vec<CpuRow> {
    let rate = |cpu| {
        let mut rates = found.cpu_rates.iter();
        Some(rates.find(|rate| rate.cpu == cpu)?.tested.value)
    };
    let row = |offset: &CpuOffset| CpuRow {
        cpu: offset.cpu,
        offset_ns: offset.ns,
        uncertainty_ns: offset.uncertainty_ns,
        rate_ppm: rate(offset.cpu),
    };
    found.offsets.iter().map(row).collect()
}

/// The costs in the row of a timer.
fn gain(row: &TimerRow) -> Gain {
    Gain {
        id: row.id.clone(),
        in_a_row_ns: row.amortised_ns,
        adds_ns: row.adds_range_ns(),
        // A million reads of one nanosecond each take one millisecond.
        million_reads_ms: row.amortised_ns,
    }
}

fn summary(counter: &CounterJudgement, case: &CounterInput) -> Vec<String> {
    vec![
        verdict_line(counter),
        measurement_line(counter, case),
        trust_line(counter),
        gain_line(counter, case),
        instruction_line(counter),
    ]
}

/// Returns the finding with this code, if there is one.
fn finding<'a>(counter: &'a CounterJudgement, code: &str) -> Option<&'a Finding> {
    counter.findings.iter().find(|finding| finding.code == code)
}

/// The verdict with the finding that decides it.
fn verdict_line(counter: &CounterJudgement) -> String {
    let id = &counter.counter;
    let message = |finding: Option<&Finding>| finding.map_or(String::new(), Finding::message);
    let moved = || message(finding(counter, "moved"));
    let is_problem =
        |code| finding(counter, code).is_some_and(|it| it.severity == Severity::Problem);
    let caveats = CAVEATS.iter().filter(|(code, _)| is_problem(code));
    let safe = format!("safe{}", caveats.map(|(_, whom)| *whom).collect::<String>());
    match counter.verdict {
        CounterVerdict::Safe => {
            format!(
                "{safe}: a program may read {id} on this machine; {}",
                moved()
            )
        }
        CounterVerdict::UntilMoved => format!("{safe} until this machine is moved: {}", moved()),
        CounterVerdict::Unsafe => format!("unsafe: {}", message(fault(&counter.findings))),
        CounterVerdict::NotProven => {
            format!("not proven: {}", message(first_gap(&counter.findings)))
        }
    }
}

/// The measured rate, the offsets between CPUs and the steps backwards.
fn measurement_line(counter: &CounterJudgement, case: &CounterInput) -> String {
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
        count => {
            let apart_ns = counter
                .cpus
                .iter()
                .map(|cpu| cpu.offset_ns.abs() + cpu.uncertainty_ns)
                .fold(0.0, f64::max);
            format!("{count} CPUs within {}", time(apart_ns))
        }
    };
    let (backward, readings, _) = case.evidence.found.backward;
    format!(
        "seen: {rate}; {cpus}; {backward} steps back in {} readings and {} handoffs with a fence",
        readings,
        case.evidence
            .found
            .across_cpus
            .map_or(0, |between| between.handoffs)
    )
}

/// The findings about the use of the counter by the kernel.
fn trust_line(counter: &CounterJudgement) -> String {
    let message = |code: &str| finding(counter, code).map(Finding::message);
    let all: Vec<String> = ["kernel", "log"].into_iter().filter_map(message).collect();
    format!("trust: {}", all.join("; "))
}

/// Compares the cost of reading the counter with that of the kernel's clock.
fn gain_line(counter: &CounterJudgement, case: &CounterInput) -> String {
    let gain_of = |id: &str| counter.gains.iter().find(|gain| gain.id == id);
    let [bare, fenced, clock] = [case.ids[0], case.ids[1], "monotonic"].map(gain_of);
    let in_words = |gain: &Gain| {
        let adds = gain.adds_ns.map_or(String::new(), |range| {
            format!(" (adds {})", range_ns(range))
        });
        format!("{} {}{adds}", gain.id, time(gain.in_a_row_ns))
    };
    let rows: Vec<String> = [bare, fenced, clock]
        .into_iter()
        .flatten()
        .filter(|gain| gain.in_a_row_ns.is_some())
        .map(in_words)
        .collect();
    match case.evidence.found.costs {
        _ if !rows.is_empty() => format!("gain: consecutive reads take {} each", rows.join(", ")),
        Some([counter, clock]) => format!(
            "gain: consecutive reads take {} each, those of the kernel's clock {}",
            time(counter),
            time(clock)
        ),
        None => "gain: the cost of a read was not measured".to_owned(),
    }
}

/// How to read the counter, or which clock to read instead.
fn instruction_line(counter: &CounterJudgement) -> String {
    if !counter.verdict.is_positive() {
        return "do: read the kernel's clock (clock_gettime, CLOCK_MONOTONIC)".to_owned();
    }
    let error = |row: &RecipeRow| Some((row.worst_ppm?.abs(), row.id));
    let mut errors: Vec<(f64, &str)> = counter.recipes.iter().filter_map(error).collect();
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let errors = match (errors.first(), errors.last()) {
        (Some((least, best)), Some((most, worst))) => format!(
            "recipes are off by up to {} ppm ({worst}) and by {} ppm at best ({best})",
            significant(*most, 3),
            significant(*least, 3)
        ),
        _ => "no recipe found a rate".to_owned(),
    };
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
