//! Raw observations of a timer: integers as they were read. Every analysis starts from a trace and
//! needs nothing else.

mod evidence;
mod packed;

use std::collections::BTreeMap;

pub use evidence::{Advance, Claims, Evidence, Order, Pair, ThreadActivity, Threads};
pub use packed::{Integers, IntervalGroups};
use smallvec::SmallVec;
pub use timers::waits::{Start, Wait};

use crate::model::{Context, Core, Family, Hertz, MIN_ALONE_WIDTH};

/// All observations of one timer.
#[apply(recorded, Default)]
pub struct Trace {
    /// Nanoseconds in a tick of the timer, declared or measured; `None` for a counter that stands
    /// still.
    pub ns_per_tick: Option<f64>,
    /// Relative uncertainty of a measured tick: half the width of its 95 % interval.
    #[serde(default)]
    #[serde(alias = "ns_per_tick_doubt")]
    pub ns_per_tick_uncertainty: f64,
    /// Whether the timer declares `ns_per_tick`; otherwise it was measured.
    pub declared: bool,
    /// The clock that the timer was compared with, and that timed its calls.
    pub reference: Reference,
    /// A finer clock that timed the calls in place of `reference`: the cycle counter of a device.
    #[optional]
    pub calls_reference: Option<Reference>,
    /// The core frequency to which all costs are scaled, in hertz: the median over the campaign.
    pub core_hz: Option<Hertz>,
    /// The width that a core of this kind has for itself: independent additions per cycle. `None` if
    /// it is unknown; then no run is known to have had its core to itself.
    #[optional]
    pub full_width: Option<f64>,
    /// The observations of each fresh process that was not disturbed.
    pub runs: Vec<Observations>,
    /// The number of processes whose observations are not in `runs` because they were disturbed.
    #[serde(alias = "spoilt")]
    pub discarded: u32,
    /// The observations of these disturbed processes. No result is computed from them; they are
    /// kept so that a later version of the program may use them.
    #[serde(default)]
    pub set_aside: Vec<Observations>,
    /// The number of `runs` that were disturbed throughout. They are among `runs` only if too few
    /// processes were undisturbed.
    #[serde(default, alias = "shared", skip_serializing_if = "is_zero")]
    pub disturbed_runs: u32,
    /// The number of windows of measurement that were dropped and repeated, by kind of disturbance.
    pub dropped: BTreeMap<String, u32>,
    /// The durations of pieces of work without and with a read in them: a list for each process
    /// that measured them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adds: Vec<Vec<InContext>>,
    /// Long observations of a timer whose steps are too long for `runs`.
    pub slow: Vec<Differences>,
    /// Evidence for the verdicts on the timer.
    pub evidence: Evidence,
}

#[cfg(feature = "serde")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Reads a count of calls or readings. Rejects a count that a host could not reach in any campaign,
/// so that sums of counts do not overflow.
#[cfg(feature = "serde")]
fn read_count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    use serde::de::{Deserialize, Error};

    /// The largest accepted count: the calls that the fastest host makes in some minutes.
    const MAX_COUNT: u64 = 1_000_000_000_000;
    let count = u64::deserialize(deserializer)?;
    if count > MAX_COUNT {
        let problem = format!("a count of {count}; no measurement exceeds {MAX_COUNT}");
        return Err(D::Error::custom(problem));
    }
    Ok(count)
}

impl Trace {
    /// Returns the clock that timed the calls of the timer.
    pub fn calls_reference(&self) -> &Reference {
        self.calls_reference.as_ref().unwrap_or(&self.reference)
    }

    /// Returns a text that lists the kinds of disturbance and how often each occurred, the most
    /// frequent first.
    pub fn disturbances(&self) -> String {
        let mut reasons: Vec<(&String, &u32)> = self.dropped.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons = reasons.into_iter();
        let reasons = reasons.map(|(reason, count)| format!("{reason} {count} times"));
        reasons.collect::<Vec<_>>().join(", ")
    }

    /// Returns all groups of intervals, including those of the long observations.
    pub fn groups(&self) -> impl Iterator<Item = Differences> {
        let of_runs = self.runs.iter().flat_map(|run| run.intervals.iter());
        of_runs.chain(self.slow.iter().cloned())
    }

    /// Returns whether a run had its core to itself; where no run tells, whether it was calm.
    pub fn is_undisturbed(&self, run: &Observations) -> bool {
        let core = |run: &Observations| run.core(self.full_width);
        match self.runs.iter().any(|run| core(run) != Core::Unknown) {
            true => core(run) == Core::Alone,
            false => run.is_calm(),
        }
    }
}

