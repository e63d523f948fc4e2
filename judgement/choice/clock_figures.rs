//! The figures of a clock that a plan needs, taken from a report, and the error budget of a plan.

use serde::{Deserialize, Serialize};

use super::Unusable;
use super::clock_facts::Facts;
use super::language::CODES;
use crate::model::{Platform, Status, TimerRow, value_of};
use crate::statistics::CONFIDENCE;

/// The figures of one clock that a plan is computed from. All lengths are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFigures {
    /// Id of the clock in the report.
    pub id: String,
    /// `native`, or the name of the runtime that hosts the clock.
    pub runtime: String,
    /// Resolution of the clock in nanoseconds, or its upper bound if it is unknown. An interval
    /// read with the clock is off by less than this.
    pub step_ns: f64,
    /// Whether the resolution was determined; if not, `step_ns` is an upper bound.
    pub resolved: bool,
    /// Median cost of a read in nanoseconds.
    pub cost_ns: f64,
    /// Largest distance of the true median cost from `cost_ns`, in nanoseconds.
    pub cost_error_ns: f64,
    /// Upper bound of the time that a read adds to the surrounding code, in nanoseconds; `None` if
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds_ns: Option<f64>,
    /// Upper bound of the 99th percentile of the cost in nanoseconds; `None` if unknown.
    pub cost_p99_ns: Option<f64>,
    /// Share of reads whose cost is within one step of the median; `None` if unknown.
    pub spread: Option<f64>,
    /// Properties of the clock other than its figures.
    pub facts: Facts,
}

/// Relative uncertainty of a cost that was measured in a single process and therefore has no
/// interval. Costs differ by about this share between fresh processes.
const COST_UNCERTAINTY: f64 = 0.05;

/// Largest factor by which the share of reads whose cost is more than a step from the median may be
/// larger in another process than in the measured ones.
const OUTSIDE_MARGIN: f64 = 2.0;

/// Ids of the native clocks that exist on every platform: POSIX requires the first, Rust's standard
/// library provides the second.
pub const PORTABLE: [&str; 2] = ["monotonic", "instant"];

impl ClockFigures {
    /// Whether this is one of the native clocks in [`PORTABLE`].
    pub(super) fn is_portable(&self) -> bool {
        self.runtime == "native" && PORTABLE.contains(&self.id.as_str())
    }

    /// The position among the clocks that have code; clocks without code come last.
    pub(super) fn code_position(&self) -> usize {
        let (runtime, id) = match self.id.split_once(':') {
            Some((runtime, id)) => (Some(runtime), id),
            None => (None, &*self.id),
        };
        let codes = CODES
            .iter()
            .filter(|(language, ..)| language.runtime() == runtime);
        let mut clocks = codes.flat_map(|(_, clocks, _)| clocks.split(' '));
        clocks.position(|one| one == id).unwrap_or(usize::MAX)
    }

    /// These figures for the case that the cost of a read is exactly known and never varies.
    pub(super) fn at_best(&self) -> Self {
        Self {
            cost_error_ns: 0.0,
            cost_p99_ns: self.cost_p99_ns.map(|_| self.cost_ns),
            ..self.clone()
        }
    }

    /// Takes the figures of a clock from its row of a report of this machine.
    ///
    /// # Errors
    /// The reason why nothing can be measured with this clock.
    pub fn from_row(row: &TimerRow, platform: &Platform) -> Result<Self, Unusable> {
        if let Some(why) = refusal(row) {
            return Err(Unusable(why));
        }
        let unknown = |what: &str| Unusable(format!("{what} could not be determined"));
        let no_step = || unknown("its resolution, or an upper bound of it,");
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let not_negative = |value: &f64| value.is_finite() && *value >= 0.0;
        let step = row.step_or_limit_ns().ok_or_else(no_step)?;
        let step_ns = [step.high(), Some(step.value)]
            .into_iter()
            .flatten()
            .find(positive)
            .ok_or_else(no_step)?;
        let cost_ns = value_of(row.cost_ns)
            .filter(not_negative)
            .ok_or_else(|| unknown("the cost of a read"))?;
        let ends = row.cost_ns.and_then(|cost| cost.ends());
        let half_width = ends.map(|(low, high)| (high - cost_ns).max(cost_ns - low));
        // The 99th percentile was measured with the reference clock, so it is uncertain by one of
        // its steps.
        let observed = row.observations.as_ref();
        let reference_step = observed
            .and_then(|observed| observed.reference_resolution_ns)
            .filter(positive);
        let p99 = row.cost.as_ref().and_then(|cost| cost.p99_ns);
        Ok(Self {
            id: row.id.clone(),
            runtime: row.runtime.clone(),
            step_ns,
            resolved: row.resolution_ns.is_some(),
            cost_ns,
            cost_error_ns: half_width
                .filter(|half_width| *half_width > 0.0)
                .unwrap_or(COST_UNCERTAINTY * cost_ns),
            adds_ns: row
                .adds_range_ns()
                .map(|[_, most]| most)
                .filter(not_negative),
            cost_p99_ns: p99
                .filter(not_negative)
                .map(|p99| p99 + reference_step.unwrap_or(0.0)),
            spread: value_of(row.spread).filter(|spread| spread.is_finite()),
            facts: Facts::from_row(row, platform),
        })
    }

    /// Upper bound of the time that a fence before a read adds, in nanoseconds; 0 if reads are
    /// ordered without a fence.
    pub fn fence_ns(&self) -> f64 {
        if self.facts.ordered { 0.0 } else { FENCE_NS }
    }

    /// Upper bound of the apparent extra time, in nanoseconds, that the effect of the two reads on
    /// the core adds to one call (`single`) or to one batch.
    pub fn pipeline_ns(&self, single: bool) -> f64 {
        let bound = if single {
            PIPELINE_SINGLE_NS
        } else {
            PIPELINE_NS
        };
        bound + f64::from(u8::from(self.facts.through_kernel)) * KERNEL_NS
    }

