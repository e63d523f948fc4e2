//! Defines the questions of the protocol: what is sent, what is answered, and what a right answer
//! is.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use timers::During;

use super::answers;
use super::hello::Hello;
use crate::hosts::step_search::StepQuestion;
use crate::limits::MOST_TIMERS;
use crate::model::Context;

/// A question of the protocol.
pub trait Question: Serialize + DeserializeOwned {
    /// Its name on the wire.
    const OP: &'static str;
    /// What is answered.
    type Answer: Serialize + DeserializeOwned;

    /// How many integers the answer holds at most, or values as large.
    fn values(&self) -> u64;

    /// A picture of the answer, for messages.
    fn expected(&self) -> String;

    /// What is wrong with an answer that can be read.
    fn objection(&self, answer: &Self::Answer) -> Option<String>;

    /// The most bytes that an answer needs.
    fn longest_answer(&self) -> u64 {
        self.values()
            .saturating_mul(BYTES_A_VALUE)
            .saturating_add(BYTES_AROUND)
    }
}

/// An integer as JSON writes the longest one, with what parts it from the next, and room for
/// blanks.
const BYTES_A_VALUE: u64 = 24;
/// What stands around the integers, among it what disturbed them.
const BYTES_AROUND: u64 = 64 << 10;
/// More integers than a process reports at once of calls, or of intervals.
const MOST_CALLED: u64 = 20_000;
/// For the introduction: four kilobytes a timer.
const LONGEST_HELLO: u64 = MOST_TIMERS as u64 * (4 << 10);

