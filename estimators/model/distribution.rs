//! What the distribution of single invocations is: one cost or several, a tail, and how much lies between processes.

use serde::{Deserialize, Serialize};

/// What single invocations cost, apart from their median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// The costs there are, the least first, with their shares; empty where costs do not gather around places.
    pub modes: Vec<Mode>,
    /// Standard deviation around the cost that holds the median, within a process, in nanoseconds; of all invocations but the
    /// tail where there are no modes.
    pub within_ns: f64,
    /// Standard deviation of the median cost between processes, in nanoseconds; null where one process is all there was.
    pub between_ns: Option<f64>,
    /// Share of invocations far above all others, as interruptions are, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub tail_share: f64,
}

/// One of the costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// In nanoseconds.
    pub ns: f64,
    /// The share of invocations that cost about that, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub share: f64,
}

impl Distribution {
    /// Whether its figures are numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let modes = self.modes.iter().all(|mode| (mode.ns + mode.share).is_finite());
        modes && (self.within_ns + self.tail_share).is_finite()
    }
}
