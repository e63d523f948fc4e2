//! What a plan needs to know of a clock: figures of a report, and facts. And what an error is made
//! of.

use serde::{Deserialize, Serialize};

use super::clock_facts::Facts;
use crate::model::{Outcome, Platform, ResolutionKind, Status, TimerRow, value_of};

/// A clock as a plan sees it. All lengths in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFigures {
    /// Its id in the report.
    pub id: String,
    /// `native`, or the name of the runtime that hosts it.
    pub runtime: String,
    /// One step of the counter, or the bound where the step is not known: an interval read with it
    /// is off by less.
    pub step_ns: f64,
    /// Whether the step was determined.
    pub resolved: bool,
    /// Median cost of a read.
    pub cost_ns: f64,
    /// How far the true median may lie from it.
    pub cost_error_ns: f64,
    /// The most that a read adds to the code around it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds_ns: Option<f64>,
    /// Upper bound of the 99th percentile of the cost, where known.
    pub cost_p99_ns: Option<f64>,
    /// Share of reads whose cost is within one step of the median, where known.
    pub spread: Option<f64>,
    /// What is known without measuring.
    pub facts: Facts,
}

/// A cost that comes from a single process has no interval; it is then taken to be this uncertain,
/// which is what fresh processes differ by.
const COST_UNCERTAINTY: f64 = 0.05;

/// The share of reads outside a step, as found in some processes, may be as many times as large in
/// another one.
const OUTSIDE_MARGIN: f64 = 2.0;

/// Clocks that every platform of their standard has: POSIX, and Rust's standard library.
pub(super) const PORTABLE: [&str; 2] = ["monotonic", "instant"];

impl ClockFigures {
    /// Whether every platform of its standard has it.
    #[must_use]
    pub(super) fn is_portable(&self) -> bool {
        self.runtime == "native" && PORTABLE.contains(&self.id.as_str())
    }

    /// The figures of a row of a report of this machine.
    ///
    /// # Errors
    /// Says why nothing can be measured with this timer.
    pub fn from_row(row: &TimerRow, platform: &Platform) -> Result<Self, String> {
        if let Some(why) = refusal(row) {
            return Err(why);
        }
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let not_negative = |value: &f64| value.is_finite() && *value >= 0.0;
        let step = row.resolution_ns;
        let step_ns = step
            .and_then(|step| step.high())
            .filter(positive)
            .or(value_of(step).filter(positive))
            .ok_or("its step could not even be bounded")?;
        let cost_ns = value_of(row.cost_ns)
            .filter(not_negative)
            .ok_or("what a read costs could not be determined")?;
        let ends = row.cost_ns.and_then(|cost| cost.ends());
        let half = ends.map(|(low, high)| (high - cost_ns).max(cost_ns - low));
        let cost = row.cost.as_ref();
        // The percentile is observed in steps of the reference.
        let observed = row.observations.as_ref();
        let reference_step = observed
            .and_then(|observed| observed.reference_resolution_ns)
            .filter(positive)
            .unwrap_or(0.0);
        let p99 = cost.and_then(|cost| cost.p99_ns).filter(not_negative);
        Ok(Self {
            id: row.id.clone(),
            runtime: row.runtime.clone(),
            step_ns,
            resolved: row
                .resolution
                .as_ref()
                .is_some_and(|resolution| resolution.kind == ResolutionKind::Resolved),
            cost_ns,
            cost_error_ns: half
                .filter(|half| *half > 0.0)
                .unwrap_or(COST_UNCERTAINTY * cost_ns),
            adds_ns: cost
                .and_then(|cost| cost.adds?.most_ns())
                .filter(not_negative),
            cost_p99_ns: p99.map(|p99| p99 + reference_step),
            spread: value_of(row.spread).filter(|spread| spread.is_finite()),
            facts: Facts::from_row(row, platform),
        })
    }

    /// What a fence before each read adds to its cost, at most, where the read does not wait by
    /// itself.
    #[must_use]
    pub fn fence_ns(&self) -> f64 {
        if self.facts.ordered { 0.0 } else { FENCE_NS }
    }

    /// What a single call, or a batch, seems to take longer because of what the reads do to the
    /// core, at most.
    #[must_use]
    pub fn pipeline_ns(&self, single: bool) -> f64 {
        let pipeline = if single {
            PIPELINE_SINGLE_NS
        } else {
            PIPELINE_NS
        };
        let kernel = if self.facts.through_kernel {
            KERNEL_NS
        } else {
            0.0
        };
        pipeline + kernel
    }

    /// What a read takes at most, together with the fence that it needs.
    #[must_use]
    pub fn read_ns(&self) -> f64 {
        self.cost_ns + self.fence_ns()
    }

