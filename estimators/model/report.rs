//! The report: one machine, one run. What is written here is what `--format json` prints
//! (schema `timermeter.report.v2`); its JSON Schema is generated from these types.
//!
//! Names carry their unit. What was not determined is `null`, never 0.

use super::{Finding, Frequency, PeriodRow, Platform, TimerRow, WaitRow};

/// The version of the document that this build writes and reads.
pub const SCHEMA: &str = "timermeter.report.v2";

/// A whole report.
#[apply(wire)]
pub struct Report {
    /// Always `timermeter.report.v2`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// When the measurement began, UTC (RFC 3339).
    pub created: String,
    /// What the machine is called among others, as the run was told; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
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
    pub warnings: Vec<Finding>,
    /// One row a timer: those with a Quality first, best first.
    pub timers: Vec<TimerRow>,
    /// Timers that wait, a row for each and each set of conditions; absent where none was asked
    /// for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitRow>,
    /// Periodic timers; absent where none was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<PeriodRow>,
}

impl Report {
    /// Reads a document; what is in it is not checked. It stands here because this crate is
    /// compiled for speed, and the program for size.
    ///
    /// # Errors
    /// When it is not JSON, or not this document.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

/// Where figures come from.
#[apply(wire)]
#[derive(Copy, Default, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ProvenanceKind {
    /// From a run of this program.
    #[default]
    Measured,
    /// From a publication: nothing was measured by this program.
    Published,
}

/// Where the figures of a report come from.
#[apply(wire)]
#[derive(Default)]
pub struct Provenance {
    /// Measured or published.
    pub kind: ProvenanceKind,
    /// The publication; null when they were measured.
    pub source: Option<String>,
    /// What the reader should know about the source.
    pub note: Option<String>,
}

/// The program that wrote the report.
#[apply(wire)]
pub struct Tool {
    /// `timermeter`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Tool {
    /// This build; all crates of it share a version.
    pub fn this() -> Self {
        Self {
            name: "timermeter".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// How the measurement was made.
#[apply(wire)]
pub struct Settings {
    /// `quick`, `default` or `thorough`.
    pub profile: String,
    /// The CPU the workers were pinned to; null when they could not be pinned.
    pub cpu: Option<u32>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Fresh processes a timer, at least.
    pub processes: u32,
    /// Half the width that the interval of a Quality was to have, in points, as far as more
    /// processes make it narrower.
    pub precision_points: Option<f64>,
    /// Seconds that the run was to take at most.
    pub budget_seconds: Option<f64>,
    /// Seconds that the answers of one process of a timer might take together.
    pub timeout_seconds: u64,
}