/// Defines a struct for each question, and all that is derived from their list.
macro_rules! questions {
    ($(
        $(#[$doc:meta])*
        $op:literal $name:ident -> $answer:ty {
            $($(#[$about:meta])* $field:ident: $type:ty,)*
        }
        values $values:expr;
        expected $expected:expr;
        objection $objection:expr;
        $(longest $longest:expr;)?
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            pub struct $name {
                $($(#[$about])* pub $field: $type,)*
            }

            impl Question for $name {
                const OP: &'static str = $op;
                type Answer = $answer;

                fn values(&self) -> u64 {
                    let values: fn(&Self) -> u64 = $values;
                    values(self)
                }

                fn expected(&self) -> String {
                    let expected: fn(&Self) -> String = $expected;
                    expected(self)
                }

                fn objection(&self, answer: &Self::Answer) -> Option<String> {
                    let objection: fn(&Self, &$answer) -> Option<String> = $objection;
                    objection(self, answer)
                }

                $(fn longest_answer(&self) -> u64 {
                    $longest
                })?
            }
        )*

        /// What a runner sends.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "op")]
        #[expect(missing_docs, reason = "each variant is what its content is")]
        pub enum Request {
            $(#[serde(rename = $op)] $name($name),)*
        }

        impl Request {
            /// Its name on the wire.
            #[must_use]
            pub fn op(&self) -> &'static str {
                match self { $(Self::$name(_) => $op,)* }
            }

            /// How many integers the answer holds at most, or values as large.
            #[must_use]
            pub fn values(&self) -> u64 {
                match self { $(Self::$name(question) => question.values(),)* }
            }
        }

        /// All questions, by their names on the wire.
        const ALL: &[&str] = &[$($op),*];

        /// Calls a macro with the names of all questions.
        macro_rules! each_question {
            ($call:ident) => { $call! { $($name)* } };
        }
        pub(in crate::hosts) use each_question;
    };
}

/// The names of what may be asked after the introduction.
#[must_use]
pub fn ops() -> &'static [&'static str] {
    &ALL[1..]
}

questions! {
    /// Who are you, and what do you host?
    "hello" Introduction -> Hello {
        /// The version that the runner speaks.
        protocol: u32,
    }
    values |_| 0;
    expected |_| r#"{"protocol":1,"runtime":{"name":…,"version":…},"timers":[…],"ops":[…]}"#.into();
    objection |_, hello| hello.objection();
    longest LONGEST_HELLO;

    /// For each amount of work, `repeat` times: read, work, read.
    "intervals" Intervals -> answers::Intervals {
        /// The id of the timer.
        timer: String,
        /// Units of work, a row of the answer for each.
        work: Vec<u64>,
        /// Intervals in a row.
        repeat: u32,
    }
    // A row without integers still takes its brackets.
    values |asked| (asked.work.len() as u64).saturating_mul(asked.repeat.max(1).into());
    expected |asked| format!(
        r#"{{"intervals":[…]}} with {} rows of {} integers each"#, asked.work.len(), asked.repeat
    );
    objection |asked, answer| off_rows(
        &answer.intervals, asked.work.len(), asked.repeat, ["rows", "intervals in a row"]
    );

    /// `repeat` times: read the reference, call the timer `calls` times, read the reference.
    "batches" Batches -> answers::Batches {
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
    }
    values |asked| asked.repeat.into();
    expected |asked| format!(r#"{{"batches":[…]}} with {} integers"#, asked.repeat);
    objection |asked, answer| off(answer.batches.len(), asked.repeat as usize, "batches");

    /// Successive readings.
    "readings" Readings -> answers::Readings {
        /// The id of the timer.
        timer: String,
        /// How many.
        count: u32,
        /// As of batches.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    }
    values |asked| asked.count.into();
    expected |asked| format!(r#"{{"readings":[…]}} with {} integers"#, asked.count);
    objection |asked, answer| off(answer.readings.len(), asked.count as usize, "readings");

    /// Successive readings, of which only the order is reported.
    "order" Order -> answers::Ordered {
        /// The id of the timer.
        timer: String,
        /// How many.
        count: u32,
    }
    values |_| 4;
    expected |_| r#"{"backward":…,"largest":…,"ends":[…,…]} with integers"#.into();
    objection |asked, answer| answer.contradiction(asked.count);

    /// Readings of two threads that take turns.
    "handoffs" Handoffs -> answers::Handoffs {
        /// The id of the timer.
        timer: String,
        /// How many pairs.
        count: u32,
    }
    values |asked| 2 * u64::from(asked.count);
    expected |asked| format!(r#"{{"handoffs":[…]}} with {} pairs of integers"#, asked.count);
    objection |asked, answer| off(answer.handoffs.len(), asked.count as usize, "pairs");

    /// Readings of two threads that take turns, on chosen CPUs, of several pairs at once.
    "handoffs-between" HandoffsBetween -> answers::HandoffsBetween {
        /// The id of the timer.
        timer: String,
        /// The CPUs of each pair.
        cpus: Vec<[u32; 2]>,
        /// How many handoffs a pair.
        count: u32,
    }
    values |asked| {
        2 * u64::from(asked.count.max(1)).saturating_mul(asked.cpus.len() as u64)
    };
    expected |asked| format!(
        r#"{{"handoffs":[…]}} with {} lists of {} pairs"#, asked.cpus.len(), asked.count
    );
    objection |asked, answer| off_rows(
        &answer.handoffs, asked.cpus.len(), asked.count, ["lists", "pairs in a list"]
    );

    /// Readings of the timer between two of the reference.
    "comparisons" Comparisons -> answers::Comparisons {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Units of work between one comparison and the next.
        work: u64,
        /// How many.
        count: u32,
    }
    values |asked| 3 * u64::from(asked.count);
    expected |asked| format!(r#"{{"comparisons":[…]}} with {} triples of integers"#, asked.count);
    objection |asked, answer| off(answer.comparisons.len(), asked.count as usize, "comparisons");

    /// How far the timer and the reference move together.
    "advance" Advance -> answers::Advanced {
        /// The id of the timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// What the calling thread does meanwhile.
        #[serde(with = "DuringName")]
        during: During,
        /// For how many milliseconds.
        ms: u32,
    }
    values |_| 2;
    expected |_| r#"{"timer":…,"reference":…} with two integers"#.into();
    objection |_, _| None;

    /// All that a process is asked of the calls of a timer, and what the host observes of itself
    /// around that.
    "calls" Calls -> answers::Called {
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
    }
    values |_| MOST_CALLED;
    expected |_| r#"{"calls":"…","around":…}"#.into();
    objection |_, answer| {
        let run = &answer.calls.0;
        let windows = [&run.bracket, &run.singles, &run.batches];
        (windows.iter().any(|window| window.deltas.is_empty())
            || run.readings.values.is_empty()
            || run.batches.calls == 0)
            .then(|| "something is missing".into())
    };

    /// All intervals by which a process looks for the step of a timer.
    "steps" Steps -> answers::Steps {
        /// The id of the timer.
        timer: String,
        /// What is known of it, and how far to look.
        #[serde(flatten)]
        question: StepQuestion,
    }
    values |_| MOST_CALLED;
    expected |_| r#"{"steps":"…","slow":…}"#.into();
    objection |_, answer| {
        let intervals = &answer.steps.0.intervals;
        let short = intervals.is_empty() || intervals.iter().any(|row| row.deltas.is_empty());
        short.then(|| "something is missing".into())
    };

    /// Comparisons of several timers in turn, in rounds: of several readings of each the one that
    /// took least.
    "together" Together -> answers::Together {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// Readings of a timer in a round, of which the tightest is reported.
        repeat: u32,
        /// Units of work between one round and the next.
        work: u64,
        /// How many rounds.
        count: u32,
    }
    values |asked| {
        3 * u64::from(asked.count.max(1)).saturating_mul(asked.timers.len() as u64)
    };
    expected |asked| format!(
        r#"{{"together":[…]}} with {} rows of {} triples each"#, asked.count, asked.timers.len()
    );
    objection |asked, answer| off_rows(
        &answer.together, asked.count as usize, asked.timers.len() as u32, ["rows", "timers in a row"]
    );

    /// How far several timers and the reference move, in one span of time.
    "advances" Advances -> answers::Advances {
        /// The ids of the timers.
        timers: Vec<String>,
        /// The id of the reference.
        reference: String,
        /// What the calling thread does meanwhile.
        #[serde(with = "DuringName")]
        during: During,
        /// For how many milliseconds.
        ms: u32,
    }
    values |asked| 2 * asked.timers.len() as u64;
    expected |asked| format!(r#"{{"advances":[…]}} with {} pairs of integers"#, asked.timers.len());
    objection |asked, answer| off(answer.advances.len(), asked.timers.len(), "timers");

    /// For each kind of code, `repeat` times: how long a row of it takes without reads, and with
    /// them.
    "adds" Adds -> answers::Adds {
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
    }
    values |asked| {
        2 * u64::from(asked.repeat.max(1)).saturating_mul(asked.contexts.len() as u64)
    };
    expected |asked| format!(
        r#"{{"adds":[…]}} with {} rows of {} pairs of integers each"#,
        asked.contexts.len(), asked.repeat
    );
    objection |asked, answer| off_rows(
        &answer.adds, asked.contexts.len(), asked.repeat, ["rows", "pairs in a row"]
    );

    /// For each length, `repeat` waits.
    "waits" Waits -> answers::Waits {
        /// The id of the sleep primitive.
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
    }
    values |asked| {
        4 * u64::from(asked.repeat.max(1)).saturating_mul(asked.request_ns.len() as u64)
    };
    expected |asked| format!(
        r#"{{"waits":[…]}} with {} rows of {} lists [before, after, CPU time, run-queue delay], of which the last two may be left out"#,
        asked.request_ns.len(), asked.repeat
    );
    objection |asked, answer| {
        let rows = &answer.waits;
        // The thread that was to stop may have stopped.
        let miscounted = rows
            .iter()
            .find_map(|row| off(row.len(), asked.repeat as usize, "waits in a row"))
            .filter(|_| asked.break_ns.is_none());
        off(rows.len(), asked.request_ns.len(), "rows").or(miscounted).or_else(|| {
            let mut waits = rows.iter().flatten();
            let wrong = waits.find(|wait| !(2..=4).contains(&wait.len()))?;
            Some(format!("there are {} integers for a wait, not 2, 3 or 4", wrong.len()))
        })
    };

    /// `repeat` times: read the reference, arm the timer, cancel it, read the reference.
    "arms" Arms -> answers::Arms {
        /// The id of the sleep primitive.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// Pairs of arming and cancelling.
        repeat: u32,
    }
    values |asked| asked.repeat.into();
    expected |asked| format!(r#"{{"arms":[…]}} with {} integers"#, asked.repeat);
    objection |asked, answer| off(answer.arms.len(), asked.repeat as usize, "pairs");

    /// Wake-ups of a periodic timer.
    "periods" Periods -> answers::Periods {
        /// The id of the periodic timer.
        timer: String,
        /// The id of the reference.
        reference: String,
        /// The period, in nanoseconds.
        period_ns: u64,
        /// How many wake-ups.
        count: u32,
        /// The wake-ups, counted from 0, after which the thread computes for 3.5 periods.
        stalls: Vec<u32>,
    }
    values |asked| 2 * u64::from(asked.count);
    expected |asked| format!(r#"{{"periods":[…]}} with {} pairs of integers"#, asked.count);
    objection |asked, answer| {
        off(answer.periods.len(), asked.count as usize, "wake-ups").or_else(|| {
            let negative = answer.periods.iter().find(|[_, expirations]| *expirations < 0)?;
            Some(format!("a wake-up stands for {} expirations", negative[1]))
        })
    };
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "During", rename_all = "kebab-case")]
enum DuringName {
    Spin,
    Sleep,
    OtherSpin,
}

/// What is wrong where `found` differs from `wanted`.
fn off(found: usize, wanted: usize, what: &str) -> Option<String> {
    (found != wanted).then(|| format!("there are {found} {what}, not {wanted}"))
}

/// What is wrong with rows that are all to have one length.
fn off_rows<T>(rows: &[Vec<T>], count: usize, length: u32, what: [&str; 2]) -> Option<String> {
    let short = || {
        rows.iter()
            .find_map(|row| off(row.len(), length as usize, what[1]))
    };
    off(rows.len(), count, what[0]).or_else(short)
}
