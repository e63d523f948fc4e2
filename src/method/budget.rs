//! What an error is made of.

use serde::Serialize;

/// The rate of no clock is known better than this share of it: NTP may slew a clock of the kernel by up to 500
/// millionths (`adjtimex(2)`, `MAXFREQ`), and the rate of a counter is found against such a clock.
pub const DRIFT: f64 = 500e-6;

/// The expected error of a plan by its causes, each as a share of the duration. The error is at most their sum, with
/// the confidence of the wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Budget {
    /// The counter moves in steps.
    pub quantisation: f64,
    /// The reads cost time of their own: what is left after it is taken off, and how it varies.
    pub invocation_cost: f64,
    /// The clock runs fast or slow.
    pub drift: f64,
}

impl Budget {
    /// All causes together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.quantisation + self.invocation_cost + self.drift
    }
}
