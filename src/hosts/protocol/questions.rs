//! Defines the questions of the protocol in one table, and the answer that all but the introduction
//! have in common: a list of integers.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use timers::During;

use crate::hosts::step_search::StepQuestion;
use crate::limits::MOST_TIMERS;
use crate::model::Context;
use crate::trace::Run;

/// Bytes of an integer in JSON, with what parts it from the next, and room for blanks.
const BYTES_A_VALUE: u64 = 24;
/// Bytes of what stands around the integers, among it what disturbed them.
const BYTES_AROUND: u64 = 64 << 10;
/// More values than a packed answer has.
const MOST_PACKED: u64 = 20_000;
/// Bytes of the longest introduction: four kilobytes a timer.
const LONGEST_HELLO: u64 = MOST_TIMERS as u64 * (4 << 10);
/// No answer holds more integers than this.
const MOST_VALUES: u64 = 10_000_000;
/// No question starts more pairs of threads than this.
const MOST_PAIRS: usize = 4_096;
/// What a piece of work between reads takes at most, in nanoseconds.
const NS_A_PIECE: u64 = 1_000;
/// No question takes longer, in nanoseconds: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Defines the questions, each with its name on the wire, its keys, and the numbers whose product
/// is how many integers the answer holds.
macro_rules! questions {
    ($(
        $(#[$doc:meta])*
        $op:literal $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* } => $shape:expr;
    )*) => {
        /// What a runner asks. Lists of numbers stand last, so that an agent can read a line as
        /// words.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "op")]
        pub enum Question {
            $($(#[$doc])* #[serde(rename = $op)] $name { $($(#[$about])* $field: $type,)* },)*
        }

        /// The name of a question.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($(#[$doc])* $name,)* }

        impl Op {
            /// All of them; the introduction comes first.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// As on the wire.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $op,)* }
            }
        }

        impl Question {
            /// What is asked.
            #[must_use]
            pub fn op(&self) -> Op {
                match self { $(Self::$name { .. } => Op::$name,)* }
            }

            fn shape(&self) -> Vec<usize> {
                match self {
                    $(Self::$name { $($field),* } => {
                        let _ = ($($field,)*);
                        $shape.into()
                    })*
                }
            }
        }
    };
}

questions! {
    /// Who the agent is, and what it hosts.
    "hello" Hello {
        /// The version that the runner speaks.
        protocol: u32,
    } => [0];

    /// For each amount of work, `repeat` times: read, work, read; the second reading minus the
    /// first, in ticks of the timer.
    "intervals" Intervals {
        /// The id of the timer.
        timer: String,
        /// Intervals in a row.
        repeat: u32,
        /// Units of work, a row for each.
        work: Vec<u64>,
    } => [work.len(), *repeat as usize];

    /// `repeat` times: read the reference, call the timer `calls` times, read the reference; in
    /// ticks of the reference.
    "batches" Batches {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Calls in a batch.
        calls: u64,
        /// Batches.
        repeat: u32,
        /// Whether to report what the host observes of itself around them; agents may ignore it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    } => [*repeat as usize];

    /// Successive readings.
    "readings" Readings {
        /// The id of the timer.
        timer: String,
        /// How many.
        count: u32,
        /// As of batches.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    } => [*count as usize];

    /// Successive readings, of which only the order is reported: how often one was smaller than the
    /// one before it, by how much at most, the first and the last one.
    "order" Order {
        /// The id of the timer.
        timer: String,
        /// How many; not none.
        count: u32,
    } => [4];

    /// Readings of two threads that take turns, of several pairs at once: a pair of readings for
    /// each time that one thread hands over to the other.
    "handoffs" Handoffs {
        /// The id of the timer.
        timer: String,
        /// The CPUs of each pair; empty for one pair on any.
        cpus: Vec<[u32; 2]>,
        /// Pairs of readings a pair of threads.
        count: u32,
    } => [cpus.len().max(1), *count as usize, 2];

    /// Rounds with `repeat` comparisons of each timer: the reference, the timer, the reference, each
    /// in its own ticks. Three times [`Reply::REFUSED`] stand for a timer that refuses.
    "comparisons" Comparisons {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// Units of work between one round and the next.
        work: u64,
        /// Rounds.
        count: u32,
        /// Comparisons of a timer in a round.
        repeat: u32,
    } => [*count as usize, timers.len(), *repeat as usize, 3];

    /// How far each timer and the reference move in one span of time: ticks of the timer, ticks of
    /// the reference. Two times [`Reply::REFUSED`] stand for a timer that refuses.
    "advance" Advance {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// What the calling thread does meanwhile.
        during: During,
        /// For how many milliseconds.
        ms: u32,
    } => [timers.len(), 2];

    /// All that a process is asked of the calls of a timer, packed.
    "calls" Calls {
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
    } => [0];

    /// All intervals by which a process looks for the step of a timer, packed; and 1 where the
    /// timer steps too seldom for a process like this one, else 0.
    "steps" Steps {
        /// The id of the timer.
        timer: String,
        /// What is known of it, and how far to look.
        #[serde(flatten)]
        question: StepQuestion,
    } => [1];

    /// For each kind of code, `repeat` times: how long a row of it takes without reads, and with
    /// them, in ticks of the reference.
    "adds" Adds {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// What code, a row for each.
        contexts: Vec<Context>,
        /// Pieces of it in a row, with one read each.
        turns: u32,
        /// Pairs of rows.
        repeat: u32,
    } => [contexts.len(), *repeat as usize, 2];

    /// `repeat` waits of each length: the place of the length in the list, the reference before and
    /// after, the CPU time in nanoseconds, and how long the thread was ready to run and had no CPU;
    /// the last two are -1 where they are unknown.
    "waits" Waits {
        /// The id of the sleep primitive.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// The answer ends with the first wait that is later than this, in nanoseconds, unless it
        /// is -1; agents may ignore it.
        break_ns: i64,
        /// A random time of at most this many nanoseconds passes before each wait; agents may
        /// ignore it.
        pause_ns: u64,
        /// Waits of each length.
        repeat: u32,
        /// How long to wait, in nanoseconds.
        request_ns: Vec<u64>,
    } => [*repeat as usize, request_ns.len(), 5];

    /// `repeat` times: read the reference, arm the timer, cancel it, read the reference.
    "arms" Arms {
        /// The id of the sleep primitive.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Pairs of arming and cancelling.
        repeat: u32,
    } => [*repeat as usize];

    /// Wake-ups of a periodic timer: the reference, and how many expirations it stands for.
    "periods" Periods {
        /// The id of the periodic timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// The period, in nanoseconds.
        period_ns: u64,
        /// Wake-ups.
        count: u32,
        /// The wake-ups, counted from 0, after which the thread computes for 3.5 periods.
        stalls: Vec<u32>,
    } => [*count as usize, 2];
}

impl Question {
    fn values(&self) -> u64 {
        let factors = self.shape().into_iter().map(|factor| factor as u64);
        factors.fold(1, u64::saturating_mul)
    }

    /// The most bytes that an answer needs.
    #[must_use]
    pub fn longest_answer(&self) -> u64 {
        let values = match self {
            Self::Hello { .. } => return LONGEST_HELLO,
            Self::Calls { .. } | Self::Steps { .. } => MOST_PACKED,
            _ => self.values(),
        };
        values
            .saturating_mul(BYTES_A_VALUE)
            .saturating_add(BYTES_AROUND)
    }

    /// A picture of the answer, for messages.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::Hello { .. } => {
                r#"{"protocol":1,"runtime":{"name":…,"version":…},"timers":[…],"ops":[…]}"#.into()
            }
            Self::Calls { .. } | Self::Steps { .. } => r#"{"packed":"…"}"#.into(),
            _ => {
                let shape: Vec<String> = self.shape().iter().map(usize::to_string).collect();
                format!(r#"{{"values":[…]}} with {} integers"#, shape.join(" × "))
            }
        }
    }

    /// Why no host should answer this: it takes all memory, or all day.
    #[must_use]
    pub fn excess(&self) -> Option<String> {
        let values = self.values();
        // A unit of work or a call takes some time on any machine.
        let ns = match self {
            Self::Intervals { repeat, work, .. } => work
                .iter()
                .fold(0_u64, |sum, units| sum.saturating_add(*units))
                .saturating_mul((*repeat).into()),
            Self::Batches { calls, repeat, .. } => calls.saturating_mul((*repeat).into()),
            Self::Comparisons { work, count, .. } => work.saturating_mul((*count).into()),
            Self::Adds { turns, .. } => values.saturating_mul(NS_A_PIECE * u64::from(*turns)),
            Self::Advance { ms, .. } => u64::from(*ms) * 1_000_000,
            Self::Waits {
                pause_ns,
                repeat,
                request_ns,
                ..
            } => request_ns
                .iter()
                .fold(0_u64, |sum, ns| {
                    sum.saturating_add(ns.saturating_add(*pause_ns))
                })
                .saturating_mul((*repeat).into()),
            Self::Periods {
                period_ns,
                count,
                stalls,
                ..
            } => period_ns.saturating_mul(u64::from(*count) + 4 * stalls.len() as u64),
            _ => 0,
        };
        if values > MOST_VALUES {
            Some(format!(
                "{values} values are too many: at most {MOST_VALUES}"
            ))
        } else if ns > LONGEST_NS {
            Some(format!("{ns} ns are too many: at most {LONGEST_NS}"))
        } else if matches!(self, Self::Handoffs { cpus, .. } if cpus.len() > MOST_PAIRS) {
            Some(format!("there are too many pairs: at most {MOST_PAIRS}"))
        } else {
            None
        }
    }

    /// What is wrong with an answer that can be read.
    #[must_use]
    pub fn objection(&self, reply: &Reply) -> Option<String> {
        let (values, wanted) = (&reply.values, self.values());
        let found = values.len() as u64;
        // The thread that was to stop may have stopped.
        let is_part = matches!(self, Self::Waits { break_ns, .. } if *break_ns >= 0)
            && found.is_multiple_of(5);
        if found > wanted || (found < wanted && !is_part) {
            return Some(format!("there are {found} values, not {wanted}"));
        }
        let packed = reply.packed.as_ref().map(|packed| &packed.0);
        let is_sound = match self {
            Self::Order { count, .. } => {
                let (backward, largest) = (values[0], values[1]);
                (0..i64::from(*count)).contains(&backward)
                    && largest >= 0
                    && (backward == 0) == (largest == 0)
                    && (values[2] <= values[3] || backward > 0)
            }
            Self::Waits { request_ns, .. } => values
                .iter()
                .step_by(5)
                .all(|&at| usize::try_from(at).is_ok_and(|at| at < request_ns.len())),
            Self::Periods { .. } => values.iter().skip(1).step_by(2).all(|&count| count >= 0),
            Self::Calls { .. } => packed.is_some_and(|run| {
                let windows = [&run.bracket, &run.singles, &run.batches];
                windows.iter().all(|window| !window.deltas.is_empty())
                    && !run.readings.values.is_empty()
                    && run.batches.calls > 0
            }),
            Self::Steps { .. } => packed.is_some_and(|run| {
                let mut rows = run.intervals.iter();
                rows.len() > 0 && rows.all(|row| !row.deltas.is_empty())
            }),
            _ => true,
        };
        (!is_sound).then(|| "its values contradict each other, or some are missing".into())
    }
}

/// The answer to all questions but the introduction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The integers that the question defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<i64>,
    /// Thousands of numbers that take longer in decimal than their measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<PackedRun>,
    /// What a host that watches itself observed right before and right after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<[Around; 2]>,
    /// What the runtime did to itself meanwhile, in one word each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// Why the question is refused, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Reply {
    /// A value of a timer that refuses while others answer.
    pub const REFUSED: i64 = i64::MIN;
}

impl From<Vec<i64>> for Reply {
    fn from(values: Vec<i64>) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }
}

/// The state of a thread and its core at one moment.
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

/// What a host of this program observed, as bytes in Base64.
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
