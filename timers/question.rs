//! The questions to a timer: one table, from which come the requests of the agent protocol with their
//! names and keys, the size of each answer, and an example of each question.

use std::time::Duration;

use crate::names;

/// Defines each question with its name in the protocol, its keys, each with its value in the example,
/// the factors whose product is the number of integers in the answer, and the largest number of
/// calls or units of work between two reads, if there are any.
macro_rules! questions {
    ($timer:ident, $reference:ident, $amount:ident; $(
        $(#[$doc:meta])*
        $op:literal $name:ident {
            $($(#[$about:meta])* $field:ident: $type:ty = $example:expr,)*
        } => $shape:expr $(, $amount_of:expr)?;
    )*) => {
        /// A question to a timer, and a request of the agent protocol. Lists of numbers come last, so
        /// that an agent can parse a line word by word.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(
            feature = "serde",
            derive(serde::Serialize, serde::Deserialize),
            serde(tag = "op")
        )]
        pub enum TimerQuestion {
            $(
                $(#[$doc])*
                #[cfg_attr(feature = "serde", serde(rename = $op))]
                $name { $($(#[$about])* $field: $type,)* },
            )*
        }

        /// The name of a question.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($(#[$doc])* $name,)* }

        impl Op {
            /// All questions; the introduction comes first.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name in the protocol.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $op,)* }
            }

            /// A small example, with which agents are checked and their loops are warmed up.
            /// `amount` is an amount of work, or a number of calls.
            pub fn example(self, $timer: &str, $reference: &str, $amount: u64) -> TimerQuestion {
                match self {
                    $(Self::$name => TimerQuestion::$name { $($field: $example,)* },)*
                }
            }
        }

        impl TimerQuestion {
            /// The name of this question.
            pub fn op(&self) -> Op {
                match self { $(Self::$name { .. } => Op::$name,)* }
            }

            /// The factors whose product is the number of integers in the answer.
            pub fn shape(&self) -> Vec<usize> {
                match self {
                    $(Self::$name { $($field),* } => {
                        let _ = ($($field,)*);
                        $shape.into()
                    })*
                }
            }

            /// The largest number of calls or units of work between two reads.
            pub fn amount(&self) -> u64 {
                match self {
                    $(Self::$name { $($field),* } => {
                        let _ = ($($field,)*);
                        0 $(+ $amount_of)?
                    })*
                }
            }
        }
    };
}

questions! { timer, reference, amount;
    /// Asks for the introduction: the runtime of the agent, its timers and its questions.
    "hello" Hello {
        /// The protocol version of the runner.
        protocol: u32 = 1,
    } => [0];

    /// For each amount of work, `repeat` times: reads the timer, does that many units of work, reads
    /// the timer again. The answer is the second reading minus the first, in ticks of the timer.
    "intervals" Intervals {
        /// The id of the timer.
        timer: String = timer.into(),
        /// Number of intervals for each amount of work.
        repeat: u32 = 20,
        /// Amounts of work, in units of work; the answer holds a row for each amount.
        work: Vec<u64> = vec![0, amount],
    } => [work.len(), *repeat as usize], work.iter().copied().max().unwrap_or(0);

    /// `repeat` times: reads the reference, calls the timer `calls` times, reads the reference. The
    /// answer is the differences in ticks of the reference.
    "batches" Batches {
        /// The id of the timer.
        timer: String = timer.into(),
        /// The id of the reference.
        reference: String = reference.into(),
        /// Calls in a batch.
        calls: u64 = amount,
        /// Number of batches.
        repeat: u32 = 20,
        /// Whether the agent reports the state of its thread around the batches; agents may ignore
        /// this key.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "std::ops::Not::not")
        )]
        watched: bool = false,
    } => [*repeat as usize], *calls;

    /// Successive readings.
    "readings" Readings {
        /// The id of the timer.
        timer: String = timer.into(),
        /// Number of readings.
        count: u32 = 20,
        /// Whether the agent reports the state of its thread around the readings; agents may ignore
        /// this key.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "std::ops::Not::not")
        )]
        watched: bool = false,
    } => [*count as usize];

    /// Successive readings, of which only the order is reported: how many readings were smaller
    /// than the reading before, the largest such decrease in ticks, the first reading and the last
    /// reading.
    "order" Order {
        /// The id of the timer.
        timer: String = timer.into(),
        /// Number of readings, at least 1.
        count: u32 = 4,
    } => [4];

    /// Readings of two threads that take turns, in several pairs of threads at the same time: a
    /// pair of readings for each handover from one thread to the other.
    "handoffs" Handoffs {
        /// The id of the timer.
        timer: String = timer.into(),
        /// The two CPUs of each pair of threads; empty for one pair of threads on any CPUs.
        cpus: Vec<[u32; 2]> = Vec::new(),
        /// Pairs of readings for each pair of threads.
        count: u32 = 4,
    } => [cpus.len().max(1), *count as usize, 2];

    /// Rounds with `repeat` comparisons of each timer: readings of the reference, the timer and the
    /// reference, each in its own ticks. A timer that refuses gives three times
    /// [`Values::REFUSED`](crate::Values::REFUSED).
    "comparisons" Comparisons {
        /// The ids of the timers.
        timers: Vec<String> = vec![timer.into()],
        /// The id of the reference.
        reference: String = reference.into(),
        /// Units of work between two rounds.
        work: u64 = amount,
        /// Number of rounds.
        count: u32 = 3,
        /// Comparisons of each timer in a round.
        repeat: u32 = 3,
    } => [*count as usize, timers.len(), *repeat as usize, 3], *work;

    /// How far each timer and the reference advance during one span of time: ticks of the timer,
    /// ticks of the reference. A timer that refuses gives two times
    /// [`Values::REFUSED`](crate::Values::REFUSED).
    "advance" Advance {
        /// The ids of the timers.
        timers: Vec<String> = vec![timer.into()],
        /// The id of the reference.
        reference: String = reference.into(),
        /// The activity of the calling thread during the span.
        during: Activity = Activity::OtherSpin,
        /// Length of the span, in milliseconds.
        ms: u32 = 2,
    } => [timers.len(), 2];

    /// All measurements that one process takes of the calls of a timer, packed.
    "calls" Calls {
        /// The id of the timer.
        timer: String = timer.into(),
        /// The id of the reference.
        reference: String = reference.into(),
        /// Nanoseconds per tick of the reference.
        ns_per_tick: f64 = 1.0,
        /// The step of the reference, in ticks of the reference.
        step: f64 = 1.0,
    } => [0], (ns_per_tick * step) as u64;

    /// All intervals with which one process searches for the step of a timer, packed; and 1 if the
    /// timer steps too rarely for one process, else 0.
    "steps" Steps {
        /// The id of the timer.
        timer: String = timer.into(),
        /// Properties of the timer, and the limits of the search.
        #[cfg_attr(feature = "serde", serde(flatten))]
        question: StepQuestion = StepQuestion {
            ns_per_work: 1.0,
            ns_per_tick: Some(1.0),
            cost_ns: 20.0,
            interval_ns: 1e5,
            growth_ns: 1e4,
            seed: 7,
        },
    } => [1], question.max_work() as u64;

    /// For each kind of code, `repeat` times: the time of a sequence of pieces of code without
    /// reads and the time of the sequence with a read in each piece, in ticks of the reference.
    "adds" Adds {
        /// The id of the timer.
        timer: String = timer.into(),
        /// The id of the reference.
        reference: String = reference.into(),
        /// Kinds of code; the answer holds a row for each kind.
        contexts: Vec<Context> = vec![Context::Latency],
        /// Pieces of code in a sequence.
        turns: u32 = 4,
        /// Pairs of sequences: one without reads and one with reads.
        repeat: u32 = 3,
    } => [contexts.len(), *repeat as usize, 2];

    /// `repeat` waits of each length: the index of the length in the list, the reference before and
    /// after the wait, the CPU time in nanoseconds or -1 if it is unknown, and how often a signal
    /// ended the call early.
    "waits" Waits {
        /// The id of the sleep primitive.
        timer: String = timer.into(),
        /// The id of the reference.
        reference: String = reference.into(),
        /// A random time of at most this many nanoseconds passes before each wait; agents may
        /// ignore this key.
        pause_ns: u64 = 100_000,
        /// Waits of each length.
        repeat: u32 = 4,
        /// Lengths of the waits, in nanoseconds.
        request_ns: Vec<u64> = vec![0, 1_400_000],
    } => [*repeat as usize, request_ns.len(), 5];

    /// Wake-ups of a periodic timer: the reference, and the number of expirations that the wake-up
    /// reports.
    "periods" Periods {
        /// The id of the periodic timer.
        timer: String = timer.into(),
        /// The id of the reference.
        reference: String = reference.into(),
        /// The period, in nanoseconds.
        period_ns: u64 = 2_000_000,
        /// Number of wake-ups.
        count: u32 = 5,
    } => [*count as usize, 2];
}

