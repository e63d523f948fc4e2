//! What an error is made of.

use serde::Serialize;

/// The rate of no clock is known better than this share of it: NTP may slew a clock of the kernel by up to 500
/// ppm (`adjtimex(2)`, `MAXFREQ`), and the rate of a counter is found against such a clock.
pub const DRIFT: f64 = 500e-6;

/// What a batch takes longer than its calls in a longer row, at most, in nanoseconds: between two reads that wait for
/// everything before them the first call begins in an empty pipeline, and the last one is waited for. Some hundred cycles
/// (`measure --rehearse` shows 20 to 40 ns on cores of 3 GHz).
pub const PIPELINE_NS: f64 = 50.0;

/// What a single call is off by beyond its clock, at most, in nanoseconds: between two fences a branch at its end is
/// mispredicted that is not where calls follow each other, some twenty cycles (`measure --rehearse` shows 4 to 7 ns on cores of
/// 3 GHz). All calls are off alike, so that no mean makes it less.
pub const PIPELINE_SINGLE_NS: f64 = 10.0;

/// What a fence adds to a read, at most, in nanoseconds (`lfence; rdtsc` takes some 8 ns longer than `rdtsc`).
pub const FENCE_NS: f64 = 20.0;

/// What else follows a read that enters the kernel, at most, in nanoseconds: on its way back it clears what the core had learned
/// of branches (mitigations of Spectre), so that the code behind it has to be predicted anew. `measure --rehearse` showed 100 to
/// 220 ns on a core of 3 GHz.
pub const KERNEL_NS: f64 = 250.0;

/// The expected error of a plan by its causes, each as a share of the duration. The error is at most their sum, with
/// the confidence of the requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Budget {
    /// The counter moves in steps.
    pub quantisation: f64,
    /// The reads cost time of their own: what is left after it is taken off, and how it varies.
    pub invocation_cost: f64,
    /// The clock runs fast or slow.
    pub drift: f64,
    /// At either end of a batch the pipeline of the core fills and drains, once for all calls; around a single call a branch
    /// is mispredicted.
    pub pipeline: f64,
}

impl Budget {
    /// All causes together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.quantisation + self.invocation_cost + self.drift + self.pipeline
    }
}
