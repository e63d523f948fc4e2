//! What an invocation costs.

use serde::{Deserialize, Serialize};

use super::Adds;

/// Whether a cost follows the frequency of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Following {
    /// It is a number of core cycles.
    Core,
    /// It is a time that something else takes (a device, another machine).
    Device,
    /// That cannot be told, as where the core kept its frequency.
    #[serde(other)]
    Unknown,
}

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
    /// Whether it follows the frequency of the core, as far as the processes of the run can tell; absent where that was not asked, and in reports of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Following>,
    /// What a read adds to the code around it; absent where that was not asked, and in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds: Option<Adds>,
    /// The timer that timed the invocations.
    pub reference: String,
}
