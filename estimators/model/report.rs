//! The report: one machine, one run. What is written here is what `--format json` prints
//! (schema `timermeter.report.v2`); its JSON Schema is generated from these types.
//!
//! Names carry their unit. What was not determined is `null`, never 0.

use super::{
    Assessment, Device, Finding, Frequency, PeriodRow, Platform, RowHead, TimerRow, WaitRow,
};

/// The version of the document that this build writes and reads.
pub const SCHEMA: &str = "timermeter.report.v2";

/// A complete report.
#[apply(wire, Default)]
pub struct Report {
    /// Always `timermeter.report.v2`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The program that wrote the report.
    pub tool: Tool,
    /// When the measurement began, UTC (RFC 3339); a year beyond four digits, by a clock that is wrong,
    /// has a sign, as in `+10000-01-01T00:00:00Z`.
    pub created: String,
    /// The name of the machine in a fleet, as given to the run; absent if not given.
    #[optional]
    pub node: Option<String>,
    /// The origin of the results.
    #[serde(default)]
    pub provenance: Provenance,
    /// The machine.
    pub platform: Platform,
    /// Frequencies of the CPU of the machine, and the frequency that converts time to cycles.
    pub frequency: Frequency,
    /// How the measurement was made.
    pub settings: Settings,
    /// Findings about the whole run.
    pub findings: Vec<Finding>,
    /// What follows from the report: which clocks can be trusted, what is wrong, and which clock to use.
    /// Readers of a report compute it anew.
    #[serde(default)]
    pub assessment: Assessment,
    /// One row for each timer: rows with a Quality first, in descending order.
    pub timers: Vec<TimerRow>,
    /// A row for each sleep primitive and set of conditions; absent if none was requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitRow>,
    /// Periodic timers; absent if none was requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<PeriodRow>,
}

impl Report {
    /// The day on which the measurement began, as the report states it.
    pub fn day(&self) -> &str {
        self.created.split('T').next().unwrap_or_default()
    }

    /// Whether another publication states the figures, and this program measured none.
    pub fn is_published(&self) -> bool {
        self.provenance.kind == ProvenanceKind::Published
    }

    /// The devices that execute calls of its timers, each once.
    pub fn devices(&self) -> Vec<&Device> {
        let mut devices: Vec<&Device> =
            self.heads().filter_map(|row| row.device.as_ref()).collect();
        devices.sort_by(|a, b| a.name.cmp(&b.name));
        devices.dedup_by(|a, b| a.name == b.name);
        devices
    }

    /// Whether no CPU executes calls of its timers, so that the state of the CPUs says nothing about its
    /// figures.
    pub fn is_of_devices(&self) -> bool {
        let mut measured = self.heads().filter(|row| row.status.has_figures());
        self.heads().any(|row| row.device.is_some()) && measured.all(|row| row.device.is_some())
    }

    /// The heads of all rows.
    pub fn heads(&self) -> impl Iterator<Item = &RowHead> {
        let clocks = self.timers.iter().map(|row| &row.head);
        let waits = self.waits.iter().map(|row| &row.head);
        clocks
            .chain(waits)
            .chain(self.periods.iter().map(|row| &row.head))
    }

    /// Parses a document without validating its contents. Defined in this crate because this crate
    /// is compiled for speed, the program for size.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or not a report.
    #[cfg(feature = "serde")]
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

/// The origin of results.
#[apply(names)]
#[derive(Default)]
pub enum ProvenanceKind {
    /// Measured by this program.
    #[default]
    Measured = "measured",
    /// Taken from a publication; nothing was measured by this program.
    Published = "published",
}

/// The origin of the results of a report.
#[apply(wire, Default)]
pub struct Provenance {
    /// Measured or published.
    pub kind: ProvenanceKind,
    /// The publication; null if the results were measured.
    pub source: Option<String>,
    /// A note about the source for the reader.
    pub note: Option<String>,
}

/// The program that wrote the report.
#[apply(wire, Default)]
pub struct Tool {
    /// `timermeter`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Tool {
    /// Returns this build; all its crates share a version.
    pub fn this() -> Self {
        Self {
            name: "timermeter".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// How the measurement was made.
#[apply(wire, Default)]
pub struct Settings {
    /// The preset of the campaign: `quick`, `default` or `thorough`.
    #[serde(rename = "profile")]
    pub plan: String,
    /// The CPU the workers were pinned to; null when they could not be pinned.
    pub cpu: Option<u32>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The least number of fresh processes for each timer.
    pub processes: u32,
    /// The half-width requested of the interval of a Quality, in percentage points; null if none
    /// was requested. It covers only the part of the interval that shrinks with more processes.
    pub precision_points: Option<f64>,
    /// The largest duration of the run, in seconds.
    pub budget_seconds: Option<f64>,
    /// The longest time that all answers of one process may take together, in seconds.
    pub timeout_seconds: u64,
}
