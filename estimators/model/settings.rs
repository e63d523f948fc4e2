//! How a measurement was made.

use serde::{Deserialize, Serialize};

/// How the measurement was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
