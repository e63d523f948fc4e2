//! The agent protocol, version 1: one JSON object a line, one answer a request, in order.
//!
//! Keys that are not known here are ignored, so that agents may say more than they are asked for.

mod answers;
mod hello;

use serde::{Deserialize, Serialize};
use timers::During;

pub use self::answers::{
    Adds, Advanced, Advances, Arms, Around, Batches, Called, Comparisons, Handoffs,
    HandoffsBetween, Intervals, Ordered, PackedRun, Periods, Readings, Refusal, Steps, Together,
    Waits,
};
pub use self::hello::{Hello, HostedTimer, HostedWaiter, Missing, Runtime};
use crate::hosts::step_search::StepQuestion;
use crate::limits::MOST_TIMERS;
use crate::model::Context;

/// The version that is spoken here.
pub const VERSION: u32 = 1;

/// What the prober may ask besides `hello`, by its name on the wire.
pub const OPS: [&str; 16] = [
    "intervals",
    "batches",
    "readings",
    "order",
    "handoffs",
    "handoffs-between",
    "comparisons",
    "advance",
    "calls",
    "steps",
    "together",
    "advances",
    "adds",
    "waits",
    "arms",
    "periods",
];

/// What a runner sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Request {
    /// Who are you, and what do you host?
    Hello {
        /// The version that the runner speaks.
        protocol: u32,
    },
    /// For each amount of work, `repeat` times: read, work, read.
    Intervals {
        /// The id of the timer.
        timer: String,
        /// Units of work, a row of the answer for each.
        work: Vec<u64>,
        /// Intervals in a row.
        repeat: u32,
    },
    /// `repeat` times: read the reference, call the timer `calls` times, read the reference.
    Batches {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Calls in a batch.
        calls: u64,
        /// Batches.
        repeat: u32,
        /// Whether to tell what the host saw of itself right around them; agents may ignore it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    },
    /// Successive readings.
    Readings {
        /// The id of the timer.
        timer: String,
        /// How many.
        count: u32,
        /// As of batches.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    },
    /// All that a process is asked of the calls of a timer, and what the host saw of itself right
    /// around that.
    Calls {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Nanoseconds in a tick of the reference.
        ns_per_tick: f64,
        /// The step of the reference, in its ticks.
        step: f64,
        /// Whether the timer that reads nothing is called as well.
        floor: bool,
    },
    /// All intervals by which a process looks for the step of a timer.
    Steps {
        /// The id of the timer.
        timer: String,
        /// What is known of it, and how far to look.
        #[serde(flatten)]
        question: StepQuestion,
    },
    /// Successive readings, of which only the order is told.
    Order {
        /// The id of the timer.
        timer: String,
        /// How many.
        count: u32,
    },
    /// Readings of two threads that take turns.
    Handoffs {
        /// The id of the timer.
        timer: String,
        /// How many pairs.
        count: u32,
    },
    /// Readings of two threads that take turns, on chosen CPUs, of several pairs at once.
    #[serde(rename = "handoffs-between")]
    HandoffsBetween {
        /// The id of the timer.
        timer: String,
        /// The CPUs of each pair.
        cpus: Vec<[u32; 2]>,
        /// How many handoffs a pair.
        count: u32,
    },
    /// Readings of the timer between two of the reference.
    Comparisons {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Units of work between one comparison and the next.
        work: u64,
        /// How many.
        count: u32,
    },
    /// The same of several timers in turn, in rounds: of several readings of each the one that took
    /// least.
    Together {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// Readings of a timer in a round, of which the tightest is told.
        repeat: u32,
        /// Units of work between one round and the next.
        work: u64,
        /// How many rounds.
        count: u32,
    },
    /// How far the timer and the reference move together.
    Advance {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// What the calling thread does meanwhile.
        #[serde(with = "DuringName")]
        during: During,
        /// For how many milliseconds.
        ms: u32,
    },
    /// The same of several timers, in one span of time.
    Advances {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// What the calling thread does meanwhile.
        #[serde(with = "DuringName")]
        during: During,
        /// For how many milliseconds.
        ms: u32,
    },
    /// For each kind of code, `repeat` times: how long a row of it takes without reads, and with
    /// them.
    Adds {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// What code, a row of the answer for each.
        contexts: Vec<Context>,
        /// Pieces of it in a row, with one read each.
        turns: u32,
        /// Pairs of rows.
        repeat: u32,
    },
    /// For each length, `repeat` waits.
    Waits {
        /// The id of the timer that waits.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// How long to wait, in nanoseconds, a row of the answer for each.
        request_ns: Vec<u64>,
        /// Waits in a row.
        repeat: u32,
        /// A random time of at most this many nanoseconds passes before each wait; agents may
        /// ignore it.
        #[serde(default)]
        pause_ns: u64,
        /// The answer ends with the first wait that is later than this, in nanoseconds; agents may
        /// ignore it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        break_ns: Option<u64>,
    },
    /// `repeat` times: read the reference, arm the timer, cancel it, read the reference.
    Arms {
        /// The id of the timer that waits.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Pairs of arming and cancelling.
        repeat: u32,
    },
    /// Wake-ups of a periodic timer.
    Periods {
        /// The id of the timer that waits.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// The period, in nanoseconds.
        period_ns: u64,
        /// How many wake-ups.
        count: u32,
        /// The wake-ups, counted from 0, after which the thread computes for 3.5 periods.
        stalls: Vec<u32>,
    },
}

impl Request {
    /// Its name on the wire.
    #[must_use]
    pub fn op(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Intervals { .. } => "intervals",
            Self::Batches { .. } => "batches",
            Self::Readings { .. } => "readings",
            Self::Order { .. } => "order",
            Self::Handoffs { .. } => "handoffs",
            Self::HandoffsBetween { .. } => "handoffs-between",
            Self::Comparisons { .. } => "comparisons",
            Self::Calls { .. } => "calls",
            Self::Steps { .. } => "steps",
            Self::Together { .. } => "together",
            Self::Advance { .. } => "advance",
            Self::Advances { .. } => "advances",
            Self::Adds { .. } => "adds",
            Self::Waits { .. } => "waits",
            Self::Arms { .. } => "arms",
            Self::Periods { .. } => "periods",
        }
    }
}

