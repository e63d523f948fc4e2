//! The agent protocol, version 1: one JSON object a line, one answer a request, in order.
//!
//! Keys that are not known here are ignored, so that agents may say more than they are asked for.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use timers::waits::{Answers, WaitEntry};
use timers::{During, Entry, Unavailable};

use crate::limits::MOST_TIMERS;
use crate::model::{Means, Properties};

/// The version that is spoken here.
pub const VERSION: u32 = 1;

/// What the prober may ask besides `hello`, by its name on the wire.
pub const OPS: [&str; 10] = [
    "intervals",
    "batches",
    "readings",
    "handoffs",
    "handoffs-between",
    "comparisons",
    "advance",
    "waits",
    "arms",
    "periods",
];

/// What a runner sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    },
    /// Successive readings.
    Readings {
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
        /// A random time of at most so many nanoseconds passes before each wait; agents may ignore it.
        #[serde(default)]
        pause_ns: u64,
        /// The answer ends with the first wait that is later than this by so many nanoseconds; agents may ignore it.
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
            Self::Handoffs { .. } => "handoffs",
            Self::HandoffsBetween { .. } => "handoffs-between",
            Self::Comparisons { .. } => "comparisons",
            Self::Advance { .. } => "advance",
            Self::Waits { .. } => "waits",
            Self::Arms { .. } => "arms",
            Self::Periods { .. } => "periods",
        }
    }
}

/// An integer as JSON writes the longest one, with what parts it from the next, and room for blanks.
const BYTES_A_VALUE: u64 = 24;
/// What stands around the integers, among it what disturbed them.
const BYTES_AROUND: u64 = 64 << 10;
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
            Self::Handoffs { count, .. } => 2 * u64::from(*count),
            Self::HandoffsBetween { cpus, count, .. } => {
                2 * u64::from((*count).max(1)).saturating_mul(cpus.len() as u64)
            }
            Self::Comparisons { count, .. } => 3 * u64::from(*count),
            Self::Advance { .. } => 2,
            Self::Waits { request_ns, repeat, .. } => {
                4 * u64::from((*repeat).max(1)).saturating_mul(request_ns.len() as u64)
            }
            Self::Arms { repeat, .. } => (*repeat).into(),
            Self::Periods { count, .. } => 2 * u64::from(*count),
        }
    }

    /// Bytes that no answer needs more of.
    #[must_use]
    pub fn longest_answer(&self) -> u64 {
        match self {
            Self::Hello { .. } => LONGEST_HELLO,
            _ => self.values().saturating_mul(BYTES_A_VALUE).saturating_add(BYTES_AROUND),
        }
    }
}

/// As many elements as an introduction may have, and not one more: the rest is not even read.
fn not_too_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct AFew<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for AFew<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
            write!(formatter, "a list of at most {MOST_TIMERS}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(next) = sequence.next_element()? {
                if all.len() == MOST_TIMERS {
                    return Err(A::Error::custom(format!("more than {MOST_TIMERS} timers are not taken")));
                }
                all.push(next);
            }
            Ok(all)
        }
    }

    deserializer.deserialize_seq(AFew(std::marker::PhantomData))
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "During", rename_all = "kebab-case")]
enum DuringName {
    Spin,
    Sleep,
    OtherSpin,
}

/// The answer to `hello`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version that the agent speaks.
    pub protocol: u32,
    /// What hosts the timers.
    pub runtime: Runtime,
    /// The timers that can be asked for.
    #[serde(deserialize_with = "not_too_many")]
    pub timers: Vec<HostedTimer>,
    /// The questions that can be asked.
    #[serde(deserialize_with = "not_too_many")]
    pub ops: Vec<String>,
    /// The timers that wait; most agents have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_too_many")]
    pub waiters: Vec<HostedWaiter>,
    /// Timers the agent knows but cannot read here. Not part of the protocol: most agents leave it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_too_many")]
    pub unavailable: Vec<Missing>,
}

/// What hosts the timers of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// As in `OpenJDK`.
    pub name: String,
    /// As in `17.0.15`.
    pub version: String,
}

/// A timer that an agent hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostedTimer {
    /// The id by which requests name it.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Nanoseconds in its tick; null for a raw counter, whose rate has to be found.
    pub ns_per_tick: Option<f64>,
    /// Whether the agent recommends it for timing the others.
    #[serde(default)]
    pub reference: bool,
    /// What its documentation says that it is; nothing that most agents say.
    #[serde(flatten)]
    pub properties: Properties,
    /// The resolution that its platform declares for it, in nanoseconds; nothing that most agents say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_ns: Option<f64>,
    /// What a table that others know calls it, as in `NANO`. Optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legend: Option<String>,
}

