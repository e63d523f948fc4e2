//! The report: one machine, one run. What is written here is what `--format json` prints
//! (schema `timermeter.report.v1`); its JSON Schema is generated from these types.
//!
//! Names carry their unit. What was not determined is `null`, never 0.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Platform;
use super::verdicts::Verdicts;
use crate::analysis::Estimate;
pub use crate::analysis::distribution::{Distribution, Mode};
pub use crate::analysis::figures::{CostHistogram, Figures, IntervalHistogram, Staircase};

/// The version of the document that this build writes and reads.
pub const SCHEMA: &str = "timermeter.report.v1";

/// A whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `timermeter.report.v1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// When the measurement began, UTC (RFC 3339).
    pub created: String,
    /// Where the figures come from.
    #[serde(default)]
    pub provenance: Provenance,
    /// The machine.
    pub platform: Platform,
    /// Frequencies of the machine's CPU, and which of them turned time into cycles.
    pub frequency: Frequency,
    /// How the measurement was made.
    pub settings: Settings,
    /// What concerns the whole run.
    pub warnings: Vec<Warning>,
    /// One row a timer: those with a Quality first, best first.
    pub timers: Vec<TimerRow>,
}

/// Where figures come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProvenanceKind {
    /// From a run of this program.
    #[default]
    Measured,
    /// From somebody's publication: nothing was measured by this program.
    Published,
}

/// Where the figures of a report come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Measured or published.
    pub kind: ProvenanceKind,
    /// The publication; null when they were measured.
    pub source: Option<String>,
    /// What the reader should know about the source.
    pub note: Option<String>,
}

/// The program that wrote the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `timermeter`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Tool {
    /// This build.
    #[must_use]
    pub fn this() -> Self {
        Self { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// Frequencies of the CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frequency {
    /// What the vendor declares (CPUID leaf 0x16 or the brand string).
    pub nominal_hz: Option<f64>,
    /// Where the nominal frequency comes from.
    pub nominal_source: Option<String>,
    /// The rate of the time stamp counter, measured against the kernel's monotonic clock.
    pub tsc_hz: Option<f64>,
    /// The rate at which the core really ran: dependent additions, one a cycle.
    pub effective_hz: Option<f64>,
    /// Lowest of the effective frequencies: the 5 % quantile of what was seen during the measurement, or what was seen before or after it.
    pub effective_hz_low: Option<f64>,
    /// Highest of the effective frequencies: the 95 % quantile of what was seen during the measurement, or what was seen before or after it.
    pub effective_hz_high: Option<f64>,
    /// The effective frequency before the measurement.
    pub effective_hz_before: Option<f64>,
    /// The effective frequency after the measurement.
    pub effective_hz_after: Option<f64>,
    /// Which of them turned time into cycles: `effective`, `nominal` or `given`.
    pub cycles_from: String,
    /// The frequency that turned time into cycles.
    pub cycles_hz: Option<f64>,
    /// Lower end of the 95 % interval of that frequency; null where it was given or declared.
    #[serde(default)]
    pub cycles_hz_low: Option<f64>,
    /// Upper end of the 95 % interval of that frequency; null where it was given or declared.
    #[serde(default)]
    pub cycles_hz_high: Option<f64>,
}

impl Frequency {
    /// The frequency that turned time into cycles, in hertz, with its interval.
    #[must_use]
    pub fn cycles(&self) -> Option<Estimate> {
        let value = self.cycles_hz?;
        let (low, high) = (self.cycles_hz_low.unwrap_or(value), self.cycles_hz_high.unwrap_or(value));
        Some(Estimate { value, low, high, samples: 0 })
    }
}

/// How the measurement was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// `quick`, `default` or `thorough`.
    pub profile: String,
    /// The CPU the workers were pinned to; null when they could not be pinned.
    pub cpu: Option<u32>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Fresh processes a timer, at least.
    pub processes: u32,
    /// Half the width that the interval of a Quality was to have, in points, as far as more processes make it narrower; null in
    /// reports of older versions.
    #[serde(default)]
    pub precision_points: Option<f64>,
    /// Seconds that the run was to take at most; null in reports of older versions.
    #[serde(default)]
    pub budget_seconds: Option<f64>,
    /// Seconds that the answers of one process of a timer might take together.
    pub timeout_seconds: u64,
}

/// How the characterisation of a timer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All figures were determined.
    Ok,
    /// It could be read, but its resolution could not be determined.
    Unresolved,
    /// The machine does not let it be read.
    Unavailable,
    /// It crashed, hung or answered rubbish.
    Failed,
}