impl TimerQuestion {
    /// The time that the answer takes by what the question asks for; `None` if the question does not say.
    pub fn span(&self) -> Option<Duration> {
        let ns = match self {
            Self::Advance { ms, .. } => u64::from(*ms) * 1_000_000,
            Self::Waits {
                pause_ns,
                repeat,
                request_ns,
                ..
            } => {
                let waits = request_ns.iter().map(|ns| ns.saturating_add(*pause_ns));
                waits
                    .fold(0, u64::saturating_add)
                    .saturating_mul((*repeat).into())
            }
            Self::Periods {
                period_ns, count, ..
            } => period_ns.saturating_mul((*count).into()),
            _ => return None,
        };
        Some(Duration::from_nanos(ns))
    }

    /// The id of the reference, if the question names one.
    pub fn reference(&self) -> &str {
        match self {
            Self::Batches { reference, .. }
            | Self::Comparisons { reference, .. }
            | Self::Advance { reference, .. }
            | Self::Calls { reference, .. }
            | Self::Adds { reference, .. }
            | Self::Waits { reference, .. }
            | Self::Periods { reference, .. } => reference,
            _ => "",
        }
    }

    /// The ids of the timers that the question names.
    pub fn timers(&self) -> &[String] {
        match self {
            Self::Hello { .. } => &[],
            Self::Comparisons { timers, .. } | Self::Advance { timers, .. } => timers,
            Self::Intervals { timer, .. }
            | Self::Batches { timer, .. }
            | Self::Readings { timer, .. }
            | Self::Order { timer, .. }
            | Self::Handoffs { timer, .. }
            | Self::Calls { timer, .. }
            | Self::Steps { timer, .. }
            | Self::Adds { timer, .. }
            | Self::Waits { timer, .. }
            | Self::Periods { timer, .. } => std::slice::from_ref(timer),
        }
    }
}