/// An integer as JSON writes the longest one, with what parts it from the next, and room for
/// blanks.
const BYTES_A_VALUE: u64 = 24;
/// What stands around the integers, among it what disturbed them.
const BYTES_AROUND: u64 = 64 << 10;
/// More integers than a process tells at once of calls, or of intervals.
const MOST_CALLED: u64 = 20_000;
/// For the introduction: four kilobytes a timer.
const LONGEST_HELLO: u64 = MOST_TIMERS as u64 * (4 << 10);

impl Request {
    /// How many integers the answer holds at most, or values as large.
    #[must_use]
    pub fn values(&self) -> u64 {
        match self {
            Self::Hello { .. } => 0,
            // A row without integers still takes its brackets.
            Self::Intervals { work, repeat, .. } => {
                (work.len() as u64).saturating_mul((*repeat).max(1).into())
            }
            Self::Batches { repeat, .. } => (*repeat).into(),
            Self::Readings { count, .. } => (*count).into(),
            Self::Order { .. } => 4,
            Self::Handoffs { count, .. } => 2 * u64::from(*count),
            Self::HandoffsBetween { cpus, count, .. } => {
                2 * u64::from((*count).max(1)).saturating_mul(cpus.len() as u64)
            }
            Self::Comparisons { count, .. } => 3 * u64::from(*count),
            Self::Calls { .. } | Self::Steps { .. } => MOST_CALLED,
            Self::Together { timers, count, .. } => {
                3 * u64::from((*count).max(1)).saturating_mul(timers.len() as u64)
            }
            Self::Advance { .. } => 2,
            Self::Advances { timers, .. } => 2 * timers.len() as u64,
            Self::Adds {
                contexts, repeat, ..
            } => 2 * u64::from((*repeat).max(1)).saturating_mul(contexts.len() as u64),
            Self::Waits {
                request_ns, repeat, ..
            } => 4 * u64::from((*repeat).max(1)).saturating_mul(request_ns.len() as u64),
            Self::Arms { repeat, .. } => (*repeat).into(),
            Self::Periods { count, .. } => 2 * u64::from(*count),
        }
    }

    /// Bytes that no answer needs more of.
    #[must_use]
    pub fn longest_answer(&self) -> u64 {
        match self {
            Self::Hello { .. } => LONGEST_HELLO,
            _ => self
                .values()
                .saturating_mul(BYTES_A_VALUE)
                .saturating_add(BYTES_AROUND),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "During", rename_all = "kebab-case")]
enum DuringName {
    Spin,
    Sleep,
    OtherSpin,
}

/// Any answer, as an agent sends it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "each variant is what its content is")]
pub enum Reply {
    Hello(Hello),
    Intervals(Intervals),
    Batches(Batches),
    Readings(Readings),
    Called(Box<Called>),
    Order(Ordered),
    Handoffs(Handoffs),
    HandoffsBetween(HandoffsBetween),
    Comparisons(Comparisons),
    Together(Together),
    Advance(Advanced),
    Advances(Advances),
    Adds(Adds),
    Steps(Box<Steps>),
    Waits(Waits),
    Arms(Arms),
    Periods(Periods),
    Refusal(Refusal),
}

#[cfg(test)]
mod tests;
