//! What an invocation costs.

use serde::{Deserialize, Serialize};

/// What an invocation costs. Floors of loop and reference are taken off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
