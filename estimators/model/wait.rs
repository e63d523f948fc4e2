//! A sleep primitive in a report: its granularity, its lateness and its cost.

use timers::waits::WaitActivity;

use super::row::deref_to_head;
use super::{Estimate, RowHead};

/// Conditions under which a sleep primitive was measured.
#[apply(wire, Default, Eq, Hash, PartialOrd, Ord)]
pub struct WaitConditions {
    /// The kernel's timer slack of the thread, in nanoseconds; null if unknown or not supported.
    pub slack_ns: Option<u64>,
    /// `other`, `fifo:PRIORITY` or `rr:PRIORITY`; by default the policy that the process was
    /// started with.
    pub policy: String,
    /// The CPU the process was pinned to; null if it was not pinned.
    pub cpu: Option<u32>,
}

/// A granularity: the step between the possible lengths of waits, or between the possible times of
/// wake-ups.
#[apply(wire, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// The length of the step, in nanoseconds.
    Step(Estimate),
    /// An upper limit of the step, in nanoseconds, because the variation of waits hides shorter
    /// steps.
    AtMost(f64),
}

impl Granularity {
    /// The step, if it was determined.
    pub fn step(self) -> Option<Estimate> {
        match self {
            Self::Step(known) => Some(known),
            Self::AtMost(_) => None,
        }
    }
}

/// Granularity of waits up to one length.
#[apply(wire, Copy)]
pub struct Steps {
    /// The longest request, in nanoseconds; requests were drawn at random up to this length.
    pub up_to_ns: u64,
    /// The unit to which requests are rounded; null if unknown.
    pub rounding: Option<Granularity>,
    /// The grid of absolute time on which wake-ups lie; null if unknown.
    pub grid: Option<Granularity>,
}

/// Lateness of waits of one length, or of the wake-ups of a periodic timer: their end minus the time at
/// which they were due, in nanoseconds. A quantile is null if there were too few waits.
#[apply(wire, Default)]
pub struct Lateness {
    /// The requested length, or the period, in nanoseconds.
    pub request_ns: u64,
    /// The number of waits or wake-ups.
    pub waits: u64,
    /// Median.
    pub p50_ns: Option<Estimate>,
    /// 99th percentile; requires 500 waits.
    pub p99_ns: Option<Estimate>,
    /// The largest.
    pub max_ns: f64,
    /// The largest error of a single lateness, in nanoseconds, due to the step, the read cost and
    /// the rate of the reference, and the time that the start of a periodic timer took.
    #[serde(default)]
    pub uncertainty_ns: f64,
    /// Share of waits that returned before the requested time, by more than `uncertainty_ns`. Such a
    /// wait is a defect of the primitive.
    pub early: f64,
    /// The largest earliness, in nanoseconds; 0 if no wait was early.
    pub earliest_ns: f64,
    /// CPU time of the waiting thread per wait, in nanoseconds, minus the cost of the loop; null if
    /// unknown.
    pub cpu_ns: Option<Estimate>,
}

/// The longest step of the clock that times waits, in nanoseconds, that counts as fine. *Judgement*:
/// waits that spin are late by less, those that sleep by fifty times as much.
pub const MAX_FINE_STEP_NS: f64 = 1_000.0;

/// The largest difference between the rates of two sound clocks, in ppm. *Judgement*.
pub const MAX_RATE_PPM: f64 = 200.0;

/// The most common requested length, in nanoseconds; shown first if it was measured.
pub const USUAL_WAIT_NS: f64 = 1e6;

impl Lateness {
    /// Whether all numbers are finite that every lateness has.
    pub fn is_finite(&self) -> bool {
        (self.max_ns + self.early + self.earliest_ns).is_finite()
    }

    /// The distance of the requested length from `ns`: the absolute logarithm of their ratio.
    pub fn distance(&self, ns: f64) -> f64 {
        (self.request_ns.max(1) as f64 / ns).ln().abs()
    }

    /// Returns the lateness of the length nearest to `ns`.
    pub fn nearest<'a>(all: impl Iterator<Item = &'a Self>, ns: f64) -> Option<&'a Self> {
        all.min_by(|a, b| a.distance(ns).total_cmp(&b.distance(ns)))
    }
}

/// All results for a sleep primitive.
#[apply(wire, Default)]
pub struct WaitFigures {
    /// Granularity at each scale of lengths, because it may grow with the length.
    pub steps: Vec<Steps>,
    /// Lateness by length.
    pub lateness: Vec<Lateness>,
    /// Increase of lateness with length, in ppm: an upper limit, because other interrupts may end a
    /// wait within the slack.
    pub proportional_ppm: Option<Estimate>,
    /// The number of fresh processes.
    pub processes: u32,
    /// The total number of waits.
    pub waits: u64,
}

impl WaitFigures {
    /// The share of its length, in ppm, by which every wait is shorter, or so much longer that no
    /// system delays it by as much: the primitive waits by another clock than the one that times it.
    /// `None` if some lengths deviate by another share, or if there are only two.
    pub fn other_clock_ppm(&self) -> Option<Estimate> {
        /// The largest delay of a wait by the system, in ppm of its length. *Definition*: poll and
        /// select of Linux, in a process with a low priority.
        const MAX_DELAY_PPM: f64 = 5_000.0;
        /// The largest half-width of the share, relative to it. *Judgement*: a delay by other threads
        /// varies more.
        const MAX_HALF_WIDTH: f64 = 0.1;
        let ppm = self.proportional_ppm?;
        let shortest = self.lateness.iter().min_by_key(|late| late.request_ns)?;
        let least = shortest.p50_ns?;
        let fits = |row: &Lateness| {
            let expected = 1e-6 * ppm.value * (row.request_ns - shortest.request_ns) as f64;
            row.p50_ns.is_some_and(|late| {
                let errors = late.half_width() + least.half_width();
                (late.value - least.value - expected).abs() <= 0.5 * expected.abs() + errors
            })
        };
        let is_other = (ppm.high < -MAX_RATE_PPM || ppm.low > MAX_DELAY_PPM)
            && ppm.half_width() < MAX_HALF_WIDTH * ppm.value.abs()
            && self.lateness.len() > 2
            && self.lateness.iter().all(fits);
        is_other.then_some(ppm)
    }

    /// The lateness of the waits that return early most often; `None` if they wait by another clock.
    pub fn earliest(&self) -> Option<&Lateness> {
        let rows = self.lateness.iter();
        let earliest = rows.max_by(|a, b| a.early.total_cmp(&b.early));
        earliest.filter(|_| self.other_clock_ppm().is_none())
    }
}

/// A sleep primitive under one set of conditions.
#[apply(wire)]
pub struct WaitRow {
    /// Identity and status.
    #[serde(flatten)]
    pub head: RowHead,
    /// The conditions.
    pub conditions: WaitConditions,
    /// Whether the thread blocks during the wait, runs a loop, or does both in turn.
    pub means: WaitActivity,
    /// The results; null if the status is not `ok`.
    pub figures: Option<WaitFigures>,
}

deref_to_head!(WaitRow);