    /// Cost of a read in nanoseconds, including the fence that it needs.
    pub fn read_ns(&self) -> f64 {
        self.cost_ns + self.fence_ns()
    }

    /// Time in nanoseconds that a read, including the fence that it needs, takes from a program:
    /// `adds_ns` if it is known, else the cost of the read.
    pub fn takes_ns(&self) -> f64 {
        self.adds_ns.unwrap_or(self.cost_ns) + self.fence_ns()
    }

    /// Upper bound of the distance of the cost of a read from its median, in nanoseconds, at 95 %
    /// confidence; `None` if unknown.
    ///
    /// Two bounds are possible, and the smaller one is returned. The first is one step, if the
    /// spread shows that enough reads are within one step of the median. The spread is an estimate,
    /// so the share of reads that are farther from the median must be at most half of
    /// 1 - confidence. The second bound is the distance of the 99th percentile from the median. It
    /// also holds for reads below the median, because costs are skewed to the right.
    pub fn cost_variation_ns(&self) -> Option<f64> {
        let outside = |spread: f64| OUTSIDE_MARGIN * (1.0 - spread);
        let by_spread = self
            .spread
            .filter(|spread| outside(*spread) <= 1.0 - CONFIDENCE)
            .map(|_| self.step_ns);
        let by_tail = self.cost_p99_ns;
        let by_tail = by_tail.map(|p99| (p99 - self.cost_ns).max(self.cost_error_ns));
        by_spread.into_iter().chain(by_tail).reduce(f64::min)
    }
}

/// The reason why nothing can be measured with the timer of this row; `None` if it can be used.
fn refusal(row: &TimerRow) -> Option<String> {
    let not_measured = |what: &str| {
        let reason = row.reason.as_deref().unwrap_or("no reason given");
        let remedy = row.remedy.iter().map(|remedy| format!("; {remedy}"));
        Some(format!("{what}: {reason}{}", remedy.collect::<String>()))
    };
    match row.status {
        Status::Unavailable => return not_measured("it cannot be read here"),
        Status::Failed => return not_measured("it failed"),
        Status::Ok | Status::Unresolved => {}
    }
    let trust = row.trust.as_ref()?;
    let who = trust.part.as_deref().unwrap_or("it");
    Some(format!("{who} {}", trust.defect?.in_words()))
}

/// Upper bound of the relative error of the rate of any clock. NTP may slew a clock of the kernel
/// by up to 500 ppm (`adjtimex(2)`, `MAXFREQ`), and the rate of a counter is calibrated against
/// such a clock.
pub const DRIFT: f64 = 500e-6;

/// Upper bound of the extra time of a batch over the same calls in a longer sequence, in
/// nanoseconds. Reads wait for all earlier work, so the first call starts with an empty pipeline,
/// and the second read waits until the last call is complete. Typically about a hundred cycles (20
/// to 40 ns on cores of 3 GHz).
pub const PIPELINE_NS: f64 = 50.0;

/// Upper bound of the systematic error of a single call beyond the error of its clock, in
/// nanoseconds. Between two fences the branch at the end of the call is mispredicted, which does
/// not happen in a sequence of calls. This costs about twenty cycles (4 to 7 ns on cores of 3 GHz).
/// All calls have the same error, so averaging does not reduce it.
pub const PIPELINE_SINGLE_NS: f64 = 10.0;

/// Upper bound of the time that a fence adds to a read, in nanoseconds (`lfence; rdtsc` takes about
/// 8 ns longer than `rdtsc`).
pub const FENCE_NS: f64 = 20.0;

/// Upper bound of the time lost after a read that enters the kernel, in nanoseconds. The return to
/// user mode clears the branch predictors (mitigations of Spectre), so the following code is
/// mispredicted at first. Typically 100 to 220 ns on a core of 3 GHz.
pub const KERNEL_NS: f64 = 250.0;

/// Upper bound of the time that a turn of the loop adds to a call in the code that `pick` prints, in
/// nanoseconds. *Seen*: -0.03 to 0.05 ns around calls of 18 to 113 ns in C on a Zen 5 of 4.1 GHz,
/// because its instructions run next to the operation.
pub const TURN_NS: f64 = 0.05;

/// The name of the error of that code in messages.
pub(super) const FRAME_CAUSE: &str = "loop around the calls";

/// The expected error of a plan by cause, each as a share of the measured duration. At 95 %
/// confidence, the error is at most the sum of the causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Budget {
    /// Error from the finite resolution of the clock.
    pub quantisation: f64,
    /// Error from the cost of the reads: the uncertainty of the subtracted cost, and its variation.
    pub invocation_cost: f64,
    /// Error from the rate of the clock.
    pub drift: f64,
    /// Error from the effect of the reads on the core: the pipeline fills and drains once in each
    /// batch; around a single call a branch is mispredicted.
    pub pipeline: f64,
    /// Error from the frame of the code that `pick` prints: what a turn of its loop adds to a call.
    /// 0 without code.
    pub frame: f64,
}

impl Budget {
    /// The sum of all causes.
    pub fn total(&self) -> f64 {
        self.causes().iter().map(|(_, share)| share).sum()
    }

    /// The names of the causes with their shares.
    pub fn causes(&self) -> [(&'static str, f64); 5] {
        [
            ("quantisation", self.quantisation),
            ("uncertainty of the cost of reads", self.invocation_cost),
            ("drift", self.drift),
            ("effect of the reads on the core", self.pipeline),
            (FRAME_CAUSE, self.frame),
        ]
    }
}

#[cfg(test)]
pub(super) mod tests;