names! {
    /// The activity of the calling thread during [`advance`](crate::Subject::advance).
    pub enum Activity {
        /// The thread computes.
        Spin = "spin",
        /// The thread sleeps.
        Sleep = "sleep",
        /// The thread sleeps while another thread of the same process computes.
        OtherSpin = "other-spin",
    }
}

names! {
    /// The kind of work around a read.
    #[derive(PartialOrd, Ord)]
    pub enum Context {
        /// A chain of sixteen multiplications, each of which needs the result of the previous one: the
        /// multiplication units of the core are idle most of the time.
        Latency = "latency",
        /// Four such chains at the same time, which keep the multiplication units busy.
        Throughput = "throughput",
        /// A load that misses the caches of the core; its address depends on the previous load.
        Memory = "memory",
        /// About 300 instructions of calls through pointers, loads and well-predicted branches. Pieces
        /// do not depend on each other, so that the core works on several at the same time.
        Ahead = "ahead",
        /// The first read after a millisecond of other work.
        Cold = "cold",
        /// As [`Throughput`](Self::Throughput), while every other allowed CPU reads the same timer.
        Contended = "contended",
    }
}

impl Context {
    /// The contexts that are common in programs; the report states the range of their values.
    pub const USUAL: [Self; 4] = [Self::Latency, Self::Throughput, Self::Memory, Self::Ahead];
}

/// Parameters of a search for the step of a timer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepQuestion {
    /// Nanoseconds per unit of work.
    pub ns_per_work: f64,
    /// Nanoseconds per tick of the timer, if known.
    pub ns_per_tick: Option<f64>,
    /// The approximate cost of a read, in nanoseconds.
    pub cost_ns: f64,
    /// Total time of the intervals, in nanoseconds.
    pub interval_ns: f64,
    /// The longest work that is tried, in nanoseconds.
    pub growth_ns: f64,
    /// The seed of the random amounts of work.
    pub seed: u64,
}

impl StepQuestion {
    /// An upper bound of the units of work between two reads.
    pub fn max_work(&self) -> f64 {
        let longest_ns = self.growth_ns.max(self.cost_ns);
        8.0 * longest_ns.max(100.0 + 2.0 * self.ns_per_work) / self.ns_per_work.max(0.0)
    }
}
