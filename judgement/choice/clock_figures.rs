//! The figures of a clock that a plan needs, taken from a report, and the error budget of a plan.

use serde::{Deserialize, Serialize};

use super::ChoiceError;
use super::language::CODES;
use estimators::model::{
    Counted, Family, Path, Platform, Properties, ReadsBy, Status, TimerRow, value_of,
};
use estimators::statistics::CONFIDENCE;

/// What a plan is computed from. All lengths are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFigures {
    /// Id of the clock in the report.
    pub id: String,
    /// Resolution of the clock in nanoseconds, or its upper bound if it is unknown. An interval
    /// read with the clock is off by less than this.
    pub step_ns: f64,
    /// Whether the resolution was determined; if not, `step_ns` is an upper bound.
    pub resolved: bool,
    /// Median cost of a read in nanoseconds.
    pub cost_ns: f64,
    /// Largest distance of the true median cost from `cost_ns`, in nanoseconds.
    pub cost_error_ns: f64,
    /// Upper bound of the distance of the cost of a read from its median, in nanoseconds, at 95 %
    /// confidence.
    pub variation_ns: f64,
    /// Upper bound of the time that a read adds to the surrounding code, in nanoseconds; `None` if
    /// unknown.
    pub adds_ns: Option<f64>,
    /// Properties of the clock, as found by experiment, otherwise as declared.
    pub properties: Properties,
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
    /// Takes the figures of a clock from its row of a report of this machine.
    ///
    /// # Errors
    /// The reason why nothing can be measured with this clock.
    pub fn from_row(row: &TimerRow, platform: &Platform) -> Result<Self, ChoiceError> {
        if let Some(why) = refusal(row) {
            return Err(ChoiceError(why));
        }
        let unknown = || ChoiceError("its resolution or cost could not be determined".into());
        let step = row.step_or_limit_ns();
        let step_ns = step.map(|step| step.high().unwrap_or(step.value));
        let step_ns = step_ns.filter(|ns| *ns > 0.0).ok_or_else(unknown)?;
        let cost = row.cost_ns.filter(|cost| cost.value >= 0.0);
        let cost = cost.ok_or_else(unknown)?;
        let cost_ns = cost.value;
        let half_width = cost
            .ends()
            .map(|(low, high)| (high - cost_ns).max(cost_ns - low));
        let cost_error_ns = half_width
            .filter(|half_width| *half_width > 0.0)
            .unwrap_or(COST_UNCERTAINTY * cost_ns);
        let variation_ns = variation_ns(row, step_ns, [cost_ns, cost_error_ns]);
        Ok(Self {
            id: row.id.clone(),
            step_ns,
            resolved: row.resolution_ns.is_some(),
            cost_ns,
            cost_error_ns,
            variation_ns: variation_ns.ok_or_else(unknown)?,
            adds_ns: row.adds_range_ns().map(|[_, most]| most.max(0.0)),
            properties: properties(row, platform),
        })
    }

    /// These figures for the case that the cost of a read is exactly known and never varies.
    pub(super) fn at_best(&self) -> Self {
        Self {
            cost_error_ns: 0.0,
            variation_ns: 0.0,
            ..self.clone()
        }
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

    /// Whether a read waits for all earlier instructions. If not, it needs a fence.
    pub fn is_ordered(&self) -> bool {
        self.properties.needs_fence == Some(false)
    }

    /// Whether it is the counter of a CPU.
    pub fn is_cpu_counter(&self) -> bool {
        self.properties.family == Some(Family::CpuCounter)
    }

    /// What forbids to pick the clock, each as one line of text.
    pub fn unmet(&self) -> Vec<String> {
        let counts = self.properties.counts;
        let words = counts.map_or("what is unknown", Counted::in_words);
        let is_wall = counts == Some(Counted::Wall);
        let varies = self.is_cpu_counter() && self.properties.slewed == Some(true);
        [
            (!is_wall).then(|| format!("it counts {words}, not {}", Counted::Wall.in_words())),
            (self.properties.settable == Some(true))
                .then(|| "wall-clock time can jump, which would corrupt a duration".into()),
            varies.then(|| "its rate follows the frequency of the core".into()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Upper bound of the time that a fence before a read adds, in nanoseconds; 0 if reads are
    /// ordered without a fence.
    pub fn fence_ns(&self) -> f64 {
        if self.is_ordered() { 0.0 } else { FENCE_NS }
    }

    /// Upper bound of the apparent extra time, in nanoseconds, that the effect of the two reads on
    /// the core adds to one call (`single`) or to one batch.
    pub fn pipeline_ns(&self, single: bool) -> f64 {
        let bound = if single {
            PIPELINE_SINGLE_NS
        } else {
            PIPELINE_NS
        };
        match self.properties.reads_by {
            Some(ReadsBy::SystemCall) => bound + KERNEL_NS,
            _ => bound,
        }
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
}

/// Upper bound of the distance of the cost of a read from its median, in nanoseconds, at 95 %
/// confidence; `None` if unknown.
///
/// Two bounds are possible, and the smaller one is returned. The first is one step, if the
/// spread shows that enough reads are within one step of the median. The spread is an estimate,
/// so the share of reads that are farther from the median must be at most half of
/// 1 - confidence. The second bound is the distance of the 99th percentile from the median. It
/// also holds for reads below the median, because costs are skewed to the right.
fn variation_ns(row: &TimerRow, step_ns: f64, [cost_ns, cost_error_ns]: [f64; 2]) -> Option<f64> {
    let is_enough = |spread: &f64| OUTSIDE_MARGIN * (1.0 - spread) <= 1.0 - CONFIDENCE;
    let by_spread = value_of(row.spread).filter(is_enough).map(|_| step_ns);
    // The 99th percentile was measured with the reference clock, so it is uncertain by one of its
    // steps.
    let observed = row.observations.as_ref();
    let reference_step = observed.and_then(|observed| observed.reference_resolution_ns);
    let p99 = row.cost.as_ref().and_then(|cost| cost.p99_ns);
    let above = p99.map(|p99| p99 + reference_step.unwrap_or(0.0) - cost_ns);
    let by_tail = above.map(|above| above.max(cost_error_ns));
    by_spread.into_iter().chain(by_tail).reduce(f64::min)
}

/// The properties of the clock of this row, as found by experiment, otherwise as declared. If the
/// report lacks them, those of the native timer with the same id are used; for timers of agents they
/// are then unknown.
fn properties(row: &TimerRow, platform: &Platform) -> Properties {
    let own = || timers::find(&row.id).filter(|_| row.runtime == "native");
    let own = || own().map(|entry| entry.info.properties.into_owned());
    let mut known = row.properties.clone().or_else(own).unwrap_or_default();
    if let Some(verdicts) = &row.verdicts {
        let counts = verdicts.counts.found.or(verdicts.counts.claimed);
        known.counts = counts.or(known.counts);
        known.reads_by = match verdicts.read_path.path {
            None => known.reads_by,
            Some(Path::UserMode) => known.reads_by.filter(|by| *by != ReadsBy::SystemCall),
            // A trap to the hypervisor affects the core like a system call.
            Some(Path::SystemCall | Path::Trapped) => Some(ReadsBy::SystemCall),
        };
    }
    // Users of a runtime cannot put a fence before a read, so none is required of its timers.
    let is_hosted = row.runtime != "native";
    known.needs_fence = known.needs_fence.or(is_hosted.then_some(false));
    // Only invariant counters have a constant rate and agree between CPUs.
    let invariant = platform.invariant_counter().value;
    let is_cpu_counter = known.family == Some(Family::CpuCounter) && row.device.is_none();
    if is_cpu_counter && invariant != Some(true) {
        known.slewed = invariant.map(|_| true);
    }
    known
}

/// The reason why nothing can be measured with the timer of this row; `None` if it can be used.
fn refusal(row: &TimerRow) -> Option<String> {
    let what = match row.status {
        Status::Unavailable => "it cannot be read here",
        Status::Failed => "it failed",
        Status::Ok | Status::Unresolved => {
            let trust = row.trust.as_ref()?;
            let who = trust.part.as_deref().unwrap_or("it");
            return Some(format!("{who} {}", trust.defect?.in_words()));
        }
    };
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    let remedy = row.remedy.iter().map(|remedy| format!("; {remedy}"));
    Some(format!("{what}: {reason}{}", remedy.collect::<String>()))
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
            ("uncertainty of the rate", self.drift),
            ("effect of the reads on the core", self.pipeline),
            ("loop around the calls", self.frame),
        ]
    }
}

#[cfg(test)]
pub(super) mod tests;
