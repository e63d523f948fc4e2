//! A timer in a report: how its characterisation ended, its resolution and other figures, and what
//! they rest on.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::row::headed;
use super::{Cost, Distribution, Figures, Interval, Properties, RowHead, Status, Verdicts};

/// A timer as its host declares it, under the name that it has in reports.
#[apply(recorded)]
#[derive(Default)]
pub struct Timer {
    /// Unique in the report.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// What Kuperberg, Krogmann and Reussner (ICPE 2011) call it, as in `NANO`.
    #[serde(default)]
    pub legend: Option<String>,
    /// `native`, or the name and version of the runtime that hosts it.
    pub runtime: String,
    /// Nanoseconds in its tick; of a sleep primitive, in the unit of a request.
    #[serde(default)]
    pub ns_per_tick: Option<f64>,
    /// What its documentation says that it is.
    #[serde(default)]
    pub properties: Properties,
}

/// One timer.
#[apply(wire)]
#[derive(Default)]
pub struct TimerRow {
    /// Who was measured, and how that ended.
    #[serde(flatten)]
    pub head: RowHead,
    /// What Kuperberg, Krogmann and Reussner (ICPE 2011) call it, as in `NANO`; null for methods
    /// they did not measure.
    pub legend: Option<String>,
    /// Nanoseconds in a tick of this timer, declared or found.
    pub ns_per_tick: Option<f64>,
    /// The step in which its readings move, or the bound of it (`resolution.kind`), in nanoseconds.
    pub resolution_ns: Option<Interval>,
    /// The same in other units, and whether it is a bound.
    pub resolution: Option<Resolution>,
    /// What a call costs alone: the median of single invocations, in nanoseconds. It enters
    /// Quality.
    pub cost_ns: Option<Interval>,
    /// What else is known of its cost.
    pub cost: Option<Cost>,
    /// Share of single invocations within ±1 resolution of the median cost, in (0, 1].
    pub spread: Option<Interval>,
    /// What the distribution of single invocations is; null where they were not observed.
    pub distribution: Option<Distribution>,
    /// Formula (1), in [0, 1]; 0 is kept for timers that are not monotonic, unstable or not
    /// thread-safe.
    pub quality: Option<Interval>,
    /// Whether it can be trusted, and the evidence.
    pub verdicts: Option<Verdicts>,
    /// Quality as the source of a published report prints it, in [0, 1]; null when it was measured.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub printed_quality: Option<f64>,
    /// What its documentation says that it is; null where it was not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    /// What the figures rest on.
    pub observations: Option<Observations>,
    /// What its figures are drawn from; null where nothing was observed.
    pub figures: Option<Figures>,
}

headed!(TimerRow);

impl TimerRow {
    /// A row that holds nothing yet but the name of its timer.
    pub fn unmeasured(id: &str, label: &str, runtime: &str, status: Status) -> Self {
        let head = RowHead {
            id: id.into(),
            label: label.into(),
            runtime: runtime.into(),
            status,
            ..RowHead::default()
        };
        Self {
            head,
            ..Self::default()
        }
    }

    /// What its host declares of it.
    pub fn timer(&self) -> Timer {
        Timer {
            id: self.id.clone(),
            label: self.label.clone(),
            legend: self.legend.clone(),
            runtime: self.runtime.clone(),
            ns_per_tick: self.ns_per_tick,
            properties: self.properties.clone().unwrap_or_default(),
        }
    }

    /// Who hosts it, where its id tells that: `NAME:ID` is the id of the timer `ID` of the agent
    /// `NAME`.
    pub fn agent(&self) -> Option<&str> {
        self.id.split_once(':').map(|(agent, _)| agent)
    }

    /// The order of a report: those with a Quality by Quality, then those without a step, the
    /// failed, and the unavailable.
    pub fn best_first(&self, other: &Self) -> Ordering {
        let class = |row: &Self| match row.status {
            Status::Ok => 0,
            Status::Unresolved => 1,
            Status::Failed => 2,
            Status::Unavailable => 3,
        };
        let quality = |row: &Self| row.quality.map_or(-1.0, |quality| quality.value);
        class(self)
            .cmp(&class(other))
            .then(quality(other).total_cmp(&quality(self)))
    }
}

/// What the figures rest on.
#[apply(wire)]
pub struct Observations {
    /// Fresh processes that could measure.
    pub processes: u32,
    /// Processes that were left out because they cost clearly more than the others: something
    /// disturbed them throughout.
    pub disturbed_processes: u32,
    /// Processes that were left out because they found no window without disturbance, besides
    /// those.
    #[serde(default)]
    pub discarded_processes: u32,
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
    pub reference_resolution_ns: Option<f64>,
    /// Which rule found the resolution.
    pub resolution_rule: Option<String>,
}

/// Whether a resolution is a value or a bound.
#[apply(names)]
pub enum ResolutionKind {
    /// The step was determined.
    Resolved = "resolved",
    /// The step is not known; it is at most this.
    AtMost = "at_most",
}

/// The resolution of the counter as seen through the method (the paper calls it accuracy).
#[apply(wire)]
#[derive(Copy)]
pub struct Resolution {
    /// One step (or the bound), in ticks of the timer.
    pub ticks: f64,
    /// One step (or the bound), in CPU cycles.
    pub cycles: Option<f64>,
    /// Value or bound.
    pub kind: ResolutionKind,
}
