//! What an agent answers to each question.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

use crate::trace::Run;

/// What a host that watches itself saw right before a window, or right after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Around {
    /// Times that its thread had to give way to another one though it could have gone on.
    pub switches: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// The CPU that it ran on.
    pub cpu: u32,
    /// Dependent additions a second and independent ones a cycle; null where no chain of
    /// instructions tells.
    pub core: Option<[f64; 2]>,
}

/// The answer to `intervals`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// A row for each amount of work: second reading minus first, in ticks of the timer.
    pub intervals: Vec<Vec<i64>>,
}

/// The answer to `batches`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    /// Second reading of the reference minus first.
    pub batches: Vec<i64>,
    /// Where it was asked for, before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<[Around; 2]>,
}

/// The answer to `readings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// In ticks of the timer.
    pub readings: Vec<i64>,
    /// Where it was asked for, before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<[Around; 2]>,
}

/// What a host of this program observed, as bytes in Base64: thousands of numbers a question, which
/// take longer in decimal than their measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedRun(pub Run);

impl Serialize for PackedRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(self.0.clone().into_bytes()))
    }
}

impl<'de> Deserialize<'de> for PackedRun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
        Run::from_bytes(&bytes)
            .map(Self)
            .ok_or_else(|| D::Error::custom("no packed run of this program"))
    }
}

/// The answer to `calls`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Called {
    /// What was observed.
    pub calls: PackedRun,
    /// Before and after; null where the system does not tell.
    pub around: Option<[Around; 2]>,
}

/// The answer to `steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Intervals and nothing else.
    pub steps: PackedRun,
    /// Whether the timer steps too seldom for a process like this one.
    pub slow: bool,
}

/// The answer to `together`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// For each round and each timer what [`Comparisons`] holds one of; null where the timer
    /// refused.
    pub together: Vec<Vec<Option<[i64; 3]>>>,
}

/// The answer to `advances`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advances {
    /// For each timer what [`Advanced`] holds: ticks of the timer, and of the reference; null where
    /// the timer refused.
    pub advances: Vec<Option<[i64; 2]>>,
}

/// The answer to `adds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adds {
    /// A list for each kind of code: how long a row takes without reads and with them, in ticks of
    /// the reference.
    pub adds: Vec<Vec<[i64; 2]>>,
    /// What the host saw of itself before and after, where it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<[Around; 2]>,
}

/// The answer to `order`: of successive readings nothing but their order, in ticks of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ordered {
    /// How often a reading was smaller than the one before it.
    pub backward: u64,
    /// By how much at most.
    pub largest: u64,
    /// The first reading and the last one; null where there was none.
    pub ends: Option<[i64; 2]>,
}

impl Ordered {
    /// What is wrong with this as the order of `count` readings.
    #[must_use]
    pub fn contradiction(&self, count: u32) -> Option<String> {
        let steps = u64::from(count.saturating_sub(1));
        let falls = self.ends.is_some_and(|[first, last]| last < first);
        if self.ends.is_none() != (count == 0) {
            Some(format!(
                "of {count} readings it names {} ends",
                2 * u32::from(self.ends.is_some())
            ))
        } else if self.backward > steps {
            Some(format!("{} of {steps} steps cannot go back", self.backward))
        } else if (self.backward == 0) != (self.largest == 0) || (falls && self.backward == 0) {
            Some("how often it steps back and how far contradict each other".into())
        } else {
            None
        }
    }
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
    /// For each length and each repetition: the reference before and after, in its ticks, the CPU
    /// time of the calling thread in nanoseconds, and how long it was ready to run and had no CPU.
    /// The last, or the last two, are left out where they are unknown.
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
    /// The reference at each wake-up, in its ticks, and how many expirations the timer says that it
    /// stands for.
    pub periods: Vec<[i64; 2]>,
}

/// The answer to a request that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why, in one line.
    pub error: String,
}
