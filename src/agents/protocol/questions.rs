//! Limits of questions and their answers, and the answer that all questions except the introduction
//! share: a list of integers.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use timers::waits::Start;
use timers::{TimerQuestion, Values};

use estimators::trace::Observations;
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

/// The number of integers in the answer.
fn value_count(question: &TimerQuestion) -> u64 {
    let factors = question.shape().into_iter().map(|factor| factor as u64);
    factors.fold(1, u64::saturating_mul)
}

/// Maximum length of an answer, in bytes.
pub fn max_answer_bytes(question: &TimerQuestion) -> u64 {
    let values = match question {
        TimerQuestion::Hello { .. } => return MAX_HELLO_BYTES,
        TimerQuestion::Calls { .. } | TimerQuestion::Steps { .. } => MAX_PACKED_VALUES,
        _ => value_count(question),
    };
    values
        .saturating_mul(BYTES_PER_VALUE)
        .saturating_add(OTHER_BYTES)
}

/// The expected form of the answer, for messages.
pub fn expected_form(question: &TimerQuestion) -> String {
    match question {
        TimerQuestion::Hello { .. } => {
            r#"{"protocol":1,"runtime":{"name":…,"version":…},"timers":[…],"ops":[…]}"#.into()
        }
        TimerQuestion::Calls { .. } | TimerQuestion::Steps { .. } => r#"{"packed":"…"}"#.into(),
        _ => {
            let shape: Vec<String> = question.shape().iter().map(usize::to_string).collect();
            format!(r#"{{"values":[…]}} with {} integers"#, shape.join(" × "))
        }
    }
}

/// The reason why an agent has to refuse this question: it would need too much memory, or could
/// not end. `None` if it does not. The runner ends an agent that takes too long.
pub fn excess(question: &TimerQuestion) -> Option<String> {
    let factors = question
        .shape()
        .into_iter()
        .map(|factor| factor.max(1) as u64);
    let values = match question {
        TimerQuestion::Order { count, .. } => (*count).into(),
        _ => factors.fold(1, u64::saturating_mul),
    };
    let what = "calls or units of work between two reads";
    let counts = [
        (values, MAX_VALUES, "values"),
        (question.amount(), MAX_AMOUNT, what),
    ];
    let (count, max, what) = counts.into_iter().find(|(count, max, _)| count > max)?;
    Some(format!("{count} {what} are too many: at most {max}"))
}

/// The reason why an answer cannot be parsed because an integer needs more than 64 bits; `None`
/// if none does.
pub fn excessive_value(question: &TimerQuestion, answer: &[u8]) -> Option<String> {
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
    let timers = question.timers().join("`, `");
    Some(format!(
        "{value} for the timer `{timers}` is beyond the limit of readings, {} (2^63 - 1): subtract a constant, since only differences count",
        i64::MAX
    ))
}

/// The reason why a parsed answer to this question is invalid; `None` if it is valid.
pub fn objection(question: &TimerQuestion, reply: &Reply) -> Option<String> {
    let (values, expected) = (&reply.values, value_count(question));
    let found = values.len() as u64;
    if found != expected {
        return Some(format!("there are {found} values, not {expected}"));
    }
    let packed = reply.packed.as_ref().map(|packed| &packed.0);
    let is_sound = match question {
        TimerQuestion::Order { count, .. } => {
            let (backward, largest) = (values[0], values[1]);
            (0..i64::from(*count)).contains(&backward)
                && largest >= 0
                && (backward == 0) == (largest == 0)
                && (values[2] <= values[3] || backward > 0)
        }
        TimerQuestion::Waits { request_ns, .. } => values
            .iter()
            .step_by(5)
            .all(|&at| usize::try_from(at).is_ok_and(|at| at < request_ns.len())),
        TimerQuestion::Periods { .. } => {
            let mut numbers = values.iter().skip(1).step_by(2).chain(&reply.cpu_ns);
            numbers.all(|&number| number >= 0)
        }
        TimerQuestion::Calls { .. } => packed.is_some_and(|run| {
            let windows = [&run.bracket, &run.singles, &run.batches];
            windows.iter().all(|window| !window.deltas.is_empty())
                && !run.readings.values.is_empty()
                && run.batches.calls > 0
        }),
        TimerQuestion::Steps { .. } => packed.is_some_and(|run| {
            let mut rows = run.intervals.iter().peekable();
            rows.peek().is_some() && rows.all(|row| !row.deltas.is_empty())
        }),
        _ => true,
    };
    (!is_sound).then(|| "its values contradict each other, or some are missing".into())
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

impl From<Values> for Reply {
    fn from(values: Values) -> Self {
        Self {
            values: values.list,
            start: values.start,
            cpu_ns: values.cpu_ns,
            signals: values.signals,
            ..Self::default()
        }
    }
}

impl From<Reply> for Values {
    fn from(reply: Reply) -> Self {
        Self {
            list: reply.values,
            start: reply.start,
            cpu_ns: reply.cpu_ns,
            signals: reply.signals,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedObservations(pub Observations);

impl Serialize for EncodedObservations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_stdvec(&self.0).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for EncodedObservations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
        let run = postcard::from_bytes(&bytes);
        run.map(Self)
            .map_err(|_| D::Error::custom("it is not a packed run of this program"))
    }
}
