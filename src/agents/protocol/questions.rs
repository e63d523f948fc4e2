//! Defines the questions of the protocol in one table, and the answer that all questions except the
//! introduction share: a list of integers.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use timers::Activity;
use timers::waits::Start;

use estimators::model::Context;
use estimators::trace::Observations;
use probe::prober::StepQuestion;
use reporting::limits::MAX_TIMERS;

/// Bytes for each integer in JSON, with its separator and blanks.
const BYTES_PER_VALUE: u64 = 24;
/// Bytes for the other keys of an answer, such as `disturbed`.
const OTHER_BYTES: u64 = 64 << 10;
/// Maximum number of values in a packed answer.
const MAX_PACKED_VALUES: u64 = 20_000;
/// Maximum length of an introduction, in bytes: 4 KiB for each timer.
const MAX_HELLO_BYTES: u64 = MAX_TIMERS as u64 * (4 << 10);
/// Maximum number of integers in an answer.
const MAX_VALUES: u64 = 10_000_000;
/// Maximum number of units of work, or calls, between two reads: about a minute. *Judgement*: four
/// times the longest work of a calibration.
const MAX_AMOUNT: u64 = 1 << 36;

/// Defines each question with its name on the wire, its keys, and the factors whose product is the
/// number of integers in the answer.
macro_rules! questions {
    ($(
        $(#[$doc:meta])*
        $op:literal $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* } => $shape:expr;
    )*) => {
        /// A request from the runner. Lists of numbers come last, so that an agent can parse a line
        /// word by word.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "op")]
        pub enum AgentQuestion {
            $($(#[$doc])* #[serde(rename = $op)] $name { $($(#[$about])* $field: $type,)* },)*
        }

        /// The name of a question.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($(#[$doc])* $name,)* }

        impl Op {
            /// All questions; the introduction comes first.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name on the wire.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $op,)* }
            }
        }

        impl AgentQuestion {
            /// The name of this question.
            #[must_use]
            pub fn op(&self) -> Op {
                match self { $(Self::$name { .. } => Op::$name,)* }
            }

            /// The factors whose product is the number of integers in the answer.
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
    /// Asks for the introduction: the runtime of the agent, its timers and its questions.
    "hello" Hello {
        /// The protocol version of the runner.
        protocol: u32,
    } => [0];

    /// For each amount of work, `repeat` times: read, work, read. Returns the second reading minus
    /// the first, in ticks of the timer.
    "intervals" Differences {
        /// The id of the timer.
        timer: String,
        /// Number of intervals for each amount of work.
        repeat: u32,
        /// Amounts of work, in units of work; the answer holds a row for each amount.
        work: Vec<u64>,
    } => [work.len(), *repeat as usize];

    /// `repeat` times: read the reference, call the timer `calls` times, read the reference.
    /// Returns the differences in ticks of the reference.
    "batches" Batches {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Calls in a batch.
        calls: u64,
        /// Number of batches.
        repeat: u32,
        /// Whether the agent reports the state of its thread around the batches; agents may ignore
        /// this key.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    } => [*repeat as usize];

    /// Returns successive readings.
    "readings" Readings {
        /// The id of the timer.
        timer: String,
        /// Number of readings.
        count: u32,
        /// Whether the agent reports the state of its thread around the readings; agents may ignore
        /// this key.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    } => [*count as usize];

    /// Successive readings, of which only the order is reported: how many readings were smaller
    /// than the reading before, the largest such decrease in ticks, the first reading and the last
    /// reading.
    "order" Order {
        /// The id of the timer.
        timer: String,
        /// Number of readings, at least 1.
        count: u32,
    } => [4];

    /// Readings of two threads that take turns, in several pairs of threads at the same time: a
    /// pair of readings for each handover from one thread to the other.
    "handoffs" Handoffs {
        /// The id of the timer.
        timer: String,
        /// The two CPUs of each pair of threads; empty for one pair of threads on any CPUs.
        cpus: Vec<[u32; 2]>,
        /// Pairs of readings for each pair of threads.
        count: u32,
    } => [cpus.len().max(1), *count as usize, 2];

    /// Rounds with `repeat` comparisons of each timer: readings of the reference, the timer and the
    /// reference, each in its own ticks. A timer that refuses gives three times [`Reply::REFUSED`].
    "comparisons" Comparisons {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// Units of work between two rounds.
        work: u64,
        /// Number of rounds.
        count: u32,
        /// Comparisons of each timer in a round.
        repeat: u32,
    } => [*count as usize, timers.len(), *repeat as usize, 3];

    /// How far each timer and the reference advance during one span of time: ticks of the timer,
    /// ticks of the reference. A timer that refuses gives two times [`Reply::REFUSED`].
    "advance" Advance {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// The activity of the calling thread during the span.
        during: Activity,
        /// Length of the span, in milliseconds.
        ms: u32,
    } => [timers.len(), 2];

    /// All measurements that one process takes of the calls of a timer, packed.
    "calls" Calls {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Nanoseconds per tick of the reference.
        ns_per_tick: f64,
        /// The step of the reference, in ticks of the reference.
        step: f64,
        /// Whether the timer that reads nothing is measured too.
        floor: bool,
    } => [0];

    /// All intervals with which one process searches for the step of a timer, packed; and 1 if the
    /// timer steps too rarely for one process, else 0.
    "steps" Steps {
        /// The id of the timer.
        timer: String,
        /// Properties of the timer, and the limits of the search.
        #[serde(flatten)]
        question: StepQuestion,
    } => [1];

    /// For each kind of code, `repeat` times: the time of a sequence of pieces of code without
    /// reads and the time of the sequence with a read in each piece, in ticks of the reference.
    "adds" Adds {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Kinds of code; the answer holds a row for each kind.
        contexts: Vec<Context>,
        /// Pieces of code in a sequence.
        turns: u32,
        /// Pairs of sequences: one without reads and one with reads.
        repeat: u32,
    } => [contexts.len(), *repeat as usize, 2];

    /// `repeat` waits of each length: the index of the length in the list, the reference before and
    /// after the wait, the CPU time in nanoseconds, and the time in nanoseconds during which the
    /// thread was ready to run but had no CPU. The last two values are -1 if they are unknown.
    "waits" Waits {
        /// The id of the sleep primitive.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// A random time of at most this many nanoseconds passes before each wait; agents may
        /// ignore this key.
        pause_ns: u64,
        /// Waits of each length.
        repeat: u32,
        /// Lengths of the waits, in nanoseconds.
        request_ns: Vec<u64>,
    } => [*repeat as usize, request_ns.len(), 5];

    /// Wake-ups of a periodic timer: the reference, and the number of expirations that the wake-up
    /// reports.
    "periods" Periods {
        /// The id of the periodic timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// The period, in nanoseconds.
        period_ns: u64,
        /// Number of wake-ups.
        count: u32,
    } => [*count as usize, 2];
}

impl AgentQuestion {
    /// The number of integers in the answer.
    fn value_count(&self) -> u64 {
        let factors = self.shape().into_iter().map(|factor| factor as u64);
        factors.fold(1, u64::saturating_mul)
    }

    /// Maximum length of an answer, in bytes.
    #[must_use]
    pub fn max_answer_bytes(&self) -> u64 {
        let values = match self {
            Self::Hello { .. } => return MAX_HELLO_BYTES,
            Self::Calls { .. } | Self::Steps { .. } => MAX_PACKED_VALUES,
            _ => self.value_count(),
        };
        values
            .saturating_mul(BYTES_PER_VALUE)
            .saturating_add(OTHER_BYTES)
    }

    /// The expected form of the answer, for messages.
    #[must_use]
    pub fn expected_form(&self) -> String {
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

    /// The reason why an agent has to refuse this question: it would need too much memory, or could
    /// not end. `None` if it does not. The runner ends an agent that takes too long.
    #[must_use]
    pub fn excess(&self) -> Option<String> {
        let factors = self.shape().into_iter().map(|factor| factor.max(1) as u64);
        let values = match self {
            Self::Order { count, .. } => (*count).into(),
            _ => factors.fold(1, u64::saturating_mul),
        };
        let amount = match self {
            Self::Differences { work, .. } => work.iter().copied().max().unwrap_or(0),
            Self::Batches { calls: amount, .. } | Self::Comparisons { work: amount, .. } => *amount,
            Self::Calls {
                ns_per_tick, step, ..
            } => (ns_per_tick * step) as u64,
            Self::Steps { question, .. } => question.max_work() as u64,
            _ => 0,
        };
        let what = "calls or units of work between two reads";
        let counts = [(values, MAX_VALUES, "values"), (amount, MAX_AMOUNT, what)];
        let (count, max, what) = counts.into_iter().find(|(count, max, _)| count > max)?;
        Some(format!("{count} {what} are too many: at most {max}"))
    }

    /// The reason why an answer cannot be parsed because an integer needs more than 64 bits; `None`
    /// if none does.
    #[must_use]
    pub fn excessive_value(&self, answer: &[u8]) -> Option<String> {
        #[derive(Deserialize)]
        struct Unparsed {
            values: Vec<Box<RawValue>>,
        }
        let is_excessive = |value: &&str| {
            let digits = value.strip_prefix('-').unwrap_or(value);
            digits.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<i64>().is_err()
        };
        let answer: Unparsed = serde_json::from_slice(answer).ok()?;
        let value = answer
            .values
            .iter()
            .map(|value| value.get())
            .find(is_excessive)?;
        let question = serde_json::to_value(self).ok()?;
        let timer = question.get("timer").or(question.get("timers"))?;
        Some(format!(
            "{value} for the timer {timer} is beyond the limit of readings, {} (2^63 - 1): subtract a constant, since only differences count",
            i64::MAX
        ))
    }

    /// The reason why a parsed answer to this question is invalid; `None` if it is valid.
    #[must_use]
    pub fn objection(&self, reply: &Reply) -> Option<String> {
        let (values, expected) = (&reply.values, self.value_count());
        let found = values.len() as u64;
        if found != expected {
            return Some(format!("there are {found} values, not {expected}"));
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
            Self::Periods { .. } => {
                let mut numbers = values.iter().skip(1).step_by(2).chain(&reply.cpu_ns);
                numbers.all(|&number| number >= 0)
            }
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

/// The answer to every question except the introduction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The integers that the question defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<i64>,
    /// When the periodic timer was armed, by the reference; null for a loop of relative waits.
    #[serde(default, skip_serializing_if = "Start::is_unknown")]
    pub start: Start,
    /// The CPU time of all wake-ups of the periodic timer, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<i64>,
    /// How often signals ended the waits of the periodic timer early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<u32>,
    /// Thousands of numbers in binary form, because converting them to decimal takes longer than
    /// the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<EncodedObservations>,
    /// The state of the agent's thread before and after the measurement, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<[ThreadState; 2]>,
    /// Disturbances by the runtime during the measurement, in one word each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// The reason why the question is refused, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Reply {
    /// The value for a timer that refuses while other timers answer.
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
pub struct ThreadState {
    /// Involuntary context switches of the thread.
    pub switches: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// The CPU on which the thread ran.
    pub cpu: u32,
    /// Dependent additions per second, and independent additions per cycle; null if no chain of
    /// instructions measures them.
    pub core: Option<[f64; 2]>,
}

/// Measurements of a native agent, serialised as bytes in Base64.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedObservations(pub Observations);

impl Serialize for EncodedObservations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(self.0.clone().into_bytes()))
    }
}

impl<'de> Deserialize<'de> for EncodedObservations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
        Observations::from_bytes(&bytes)
            .map(Self)
            .ok_or_else(|| D::Error::custom("it is not a packed run of this program"))
    }
}