impl Status {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unresolved => "unresolved",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

/// One timer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimerRow {
    /// Unique in the report.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// What Kuperberg, Krogmann and Reussner (ICPE 2011) call it, as in `NANO`; null for methods they did not measure.
    #[serde(default)]
    pub legend: Option<String>,
    /// `native`, or the name of the runtime that hosts it.
    pub runtime: String,
    /// How the characterisation ended.
    pub status: Status,
    /// Why, when it is not `ok`.
    pub reason: Option<String>,
    /// What to do about it, when it is not `ok` and something can be done.
    pub remedy: Option<String>,
    /// Nanoseconds in a tick of this timer, declared or found.
    pub ns_per_tick: Option<f64>,
    /// The resolution of the counter as seen through this method.
    pub accuracy: Option<Accuracy>,
    /// What an invocation costs.
    pub cost: Option<Cost>,
    /// Share of single invocations within ±1 accuracy of the median cost, in (0, 1].
    pub spread: Option<f64>,
    /// Lower end of its 95 % interval; null where one process is all there was.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub spread_low: Option<f64>,
    /// Upper end of its 95 % interval; null where one process is all there was.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub spread_high: Option<f64>,
    /// What the distribution of single invocations is; null where they were not observed, and in reports of older versions.
    #[serde(default)]
    pub distribution: Option<Distribution>,
    /// Formula (1), in [0, 1]; 0 is kept for timers that are not monotonic, unstable or not thread-safe.
    #[schemars(range(min = 0, max = 1))]
    pub quality: Option<f64>,
    /// Lower end of the 95 % interval of Quality.
    #[schemars(range(min = 0, max = 1))]
    pub quality_low: Option<f64>,
    /// Upper end of the 95 % interval of Quality.
    #[schemars(range(min = 0, max = 1))]
    pub quality_high: Option<f64>,
    /// Whether it can be trusted, and the evidence.
    #[serde(default)]
    pub verdicts: Option<Verdicts>,
    /// Quality as the source of a published report prints it, in [0, 1]; null when it was measured.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub printed_quality: Option<f64>,
    /// What the figures rest on.
    pub observations: Option<Observations>,
    /// What its figures are drawn from; null where nothing was observed, and in reports of older versions.
    pub figures: Option<Figures>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// Whether an accuracy is a value or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccuracyKind {
    /// The step was determined.
    Resolved,
    /// The step is not known; it is at most this.
    AtMost,
}

impl AccuracyKind {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::AtMost => "at_most",
        }
    }
}

/// The resolution of the counter as seen through the method (TimerMeter's accuracy).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accuracy {
    /// One step (or the bound), in nanoseconds.
    pub ns: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low_ns: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high_ns: Option<f64>,
    /// One step (or the bound), in ticks of the timer.
    pub ticks: f64,
    /// One step (or the bound), in CPU cycles.
    pub cycles: Option<f64>,
    /// Value or bound.
    pub kind: AccuracyKind,
}

/// What an invocation costs. Floors of loop and reference are taken off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// What a call costs alone: the median of single invocations, in nanoseconds. It enters Quality.
    pub median_ns: Option<f64>,
    /// Lower end of its 95 % interval; null where one process is all there was.
    pub low_ns: Option<f64>,
    /// Upper end of its 95 % interval; null where one process is all there was.
    pub high_ns: Option<f64>,
    /// Median cost of a single invocation, in CPU cycles.
    pub median_cycles: Option<f64>,
    /// What a call costs in a row of many: the mean over batches, in nanoseconds, in which calls may overlap.
    #[serde(default)]
    pub amortised_ns: Option<f64>,
    /// Median of single invocations as the reference shows them, in whole steps of the reference.
    pub single_median_ns: Option<f64>,
    /// 99th percentile of single invocations as the reference shows them.
    pub p99_ns: Option<f64>,
    /// The timer that timed the invocations.
    pub reference: String,
}

/// What the figures rest on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observations {
    /// Fresh processes that could measure.
    pub processes: u32,
    /// Processes that were left out because they cost clearly more than the others: something disturbed them throughout.
    pub disturbed_processes: u32,
    /// Processes that were left out because they found no window without disturbance, besides those.
    #[serde(default)]
    pub spoilt_processes: u32,
    /// Windows of measurement that were dropped and taken again, by what disturbed them.
    #[serde(default)]
    pub dropped_windows: BTreeMap<String, u32>,
    /// Intervals (two reads with work between them).
    pub intervals: u64,
    /// Invocations in batches.
    pub batched_calls: u64,
    /// Single invocations between two reads of the reference.
    pub single_calls: u64,
    /// Differences between successive readings that were negative.
    pub backward_steps: u64,
    /// Resolution of the reference, in nanoseconds.
    pub reference_accuracy_ns: Option<f64>,
    /// Which rule found the resolution.
    pub resolution_rule: Option<String>,
}

/// Something the reader should know, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Stable name of the warning, as in `read-dearer-than-step`.
    pub code: String,
    /// Cause.
    pub message: String,
    /// Advice.
    pub advice: String,
}
