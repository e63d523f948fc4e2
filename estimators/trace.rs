//! Raw observations: integers, saved as they were read. All analysis begins here and needs nothing
//! else.

mod evidence;
mod stored;

use std::collections::BTreeMap;

pub use evidence::{
    Claims, CounterEvidence, CounterLook, Evidence, Handed, Meanwhile, Moved, Order, OtherPath,
    Pair, Reads, Threads,
};
use serde::de::{Deserialize, Deserializer, Error};
use smallvec::SmallVec;
pub use stored::{PackedRun, Stored};

use crate::model::{Context, Family};

/// Everything that was observed of one timer.
#[apply(recorded)]
#[derive(Default)]
pub struct Trace<R = Run> {
    /// Nanoseconds in a tick of the timer, declared or found from its rate; unknown for a counter
    /// that stands still.
    pub ns_per_tick: Option<f64>,
    /// What a tick that was not declared is known to, as a share; half of its 95 % interval.
    #[serde(default)]
    #[serde(rename = "ns_per_tick_doubt")]
    pub ns_per_tick_uncertainty: f64,
    /// Whether `ns_per_tick` was declared by the timer.
    pub declared: bool,
    /// The timer that timed the invocations.
    pub reference: Reference,
    /// The frequency of the core that all costs are reported at, in hertz: the median of what was
    /// seen during the campaign.
    pub core_hz: Option<f64>,
    /// One entry a fresh process that could measure undisturbed.
    pub runs: Vec<R>,
    /// Processes that could not.
    #[serde(rename = "spoilt")]
    pub discarded: u32,
    /// What these observed: no figure is drawn from it, but a later version may judge it again.
    #[serde(default)]
    pub set_aside: Vec<R>,
    /// Processes among the runs that were disturbed throughout: they count where undisturbed ones
    /// are too few.
    #[serde(default, skip_serializing_if = "none")]
    pub shared: u32,
    /// Windows that were dropped and taken again, by what disturbed them.
    pub dropped: BTreeMap<String, u32>,
    /// How long code around a read takes without one and with one: a list a process that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adds: Vec<Vec<InContext>>,
    /// Long observations of a timer whose steps are too long for the other runs.
    pub slow: Vec<Intervals>,
    /// What tells whether it can be trusted.
    pub evidence: Evidence,
}

fn none(count: &u32) -> bool {
    *count == 0
}

/// Refuses a count that would take a host longer than any campaign lasts; sums of the rest fit.
fn plausible<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    /// Some minutes of the fastest host.
    const MOST: u64 = 1_000_000_000_000;
    let count = u64::deserialize(deserializer)?;
    if count > MOST {
        let problem = format!("a count of {count}, where {MOST} is more than is ever asked for");
        return Err(D::Error::custom(problem));
    }
    Ok(count)
}

impl<R> Trace<R> {
    /// What disturbed windows and how often, the most frequent first.
    pub fn disturbances(&self) -> String {
        let mut reasons: Vec<(&String, &u32)> = self.dropped.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons = reasons.into_iter();
        let reasons = reasons.map(|(reason, count)| format!("{reason} {count} times"));
        reasons.collect::<Vec<_>>().join(", ")
    }
}

/// What is known of the reference.
#[apply(recorded)]
#[derive(Default)]
pub struct Reference {
    /// Its id.
    pub id: String,
    /// What it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Nanoseconds in one of its ticks.
    pub ns_per_tick: f64,
    /// Whether it was seen to move as the kernel's clock does while nothing is asked, as a clock
    /// does and the time of a simulated world does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_time: bool,
    /// Its resolution, in its ticks; a single tick where it could not be determined.
    pub step: f64,
    /// Where it could not be determined: what it is at most, in ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_at_most: Option<f64>,
    /// Nanoseconds in a unit of work.
    pub ns_per_work: f64,
    /// The rate of a raw counter is true to within this share of it; zero where the unit is
    /// declared.
    #[serde(default)]
    #[serde(rename = "rate_doubt")]
    pub rate_uncertainty: f64,
    /// How far a raw counter strayed from the clock of the kernel during the campaign, in
    /// nanoseconds, beyond all uncertainty.
    #[serde(default)]
    pub strayed_ns: f64,
}

impl Reference {
    /// The longest that its step may be, in nanoseconds: what a reading of it is uncertain by.
    pub fn uncertainty_ns(&self) -> f64 {
        self.step_at_most.unwrap_or(self.step) * self.ns_per_tick
    }

    /// What lies between two of its readings, in nanoseconds. The subtraction wraps, as counters
    /// may.
    pub fn ns(&self, from: i64, to: i64) -> f64 {
        to.wrapping_sub(from) as f64 * self.ns_per_tick
    }
}

/// Intervals with one amount of work between two reads, in ticks of the timer.
#[apply(recorded)]
#[derive(Default)]
pub struct Intervals {
    /// Units of work.
    pub work: u64,
    /// Second reading minus first. Most amounts are tried once, in hundreds of thousands: kept in
    /// place, not on the heap.
    pub deltas: SmallVec<[i64; 2]>,
}

/// Batches of calls between two reads of the reference, in ticks of the reference.
#[apply(recorded)]
#[derive(Default)]
pub struct Batches {
    /// Calls in a batch.
    #[serde(deserialize_with = "plausible")]
    pub calls: u64,
    /// Second reading of the reference minus first.
    pub deltas: Vec<i64>,
    /// The frequency of the core meanwhile, in hertz.
    pub core_hz: Option<f64>,
    /// Whether the core was shared or changed its frequency meanwhile, and no better window could
    /// be had.
    #[serde(rename = "restless")]
    pub unstable: bool,
}

