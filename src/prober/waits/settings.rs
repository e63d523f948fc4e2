//! How a campaign over timers that wait is run.

use std::time::Duration;

use super::plan::WaitPlan;

/// How a campaign over timers that wait is run.
#[derive(Clone, Debug)]
pub struct WaitSettings {
    /// How thoroughly.
    pub plan: WaitPlan,
    /// The lengths that are asked for, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// How long the answers of a process may take together.
    pub timeout: Duration,
    /// How long rounds go on; as many as the plan has where nothing is said.
    pub span: Option<Duration>,
    /// Lateness that ends the run, in nanoseconds.
    pub break_ns: Option<u64>,
}