impl HostedTimer {
    /// A timer of this program.
    #[must_use]
    pub fn native(entry: &Entry) -> Self {
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            ns_per_tick: (entry.ns_per_tick)(),
            reference: false,
            properties: entry.info.properties.into(),
            resolution_ns: (entry.declared_resolution)(),
            legend: None,
        }
    }
}

/// A timer of an agent that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostedWaiter {
    /// The id by which requests name it; no timer that is read has the same.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Which of the questions `waits`, `arms` and `periods` it answers.
    #[serde(deserialize_with = "not_too_many")]
    pub ops: Vec<String>,
    /// What the calling thread does while it waits.
    #[serde(default)]
    pub means: Means,
    /// Nanoseconds of the unit that a request is told in; null where nobody declares it.
    #[serde(default)]
    pub unit_ns: Option<f64>,
    /// Whether the kernel's timer slack applies to it; null where nobody declares it.
    #[serde(default)]
    pub slack: Option<bool>,
}

impl HostedWaiter {
    /// A timer of this program.
    #[must_use]
    pub fn native(entry: &WaitEntry) -> Self {
        let Answers { waits, arms, periods } = entry.answers;
        let ops = [("waits", waits), ("arms", arms), ("periods", periods)];
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            ops: ops.into_iter().filter(|(_, has)| *has).map(|(op, _)| op.into()).collect(),
            means: entry.info.means.into(),
            unit_ns: Some(entry.info.unit_ns as f64),
            slack: Some(entry.info.slack),
        }
    }
}

/// A timer that an agent knows but cannot read on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The id by which requests would name it.
    pub id: String,
    /// The call itself, as its documentation writes it.
    pub label: String,
    /// Why it cannot be read.
    pub reason: String,
    /// What the user can do about it, if anything.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Which of the questions to timers that wait it would answer; none of them if it is a clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_too_many")]
    pub ops: Vec<String>,
}

impl Missing {
    /// A timer of this program that waits.
    #[must_use]
    pub fn waiter(entry: &WaitEntry, why: Unavailable) -> Self {
        Self {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            reason: why.reason,
            remedy: why.remedy,
            ops: HostedWaiter::native(entry).ops,
        }
    }
}

/// The answer to `intervals`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// A row for each amount of work: second reading minus first, in ticks of the timer.
    pub intervals: Vec<Vec<i64>>,
}

/// The answer to `batches`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batches {
    /// Second reading of the reference minus first.
    pub batches: Vec<i64>,
}

/// The answer to `readings`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readings {
    /// In ticks of the timer.
    pub readings: Vec<i64>,
}

/// The answer to `handoffs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoffs {
    /// What the first thread read, and what the one that took over read.
    pub handoffs: Vec<[i64; 2]>,
}

/// The answer to `handoffs-between`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffsBetween {
    /// For each pair what [`Handoffs`] holds.
    pub handoffs: Vec<Vec<[i64; 2]>>,
}

/// The answer to `comparisons`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparisons {
    /// The reference, the timer, the reference again, each in its own ticks.
    pub comparisons: Vec<[i64; 3]>,
}

/// The answer to `advance`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advanced {
    /// Ticks of the timer.
    pub timer: i64,
    /// Ticks of the reference.
    pub reference: i64,
}

/// The answer to `waits`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// For each length and each repetition: the reference before and after, in its ticks, the CPU time of the calling thread in
    /// nanoseconds, and how long it was ready to run and had no CPU. The last, or the last two, are left out where they are unknown.
    pub waits: Vec<Vec<SmallVec<[i64; 4]>>>,
}

/// The answer to `arms`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arms {
    /// Second reading of the reference minus first.
    pub arms: Vec<i64>,
}

/// The answer to `periods`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Periods {
    /// The reference at each wake-up, in its ticks, and how many expirations the timer says that it stands for.
    pub periods: Vec<[i64; 2]>,
}

/// The answer to a request that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why, in one line.
    pub error: String,
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
    Handoffs(Handoffs),
    HandoffsBetween(HandoffsBetween),
    Comparisons(Comparisons),
    Advance(Advanced),
    Waits(Waits),
    Arms(Arms),
    Periods(Periods),
    Refusal(Refusal),
}

#[cfg(test)]
mod tests;