    /// What a read takes of a program, at most, together with the fence that it needs: what it adds
    /// to the code around it where that is known, else what it costs.
    #[must_use]
    pub fn takes_ns(&self) -> f64 {
        self.adds_ns.unwrap_or(self.cost_ns) + self.fence_ns()
    }

    /// How far the cost of a read lies from its median with this confidence, at most. `None` where
    /// that is not known.
    ///
    /// The spread says it where it is large enough: within one step. It is an estimate, so that the
    /// share outside it has to be no more than half of what the confidence leaves. So does the 99th
    /// percentile for any confidence up to 99 %, as costs are skewed to the right: they lie no
    /// farther below their median than above. The smaller bound counts.
    #[must_use]
    pub fn cost_variation_ns(&self, confidence: f64) -> Option<f64> {
        let outside = |spread: f64| OUTSIDE_MARGIN * (1.0 - spread);
        let by_spread = self
            .spread
            .filter(|spread| outside(*spread) <= 1.0 - confidence)
            .map(|_| self.step_ns);
        let by_tail = (self.cost_p99_ns)
            .filter(|_| confidence <= 0.99)
            .map(|p99| (p99 - self.cost_ns).max(self.cost_error_ns));
        match (by_spread, by_tail) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// Why nothing can be measured with the timer of this row.
fn refusal(row: &TimerRow) -> Option<String> {
    let because = |what: &str| {
        let reason = row.reason.as_deref().unwrap_or("no reason given");
        let remedy = row.remedy.iter().map(|remedy| format!("; {remedy}"));
        Some(format!("{what}: {reason}") + &remedy.collect::<String>())
    };
    match row.status {
        Status::Unavailable => return because("it cannot be read here"),
        Status::Failed => return because("it failed"),
        Status::Ok | Status::Unresolved => {}
    }
    let failed = row.verdicts.as_ref().and_then(|verdicts| {
        let (monotonic, stable) = (&verdicts.monotonic, &verdicts.stable);
        [
            (monotonic.outcome, &monotonic.finding),
            (stable.outcome, &stable.finding),
        ]
        .into_iter()
        .find(|(outcome, _)| *outcome == Outcome::Fail)
    });
    let observed = row.observations.as_ref();
    let backward = observed.is_some_and(|observed| observed.backward_steps > 0);
    failed
        .map(|(_, finding)| finding.clone())
        .or_else(|| backward.then(|| "it went backwards".into()))
}

/// The rate of no clock is known better than this share of it: NTP may slew a clock of the kernel
/// by up to 500 ppm (`adjtimex(2)`, `MAXFREQ`), and the rate of a counter is found against such a
/// clock.
pub const DRIFT: f64 = 500e-6;

/// What a batch takes longer than its calls in a longer row, at most, in nanoseconds: between two
/// reads that wait for everything before them the first call begins in an empty pipeline, and the
/// last one is waited for. Some hundred cycles (20 to 40 ns on cores of 3 GHz).
pub const PIPELINE_NS: f64 = 50.0;

/// What a single call is off by beyond its clock, at most, in nanoseconds: between two fences a
/// branch at its end is mispredicted that is not where calls follow each other, some twenty cycles
/// (4 to 7 ns on cores of 3 GHz). All calls are off by the same, so that no mean makes it less.
pub const PIPELINE_SINGLE_NS: f64 = 10.0;

/// What a fence adds to a read, at most, in nanoseconds (`lfence; rdtsc` takes some 8 ns longer
/// than `rdtsc`).
pub const FENCE_NS: f64 = 20.0;

/// What else follows a read that enters the kernel, at most, in nanoseconds: on its way back it
/// clears what the core had learned of branches (mitigations of Spectre), so that the code behind
/// it has to be predicted anew. 100 to 220 ns on a core of 3 GHz.
pub const KERNEL_NS: f64 = 250.0;

/// The expected error of a plan by its causes, each as a share of the duration. The error is at
/// most their sum, with the confidence of the requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Budget {
    /// The counter moves in steps.
    pub quantisation: f64,
    /// The reads cost time of their own: what is left after it is taken off, and how it varies.
    pub invocation_cost: f64,
    /// The clock runs fast or slow.
    pub drift: f64,
    /// At either end of a batch the pipeline of the core fills and drains, once for all calls;
    /// around a single call a branch is mispredicted.
    pub pipeline: f64,
}

impl Budget {
    /// All causes together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.causes().iter().map(|(_, share)| share).sum()
    }

    /// The causes with their shares.
    #[must_use]
    pub fn causes(&self) -> [(&'static str, f64); 4] {
        [
            ("quantisation", self.quantisation),
            ("uncertainty of the cost of reads", self.invocation_cost),
            ("drift", self.drift),
            ("effect of the reads on the core", self.pipeline),
        ]
    }
}

#[cfg(test)]
pub(super) mod tests;