/// The clock that other timers are compared with, and its properties.
#[apply(recorded, Default)]
pub struct Reference {
    /// The id of the reference.
    pub id: String,
    /// The family of clocks that the reference belongs to.
    #[optional]
    pub family: Option<Family>,
    /// Nanoseconds in a tick of the reference.
    pub ns_per_tick: f64,
    /// Whether the reference advances with real time, as clocks do; simulated time does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_time: bool,
    /// The resolution of the reference, in its ticks; 1 if it is unknown.
    pub step: f64,
    /// The upper limit of an unknown resolution, in ticks; `None` if the resolution is known.
    #[optional]
    pub step_at_most: Option<f64>,
    /// Nanoseconds in a unit of work.
    pub ns_per_work: f64,
    /// The relative uncertainty of `ns_per_tick` of a raw counter; 0 if the tick is declared.
    #[serde(default)]
    #[serde(alias = "rate_doubt")]
    pub rate_uncertainty: f64,
    /// The largest deviation of the reference from the kernel's clock during the campaign, minus
    /// all uncertainties, in nanoseconds. 0 if the uncertainties explain the deviation, or if the
    /// reference is no raw counter.
    #[serde(default)]
    #[serde(alias = "strayed_ns")]
    pub unexplained_deviation_ns: f64,
}

impl Reference {
    /// Returns the largest error of a reading, in nanoseconds: the resolution of the reference, or
    /// its upper limit.
    pub fn uncertainty_ns(&self) -> f64 {
        self.step_at_most.unwrap_or(self.step) * self.ns_per_tick
    }

    /// Returns whether the second of two readings shows that the reference stepped back.
    pub fn steps_back(&self, from: i64, to: i64) -> bool {
        self.ns(from, to) < -self.uncertainty_ns()
    }

    /// Returns the interval between two readings of the reference, in nanoseconds. The subtraction
    /// wraps, because the reference may be a counter that has passed its largest value.
    pub fn ns(&self, from: i64, to: i64) -> f64 {
        to.wrapping_sub(from) as f64 * self.ns_per_tick
    }
}

/// Differences between two reads of the timer with one amount of work between them.
#[apply(recorded, Default)]
pub struct Differences {
    /// Units of work.
    pub work: u64,
    /// Second reading minus first, in ticks of the timer. Single values are stored inline, not on
    /// the heap, because most of the thousands of lists of a process have only one.
    pub deltas: SmallVec<[i64; 2]>,
}

impl Differences {
    /// Returns the intervals in units of several ticks, which they are multiples of.
    pub fn in_units(&self, ticks: i64) -> Self {
        Self {
            work: self.work,
            deltas: self.deltas.iter().map(|delta| delta / ticks).collect(),
        }
    }
}

/// Batches of calls, each timed by two reads of the reference.
#[apply(recorded, Default)]
pub struct Batches {
    /// Calls in a batch.
    #[serde(deserialize_with = "read_count")]
    pub calls: u64,
    /// Second reading of the reference minus first, in its ticks, for each batch.
    pub deltas: Integers,
    /// The core frequency during the batches, in hertz.
    pub core_hz: Option<Hertz>,
    /// Whether other threads used the core or its frequency changed during the batches, in every
    /// repetition of the measurement.
    #[serde(alias = "restless")]
    pub unstable: bool,
}

/// Durations of a sequence of pieces of work, without reads and with a read in the middle of each
/// piece.
#[apply(recorded)]
pub struct InContext {
    /// The kind of work.
    pub context: Context,
    /// Pieces in a sequence.
    pub turns: u32,
    /// Durations of a sequence without reads and with reads, in ticks of the reference.
    pub pairs: Vec<[i64; 2]>,
}

/// Successive readings of the timer.
#[apply(recorded, Default)]
pub struct Readings {
    /// Readings in ticks of the timer.
    pub values: Integers,
    /// The core frequency during the readings, in hertz.
    pub core_hz: Option<Hertz>,
    /// Whether other threads used the core or its frequency changed during the readings, in every
    /// repetition of the measurement.
    #[serde(alias = "restless")]
    pub unstable: bool,
}

impl Observations {
    /// Returns whether it had its core to itself, whose full width is `full_width`.
    pub fn core(&self, full_width: Option<f64>) -> Core {
        match self.width().zip(full_width) {
            None => Core::Unknown,
            Some((width, full)) if self.is_calm() && width >= MIN_ALONE_WIDTH * full => Core::Alone,
            Some(_) => Core::Shared,
        }
    }

    /// The least width of the core before and after the measurements; `None` if unknown.
    pub fn width(&self) -> Option<f64> {
        self.place?.width
    }

    /// Returns whether the costs were measured while no other thread used the core and its
    /// frequency stayed the same.
    pub fn is_calm(&self) -> bool {
        !(self.bracket.unstable
            || self.singles.unstable
            || self.batches.unstable
            || self.readings.unstable)
    }

    /// Returns the run with this core frequency, in hertz, in all its measurements; `unstable`
    /// marks them all as disturbed.
    pub fn with_core_state(mut self, core_hz: Option<Hertz>, unstable: bool) -> Self {
        let Self {
            bracket,
            singles,
            batches,
            small_batches,
            medium_batches,
            floor,
            ..
        } = &mut self;
        for batches in [
            bracket,
            singles,
            batches,
            small_batches,
            medium_batches,
            floor,
        ] {
            (batches.core_hz, batches.unstable) = (core_hz, unstable);
        }
        (self.readings.core_hz, self.readings.unstable) = (core_hz, unstable);
        self
    }
}