/// Rows of pieces of work, without reads and with a read in the middle of each piece.
#[apply(recorded)]
pub struct InContext {
    /// What work.
    pub context: Context,
    /// Pieces in a row.
    pub turns: u32,
    /// How long a row takes without reads and with them, in ticks of the reference.
    pub pairs: Vec<[i64; 2]>,
}

/// Successive readings of the timer.
#[apply(recorded)]
#[derive(Default)]
pub struct Readings {
    /// In its ticks.
    pub values: Vec<i64>,
    /// The frequency of the core meanwhile, in hertz.
    pub core_hz: Option<f64>,
    /// Whether the core was shared or changed its frequency meanwhile, and no better window could
    /// be had.
    #[serde(rename = "restless")]
    pub unstable: bool,
}

impl Run {
    /// Whether its costs were measured on a core of its own, at one frequency.
    pub fn is_calm(&self) -> bool {
        !(self.bracket.unstable
            || self.singles.unstable
            || self.batches.unstable
            || self.readings.unstable)
    }

    /// With what was seen of the core while all of it was measured.
    pub fn seen(mut self, core_hz: Option<f64>, unstable: bool) -> Self {
        let Self {
            bracket,
            singles,
            batches,
            few,
            some,
            floor,
            ..
        } = &mut self;
        for batches in [bracket, singles, batches, few, some, floor] {
            (batches.core_hz, batches.unstable) = (core_hz, unstable);
        }
        (self.readings.core_hz, self.readings.unstable) = (core_hz, unstable);
        self
    }
}

/// What one process observed.
#[apply(recorded)]
#[derive(Default)]
pub struct Run {
    /// Intervals with growing and random work.
    pub intervals: Vec<Intervals>,
    /// Successive readings.
    pub readings: Readings,
    /// The bracket itself: no calls.
    pub bracket: Batches,
    /// Single calls.
    pub singles: Batches,
    /// Many calls.
    pub batches: Batches,
    /// Few calls, many times: enough to tell how skewed one is.
    pub few: Batches,
    /// Some calls: enough to tell how much one varies, and soon over.
    pub some: Batches,
    /// As many calls of a timer that reads nothing; empty where the host has none.
    pub floor: Batches,
    /// Windows that were kept although something disturbed them, as it did at each repetition.
    #[serde(default)]
    pub disturbed: u32,
    /// Windows that were dropped and taken again: no figure is drawn from them either.
    #[serde(default)]
    pub dropped: Vec<DroppedWindow>,
}

/// A window that something disturbed.
#[apply(recorded)]
#[derive(Default)]
pub struct DroppedWindow {
    /// Calls in a batch; null where successive readings were taken.
    pub calls: Option<u64>,
    /// What was answered: lengths of batches in ticks of the reference, or readings in ticks of the
    /// timer.
    pub values: Vec<i64>,
}

/// One wait, in ticks of the reference.
#[apply(recorded)]
#[derive(Copy, Default)]
pub struct Wait {
    /// What was asked for, in nanoseconds.
    pub request_ns: u64,
    /// The reference before the call.
    pub before: i64,
    /// The reference after the call.
    pub after: i64,
    /// CPU time of the waiting thread, in nanoseconds, what reading it costs included.
    pub cpu_ns: Option<i64>,
    /// How long the thread was ready to run and had no CPU, in nanoseconds.
    pub run_delay_ns: Option<i64>,
}

impl Wait {
    /// How long it took, in nanoseconds. The subtraction wraps, as counters may.
    pub fn took_ns(&self, ns_per_tick: f64) -> f64 {
        self.after.wrapping_sub(self.before) as f64 * ns_per_tick
    }

    /// How much longer than asked for it took, in nanoseconds.
    pub fn late_ns(&self, ns_per_tick: f64) -> f64 {
        self.took_ns(ns_per_tick) - self.request_ns as f64
    }
}

/// What one fresh process observed of a timer that waits.
#[apply(recorded)]
#[derive(Default)]
pub struct WaitRun {
    /// The loop around a wait with nothing in it; empty where the host has no such timer.
    pub empty: Vec<Wait>,
    /// Waits of chosen lengths, 0 and 1 ns among them, in the order in which they were made.
    pub lengths: Vec<Wait>,
    /// Waits of random lengths, a list for each scale of lengths.
    pub scans: Vec<Vec<Wait>>,
    /// Long waits, made while other timers waited too.
    pub long: Vec<Wait>,
    /// Pairs of arming and cancelling, in ticks of the reference.
    pub arms: Vec<i64>,
}

/// What was observed of a timer that waits.
#[apply(recorded)]
#[derive(Default)]
pub struct WaitTrace {
    /// The clock that timed the waits.
    pub reference: Reference,
    /// Whether the thread blocks, at least at first: only then is run-queue delay part of lateness.
    pub blocks: bool,
    /// One entry a fresh process.
    pub runs: Vec<WaitRun>,
}

/// What one fresh process observed of a periodic timer.
#[apply(recorded)]
#[derive(Default)]
pub struct PeriodRun {
    /// The reference at each wake-up, in its ticks, and how many expirations the timer says that it
    /// stands for.
    pub wakeups: Vec<(i64, u64)>,
    /// The wake-ups, counted from 0, after which a stall of 3.5 periods was injected.
    pub stalls: Vec<u32>,
}

/// What was observed of a periodic timer.
#[apply(recorded)]
#[derive(Default)]
pub struct PeriodTrace {
    /// The clock that timed the wake-ups.
    pub reference: Reference,
    /// The period that was asked for, in nanoseconds.
    pub period_ns: u64,
    /// One entry a fresh process.
    pub runs: Vec<PeriodRun>,
}