/// The observations of one process.
#[apply(recorded, Default)]
pub struct Observations {
    /// Differences between two reads with growing and with random amounts of work.
    pub intervals: IntervalGroups,
    /// Successive readings.
    pub readings: Readings,
    /// The bracket: two reads of the reference with nothing between them, recorded as batches of 0
    /// calls.
    pub bracket: Batches,
    /// Single calls.
    pub singles: Batches,
    /// Batches of many calls.
    pub batches: Batches,
    /// Many batches of few calls, for the skewness of the cost of a call.
    #[serde(alias = "few")]
    pub small_batches: Batches,
    /// Batches of more calls than in `small_batches`, for the variance of the cost of a call.
    #[serde(alias = "some")]
    pub medium_batches: Batches,
    /// Batches of calls of a function that does nothing, as many calls a batch as in `batches`;
    /// empty if the host cannot measure such calls.
    pub floor: Batches,
    /// Numbers of calls of the timer between two of its readings, with how far the timer and the
    /// reference moved: without these calls, and with them. Empty unless successive readings move
    /// further than their cost explains.
    #[serde(default)]
    pub calls_between: Vec<(u64, [[i64; 2]; 2])>,
    /// The number of windows that were kept although they were disturbed in every repetition.
    #[serde(default)]
    pub disturbed: u32,
    /// Where and next to what it was measured; `None` in traces of earlier versions.
    #[serde(default)]
    pub place: Option<Place>,
}

/// The process that made [`Observations`], its CPU, and the width of its core.
#[apply(recorded, Copy, Default)]
pub struct Place {
    /// The number of the process in the campaign, from 0, in the order in which they were started.
    /// Runs of several timers have the same number if one process measured them all.
    pub process: u32,
    /// The CPU, if the process was bound to one.
    pub cpu: Option<u32>,
    /// The least width of the core before and after the measurements: independent additions per
    /// cycle, which another thread on the core reduces. `None` if it was not measured.
    pub width: Option<f64>,
}

/// Observations of one fresh process of a sleep primitive.
#[apply(recorded, Default)]
pub struct WaitObservations {
    /// Executions of the loop that measures a wait, with no wait in it; empty if the host cannot
    /// execute that loop.
    pub empty: Vec<Wait>,
    /// Waits of chosen lengths, including 1 ns, in the order of execution.
    pub lengths: Vec<Wait>,
    /// Scans: lists of waits of random lengths up to a limit, which differs from scan to scan.
    pub scans: Vec<Vec<Wait>>,
    /// Long waits, made while other sleep primitives waited too.
    pub long: Vec<Wait>,
}

/// All observations of a sleep primitive: a function that waits for a given time.
#[apply(recorded, Default)]
pub struct WaitTrace {
    /// The clock that measured the waits.
    pub reference: Reference,
    /// One entry for each fresh process.
    pub runs: Vec<WaitObservations>,
}

impl WaitTrace {
    /// Returns the number of waits during which the reference stepped back, as they ended before they
    /// began, and the longest step, in nanoseconds. `None` if it did not step back.
    pub fn backward_steps(&self) -> Option<(usize, f64)> {
        let all = self.runs.iter().flat_map(WaitObservations::waits);
        let stepped = all.filter(|wait| self.reference.steps_back(wait.before, wait.after));
        let steps = stepped.map(|wait| -wait.late_ns(self.reference.ns_per_tick));
        let steps: Vec<f64> = steps.collect();
        Some((steps.len(), steps.iter().copied().reduce(f64::max)?))
    }
}

impl WaitObservations {
    /// Returns all waits, including the empty loops.
    pub fn waits(&self) -> impl Iterator<Item = &Wait> {
        let lists = [&self.empty, &self.lengths, &self.long];
        lists.into_iter().chain(&self.scans).flatten()
    }
}

/// Observations of one fresh process of a periodic timer.
#[apply(recorded, Default)]
pub struct PeriodObservations {
    /// For each wake-up, the reading of the reference, in its ticks, and the number of expirations
    /// that the timer reports.
    pub wakeups: Vec<(i64, u64)>,
    /// When the timer was armed.
    #[serde(default, skip_serializing_if = "Start::is_unknown")]
    pub start: Start,
    /// The CPU time of all wake-ups, in nanoseconds.
    #[optional]
    pub cpu_ns: Option<i64>,
    /// How often signals ended its waits early.
    #[serde(default)]
    pub signals: u32,
    /// The indices of the wake-ups, from 0, after which an earlier version did not wait for the timer
    /// for 3.5 periods, on purpose (a *stall*).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<u32>,
}

/// All observations of a periodic timer.
#[apply(recorded, Default)]
pub struct PeriodTrace {
    /// The clock that measured the wake-ups.
    pub reference: Reference,
    /// The requested period, in nanoseconds.
    pub period_ns: u64,
    /// One entry for each fresh process.
    pub runs: Vec<PeriodObservations>,
}
